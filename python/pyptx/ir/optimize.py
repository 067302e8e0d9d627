"""Small rewritings of statements. None is made by itself: a kernel is the instructions that its author wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .nodes import (
    AddressOperand,
    BlankLine,
    Comment,
    Instruction,
    NegatedOperand,
    Operand,
    PipeOperand,
    RegisterOperand,
    Statement,
    VectorOperand,
)

_LEAVES = {"bra", "brx", "ret", "exit", "call", "trap"}


def _family(name: str) -> str:
    return name.rstrip("0123456789")


def _writes_beyond_the_first(opcode: str) -> bool:
    """Whether a form of the opcode has a second destination, which stands where others have a source."""
    from .. import _ptx

    return any(pattern.count(":=") > 1 for pattern, *_ in _ptx.instruction_forms(opcode))


def _written(operand: Operand) -> list[str]:
    match operand:
        case RegisterOperand(name=name):
            return [name.partition(".")[0]]
        case VectorOperand(elements=elements):
            return [name for element in elements for name in _written(element)]
        case PipeOperand(left=left, right=right):
            return [*_written(left), *_written(right)]
        case _:
            return []


def _read(operand: Operand, copies: dict[str, str]) -> Operand:
    """The operand with the sources of copies in their places."""
    match operand:
        case RegisterOperand(name=name):
            return RegisterOperand(copies.get(name, name))
        case VectorOperand(elements=elements):
            return replace(operand, elements=tuple(_read(element, copies) for element in elements))
        case NegatedOperand(operand=inner):
            return replace(operand, operand=_read(inner, copies))
        case AddressOperand(base=base):
            return replace(operand, base=copies.get(base, base))
        case _:
            return operand


def copy_propagate(statements: Sequence[Statement]) -> list[Statement]:
    """The statements with the sources of plain copies read in place of the copies: behind ``mov.u32 %r1, %r0;``, ``add.u32 %r2,
    %r1, 1;`` reads ``%r0``. Copies stay, since what comes behind the list may read them. Registers of one family (``%r``) stand
    for each other, no others, and nothing is known behind a label, a branch, a block or a line of text."""
    copies: dict[str, str] = {}
    done: list[Statement] = []
    for node in statements:
        if isinstance(node, (Comment, BlankLine)):
            done.append(node)
            continue
        if not isinstance(node, Instruction) or node.opcode in _LEAVES:
            copies.clear()
            done.append(node)
            continue
        first, rest = node.operands[:1], node.operands[1:]
        several = _writes_beyond_the_first(node.opcode)
        if not several:
            first = tuple(_read(operand, copies) if isinstance(operand, AddressOperand) else operand for operand in first)
            rest = tuple(_read(operand, copies) for operand in rest)
            node = replace(node, operands=(*first, *rest))
        written = {name for operand in (node.operands if several else first) for name in _written(operand)}
        copies = {copy: source for copy, source in copies.items() if copy not in written and source not in written}
        if node.opcode == "mov" and node.predicate is None and len(rest) == 1:
            to, source = node.operands
            if isinstance(to, RegisterOperand) and isinstance(source, RegisterOperand):
                plain = "." not in to.name + source.name and to.name != source.name
                if plain and _family(to.name) == _family(source.name) != source.name:
                    copies[to.name] = source.name
        done.append(node)
    return done
