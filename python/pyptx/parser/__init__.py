"""Text as nodes: `parse(source)`."""

from .parser import ParseError, parse

__all__ = ["ParseError", "parse"]
