"""The instruction table as data."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _ptx
from .._own_words import speak_in_own_words

__all__ = ["INSTRUCTIONS", "InstructionSpec", "ModifierGroup", "get_specs", "register_overload"]


@dataclass(frozen=True)
class ModifierGroup:
    """Modifiers of which one may stand at a place, or must."""

    name: str
    options: tuple[str, ...]
    required: bool = False


@dataclass(frozen=True)
class InstructionSpec:
    """One row: what may follow an opcode."""

    opcode: str
    modifier_groups: tuple[ModifierGroup, ...] = ()
    operand_pattern: str = ""
    min_operands: int = 0
    max_operands: int = 0
    description: str = ""
    since_version: tuple[int, int] = (1, 0)
    arch: str | None = None


def _read(opcode: str) -> list[InstructionSpec]:
    """The rows of an opcode."""
    return [
        InstructionSpec(opcode, tuple(ModifierGroup(*slot) for slot in slots), pattern, least, most, description, since, arch)
        for pattern, slots, least, most, description, since, arch in _ptx.instruction_forms(opcode)
    ]


_rows = {opcode: _read(opcode) for opcode in _ptx.opcodes()}
INSTRUCTIONS = {opcode: rows[0] for opcode, rows in _rows.items()}
"""By opcode, the first of its rows; `get_specs` has all."""
overloads: dict[str, list[InstructionSpec]] = {}  # what `register_overload` added


def get_specs(opcode: str) -> list[InstructionSpec]:
    """Every row of an opcode, and what `register_overload` added."""
    return [*_rows.get(opcode, ()), *overloads.get(opcode, ())]


def register_overload(spec: InstructionSpec) -> None:
    """A form that `validate_instruction` takes besides the table's. The core, which writes instructions, does not know it."""
    overloads.setdefault(spec.opcode, []).append(spec)


speak_in_own_words(globals(), "get_specs", "register_overload")
