"""The instruction table as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


class _Table(Mapping[str, InstructionSpec]):
    """By opcode, the first of its rows; `get_specs` has all. Read from the core when it is looked at."""

    def __init__(self) -> None:
        self._rows: dict[str, list[InstructionSpec]] = {}
        self._opcodes: list[str] | None = None

    def rows(self, opcode: str) -> list[InstructionSpec]:
        if opcode not in self._rows:
            self._rows[opcode] = _read(opcode)
        return self._rows[opcode]

    def __getitem__(self, opcode: str) -> InstructionSpec:
        rows = self.rows(opcode)
        if not rows:
            raise KeyError(opcode)
        return rows[0]

    def __iter__(self) -> Iterator[str]:
        if self._opcodes is None:
            self._opcodes = _ptx.opcodes()
        return iter(self._opcodes)

    def __len__(self) -> int:
        return sum(1 for _ in self)


INSTRUCTIONS: Mapping[str, InstructionSpec] = _Table()
overloads: dict[str, list[InstructionSpec]] = {}  # what `register_overload` added


def get_specs(opcode: str) -> list[InstructionSpec]:
    """Every row of an opcode, and what `register_overload` added."""
    assert isinstance(INSTRUCTIONS, _Table)
    return [*INSTRUCTIONS.rows(opcode), *overloads.get(opcode, ())]


def register_overload(spec: InstructionSpec) -> None:
    """A form that `validate_instruction` takes besides the table's. The core, which writes instructions, does not know it."""
    overloads.setdefault(spec.opcode, []).append(spec)


speak_in_own_words(globals(), "get_specs", "register_overload")
