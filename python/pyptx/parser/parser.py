"""Text as nodes: what `pyptx.ir.reading` has for users."""

from __future__ import annotations

from .._own_words import show_as_of
from ..ir.reading import ParseError, parse

__all__ = ["ParseError", "parse"]

show_as_of(__name__, ParseError, parse)
