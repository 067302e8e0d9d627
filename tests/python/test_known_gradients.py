"""Gradients of torch calls that are like earlier ones: the same as those of the first, in every way a backward is reached."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kinds_of_nodes import checked  # noqa: E402, F401 - around each test

from pyptx import kernels  # noqa: E402
from pyptx.kernels import _known, _torch, _torch_launch, _torch_loss  # noqa: E402
from pyptx.torch_support import nodes  # noqa: E402

functional = torch.nn.functional
ROWS = {"matrix": (6, 96), "batch": (2, 3, 96), "odd": (5, 33)}


def leaf(*shape: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype).requires_grad_()


def cases(shape: tuple[int, ...], dtype: Any) -> dict[str, tuple[Callable[[], Any], Callable[[], Any], list[Any]]]:
    n = shape[-1]
    x, r, w, b = (leaf(*each, dtype=dtype, seed=seed) for seed, each in enumerate((shape, shape, (n,), (n,))))
    target = torch.randint(0, n, shape[:-1], generator=torch.Generator().manual_seed(5))
    target.view(-1)[1] = -100
    flat = target.view(-1)

    def of_residual() -> Any:
        y, total = kernels.rms_norm(x, w, residual=r)
        return y * 2 + total

    def its_peer() -> Any:
        total = x + r
        return functional.rms_norm(total, (n,), w, 1e-6) * 2 + total

    return {
        "rms_norm": (lambda: kernels.rms_norm(x, w), lambda: functional.rms_norm(x, (n,), w, 1e-6), [x, w]),
        "rms_norm alone": (lambda: kernels.rms_norm(x), lambda: functional.rms_norm(x, (n,), None, 1e-6), [x]),
        "rms_norm residual": (of_residual, its_peer, [x, r, w]),
        "layer_norm": (lambda: kernels.layer_norm(x, w, b), lambda: functional.layer_norm(x, (n,), w, b), [x, w, b]),
        "layer_norm weight": (lambda: kernels.layer_norm(x, w), lambda: functional.layer_norm(x, (n,), w), [x, w]),
        "softmax": (lambda: kernels.softmax(x), lambda: torch.softmax(x, -1), [x]),
        "log_softmax": (lambda: kernels.log_softmax(x), lambda: torch.log_softmax(x, -1), [x]),
        "swiglu": (lambda: kernels.swiglu(x, r), lambda: functional.silu(x) * r, [x, r]),
        "geglu": (lambda: kernels.geglu(x, r), lambda: functional.gelu(x, approximate="tanh") * r, [x, r]),
        "mean": (lambda: kernels.cross_entropy(x, target), lambda: functional.cross_entropy(x.view(-1, n), flat), [x]),
        "sum": (lambda: kernels.cross_entropy(x, target, reduction="sum", label_smoothing=0.1),
                lambda: functional.cross_entropy(x.view(-1, n), flat, reduction="sum", label_smoothing=0.1), [x]),
        "none": (lambda: kernels.cross_entropy(x, target, reduction="none"),
                 lambda: functional.cross_entropy(x.view(-1, n), flat, reduction="none").view(target.shape), [x]),
    }  # fmt: skip


NAMES = list(cases((2, 4), torch.float32))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("name", NAMES)
def test_every_call_has_the_gradients_of_the_first(name: str, shape: str, dtype: Any) -> None:
    own, peer, leaves = cases(ROWS[shape], dtype)[name]
    tolerance = {"rtol": 1e-4, "atol": 2e-5} if dtype == torch.float32 else {"rtol": 4e-2, "atol": 4e-2}
    expected = peer()
    dy = torch.randn(expected.shape, generator=torch.Generator().manual_seed(9)).to(dtype)
    wanted = torch.autograd.grad(expected, leaves, dy)
    for _ in range(4):
        result = own()
        torch.testing.assert_close(result, expected.to(result.dtype), **tolerance)
        for found, one in zip(torch.autograd.grad(result, leaves, dy.to(result.dtype)), wanted, strict=True):
            assert found.shape == one.shape and found.dtype == one.dtype
            torch.testing.assert_close(found, one, **tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_later_calls_launch_what_is_known(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own, _, leaves = cases((4, 64), torch.float32)[name]
    for _ in range(3):
        result = own()
        torch.autograd.grad(result, leaves, torch.ones_like(result))
    if name == "none":
        return  # its losses are a view's

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("looked up once more")

    for module, name in ((_torch, "launch"), (_torch_loss, "launch"), (_torch_launch, "launch"), (_torch_launch, "chosen")):
        monkeypatch.setattr(module, name, refuse)
    result = own()
    expected = "Known" if nodes.module() is None else "CppFunction"
    assert expected in repr(result[0].grad_fn if isinstance(result, tuple) else _behind_views(result.grad_fn))
    torch.autograd.grad(result, leaves, torch.ones_like(result))


def _behind_views(node: Any) -> Any:
    """What a sum of two results has behind it comes first of its factors."""
    while any(word in repr(node) for word in ("Add", "Mul")):
        node = node.next_functions[0][0]
    return node


PRODUCTS = {
    "nt": ((6, 32), (24, 32), True), "nn": ((6, 32), (32, 24), False), "3d": ((2, 3, 32), (24, 32), True),
    "batched": ((2, 8, 32), (2, 24, 32), True), "apart": ((6, 32), (24, 32), True), "vector": ((1, 32), (24, 32), True),
}  # fmt: skip


@pytest.mark.parametrize("beside", [(), ("bias",), ("residual",), ("bias", "residual")])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_have_the_gradients_of_the_first(name: str, beside: tuple[str, ...]) -> None:
    of_a, of_b, across = PRODUCTS[name]
    a, b = leaf(*of_a, dtype=torch.bfloat16), leaf(*of_b, dtype=torch.bfloat16, seed=1)
    wide = leaf(6, 64, dtype=torch.bfloat16, seed=4)
    columns = of_b[-2] if across else of_b[-1]
    more = {
        "bias": leaf(columns, dtype=torch.bfloat16, seed=2),
        "residual": leaf(*of_a[:-1], columns, dtype=torch.bfloat16, seed=3),
    }
    words = {word: more[word] for word in beside}

    def factors() -> tuple[Any, Any]:
        return wide[:, 16:48] if name == "apart" else a, b.mT if across else b

    def peer() -> Any:
        left, right = factors()
        return sum((each.float() for each in words.values()), left.float() @ right.float()).bfloat16()

    leaves = [wide if name == "apart" else a, b, *words.values()]
    dy = torch.randn(peer().shape, generator=torch.Generator().manual_seed(9)).bfloat16()
    wanted = torch.autograd.grad(peer(), leaves, dy)
    for turn in range(5):
        y = kernels.matmul(*factors(), **words)
        found = torch.autograd.grad(y, leaves, dy)
        torch.testing.assert_close(y, peer(), rtol=2e-2, atol=2e-1)
        for each, one in zip(found, wanted, strict=True):
            torch.testing.assert_close(each, one, rtol=2e-2, atol=2e-1)
        if turn > 2 and name != "apart" and nodes.module() is not None:
            assert "CppFunction" in repr(y.grad_fn)
        for alone in leaves[1:]:  # a frozen input, or one gradient of several
            frozen = kernels.matmul(factors()[0].detach(), factors()[1], **words)
            (of_one,) = torch.autograd.grad(frozen, alone, dy)
            assert torch.equal(of_one, found[next(i for i, each in enumerate(leaves) if each is alone)])


@pytest.mark.parametrize("name", NAMES)
def test_gradients_that_lie_otherwise(name: str) -> None:
    """Expanded, transposed, and from between 16 bytes."""
    own, peer, leaves = cases((6, 96), torch.float32)[name]
    own(), own()
    shape = peer().shape
    size = max(peer().numel(), 1)
    some = torch.randn(size + 1, generator=torch.Generator().manual_seed(3))
    for dy in (
        torch.ones(()).expand(shape),
        some[1:].view(shape),
        some[:-1].view(tuple(reversed(shape))).permute(tuple(reversed(range(len(shape))))),
    ):
        for found, one in zip(torch.autograd.grad(own(), leaves, dy), torch.autograd.grad(peer(), leaves, dy), strict=True):
            torch.testing.assert_close(found, one, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_second_derivative_is_an_error_where_it_is_asked_for(name: str) -> None:
    own, _, leaves = cases((4, 64), torch.float32)[name]
    for _ in range(3):
        result = own()
        (first, *_) = torch.autograd.grad(result, leaves, torch.ones_like(result), create_graph=True)
        with pytest.raises(Exception, match="a gradient of a gradient"):
            torch.autograd.grad(first.sum(), leaves[0])


@pytest.mark.parametrize("name", NAMES)
def test_what_was_changed_since_is_told(name: str) -> None:
    own, _, leaves = cases((4, 64), torch.float32)[name]
    for _ in range(3):
        result = own()
        with torch.no_grad():
            leaves[0].add_(0) if "softmax" not in name else result.add_(0)
        if name == "rms_norm residual":
            continue  # what it saves is the sum
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(result, leaves, torch.ones_like(result))


def test_some_leaves_alone_and_backwards_again() -> None:
    x, w = leaf(4, 64), leaf(64, seed=1)
    plain = w.detach()
    for _ in range(3):
        y = kernels.rms_norm(x, plain)
        (first,) = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
        (second,) = torch.autograd.grad(y, x, torch.ones_like(y))
        assert torch.equal(first, second)
        y = kernels.rms_norm(x.detach(), w)
        assert torch.autograd.grad(y, w, torch.ones_like(y))[0].shape == (64,)
        with torch.no_grad():
            assert not kernels.rms_norm(x, w).requires_grad


def test_known_calls_inside_of_transforms() -> None:
    x, w = leaf(4, 64), leaf(64, seed=1)
    for _ in range(3):
        y = kernels.rms_norm(x, w)
        expected = torch.autograd.grad(y, (x, w), torch.ones_like(y))
    found = torch.func.grad(lambda x, w: kernels.rms_norm(x, w).sum(), argnums=(0, 1))(x.detach(), w.detach())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    batch = leaf(3, 4, 64, seed=2)
    y = torch.vmap(lambda x: kernels.rms_norm(x, w))(batch)
    torch.testing.assert_close(y, functional.rms_norm(batch, (64,), w, 1e-6))
    one = torch.autograd.grad(y, (batch, w), torch.ones_like(y))
    y = functional.rms_norm(batch, (64,), w, 1e-6)
    for found_in_batch, one_of_batch in zip(one, torch.autograd.grad(y, (batch, w), torch.ones_like(y)), strict=True):
        torch.testing.assert_close(found_in_batch, one_of_batch, rtol=1e-4, atol=1e-4)
    compiled = torch.compile(lambda x, w: kernels.rms_norm(x, w) * 2, backend="aot_eager", fullgraph=True)
    y = compiled(x, w)
    torch.testing.assert_close(torch.autograd.grad(y, x, torch.ones_like(y))[0], expected[0] * 2)


def test_what_is_known_holds_no_tensor() -> None:
    import gc
    import weakref

    x, w = leaf(4, 80), leaf(80, seed=1)
    for _ in range(3):
        y = kernels.layer_norm(x, w)
        torch.autograd.grad(y, (x, w), torch.ones_like(y))
    assert any(isinstance(call, _known.Call) for call in _torch_launch._calls.values())
    gone = [weakref.ref(x), weakref.ref(y)]
    del x, y, w
    gc.collect()
    assert all(each() is None for each in gone)


def test_a_tensor_that_is_given_twice() -> None:
    x, w = leaf(4, 64), leaf(64, seed=1)
    for function in (
        lambda x, w: kernels.geglu(x, x),
        lambda x, w: kernels.layer_norm(x, w, w),
        lambda x, w: kernels.rms_norm(x, w, residual=x)[0],
    ):
        compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
        for call in (function, function, compiled):
            y = call(x, w)
            found = torch.autograd.grad(y, (x, w), torch.ones_like(y), allow_unused=True)
            if call is function:
                expected = found
            for one, other in zip(found, expected, strict=True):
                assert (one is None) == (other is None)
                if one is not None:
                    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", ["rms_norm", "layer_norm", "softmax", "log_softmax", "swiglu", "geglu", "mean", "matmul"])
def test_gradients_inside_of_vmap_and_jacobians(name: str) -> None:
    w, b, m = leaf(33, seed=1).detach(), leaf(33, seed=2).detach(), leaf(33, 8, seed=3, dtype=torch.bfloat16).detach()
    target = torch.tensor([3, 1, 0, -100, 32])
    own, peer = {
        "rms_norm": (lambda x: kernels.rms_norm(x, w), lambda x: functional.rms_norm(x, (33,), w, 1e-6)),
        "layer_norm": (lambda x: kernels.layer_norm(x, w, b), lambda x: functional.layer_norm(x, (33,), w, b)),
        "softmax": (kernels.softmax, lambda x: torch.softmax(x, -1)),
        "log_softmax": (kernels.log_softmax, lambda x: torch.log_softmax(x, -1)),
        "swiglu": (lambda x: kernels.swiglu(x, x), lambda x: functional.silu(x) * x),
        "geglu": (lambda x: kernels.geglu(x, x), lambda x: functional.gelu(x, approximate="tanh") * x),
        "mean": (lambda x: kernels.cross_entropy(x, target), lambda x: functional.cross_entropy(x, target)),
        "matmul": (lambda x: kernels.matmul(x.to(torch.bfloat16), m).float(), lambda x: (x.to(torch.bfloat16) @ m).float()),
    }[name]
    tolerance = {"rtol": 1e-4, "atol": 2e-5} if name != "matmul" else {"rtol": 3e-2, "atol": 3e-2}
    x = torch.randn(4, 5, 33, generator=torch.Generator().manual_seed(7))

    def total(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: torch.sin(function(x)).sum()

    for in_dim in (0, 1, 2):
        batch = x.movedim(0, in_dim).contiguous()
        torch.testing.assert_close(torch.vmap(own, in_dims=in_dim)(batch), torch.vmap(peer, in_dims=in_dim)(batch), **tolerance)
        found = torch.vmap(torch.func.grad(total(own)), in_dims=in_dim)(batch)
        torch.testing.assert_close(found, torch.vmap(torch.func.grad(total(peer)), in_dims=in_dim)(batch), **tolerance)
    torch.testing.assert_close(torch.func.jacrev(own)(x[0]), torch.func.jacrev(peer)(x[0]), **tolerance)
    with pytest.raises(Exception, match="has a tangent of forward-mode"):
        torch.func.hessian(total(own))(x[0])
    if name != "matmul":  # which has second derivatives
        with pytest.raises(Exception, match="a gradient of a gradient"):
            torch.func.jacrev(torch.func.grad(total(own)))(x[0])


@pytest.mark.parametrize("layout", ["rows in groups", "rows apart", "expanded"])
@pytest.mark.parametrize("name", NAMES)
def test_arrays_with_gaps_inside_of_torch_func(name: str, layout: str) -> None:
    wide = torch.randn(3, 6, 48, generator=torch.Generator().manual_seed(1))
    apart = {
        "rows in groups": wide[:, :-1, :40],
        "rows apart": wide[..., :40],
        "expanded": wide[:1].expand(3, -1, -1),
    }[layout]
    columns = apart.shape[-1]
    w, b = leaf(columns, seed=2).detach(), leaf(columns, seed=3).detach()
    target = torch.randint(0, columns, apart.shape[:-1], generator=torch.Generator().manual_seed(5))

    def of_losses(x: Any, **words: Any) -> Any:
        return functional.cross_entropy(x.flatten(0, -2), target.flatten(), **words)

    own, peer = {
        "rms_norm": (lambda x: kernels.rms_norm(x, w), lambda x: functional.rms_norm(x, (columns,), w, 1e-6)),
        "rms_norm alone": (kernels.rms_norm, lambda x: functional.rms_norm(x, (columns,), None, 1e-6)),
        "rms_norm residual": (lambda x: kernels.rms_norm(x, w, residual=x)[0],
                              lambda x: functional.rms_norm(x + x, (columns,), w, 1e-6)),
        "layer_norm": (lambda x: kernels.layer_norm(x, w, b), lambda x: functional.layer_norm(x, (columns,), w, b)),
        "layer_norm weight": (lambda x: kernels.layer_norm(x, w), lambda x: functional.layer_norm(x, (columns,), w)),
        "softmax": (kernels.softmax, lambda x: torch.softmax(x, -1)),
        "log_softmax": (kernels.log_softmax, lambda x: torch.log_softmax(x, -1)),
        "swiglu": (lambda x: kernels.swiglu(x, x), lambda x: functional.silu(x) * x),
        "geglu": (kernels.geglu, lambda x: functional.gelu(x[..., : columns // 2], approximate="tanh") * x[..., columns // 2 :]),
        "mean": (lambda x: kernels.cross_entropy(x, target), of_losses),
        "sum": (lambda x: kernels.cross_entropy(x, target, reduction="sum", label_smoothing=0.1),
                lambda x: of_losses(x, reduction="sum", label_smoothing=0.1)),
        "none": (lambda x: kernels.cross_entropy(x, target, reduction="none"),
                 lambda x: of_losses(x, reduction="none").view(target.shape)),
    }[name]  # fmt: skip
    found, value = torch.func.grad_and_value(lambda x: torch.sin(own(x)).sum())(apart)
    wanted, expected = torch.func.grad_and_value(lambda x: torch.sin(peer(x)).sum())(apart)
    torch.testing.assert_close((found, value), (wanted, expected), rtol=1e-4, atol=2e-5)
