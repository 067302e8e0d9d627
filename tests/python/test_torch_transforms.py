"""The kernel library inside torch.func and beside it: what is known of one call must not be another's."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kinds_of_nodes import checked  # noqa: E402, F401 - around each test

from pyptx import errors, kernels  # noqa: E402

functional = torch.nn.functional
half = torch.bfloat16


def drawn(*shape: int, seed: int = 0, dtype: Any = torch.float32) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("is_fake", [False, True])
@pytest.mark.parametrize("way", ["odd", "expanded", "apart"])
def test_what_a_product_copies_inside_is_copied_outside(way: str, is_fake: bool) -> None:
    a, b = {
        "odd": (drawn(5, 7, dtype=half), drawn(7, 3, seed=1, dtype=half)),
        "expanded": (drawn(6, 32, dtype=half).expand(3, 6, 32), drawn(32, 16, seed=1, dtype=half)),
        "apart": (drawn(6, 64, dtype=half)[:, ::2], drawn(64, 16, seed=1, dtype=half)[::2]),
    }[way]

    def hold() -> None:
        for needs_gradient in (False, True):
            x, w = (each.detach().requires_grad_(needs_gradient) for each in (a, b))
            y, expected = kernels.matmul(x, w), x @ w
            torch.testing.assert_close(y, expected, rtol=2e-2, atol=1e-1)
            if needs_gradient:
                ones = torch.ones((), dtype=half).expand(y.shape)
                found, wanted = (torch.autograd.grad(each, (x, w), ones) for each in (y, expected))
                torch.testing.assert_close(found, wanted, rtol=2e-2, atol=1e-1)

    def inside() -> None:
        if is_fake and way != "expanded":
            from torch._subclasses.fake_tensor import FakeTensorMode

            with FakeTensorMode(allow_non_fake_inputs=True) as mode:
                kernels.matmul(mode.from_tensor(a), mode.from_tensor(b))
        elif not is_fake:
            torch.vmap(kernels.matmul)(torch.stack([a, a]), torch.stack([b, b]))

    inside()  # the first to be known
    for _ in range(4):
        hold()
    inside()
    for _ in range(4):
        hold()


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "softmax": (kernels.softmax, lambda x: torch.softmax(x, -1)),
    "rms_norm": (kernels.rms_norm, lambda x: functional.rms_norm(x, (x.shape[-1],), None, 1e-6)),
    "layer_norm": (kernels.layer_norm, lambda x: functional.layer_norm(x, (x.shape[-1],))),
    "swiglu": (kernels.swiglu, lambda x: functional.silu(x[..., :12]) * x[..., 12:]),
    "cross_entropy": (
        lambda x: kernels.cross_entropy(x, torch.tensor([3, 1, 0, 5, 23, 7])),
        lambda x: functional.cross_entropy(x, torch.tensor([3, 1, 0, 5, 23, 7])),
    ),
    "matmul": (lambda x: kernels.matmul(x.to(half), WEIGHT.mT).float(), lambda x: (x.to(half) @ WEIGHT.mT).float()),
    "linear_cross_entropy": (
        lambda x: kernels.linear_cross_entropy(x.to(half), WEIGHT, torch.tensor([3, 1, 0, 5, 15, 7])),
        lambda x: functional.cross_entropy((x.to(half) @ WEIGHT.mT).float(), torch.tensor([3, 1, 0, 5, 15, 7])),
    ),
}
WEIGHT = drawn(16, 24, seed=8, dtype=half)


@pytest.mark.parametrize("name", CASES)
def test_a_batch_that_needs_a_gradient_has_it(name: str) -> None:
    own, peer = CASES[name]
    x = drawn(2, 6, 24).requires_grad_()
    for turn in range(4):
        for function in (own, peer):
            y = torch.vmap(function)(x)
            dy = drawn(*y.shape, seed=turn)
            result = y, torch.autograd.grad(y, x, dy)[0]
            if function is own:
                found = result
        tolerance = 3e-2 if "matmul" in name or "linear" in name else 1e-4
        torch.testing.assert_close(found, result, rtol=tolerance, atol=tolerance)
        own(x[0]).sum().backward()  # plain calls of that kind between


@pytest.mark.parametrize("name", CASES)
def test_gradients_in_batches(name: str) -> None:
    own, peer = CASES[name]
    x = drawn(6, 24).requires_grad_()
    for turn in range(4):
        y, expected = own(x), peer(x)
        dy = drawn(3, *y.shape, seed=turn)
        found, wanted = (torch.autograd.grad(each, x, dy, is_grads_batched=True)[0] for each in (y, expected))
        tolerance = 3e-2 if "matmul" in name or "linear" in name else 1e-4
        torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [name for name in CASES if "linear" not in name])
def test_tangents_are_refused_every_time(name: str) -> None:
    own, _ = CASES[name]
    x = drawn(6, 24)
    for _ in range(3):
        own(x.clone().requires_grad_()).sum().backward()
        own(x)
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
            with pytest.raises(errors.PtxError, match="has a tangent of forward-mode"):
                own(dual)


def test_a_kernel_without_a_backward_says_so_in_a_batch() -> None:
    from launching import add

    x = torch.ones(2, 64, requires_grad=True)
    with pytest.raises(errors.PtxError, match="requires a gradient; the kernel has no backward"):
        torch.vmap(lambda x: add(x, torch.ones(64)))(x)


def test_a_loss_whose_gradient_is_none() -> None:
    class Dropped(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    x, b = drawn(6, 24, dtype=half).requires_grad_(), drawn(16, dtype=half, seed=2).requires_grad_()
    for chunk in (4, None):
        for _ in range(3):
            loss = kernels.linear_cross_entropy(x, WEIGHT, torch.tensor([3, 1, 0, 5, 15, 7]), bias=b, chunk=chunk)
            Dropped.apply(loss).backward()
            assert x.grad is None or not x.grad.any()


@pytest.mark.parametrize("transform", ["grad", "vmap"])
def test_arrays_between_16_bytes_inside_of_transforms(transform: str) -> None:
    apart = torch.zeros(2 * 6 * 24 + 1)[1:].view(2, 6, 24).copy_(drawn(2, 6, 24))
    assert apart.data_ptr() % 16
    for own, peer in list(CASES.values())[:5]:
        if transform == "vmap":
            torch.testing.assert_close(torch.vmap(own)(apart), torch.vmap(peer)(apart), rtol=1e-4, atol=1e-5)
            continue
        found, wanted = (torch.func.grad(lambda x, f=f: f(x).square().sum())(apart[0]) for f in (own, peer))
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
