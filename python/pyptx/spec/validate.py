"""Whether an instruction of `pyptx.ir` fits the table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _ptx
from .._own_words import speak_in_own_words
from ..errors import PtxError
from . import ptx
from .ptx import INSTRUCTIONS, InstructionSpec

if TYPE_CHECKING:
    from ..ir import Instruction

__all__ = [
    "PtxValidationError", "UnvalidatedInstructionWarning", "ValidationError", "ValidationIssue", "is_strict", "set_strict",
    "strict", "validate_instruction", "validate_or_raise",
]  # fmt: skip


@dataclass(frozen=True)
class ValidationIssue:
    """What is wrong with an instruction; `severity` is ``error`` or ``warning``."""

    instruction: Any
    message: str
    severity: str = "error"


ValidationError = ValidationIssue


class UnvalidatedInstructionWarning(UserWarning):
    """An opcode that the table does not know was written unchecked."""


warnings.simplefilter("ignore", UnvalidatedInstructionWarning, append=True)


class PtxValidationError(PtxError, ValueError):
    """An instruction that no row fits: its text begins with the opcode and the modifiers."""

    def __init__(self, issues: Sequence[ValidationIssue], *, user_frame: Any = None) -> None:
        self.issues = list(issues)
        self.user_frame = user_frame
        self.where = _place(user_frame)
        self.kind, self.notes = "operand_mismatch", []
        self.message = "; ".join(issue.message for issue in self.issues)
        lines = [_spelled(self.issues[0].instruction) if self.issues else "no instruction"]
        lines += [f"  {issue.severity}: {issue.message}" for issue in self.issues]
        if self.where is not None:
            lines.append(f"  --> {self.where[0]}:{self.where[1]}")
        super().__init__("\n".join(lines))


def _place(frame: Any) -> tuple[str, int] | None:
    """File and line of a frame, a frame's summary or a pair."""
    if isinstance(frame, tuple) and len(frame) == 2:
        return frame
    file = getattr(frame, "filename", None) or getattr(getattr(frame, "f_code", None), "co_filename", None)
    line = getattr(frame, "lineno", None) or getattr(frame, "f_lineno", None)
    return (file, line) if file is not None and line is not None else None


def _spelled(instruction: Any) -> str:
    if isinstance(instruction, str):
        return instruction
    return str(instruction.opcode) + "".join(m if m.startswith(".") else f".{m}" for m in instruction.modifiers)


# ---- an instruction against the rows


def _against(instruction: Instruction, spec: InstructionSpec) -> list[str]:
    """What is wrong with an instruction by a spec alone: the words and the number of operands."""
    wrong = []
    left = [m if m.startswith(".") else f".{m}" for m in instruction.modifiers]
    for group in spec.modifier_groups:
        options = [option if option.startswith(".") else f".{option}" for option in group.options]
        found = next((word for word in left if word in options), None)
        if found is not None:
            left.remove(found)
        elif group.required:
            wrong.append(f"Missing required modifier: `{group.name}`, one of {', '.join(options)}")
    wrong += [f"Unrecognised modifier: `{word}`" for word in left]
    count = len(instruction.operands)
    takes = f"{spec.min_operands} to {spec.max_operands}"
    if count < spec.min_operands:
        wrong.append(f"Too few operands: `{spec.opcode}` takes {takes}, {count} given")
    if count > spec.max_operands:
        wrong.append(f"Too many operands: `{spec.opcode}` takes {takes}, {count} given")
    return wrong


def validate_instruction(
    instruction: Instruction, spec_table: Mapping[str, InstructionSpec] | None = None
) -> list[ValidationIssue]:
    """What is wrong with an instruction; empty when it fits. Of registers only the names are known: their types are not judged.

    With a `spec_table` of one's own, that is what it is held to.
    """
    if spec_table is not None and spec_table is not INSTRUCTIONS:
        spec = spec_table.get(instruction.opcode)
        if spec is None:
            return [ValidationIssue(instruction, f"Unknown opcode: `{instruction.opcode}`", "warning")]
        return [ValidationIssue(instruction, message) for message in _against(instruction, spec)]
    if any(not _against(instruction, spec) for spec in ptx.overloads.get(instruction.opcode, ())):
        return []
    wrong = _ptx.validate(instruction)
    if wrong is None:
        return []
    kind, message, _notes = wrong
    return [ValidationIssue(instruction, message, "warning" if kind == "unknown_opcode" else "error")]


def validate_or_raise(instruction: Instruction) -> None:
    """Raises `PtxValidationError` when an instruction does not fit, unless checks are off; an unknown opcode warns."""
    issues = validate_instruction(instruction)
    for issue in issues:
        if issue.severity == "warning":
            warnings.warn(f"{_spelled(instruction)}: {issue.message}", UnvalidatedInstructionWarning, stacklevel=2)
    errors = [issue for issue in issues if issue.severity == "error"]
    if errors and is_strict():
        raise PtxValidationError(errors)


# ---- the switch


def is_strict() -> bool:
    """Whether an instruction that no row fits is an error, here and now."""
    return _ptx.is_strict()


def set_strict(enabled: bool) -> None:
    """False: what no row fits is written as it stands. Such a kernel prints and assembles; the executor does not run it."""
    _ptx.set_strict(bool(enabled))


@contextmanager
def strict(enabled: bool = True) -> Iterator[None]:
    """The same for the block, on this thread."""
    before = _ptx.swap_strict(bool(enabled))
    try:
        yield
    finally:
        _ptx.swap_strict(before)


# ---- called by the core and the trace


def validation_error(path: str, kind: str, message: str, file: str, line: int, notes: list[str]) -> PtxValidationError:
    """The error of a typed wrapper's instruction."""
    error = PtxValidationError([ValidationIssue(path, message)], user_frame=(file, line) if line else None)
    error.kind, error.notes = kind, notes
    error.args = ("\n".join([str(error.args[0]), *(f"  = {note}" for note in notes)]),)
    return error


def warn_unvalidated(path: str) -> None:
    """An unknown opcode was written."""
    warnings.warn(f"{path}: the table has no such opcode", UnvalidatedInstructionWarning, stacklevel=2)


def issue_of(statement: str, kind: str, message: str, severity: str) -> ValidationIssue:
    """What a trace noted about a statement."""
    from ..ir import Function, Instruction, nodes

    parsed = _ptx.parse_nodes(f".version 9.0\n.target sm_90\n.entry draft()\n{{\n{statement}\n}}\n", nodes)
    if len(parsed) != 3:
        for node in parsed[3]:
            if isinstance(node, Function) and node.body is not None:
                (written,) = node.body
                if isinstance(written, Instruction):
                    return ValidationIssue(written, message, severity)
    return ValidationIssue(statement, message, severity)


speak_in_own_words(globals(), "validate_instruction", "validate_or_raise")
