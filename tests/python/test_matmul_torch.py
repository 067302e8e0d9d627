"""Matrix products of the kernel library with torch tensors: eager, compiled, differentiated, of tensors with gaps."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyptx import PtxError, PtxTypeError, PtxValueError, executor, kernels

torch: Any = pytest.importorskip("torch")
testing: Any = pytest.importorskip("torch._dynamo.testing")
functional = torch.nn.functional


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    torch.manual_seed(0)
    torch._dynamo.reset()
    with executor.checking() as findings:
        yield
    assert not findings


def drawn(*shape: int, dtype: Any = torch.bfloat16) -> Any:
    return torch.randn(shape, dtype=dtype)


def close(own: Any, expected: Any, dtype: Any = torch.bfloat16) -> None:
    tolerance = {torch.bfloat16: 8e-3, torch.float16: 1e-3, torch.float32: 2e-6}[dtype]
    assert own.shape == expected.shape and own.dtype == dtype
    assert float((own.double() - expected).abs().max()) < tolerance * float(expected.abs().max())


def test_means_what_torch_does() -> None:
    for dtype in (torch.bfloat16, torch.float16):
        x, w = drawn(2, 5, 72, dtype=dtype), drawn(40, 72, dtype=dtype)
        for _ in range(2):  # the second time, as a call like an earlier one
            close(kernels.matmul(x, w.mT), x.double() @ w.double().mT, dtype)
            close(kernels.matmul(x[0], w.mT), x[0].double() @ w.double().mT, dtype)
            close(kernels.matmul(x[0].mT, x[0]), x[0].double().mT @ x[0].double(), dtype)
            close(kernels.matmul(x, w.mT, out_dtype=torch.float32), x.double() @ w.double().mT, torch.float32)


def test_calls_like_earlier_ones_see_what_differs() -> None:
    x, w = drawn(16, 64), drawn(24, 64)
    expected = x.double() @ w.double().mT
    close(kernels.matmul(x, w.mT), expected)
    square = drawn(64, 64)
    close(kernels.matmul(x, square), x.double() @ square.double())
    close(kernels.matmul(x, square.mT), x.double() @ square.double().mT)
    shifted = drawn(16 * 64 + 1)[1:].view(16, 64)  # 2 bytes aligned
    close(kernels.matmul(shifted, w.mT), shifted.double() @ w.double().mT)
    bias = drawn(24)
    close(kernels.matmul(x, w.mT, bias=bias), expected + bias.double())
    close(kernels.matmul(x, w.mT, bias=drawn(48)[::2].copy_(bias)), expected + bias.double())
    with pytest.raises(PtxValueError):
        kernels.matmul(x, w)


def test_tensors_with_gaps() -> None:
    x, w = drawn(16, 200), drawn(40, 3, 64)
    for left in (x[:, 8:72], x[::2, 1:65], x[:, :128:2], x[:1, :64].expand(5, 64)):
        close(kernels.matmul(left, w[:, 1].mT), left.double() @ w[:, 1].double().mT)
    stacked = drawn(4, 3, 64).transpose(0, 1)
    close(kernels.matmul(stacked, w[:, 0].mT), stacked.double() @ w[:, 0].double().mT)


def gradients(function: Any, *tensors: Any) -> list[Any]:
    own = [x.detach().clone().requires_grad_() for x in tensors]
    y = function(*own)
    y.backward(torch.ones_like(y) * 0.5)
    return [x.grad for x in own]


@pytest.mark.parametrize("activation", [None, "silu"])
def test_gradients(activation: str | None) -> None:
    x, w, bias, residual = drawn(3, 10, 64), drawn(24, 64), drawn(24), drawn(3, 10, 24)

    def own(x: Any, w: Any, bias: Any, residual: Any) -> Any:
        return kernels.matmul(x, w.mT, bias=bias, residual=residual, activation=activation)

    def expected(x: Any, w: Any, bias: Any, residual: Any) -> Any:
        y = x @ w.mT + bias
        return (y if activation is None else functional.silu(y)) + residual

    wanted = gradients(expected, *[t.double() for t in (x, w, bias, residual)])
    for gradient, other in zip(gradients(own, x, w, bias, residual), wanted, strict=True):
        close(gradient, other)
    a, b = drawn(2, 9, 40), drawn(2, 40, 16)
    wanted = gradients(torch.matmul, a.double(), b.double())
    for gradient, other in zip(gradients(kernels.matmul, a, b), wanted, strict=True):
        close(gradient, other)


def test_compiled_without_a_break_and_once_for_a_range_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))  # torch keeps there what an earlier process has learnt
    counter = testing.CompileCounterWithBackend("inductor")
    w, bias = drawn(40, 64), drawn(40)
    kernels.matmul(drawn(2, 64), w.mT)  # the first call of a process imports what is for torch

    @torch.compile(backend=counter, fullgraph=True, dynamic=True)
    def linear(x: Any) -> Any:
        return kernels.matmul(x, w.mT, bias=bias, activation="relu") * 2

    for rows in (130, 140, 300, 500):
        x = drawn(rows, 64)
        close(linear(x), 2 * (x.double() @ w.double().mT + bias.double()).relu())
    assert counter.frame_count == 1


def test_compiled_gradients() -> None:
    x, w = drawn(20, 64), drawn(24, 64)
    step = torch.compile(lambda x, w: kernels.matmul(x, w.mT), fullgraph=True)
    for gradient, other in zip(gradients(step, x, w), gradients(lambda x, w: x @ w.mT, x.double(), w.double()), strict=True):
        close(gradient, other)


def test_says_what_fits() -> None:
    x, w = drawn(16, 64), drawn(24, 64)
    for kind, text, call in (
        (PtxTypeError, "float16 or bfloat16", lambda: kernels.matmul(x.float(), w.mT.float())),
        (PtxTypeError, "one element type", lambda: kernels.matmul(x, w.mT.half())),
        (PtxTypeError, "torch.bfloat16 or torch.float32", lambda: kernels.matmul(x, w.mT, out_dtype=torch.float16)),
        (PtxValueError, "weights", lambda: kernels.matmul(x, w)),
    ):
        with pytest.raises(kind, match=text):
            call()


@pytest.mark.parametrize("activation", ["silu", "gelu_tanh", "relu", None])
def test_gated(activation: str | None) -> None:
    x, w = drawn(3, 10, 64), drawn(80, 64)

    def expected(x: Any, w: Any) -> Any:
        gate, up = (x @ w.mT).chunk(2, -1)
        active = {"silu": functional.silu, "relu": torch.relu, "gelu_tanh": lambda g: functional.gelu(g, approximate="tanh")}
        return (gate if activation is None else active[activation](gate)) * up

    for _ in range(2):
        close(kernels.gated_matmul(x, w.mT, activation=activation), expected(x.double(), w.double()))
    wanted = gradients(expected, x.double(), w.double())
    own = gradients(lambda x, w: kernels.gated_matmul(x, w.mT, activation=activation), x, w)
    for gradient, other in zip(own, wanted, strict=True):
        assert float((gradient.double() - other).abs().max()) < 2e-2 * float(other.abs().max())
    compiled = torch.compile(lambda x: kernels.gated_matmul(x, w.mT, activation=activation), fullgraph=True)
    close(compiled(x), expected(x.double(), w.double()))


def test_alpha_and_out() -> None:
    torch.manual_seed(0)
    a, w, bias = torch.randn(33, 64).bfloat16(), torch.randn(48, 64).bfloat16(), torch.randn(48).bfloat16()
    wanted = -0.5 * (a.double() @ w.double().mT) + bias.double()

    def hold(result: Any) -> None:
        assert float((result.double() - wanted).abs().max()) < 8e-3 * float(wanted.abs().max())

    for call in (kernels.matmul, torch.compile(kernels.matmul, fullgraph=True)):
        for _ in range(2):
            hold(call(a, w.mT, bias=bias, alpha=-0.5))
        out = torch.full((33, 48), float("nan"), dtype=torch.bfloat16)
        assert call(a, w.mT, bias=bias, alpha=-0.5, out=out).data_ptr() == out.data_ptr()
        hold(out)
    apart = torch.full((33, 96), float("nan"), dtype=torch.bfloat16)[:, ::2]
    kernels.matmul(a, w.mT, bias=bias, alpha=-0.5, out=apart)
    hold(apart)
    assert kernels.matmul(a, w.mT, out=torch.empty(33, 48)).dtype == torch.float32
    a.requires_grad_(), w.requires_grad_()
    own = torch.autograd.grad(kernels.matmul(a, w.mT, alpha=3).sum(), (a, w))
    for one, other in zip(own, torch.autograd.grad((3 * (a @ w.mT)).sum(), (a, w)), strict=True):
        torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-2)
    with pytest.raises(PtxError, match="`out` is differentiated"):
        kernels.matmul(a, w.mT, out=out)
    a, w = a.detach(), w.detach()
    with pytest.raises(PtxError, match="the result's type and shape"):
        kernels.matmul(a, w.mT, out=torch.empty(33, 47, dtype=torch.bfloat16))
    with pytest.raises(PtxError, match="of a tensor multiply the result"):
        kernels.matmul(a, w.mT, alpha=torch.ones(()))
    assert not kernels.matmul(a[:, :0], w[:, :0].mT).any()


def test_gated_products_without_columns_have_gradients() -> None:
    for activation in ("silu", "gelu_tanh", "relu"):
        a, b = torch.randn(3, 8, dtype=torch.bfloat16).requires_grad_(), torch.empty(8, 0, dtype=torch.bfloat16).requires_grad_()
        y = kernels.gated_matmul(a, b, activation=activation)
        assert y.shape == (3, 0)
        da, db = torch.autograd.grad(y.sum(), (a, b))
        assert not da.any() and db.shape == (8, 0)
