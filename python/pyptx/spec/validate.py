"""Whether an instruction of `pyptx.ir` fits the table."""

from __future__ import annotations

from . import (
    PtxValidationError,
    UnvalidatedInstructionWarning,
    ValidationError,
    ValidationIssue,
    is_strict,
    set_strict,
    strict,
    validate_instruction,
    validate_or_raise,
)

__all__ = [
    "PtxValidationError", "UnvalidatedInstructionWarning", "ValidationError", "ValidationIssue", "is_strict", "set_strict",
    "strict", "validate_instruction", "validate_or_raise",
]  # fmt: skip
