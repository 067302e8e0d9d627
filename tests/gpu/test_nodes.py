"""Autograd nodes in C++ on a GPU: the gradients that torch's functions have, on the stream of the forward, and in CUDA graphs."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU here")
HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)

from pyptx import kernels  # noqa: E402
from pyptx.kernels import _tuned  # noqa: E402
from pyptx.torch_support import nodes  # noqa: E402

functional = torch.nn.functional
M, N = 70, 1032


NAMES = [
    "rms_norm", "layer_norm", "softmax", "swiglu", "cross_entropy",
    *[pytest.param(name, marks=pytest.mark.skipif(not HOPPER, reason="products are for sm_90a"))
      for name in ("matmul", "linear", "linear_cross_entropy")],
]  # fmt: skip


@pytest.fixture(autouse=True)
def made() -> Iterator[None]:
    nodes.build()
    _tuned.forget_plans()
    yield
    _tuned.forget_plans()


def leaf(*shape: int) -> Any:
    return torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)


def cases() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any]]]:
    x, r, w, b, m = leaf(M, N), leaf(M, N), leaf(N), leaf(N), leaf(520, N)
    target = torch.randint(0, N, (M,), device="cuda")
    beside = leaf(520)
    return {
        "rms_norm": (lambda: kernels.rms_norm(x, w), lambda: functional.rms_norm(x, (N,), w, 1e-6), [x, w]),
        "layer_norm": (lambda: kernels.layer_norm(x, w, b), lambda: functional.layer_norm(x, (N,), w, b), [x, w, b]),
        "softmax": (lambda: kernels.softmax(x), lambda: torch.softmax(x, -1), [x]),
        "swiglu": (lambda: kernels.swiglu(x, r), lambda: functional.silu(x) * r, [x, r]),
        "cross_entropy": (lambda: kernels.cross_entropy(x, target), lambda: functional.cross_entropy(x.float(), target), [x]),
        "matmul": (lambda: kernels.matmul(x, m.mT), lambda: x @ m.mT, [x, m]),
        "linear": (lambda: kernels.matmul(x, m.mT, bias=beside), lambda: functional.linear(x, m, beside), [x, m, beside]),
        "linear_cross_entropy": (
            lambda: kernels.linear_cross_entropy(x, m, target % 520),
            lambda: functional.cross_entropy(functional.linear(x, m).float(), target % 520),
            [x, m],
        ),
    }


def close(found: Any, expected: Any) -> None:
    bound = 3e-2 * max(float(expected.float().abs().max()), 1e-3)
    assert float((found.float() - expected.float()).abs().max()) <= bound


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_torchs(name: str) -> None:
    own, peer, leaves = cases()[name]
    expected = peer()
    dy = torch.randn_like(expected)
    wanted = torch.autograd.grad(expected, leaves, dy)
    for _ in range(4):
        y = own()
        found = torch.autograd.grad(y, leaves, dy.to(y.dtype))
        close(y, expected)
        for each, one in zip(found, wanted, strict=True):
            close(each, one)
    assert "CppFunction" in repr(y.grad_fn)


@pytest.mark.parametrize("name", NAMES)
def test_on_a_stream_and_in_a_graph(name: str) -> None:
    own, peer, leaves = cases()[name]
    dy = torch.randn_like(peer())
    wanted = torch.autograd.grad(peer(), leaves, dy)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(4):
            y = own()
            found = torch.autograd.grad(y, leaves, dy.to(y.dtype))
    torch.cuda.current_stream().wait_stream(stream)
    for each, one in zip(found, wanted, strict=True):
        close(each, one)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = own()
        captured = torch.autograd.grad(y, leaves, dy.to(y.dtype))
    for each in captured:
        each.zero_()
    graph.replay()
    for each, one in zip(captured, wanted, strict=True):
        close(each, one)


@pytest.mark.parametrize("shifted", [0, 1, 2])
@pytest.mark.parametrize("language", ["C++", "Python"])
def test_tensors_between_16_bytes(language: str, shifted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of x, of the weight, of the result's gradient: a launch that loads 16 bytes at once would fault."""
    if language == "Python":
        monkeypatch.setattr(nodes, "module", lambda: None)
    x, w = leaf(M, N), leaf(N)
    dy = torch.randn_like(x)
    for _ in range(4):
        y = kernels.rms_norm(x, w)
        torch.autograd.grad(y, (x, w), dy)
    apart = [torch.zeros(each.numel() + 1, device="cuda", dtype=each.dtype)[1:].view_as(each).copy_(each) for each in (x, w, dy)]
    own, weight, gradient = [(apart if i == shifted else [x, w, dy])[i] for i in range(3)]
    own, weight = own.detach().requires_grad_(), weight.detach().requires_grad_()
    assert any(each.data_ptr() % 16 for each in (own, weight, gradient))
    for needs_gradient in (True, False):
        with torch.set_grad_enabled(needs_gradient):
            y = kernels.rms_norm(own, weight)
            close(y, functional.rms_norm(own, (N,), weight, 1e-6))
    y = kernels.rms_norm(own, weight)
    expected = functional.rms_norm(own, (N,), weight, 1e-6)
    found, wanted = (torch.autograd.grad(each, (own, weight), gradient) for each in (y, expected))
    for each, one in zip(found, wanted, strict=True):
        close(each, one)
    torch.cuda.synchronize()
