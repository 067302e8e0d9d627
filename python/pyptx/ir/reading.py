"""The text as a module. The core reads it; here are the nodes and the error."""

from __future__ import annotations

from collections.abc import Iterable

from .. import _ptx
from .._own_words import speak_in_own_words
from . import nodes
from .layout import separated


class ParseError(Exception):
    """The text is not PTX at a place: its first such error. `line` and `col` count from 1."""

    __module__ = "pyptx.parser.parser"  # where users import it from

    def __init__(self, message: str, line: int = 0, col: int = 0) -> None:
        super().__init__(f"{line}:{col}: {message}" if line else message)
        self.message = message
        self.line = line
        self.col = col

    def __reduce__(self) -> tuple[type[ParseError], tuple[str, int, int]]:
        return type(self), (self.message, self.line, self.col)


def parse(source: str) -> nodes.Module:
    """The module that the text says. Opcodes and modifiers that the instruction table does not know are taken as they are;
    `python -m pyptx check` finds them, and everything else that is wrong with a module."""
    result = _ptx.parse_nodes(source, nodes)
    if len(result) == 3:
        raise ParseError(*result)
    version, target, address_size, directives, header = result
    module = nodes.Module(version, target, address_size, _without_layout(directives), header, source)
    object.__setattr__(module, "_parsed", True)
    return module


def _without_layout(directives: Iterable[nodes.Directive]) -> tuple[nodes.Directive, ...]:
    """The things of a module without the empty lines that all modules have: behind the header, before and behind functions."""
    kept: list[nodes.Directive] = []
    previous: nodes.Directive | None = None
    blanks: list[nodes.Directive] = []
    for node in directives:
        if isinstance(node, nodes.BlankLine):
            blanks.append(node)
            continue
        kept += blanks[1:] if separated(previous, node) else blanks
        kept.append(node)
        previous, blanks = node, []
    return (*kept, *blanks)


speak_in_own_words(globals(), "parse")
