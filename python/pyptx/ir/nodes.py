"""The nodes of a module. They are values: immutable, hashable, equal when their fields are; `dataclasses.replace` edits them.

How a text was laid out (`formatting`, `raw_header`, `raw_source`) is no part of what a node says and does not count when nodes
are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .types import LinkingDirective, ScalarType, StateSpace

# ---- operands


@dataclass(frozen=True, slots=True)
class RegisterOperand:
    """A register, special ones too: `%r0`, `%tid.x`."""

    name: str


@dataclass(frozen=True, slots=True)
class ImmediateOperand:
    """A number or constant expression, as its author wrote it: `0xFF`, `((128>>4)<<16)`."""

    text: str


@dataclass(frozen=True, slots=True)
class LabelOperand:
    """Any other name: a label, a variable, a function, `_`."""

    name: str


@dataclass(frozen=True, slots=True)
class VectorOperand:
    """`{a, b}`"""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class AddressOperand:
    """`[base]`, `[base+offset]`, `[base, {x, y}]`: an offset that begins with a comma stands as it is. What stands behind the
    bracket, `.unified`, is the suffix."""

    base: str
    offset: str | None = None
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class ParenthesizedOperand:
    """`(a, b)` of a call"""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class NegatedOperand:
    """`!p`"""

    operand: Operand


@dataclass(frozen=True, slots=True)
class PipeOperand:
    """`d|p`"""

    left: Operand
    right: Operand


Operand: TypeAlias = (
    RegisterOperand
    | ImmediateOperand
    | LabelOperand
    | VectorOperand
    | AddressOperand
    | ParenthesizedOperand
    | NegatedOperand
    | PipeOperand
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """The guard of an instruction: `@%p`, `@!%p`."""

    register: str
    negated: bool = False


# ---- layout


@dataclass(frozen=True, slots=True)
class FormattingInfo:
    """How the text of a node was laid out."""

    indent: str = ""
    """What stands before it on its line."""
    trailing: str = ""
    """A comment after it on its line."""
    blank_lines_before: int = 0
    preceding_comments: tuple[str, ...] = ()
    raw_line: str | None = None
    """The statement itself as it was written."""


# ---- header


@dataclass(frozen=True, slots=True)
class Version:
    major: int
    minor: int


@dataclass(frozen=True, slots=True)
class Target:
    """`sm_90a`, and what else the directive says: `texmode_independent`."""

    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddressSize:
    size: int


# ---- declarations


@dataclass(frozen=True, slots=True)
class RegDecl:
    """`.reg .b32 %r<100>;`, one for each name of a statement."""

    type: ScalarType | str
    name: str
    count: int | None = None
    formatting: FormattingInfo | None = field(default=None, compare=False)
    vector: int | None = None
    """2 or 4: `.reg .v4 .f32 v;`"""


@dataclass(frozen=True, slots=True)
class VarDecl:
    """`.shared .align 128 .b8 smem[49152];`"""

    state_space: StateSpace
    type: ScalarType | str
    name: str
    array_size: int | None = None
    """Of the first dimension; None: no array, or `name[]`, see `unsized`."""
    alignment: int | None = None
    initializer: str | None = None
    """What follows `=`, as it is written: `{1, 2}`."""
    linking: LinkingDirective | None = None
    formatting: FormattingInfo | None = field(default=None, compare=False)
    vector: int | None = None
    """2 or 4: `.v2 .f32`"""
    inner: tuple[int, ...] = ()
    """The dimensions after the first: `[2][3][4]` has 3, 4."""
    unsized: bool | None = None
    """`name[]`. None: so for an `.extern` without a size, as of dynamic shared memory."""
    attributes: tuple[str, ...] = ()
    """Of `.attribute(…)`: `managed`"""


# ---- statements


@dataclass(frozen=True, slots=True)
class Instruction:
    """`@%p0 ld.global.f32 %f0, [%rd0+16];`: the modifiers keep their dots."""

    opcode: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[Operand, ...] = ()
    predicate: Predicate | None = None
    formatting: FormattingInfo | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    formatting: FormattingInfo | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PragmaDirective:
    """`.pragma "nounroll";`: the value has no quotes. Of several, `"a", "b"`, a body has one each; before functions the value is
    all that stands between the outer quotes."""

    value: str
    formatting: FormattingInfo | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on lines of its own; `/* … */` keeps its marks, `// …` comes without them."""

    text: str


@dataclass(frozen=True, slots=True)
class BlankLine:
    """An empty line."""


@dataclass(frozen=True, slots=True)
class RawLine:
    """Text that is written as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """`{ … }`"""

    body: tuple[Statement, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class IntrinsicScope:
    """What an intrinsic wrote, between `// BEGIN name(args)` and `// END name`."""

    name: str
    args_repr: str
    body: tuple[Statement, ...]
    formatting: FormattingInfo | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CompoundExpr:
    """The instructions of one `with ptx.expr():` block; its text is theirs."""

    instructions: tuple[Statement, ...]


# ---- functions and the module


@dataclass(frozen=True, slots=True)
class Param:
    """`.param .u64 .ptr .global .align 16 x`; a `.reg` one of a device function has StateSpace.REG."""

    state_space: StateSpace
    type: ScalarType | str
    name: str
    array_size: int | None = None
    alignment: int | None = None
    ptr_state_space: StateSpace | None = None
    ptr_alignment: int | None = None
    is_ptr: bool | None = None
    """`.ptr` is written; None: so when a space or an alignment of it is given."""
    vector: int | None = None
    unsized: bool = False


@dataclass(frozen=True, slots=True)
class FunctionDirective:
    """`.maxntid 128, 1, 1`: the name has no dot. Values are numbers, or text as it is written: `"nounroll"`."""

    name: str
    values: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """An entry or a device function; `body` is None for a declaration, `.func f (…);`."""

    is_entry: bool
    name: str
    params: tuple[Param, ...] = ()
    return_params: tuple[Param, ...] | None = None
    body: tuple[Statement, ...] | None = ()
    linking: LinkingDirective | None = None
    directives: tuple[FunctionDirective, ...] = ()
    formatting: FormattingInfo | None = field(default=None, compare=False)
    attributes: tuple[str, ...] = ()
    """Of `.attribute(…)`: `unified(19, 95)`"""


@dataclass(frozen=True, slots=True)
class Module:
    """A whole text. `directives` are its variables, functions, comments and whatever else follows the header, in order."""

    version: Version
    target: Target
    address_size: AddressSize | None
    directives: tuple[Directive, ...] = ()
    raw_header: str | None = field(default=None, compare=False, repr=False)
    """The text before the first thing of the module."""
    raw_source: str | None = field(default=None, compare=False, repr=False)
    """The text that the module was parsed from; `emit` gives it back as long as the module says the same."""
    _parsed: bool = field(default=False, init=False, compare=False, repr=False)  # just so, `replace` resets it


Statement: TypeAlias = (
    Instruction
    | Label
    | RegDecl
    | VarDecl
    | PragmaDirective
    | Comment
    | BlankLine
    | RawLine
    | Block
    | IntrinsicScope
    | CompoundExpr
)
Directive: TypeAlias = Function | VarDecl | PragmaDirective | Comment | BlankLine | RawLine
