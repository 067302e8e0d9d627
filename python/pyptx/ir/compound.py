"""Groups of instructions that stand for one expression."""

from .nodes import CompoundExpr

__all__ = ["CompoundExpr"]
