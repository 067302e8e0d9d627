"""What a kernel expects of its tensors: `Tile`, `Layout`, and how symbolic dimensions are bound."""

from __future__ import annotations

from typing import TypeAlias

from ._ptx import Layout, Tile, unify_envs

Dim: TypeAlias = int | str
"""A size, or the name of one that is bound at the call."""

__all__ = ["Dim", "Layout", "Tile", "unify_envs"]
