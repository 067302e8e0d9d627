"""Products of torch tensors whose rows, or matrices, lie apart: they are read where they lie, and nothing between them is."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pyptx import executor, kernels

torch: Any = pytest.importorskip("torch")
dispatch: Any = pytest.importorskip("torch.utils._python_dispatch")


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    torch.manual_seed(0)
    with executor.checking() as findings:
        yield
    assert not findings


class Operations(dispatch.TorchDispatchMode):  # type: ignore[misc]
    """The names of what torch does itself."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(function.overloadpacket.__name__)
        return function(*args, **(kwargs or {}))


VIEWS = {
    "launch", "launch_", "as_strided", "view", "transpose", "detach", "alias", "empty", "reshape", "_unsafe_view", "expand",
    "unsqueeze", "t",
}  # fmt: skip


def apart(view: Callable[[Any], Any], *shape: int, dtype: Any = torch.bfloat16) -> Any:
    """A view of a tensor that has NaN elsewhere."""
    whole = torch.full(shape, float("nan"), dtype=torch.bfloat16)
    view(whole).copy_(torch.randn(view(whole).shape))
    return view(whole.to(dtype))


def holds(call: Callable[..., Any], expected: Any, *tensors: Any, copies: bool = False) -> None:
    for _ in range(2):  # the second time, as a call like an earlier one
        with Operations() as done:
            own = call(*tensors)
        assert copies or done.names <= VIEWS, done.names
        assert float((own.double() - expected).abs().max()) < 8e-3 * float(expected.abs().max())


LEFT = {
    "columns of a wider one": lambda: apart(lambda x: x[:, 8:80], 20, 200),
    "every second row": lambda: apart(lambda x: x[::2], 40, 72),
    "an odd number of columns": lambda: apart(lambda x: x[:, :67], 20, 72),
    "of a transposed one": lambda: apart(lambda x: x[:, :20], 72, 40).mT,
    "one row": lambda: apart(lambda x: x[3:4, :72], 8, 104),
    "in two dimensions": lambda: apart(lambda x: x[..., :72], 4, 5, 80),
    "in groups": lambda: apart(lambda x: x[:, 1:, :], 4, 6, 72),
    "not aligned": lambda: apart(lambda x: x[:, 1:73], 20, 80),
    "at odd distances": lambda: apart(lambda x: x[:, :72], 20, 75),
    "every second column": lambda: apart(lambda x: x[:, ::2], 20, 144),
    "the same row": lambda: apart(lambda x: x[:1], 1, 72).expand(20, 72),
}
COPIED = ("in groups", "not aligned", "at odd distances", "every second column", "the same row")


@pytest.mark.parametrize("name", LEFT)
@pytest.mark.parametrize("right", ["as it is", "apart", "apart and transposed"])
def test_factors(name: str, right: str) -> None:
    a = LEFT[name]()
    k = a.shape[-1]
    b = {
        "as it is": lambda: torch.randn(k, 48).bfloat16(),
        "apart": lambda: apart(lambda x: x[:, :45], k, 56),
        "apart and transposed": lambda: apart(lambda x: x[:, :k], 45, 80).mT,
    }[right]()
    holds(kernels.matmul, a.double() @ b.double(), a, b, copies=name in COPIED)


def test_of_rows_that_are_padded() -> None:
    """One factor has gaps and the other rows that TMA cannot read: both are read to as many elements."""
    a, w = apart(lambda x: x[:, :67], 20, 72), torch.randn(40, 67).bfloat16()
    holds(lambda a, w: kernels.matmul(a, w.mT), a.double() @ w.double().mT, a, w, copies=True)
    holds(lambda a, w: kernels.matmul(w, a.mT), w.double() @ a.double().mT, a, w, copies=True)


def test_batches() -> None:
    qkv = apart(lambda x: x[:, :, :2], 3, 10, 3, 64)
    q, k = qkv[:, :, 0], qkv[:, :, 1]
    holds(lambda q, k: kernels.matmul(q, k.mT), q.double() @ k.double().mT, q, k)
    by_head, other = (apart(lambda x: x, 10, 3, 64).transpose(0, 1) for _ in range(2))  # rows lie further apart than matrices
    holds(lambda q, k: kernels.matmul(q, k.mT, alpha=0.5), 0.5 * by_head.double() @ other.double().mT, by_head, other)
    holds(lambda q, k: kernels.matmul(q.mT, k), by_head.double().mT @ other.double(), by_head, other)


def test_epilogues() -> None:
    a, w = apart(lambda x: x[:, :64], 24, 104), apart(lambda x: x[:, :64], 48, 72)
    bias, residual = torch.randn(48).bfloat16(), torch.randn(24, 48).bfloat16()
    y = a.double() @ w.double().mT
    holds(lambda a, w: kernels.matmul(a, w.mT, bias=bias, activation="relu", residual=residual),
          (y + bias.double()).relu() + residual.double(), a, w)  # fmt: skip
    gate, up = y.chunk(2, -1)
    holds(lambda a, w: kernels.gated_matmul(a, w.mT), torch.nn.functional.silu(gate) * up, a, w)
    own, wanted = (torch.full((24, 48), float("nan"), dtype=torch.bfloat16) for _ in range(2))
    wanted.copy_(y)
    with Operations() as done:
        kernels.matmul(a, w.mT, out=own)
    assert done.names <= VIEWS
    torch.testing.assert_close(own, wanted, rtol=1e-2, atol=1e-2)


def test_gradients() -> None:
    whole, w = torch.randn(20, 200).bfloat16().requires_grad_(), torch.randn(40, 64).bfloat16().requires_grad_()
    dy = apart(lambda x: x[:, :40], 20, 64)
    own = torch.autograd.grad(kernels.matmul(whole[:, 8:72], w.mT), (whole, w), dy)
    wanted = torch.autograd.grad(whole[:, 8:72].double() @ w.double().mT, (whole, w), dy.double())
    for one, other in zip(own, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-1)


@pytest.mark.parametrize("scaling", ["tensorwise", "rowwise", "blockwise"])
def test_of_8_bits(scaling: str) -> None:
    m, n, k = 16, 128, 256
    a, w = (apart(lambda x: x[:, :k], rows, k + 64, dtype=torch.float8_e4m3fn) for rows in (m, n))
    if scaling == "blockwise":
        scales = torch.rand(2, m).mT + 0.5, torch.rand(1, 2).mT + 0.5  # where torch has them
        wide = [scales[0].repeat_interleave(128, 1), scales[1].repeat_interleave(128, 0)]
    else:
        shapes = ((m, 1), (1, n)) if scaling == "rowwise" else ((), ())
        scales = tuple(torch.rand(shape) + 0.5 for shape in shapes)
        wide = list(scales)
    expected = (a.double() * wide[0].double()) @ (w.double().mT * wide[1].double())
    holds(lambda a, w: kernels.scaled_matmul(a, w.mT, *scales, out_dtype=torch.float16), expected, a, w)
    plain = [x.contiguous() for x in (a, w)]
    holds(lambda a, w: kernels.scaled_matmul(a, w.mT, *scales, out_dtype=torch.float16), expected, *plain)


def test_groups() -> None:
    a, w = apart(lambda x: x[:, :64], 20, 100), apart(lambda x: x[:, :, :64], 3, 48, 72)
    ends = torch.tensor([7, 7, 20], dtype=torch.int32)
    expected = torch.cat([a[:7].double() @ w[0].double().mT, a[7:].double() @ w[2].double().mT])
    holds(lambda a, w: kernels.grouped_matmul(a, w.mT, ends), expected, a, w, copies=True)  # rows are 200 bytes apart
    a = apart(lambda x: x[:, :64], 20, 104)
    expected = torch.cat([a[:7].double() @ w[0].double().mT, a[7:].double() @ w[2].double().mT])
    holds(lambda a, w: kernels.grouped_matmul(a, w.mT, ends), expected, a, w)
    b = apart(lambda x: x[:, :, :45], 3, 64, 48)
    expected = torch.cat([a[:7].double() @ b[0].double(), a[7:].double() @ b[2].double()])
    holds(lambda a, b: kernels.grouped_matmul(a, b, ends), expected, a, b)
