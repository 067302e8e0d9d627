"""What a kernel expects of its tensors: `Tile`, `Layout`, and how symbolic dimensions are bound."""

from __future__ import annotations

from typing import TypeAlias, Union

from . import _ptx
from ._ptx import Layout, Tile

Dim: TypeAlias = Union[int, str]  # noqa: UP007  of `typing`, with what its unions can: `copy_with`
"""A size, or the name of one that is bound at the call."""


def unify_envs(envs: list[dict[str, int]]) -> dict[str, int]:
    """The sizes of all of them, by name; ValueError when a name has two."""
    return _ptx.unify_envs(envs)


__all__ = ["Dim", "Layout", "Tile", "unify_envs"]
