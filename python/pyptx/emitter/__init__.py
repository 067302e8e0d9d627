"""Nodes as text: `emit(module)`."""

from .emitter import emit

__all__ = ["emit"]
