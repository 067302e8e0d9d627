"""The instruction table as data."""

from __future__ import annotations

from . import INSTRUCTIONS, InstructionSpec, ModifierGroup, get_specs, register_overload

__all__ = ["INSTRUCTIONS", "InstructionSpec", "ModifierGroup", "get_specs", "register_overload"]
