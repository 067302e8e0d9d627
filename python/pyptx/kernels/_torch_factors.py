"""How the factors of a product lie in memory, of torch tensors: where they are read, and what is copied first. And the calls like
earlier ones, which do not ask that again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from ._known import PLAIN, Way, plainly
from ._torch_launch import _is_compiling, _place

_FARTHEST = 1 << 39  # bytes from a row to the next, or a matrix; a descriptor takes less than 2^40
_MOST_READY = 4096  # of a program whose sizes never end


class Factor(NamedTuple):
    """A matrix, or several, as rows of memory."""

    tensor: Any  # [.., rows, columns]; of rows that lie apart the memory from the first element to the last
    transposed: bool  # whether those rows are the columns of what was given
    apart: tuple[int, ...] = ()  # rows, columns, elements from a row to the next; of several their number and how far they are

    def contiguous(self) -> Factor:
        """The same without gaps."""
        if not self.apart:
            return self
        rows, columns, stride, *more = self.apart
        shape, strides = ((more[0], rows, columns), (more[1], stride, 1)) if more else ((rows, columns), (stride, 1))
        return Factor(self.tensor.as_strided(shape, strides).contiguous(), self.transposed)


def factor_of(x: Any, several: bool = False) -> Factor:
    """A matrix of the last dimension's rows, or `several`, of the last two dimensions; copied where a kernel cannot read it."""
    if _is_compiling():
        return _traced_factor(x, several)
    shape = (-1, *x.shape[-2:]) if several else (-1, x.shape[-1])
    if x.dim() != len(shape):
        try:
            x = x.view(shape)
        except RuntimeError:  # no one distance leads from each to the next
            x = x.reshape(shape) if x.numel() else x.contiguous().view(*_counted(x, several))
    across = x.mT
    for rows, transposed in ((x, False), (across, True)):
        if rows.is_contiguous():
            return Factor(_as_usual(rows), transposed)
    for rows, transposed in ((x, False), (across, True)):
        apart = _distances(rows)
        if apart:
            return Factor(rows.as_strided((_length(apart),), (1,)), transposed, apart)
    return Factor(x.contiguous(), False)


def _as_usual(x: Any) -> Any:
    """With the strides that a tensor without gaps has elsewhere, too: of one row they may be any."""
    usual, stride = [], 1
    for size in reversed(x.shape):
        usual.append(stride)
        stride *= size
    usual.reverse()
    return x if type(x) not in PLAIN or not x.numel() or list(x.stride()) == usual else x.as_strided(x.shape, usual)


def _counted(x: Any, several: bool) -> tuple[int, ...]:
    kept = 2 if several else 1
    outer = 1
    for size in x.shape[:-kept]:
        outer *= size
    return (outer, *x.shape[-kept:])


def _traced_factor(x: Any, several: bool) -> Factor:
    if x.is_contiguous():
        rows, transposed = x, False
    else:
        across = x.mT
        rows, transposed = (across, True) if across.is_contiguous() else (x.contiguous(), False)
    if several:
        return Factor(rows.flatten(0, -3), transposed)
    if rows.dim() > 2 and transposed:
        rows, transposed = x.contiguous(), False
    return Factor(rows.flatten(0, -2), transposed)


def _distances(x: Any) -> tuple[int, ...]:
    """`Factor.apart` of a matrix, or of several, if TMA reads it where it lies: elements of a row side by side, all else
    multiples of 16 bytes. Else nothing."""
    (*outer, rows, columns), (*between, stride, inner), size = x.shape, x.stride(), x.element_size()
    if type(x) not in PLAIN or not x.numel() or (inner != 1 and columns > 1) or _place(x) & 15:
        return ()
    if rows == 1:  # how far the next would be nobody says
        stride = -(-columns * size // 16) * 16 // size
    more: tuple[int, ...] = ()
    if outer:
        more = (outer[0], between[0] if outer[0] > 1 else rows * stride)
    for distance in (stride, *more[1:]):
        if distance * size % 16 or not 0 < distance * size < _FARTHEST:
            return ()
    return () if stride < columns else (rows, columns, stride, *more)


def _length(apart: tuple[int, ...]) -> int:
    rows, columns, stride, *more = apart
    return (rows - 1) * stride + columns + ((more[0] - 1) * more[1] if more else 0)


def aligned(x: Any) -> Any:
    """Where a copy may begin."""
    return x.clone() if _place(x) & 15 else x


Ready = dict[Any, tuple[Any, Any, tuple[Way, ...], "tuple[int, ...] | None"]]


def keep(ready: Ready, key: Any, bound: tuple[Any, Any], given: Sequence[Any], taken: Sequence[Any], shape: Any) -> None:
    """Has `again` know calls with this key: a key says shapes, strides and types of all that is given. Not where one of the
    tensors had to be copied. `shape` is the result's, if it is not the kernel's own."""
    if torch._C._are_functorch_transforms_active():  # where nothing says where it lies
        return
    ways: list[Way] = []
    for x, y in zip(given, taken, strict=True):
        if type(x) not in PLAIN or type(y) not in PLAIN or not x.numel() or _place(x) != _place(y):
            return
        as_it_is = x.shape == y.shape and x.stride() == y.stride()
        ways.append(None if as_it_is else (tuple(y.shape), tuple(y.stride())))
    if len(ready) > _MOST_READY:
        ready.clear()
    ready[key] = (*bound, tuple(ways), shape)


def again(
    ready: Ready, key: Any, tensors: Sequence[Any], out: Any = None, differentiated: Callable[..., Any] | None = None
) -> Any:
    """A call like an earlier one, of plain tensors, 16 bytes aligned; None where it is not. `out` is of a shape, strides and type
    that the key says, and is the result. Where a gradient is needed, `differentiated` is called with the key and the tensors."""
    try:
        known = ready.get(key)
    except TypeError:  # sizes that torch.export leaves open: the checks behind this say so
        return None
    if known is None:
        return None
    if out is None and (result := known[0].again(known[1], known[2], *tensors)) is not None:
        return result if known[3] is None else result.view(known[3])
    if (needs_gradient := plainly(tensors if out is None else (*tensors, out), False)) is None:
        return None
    if out is not None and out.requires_grad:
        return None
    if needs_gradient and torch.is_grad_enabled():
        if differentiated is None or torch._C._are_functorch_transforms_active():
            return None
        return differentiated(key, tensors)
    plan, packed, ways, shape = known
    taken = [x if way is None else x.as_strided(*way) for x, way in zip(tensors, ways)]  # noqa: B905
    if out is not None:
        plan(*taken, scalars=packed, out=out)
        return out
    result = plan(*taken, scalars=packed)
    return result if shape is None else result.view(shape)
