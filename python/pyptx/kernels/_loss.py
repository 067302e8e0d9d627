"""What a cross-entropy is of, beside its tensors."""

from __future__ import annotations

from typing import NamedTuple


class Loss(NamedTuple):
    """The scalars of the kernel, by their names."""

    ignore_index: int
    smoothing: float
    z_loss: float

    def words(self, gradient: bool, in_place: bool, int32: bool) -> tuple[str, ...]:
        """What decides the kernel."""
        named = (("gradient", gradient), ("in_place", gradient and in_place), ("int32", int32))
        return tuple([name for name, there in named if there])
