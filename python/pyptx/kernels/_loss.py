"""What a cross-entropy is of, beside its tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _ptx
from . import _checks


class Loss(NamedTuple):
    """The scalars of the kernel, by their names."""

    ignore_index: int
    smoothing: float
    z_loss: float

    def words(self, gradient: bool, in_place: bool, int32: bool, given: bool = False) -> tuple[str, ...]:
        """What decides the kernel; `given`: the gradients of all losses are one number, times another one."""
        named = (("gradient", gradient), ("in_place", gradient and in_place), ("int32", int32), ("given", given))
        return tuple([name for name, there in named if there])


def loss_of(operation: str, ignore_index: Any, label_smoothing: Any, z_loss: Any) -> Loss:
    """The same of a call's arguments. TypeError for what is no number, ValueError for a smoothing that is none."""
    smoothing = _checks.number(operation, "label_smoothing", label_smoothing)
    if not 0 <= smoothing <= 1:
        _ptx.raise_error("argument_kind", f"`{operation}`: `label_smoothing` is {smoothing}", "what fits is 0 to 1")
    return Loss(int(ignore_index), smoothing, _checks.number(operation, "z_loss", z_loss))
