"""Modules without their layout, and how two of them differ."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .._own_words import speak_in_own_words
from .nodes import (
    BlankLine,
    Block,
    Comment,
    CompoundExpr,
    Directive,
    Function,
    Instruction,
    IntrinsicScope,
    Label,
    Module,
    PragmaDirective,
    RegDecl,
    Statement,
    VarDecl,
)
from .writing import emit


def _flat(body: Iterable[Statement]) -> Iterator[Statement]:
    for node in body:
        match node:
            case Block(body=inner) | IntrinsicScope(body=inner) | CompoundExpr(instructions=inner):
                yield from _flat(inner)
            case Comment() | BlankLine():
                pass
            case Instruction() | Label() | RegDecl() | VarDecl() | PragmaDirective():
                yield replace(node, formatting=None)
            case _:
                yield node


def normalize_module(module: Module) -> Module:
    """The module without comments, blank lines and layout, its blocks and intrinsics flattened: what it says to the machine."""
    directives: list[Directive] = []
    for node in module.directives:
        match node:
            case Comment() | BlankLine():
                continue
            case Function(body=body):
                directives.append(replace(node, body=None if body is None else tuple(_flat(body)), formatting=None))
            case VarDecl() | PragmaDirective():
                directives.append(replace(node, formatting=None))
            case _:
                directives.append(node)
    return replace(module, directives=tuple(directives), raw_header=None, raw_source=None)


def diff_modules(a: Module, b: Module, entry_only: bool = False) -> list[str]:
    """The lines in which two modules differ, layout aside; [] when they say the same. With `entry_only` only entries count."""

    def lines(module: Module) -> list[str]:
        module = normalize_module(module)
        if entry_only:
            entries = [node for node in module.directives if isinstance(node, Function) and node.is_entry]
            module = replace(module, directives=tuple(entries))
        text = emit(module).splitlines()
        return text[text.index("") + 1 :] if entry_only and "" in text else text  # without the header

    return [line for line in difflib.unified_diff(lines(a), lines(b), "a", "b", lineterm="", n=0)]


speak_in_own_words(globals(), "normalize_module", "diff_modules")
