"""What instructions have to be: the table's rows as data, and whether an instruction of `pyptx.ir` fits one of them.

The table is the core's, and the only list of instructions: `INSTRUCTIONS` is read from it. What happens to an instruction that no
row fits is one switch, ``PYPTX_CHECK=error|off`` in the environment, `set_strict` and `strict` here (docs/decisions/0008).
"""

from __future__ import annotations

from .._own_words import show_as_of
from .ptx import INSTRUCTIONS, InstructionSpec, ModifierGroup, get_specs, register_overload
from .validate import (
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
from .validate import issue_of as issue_of  # for the trace
from .validate import validation_error as validation_error  # for the core
from .validate import warn_unvalidated as warn_unvalidated

__all__ = [
    "INSTRUCTIONS", "InstructionSpec", "ModifierGroup", "PtxValidationError", "UnvalidatedInstructionWarning", "ValidationError",
    "ValidationIssue", "get_specs", "is_strict", "register_overload", "set_strict", "strict", "validate_instruction",
    "validate_or_raise",
]  # fmt: skip

show_as_of(__name__, *(globals()[name] for name in __all__ if name != "INSTRUCTIONS"))
