"""The kernel library with torch tensors: eager, compiled, differentiated, of tensors with gaps."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pyptx import PtxRuntimeError, PtxTypeError, PtxValueError, executor, kernels

torch: Any = pytest.importorskip("torch")
dynamo_testing: Any = pytest.importorskip("torch._dynamo.testing")
functional = torch.nn.functional


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    torch.manual_seed(0)
    torch._dynamo.reset()
    with executor.checking() as findings:
        yield
    assert not findings


def close(own: Any, expected: Any, tolerance: float = 2e-5) -> None:
    assert own.shape == expected.shape and own.dtype == expected.dtype
    assert torch.allclose(own.double(), expected.double(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_means_what_torch_does(dtype: str) -> None:
    kind, tolerance = getattr(torch, dtype), {"float32": 2e-5, "float16": 4e-3, "bfloat16": 4e-2}[dtype]
    x, w, b = (torch.randn(shape, dtype=kind) for shape in ((2, 5, 96), (96,), (96,)))
    for _ in range(2):  # the second time, as a call like an earlier one
        close(kernels.rms_norm(x, w, eps=1e-6), functional.rms_norm(x, (96,), w, 1e-6), tolerance)
        close(kernels.layer_norm(x[0], w, b), functional.layer_norm(x[0], (96,), w, b), tolerance)
        close(kernels.softmax(x[0]), x[0].softmax(-1), tolerance)
        close(kernels.log_softmax(x), x.log_softmax(-1), tolerance)
        close(kernels.swiglu(x[0], x[1]), functional.silu(x[0]) * x[1], tolerance)
        close(kernels.geglu(x), functional.gelu(x[..., :48], approximate="tanh") * x[..., 48:], tolerance)


def test_calls_like_earlier_ones_see_what_differs() -> None:
    x, w = torch.randn(4, 64), torch.randn(64)
    kernels.rms_norm(x, w)
    close(kernels.rms_norm(x, w, eps=1.0), functional.rms_norm(x, (64,), w, 1.0))
    close(kernels.rms_norm(x), functional.rms_norm(x, (64,), None, 1e-6))
    apart = torch.randn(4, 80)[:, 3:67]
    close(kernels.rms_norm(apart, w), functional.rms_norm(apart, (64,), w, 1e-6))
    shifted = torch.randn(4 * 64 + 1)[1:].view(4, 64)  # 4 bytes aligned
    close(kernels.rms_norm(shifted, w), functional.rms_norm(shifted, (64,), w, 1e-6))
    for rows in range(1, 20):  # each number of rows is its own, where a matrix is gone through as one row
        a, b = torch.randn(rows, 3), torch.randn(rows, 3)
        close(kernels.swiglu(a, b), functional.silu(a) * b)
    with pytest.raises(PtxValueError):
        kernels.rms_norm(x, w[:32])


@pytest.mark.parametrize("shape", [(2, 5, 64), (2, 1, 3, 64), (64,), (0, 5, 64)])
def test_arrays_that_are_no_matrices(shape: tuple[int, ...]) -> None:
    """From the third call on they are taken as they are."""
    w, b = torch.randn(64), torch.randn(64)
    for _ in range(4):
        x, y = torch.randn(shape), torch.randn(shape)
        close(kernels.rms_norm(x, w), functional.rms_norm(x, (64,), w, 1e-6))
        close(kernels.layer_norm(x, w, b), functional.layer_norm(x, (64,), w, b))
        norm, total = kernels.rms_norm(x, w, residual=y)
        close(total, x + y)
        close(norm, functional.rms_norm(x + y, (64,), w, 1e-6))
        close(kernels.softmax(x), x.softmax(-1))
        close(kernels.swiglu(x, y), functional.silu(x) * y)
        if len(shape) > 1:
            across = torch.randn(*shape[:-2], 64, shape[-2]).mT  # not in one piece
            close(kernels.softmax(across.contiguous()), across.softmax(-1))


@pytest.mark.parametrize("outer", [(8,), (2, 4), (300,)])
@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_losses_like_earlier_ones(outer: tuple[int, ...], kind: str) -> None:
    for turn in range(4):
        x, target = torch.randn(*outer, 64), torch.randint(0, 64, outer).to(getattr(torch, kind))
        target.view(-1)[1 : 1 + turn] = 7
        for reduction in ("mean", "sum", "none"):
            own = kernels.cross_entropy(x, target, ignore_index=7, reduction=reduction)
            expected = functional.cross_entropy(x.view(-1, 64), target.view(-1).long(), ignore_index=7, reduction=reduction)
            close(own.reshape(-1), expected.reshape(-1), 1e-4)
    assert kernels.cross_entropy(x, torch.full_like(target, 7), ignore_index=7).isnan()
    same = torch.zeros(1, dtype=target.dtype).expand(outer)
    own = kernels.cross_entropy(x.requires_grad_(), same)
    expected = functional.cross_entropy(x.view(-1, 64), same.reshape(-1).long())
    close(gradients(own, (x,))[0], gradients(expected, (x,))[0])
    with pytest.raises(PtxValueError):
        kernels.cross_entropy(x, target[:1], ignore_index=7)


def test_rows_that_lie_apart() -> None:
    x = torch.randn(6, 3, 200)
    for view in (x[:, 0, 8:108], x[:, :, :96], x[::2, 0, 1:100], x[:1, :1, :7], x[0, :, :50].expand(3, 50)):
        close(kernels.softmax(view), view.softmax(-1))
        close(kernels.layer_norm(view), functional.layer_norm(view, view.shape[-1:]))
        close(kernels.swiglu(view, view.contiguous()), functional.silu(view) * view)
    close(kernels.swiglu(x[..., :100]), functional.silu(x[..., :50]) * x[..., 50:100])
    close(kernels.softmax(x[0, 0]), x[0, 0].softmax(-1))
    assert kernels.softmax(x[:0]).shape == (0, 3, 200)


def test_rows_in_groups_that_lie_apart() -> None:
    x = torch.randn(3, 2, 7, 200)
    for view in (x[:, :, 1:, 8:108], x[:, 0, :5], x[:, :, ::2, :99], x[1:, :, 2:, :96].transpose(0, 1)[:1]):
        close(kernels.softmax(view), view.softmax(-1))
        close(kernels.rms_norm(view, residual=view)[0], functional.rms_norm(2 * view, view.shape[-1:], None, 1e-6))
        close(kernels.swiglu(view, view.contiguous()), functional.silu(view) * view)


@pytest.mark.parametrize("columns", [96, 1500])
def test_gradients_of_rows_in_groups(columns: int) -> None:
    x, w = torch.randn(3, 5, columns + 4, requires_grad=True), torch.randn(columns, requires_grad=True)
    target = torch.randint(0, columns, (3, 4))

    def apart() -> Any:
        return x[:, 1:, :columns]

    for own, expected in (
        (lambda: kernels.rms_norm(apart(), w), lambda: functional.rms_norm(apart(), (columns,), w, 1e-6)),
        (lambda: kernels.layer_norm(apart(), w), lambda: functional.layer_norm(apart(), (columns,), w)),
        (lambda: kernels.softmax(apart()), lambda: apart().softmax(-1)),
        (lambda: kernels.swiglu(apart()), lambda: functional.silu(apart()[..., : columns // 2]) * apart()[..., columns // 2 :]),
        (
            lambda: kernels.cross_entropy(apart(), target, reduction="none"),
            lambda: functional.cross_entropy(apart().flatten(0, 1), target.flatten(), reduction="none").view(3, 4),
        ),
    ):
        close(own().detach(), expected().detach(), 1e-4)
        inputs = [each for each in (x, w) if torch.autograd.grad(own().sum(), each, allow_unused=True)[0] is not None]
        for a, b in zip(gradients(own().square().sum(), inputs), gradients(expected().square().sum(), inputs), strict=True):
            close(a, b, 5e-4 * max(1.0, float(b.abs().max())))
    losses, of_logits = kernels.cross_entropy_and_gradient(apart(), target, reduction="sum")
    close(losses, functional.cross_entropy(apart().flatten(0, 1), target.flatten(), reduction="sum").detach(), 1e-4)
    assert of_logits.shape == (3, 4, columns)


def test_torch_func_differentiates() -> None:
    x, w, b = torch.randn(6, 64), torch.randn(64), torch.randn(64)
    target = torch.randint(0, 64, (6,))
    left, right = torch.randn(6, 64).bfloat16(), torch.randn(32, 64).bfloat16()
    offsets, groups = torch.tensor([2, 6], dtype=torch.int32), torch.randn(2, 64, 32).bfloat16()
    cases: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...], float]] = [
        (kernels.rms_norm, lambda x, w: functional.rms_norm(x, (64,), w, 1e-6), (x, w), 1e-4),
        (kernels.layer_norm, lambda x, w, b: functional.layer_norm(x, (64,), w, b), (x, w, b), 1e-4),
        (kernels.softmax, lambda x: x.softmax(-1), (x,), 1e-4),
        (kernels.log_softmax, lambda x: x.log_softmax(-1), (x,), 1e-4),
        (kernels.swiglu, lambda x: functional.silu(x[:, :32]) * x[:, 32:], (x,), 1e-4),
        (kernels.geglu, lambda x: functional.gelu(x[:, :32], approximate="tanh") * x[:, 32:], (x,), 1e-4),
        (lambda x: kernels.cross_entropy(x, target), lambda x: functional.cross_entropy(x, target), (x,), 1e-4),
        (lambda a, b: kernels.matmul(a, b.mT), lambda a, b: a @ b.mT, (left, right), 3e-2),
        (lambda a, b: kernels.matmul(a, b.mT, activation="silu"), lambda a, b: functional.silu(a @ b.mT), (left, right), 3e-2),
        (
            lambda a, b: kernels.grouped_matmul(a, b, offsets),
            lambda a, b: torch.cat([a[:2] @ b[0], a[2:] @ b[1]]),
            (left, groups),
            3e-2,
        ),
        (
            lambda a, b: kernels.linear_cross_entropy(a, b, target % 32),
            lambda a, b: functional.cross_entropy((a @ b.mT).float(), target % 32),
            (left, right),
            3e-2,
        ),
        (
            lambda a, b: kernels.linear_cross_entropy(a, b, target % 32, reduction="none"),
            lambda a, b: functional.cross_entropy((a @ b.mT).float(), target % 32, reduction="none"),
            (left, right),
            3e-2,
        ),
    ]
    for own, expected, inputs, tolerance in cases:
        places = tuple(range(len(inputs)))
        mine, value = torch.func.grad_and_value(lambda *x, f=own: f(*x).float().square().sum(), places)(*inputs)
        theirs, wanted = torch.func.grad_and_value(lambda *x, f=expected: f(*x).float().square().sum(), places)(*inputs)
        close(value, wanted, tolerance * max(1.0, float(wanted.abs())))
        for a, c in zip(mine, theirs, strict=True):
            close(a, c, tolerance * max(1.0, float(c.abs().max())))
        _, pull = torch.func.vjp(own, *inputs)
        assert [each.shape for each in pull(torch.ones_like(own(*inputs)))] == [x.shape for x in inputs]


@pytest.mark.parametrize("function", [kernels.rms_norm, kernels.softmax, kernels.swiglu])
def test_second_derivatives_are_refused_where_they_are_asked_for(function: Callable[..., Any]) -> None:
    x = torch.randn(4, 64, requires_grad=True)
    (first,) = torch.autograd.grad(function(x).square().sum(), x, create_graph=True)
    with pytest.raises(PtxRuntimeError, match="a gradient of a gradient"):
        first.sum().backward()
    with pytest.raises(PtxRuntimeError, match="a gradient of a gradient"):
        torch.func.grad(lambda x: torch.func.grad(lambda x: function(x).square().sum())(x).sum())(x.detach())


def gradients(loss: Any, inputs: Any) -> Any:
    return torch.autograd.grad(loss, inputs)


@pytest.mark.parametrize("columns", [1, 24, 33, 1000, 4097])
@pytest.mark.parametrize("rows", [1, 37])
def test_gradients(rows: int, columns: int) -> None:
    x, r, u = (torch.randn(rows, columns, requires_grad=True) for _ in range(3))
    w, b = (torch.randn(columns, requires_grad=True) for _ in range(2))
    g = torch.randn(rows, columns)
    shape, tolerance = (columns,), 5e-4

    def both(own: Callable[[], Any], expected: Callable[[], Any], *inputs: Any) -> None:
        mine = gradients((own() * g).sum(), inputs)
        for a, c in zip(mine, gradients((expected() * g).sum(), inputs), strict=True):
            close(a, c, tolerance * max(1.0, float(c.abs().max())))

    both(lambda: kernels.rms_norm(x, w, offset=1.0), lambda: functional.rms_norm(x, shape, w + 1, 1e-6), x, w)
    both(lambda: kernels.rms_norm(x), lambda: functional.rms_norm(x, shape, None, 1e-6), x)
    both(lambda: kernels.layer_norm(x, w, b), lambda: functional.layer_norm(x, shape, w, b), x, w, b)
    both(lambda: kernels.layer_norm(x, None, b), lambda: functional.layer_norm(x, shape, None, b), x, b)
    both(lambda: kernels.softmax(x), lambda: x.softmax(-1), x)
    both(lambda: kernels.log_softmax(x), lambda: x.log_softmax(-1), x)
    both(lambda: kernels.swiglu(x, u), lambda: functional.silu(x) * u, x, u)
    both(lambda: kernels.geglu(x, u), lambda: functional.gelu(x, approximate="tanh") * u, x, u)

    def with_residual() -> Any:
        y, total = kernels.rms_norm(x, w, residual=r)
        return y + total.square()

    both(with_residual, lambda: functional.rms_norm(x + r, shape, w, 1e-6) + (x + r).square(), x, w, r)


@pytest.mark.parametrize("operation", ["rms_norm", "layer_norm"])
@pytest.mark.parametrize("columns", [131_072, 262_144, 200_001])
def test_gradients_of_the_longest_rows(operation: str, columns: int) -> None:
    x, w, b = (torch.randn(*shape, requires_grad=True) for shape in ((3, columns), (columns,), (columns,)))
    g = torch.randn(3, columns)
    if operation == "rms_norm":
        inputs, own, expected = (x, w), kernels.rms_norm(x, w), functional.rms_norm(x, (columns,), w, 1e-6)
    else:
        inputs, own, expected = (x, w, b), kernels.layer_norm(x, w, b), functional.layer_norm(x, (columns,), w, b)
    for a, c in zip(gradients((own * g).sum(), inputs), gradients((expected * g).sum(), inputs), strict=True):
        close(a, c, 5e-4 * max(1.0, float(c.abs().max())))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(reduction: str) -> None:
    x = torch.randn(2, 4, 50, requires_grad=True)
    target = torch.randint(0, 50, (2, 4))
    target[0, 1] = -100
    own = kernels.cross_entropy(x, target, label_smoothing=0.1, reduction=reduction)
    expected = functional.cross_entropy(x.view(8, 50), target.view(8), label_smoothing=0.1, reduction=reduction)
    close(own.reshape(-1), expected.reshape(-1))
    close(gradients(own.square().sum(), (x,))[0], gradients(expected.square().sum(), (x,))[0])
    loss, gradient = kernels.cross_entropy_and_gradient(x, target, reduction=reduction)
    expected = functional.cross_entropy(x.view(8, 50), target.view(8), reduction=reduction)
    close(loss.reshape(-1), expected.reshape(-1))
    close(gradient, gradients(expected.sum(), (x,))[0])


def test_norms_feed_products_of_8_bits() -> None:
    x, w, b = torch.randn(3, 20, 64).bfloat16(), torch.randn(64).bfloat16(), torch.randn(48, 64)
    factor = b.abs().amax(1, keepdim=True) / 448
    weight = (b / factor).to(torch.float8_e4m3fn)

    def net(x: Any) -> Any:
        y, scale = kernels.rms_norm(x, w, out_dtype=torch.float8_e4m3fn)
        return kernels.scaled_matmul(y.view(60, 64), weight.mT, scale.view(60, 1), factor.view(1, 48))

    expected = functional.rms_norm(x.float(), (64,), w.float(), 1e-6).view(60, 64) @ b.mT
    for own in (net(x), torch.compile(net, fullgraph=True, backend="aot_eager")(x)):
        assert float((own.float() - expected).abs().max() / expected.abs().max()) < 5e-2
    with pytest.raises(PtxRuntimeError, match="has no backward"):
        kernels.rms_norm(x.requires_grad_(), w, out_dtype=torch.float8_e4m3fn)


@pytest.mark.parametrize("is_packed", [False, True])
def test_gated_products_feed_products_of_8_bits(is_packed: bool) -> None:
    gate, up, b = torch.randn(3, 20, 64).bfloat16(), torch.randn(3, 20, 64).bfloat16(), torch.randn(48, 64)
    factor, given = b.abs().amax(1, keepdim=True) / 448, torch.tensor(0.05)
    weight = (b / factor).to(torch.float8_e4m3fn)
    arguments = (torch.cat([gate, up], -1),) if is_packed else (gate, up)

    def net(*x: Any) -> Any:
        y, scale = kernels.swiglu(*x, out_dtype=torch.float8_e4m3fn)
        return kernels.scaled_matmul(y.view(60, 64), weight.mT, scale.view(60, 1), factor.view(1, 48))

    def by_given(*x: Any) -> Any:
        return kernels.swiglu(*x, out_dtype=torch.float8_e4m3fn, scale=given)

    wanted = functional.silu(gate.float()) * up.float()
    expected = wanted.view(60, 64) @ b.mT
    for own in (net(*arguments), torch.compile(net, fullgraph=True, backend="aot_eager")(*arguments)):
        assert float((own.float() - expected).abs().max() / expected.abs().max()) < 5e-2
    for own in (by_given(*arguments), torch.compile(by_given, fullgraph=True, backend="aot_eager")(*arguments)):
        assert own.dtype == torch.float8_e4m3fn and own.shape == gate.shape
        assert float((own.float() * given - wanted).abs().max() / wanted.abs().max()) < 4e-2
    wide = torch.randn(20, 200).bfloat16()
    y, scale = kernels.geglu(wide[:, :96], wide[:, 100:196], out_dtype=torch.float8_e4m3fn)  # rows lie apart
    wanted = functional.gelu(wide[:, :96].float(), approximate="tanh") * wide[:, 100:196].float()
    assert float((y.float() * scale - wanted).abs().max() / wanted.abs().max()) < 4e-2
    with pytest.raises(PtxRuntimeError, match="has no backward"):
        kernels.swiglu(gate.requires_grad_(), up, out_dtype=torch.float8_e4m3fn)


def test_a_process_compiles_its_first_calls_once() -> None:
    code = """
import torch
from torch._dynamo.testing import CompileCounter
from pyptx import kernels
x, w = torch.randn(16, 64).bfloat16(), torch.randn(32, 64).bfloat16()
for function in (lambda x, w: kernels.matmul(x, w.mT), lambda x, w: kernels.softmax(x)):
    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter)
    for call in (compiled, compiled, function, compiled):
        call(x, w)
    print(counter.frame_count)
"""
    environment = os.environ | {"PYTHONPATH": str(Path(kernels.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1"]


@pytest.mark.parametrize("name", ["rms_norm", "layer_norm", "cross_entropy"])
def test_compiled_once_where_nothing_is_known(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))  # torch keeps there what an earlier process has learnt
    w, target = torch.randn(64), torch.zeros(500, dtype=torch.int64)
    call = {
        "rms_norm": lambda x: kernels.rms_norm(x, w), "layer_norm": lambda x: kernels.layer_norm(x, w, w),
        "cross_entropy": lambda x: kernels.cross_entropy(x, target[: x.shape[0]]),
    }[name]  # fmt: skip
    call(torch.randn(2, 64))
    counter = dynamo_testing.CompileCounterWithBackend("inductor")
    compiled = torch.compile(call, backend=counter, fullgraph=True, dynamic=True)
    for rows in (130, 140, 300, 500):
        x = torch.randn(rows, 64)
        close(compiled(x), call(x))
    assert counter.frame_count == 1


def test_one_graph_serves_every_number_of_rows() -> None:
    def net(x: Any, w: Any) -> Any:
        y = kernels.rms_norm(x, w)
        return kernels.softmax(kernels.swiglu(y, x)) + kernels.layer_norm(y, w, w)

    compiled = torch.compile(net, fullgraph=True, dynamic=True, backend="aot_eager")
    torch._dynamo.utils.counters.clear()
    w = torch.randn(64)
    for rows in (3, 7, 129):
        x = torch.randn(rows, 64)
        close(compiled(x, w), net(x, w))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_compiled_with_gradients() -> None:
    def loss(x: Any, w: Any, t: Any) -> Any:
        return kernels.cross_entropy(kernels.swiglu(kernels.rms_norm(x, w)), t) + kernels.softmax(x).square().sum()

    x, w, t = torch.randn(2, 3, 64, requires_grad=True), torch.randn(64, requires_grad=True), torch.randint(0, 32, (2, 3))
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    close(compiled(x, w, t), loss(x, w, t))
    for own, expected in zip(gradients(compiled(x, w, t), (x, w)), gradients(loss(x, w, t), (x, w)), strict=True):
        close(own, expected)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda x: kernels.softmax(x.double()), PtxTypeError, "what fits is float32, float16 or bfloat16"),
        (lambda x: kernels.softmax(x.t()), PtxValueError, "has stride 8"),
        (lambda x: kernels.softmax(torch.zeros(2, 3, 4, 8).transpose(0, 1)), PtxValueError, "no rows at equal distances"),
        (lambda x: kernels.rms_norm(x, torch.ones(9)), PtxValueError, "`weight` has shape (9,)"),
        (lambda x: kernels.softmax(torch.tensor(1.0)), PtxValueError, "one dimension or more"),
        (lambda x: kernels.cross_entropy(x, torch.zeros(4)), PtxTypeError, "what fits is int64"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(call: Callable[[Any], Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=re.escape(says)):
        call(torch.randn(4, 8))
