"""Nodes as text: what `pyptx.ir.writing` has for users."""

from __future__ import annotations

from .._own_words import show_as_of
from ..ir.writing import emit

__all__ = ["emit"]

show_as_of(__name__, emit)
