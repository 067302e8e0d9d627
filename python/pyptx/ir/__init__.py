"""A PTX module as data: immutable nodes, compared by value. `pyptx.parser.parse` makes them, `pyptx.emitter.emit` writes them."""

from __future__ import annotations

from .compound import CompoundExpr
from .nodes import (
    AddressOperand,
    AddressSize,
    BlankLine,
    Block,
    Comment,
    FormattingInfo,
    Function,
    FunctionDirective,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    Module,
    NegatedOperand,
    Operand,
    Param,
    ParenthesizedOperand,
    PipeOperand,
    PragmaDirective,
    Predicate,
    RawLine,
    RegDecl,
    RegisterOperand,
    Statement,
    Target,
    VarDecl,
    VectorOperand,
    Version,
)
from .normalize import diff_modules, normalize_module
from .types import LinkingDirective, ScalarType, StateSpace

__all__ = [
    "AddressOperand", "AddressSize", "BlankLine", "Block", "Comment", "CompoundExpr", "FormattingInfo", "Function",
    "FunctionDirective", "ImmediateOperand", "Instruction", "IntrinsicScope", "Label", "LabelOperand", "LinkingDirective",
    "Module", "NegatedOperand", "Operand", "Param", "ParenthesizedOperand", "PipeOperand", "PragmaDirective", "Predicate",
    "RawLine", "RegDecl", "RegisterOperand", "ScalarType", "StateSpace", "Statement", "Target", "VarDecl", "VectorOperand",
    "Version", "diff_modules", "normalize_module",
]  # fmt: skip
