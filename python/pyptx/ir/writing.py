"""Nodes as text. A module as it was parsed gives back its text, byte for byte. Any other is written in the canonical layout, that
of the core's printer (a test holds them together): one statement a line, one tab for each brace, labels unindented. The spelling
of operands is the nodes' own, and comments stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .._own_words import speak_in_own_words
from .layout import separated
from .nodes import (
    AddressOperand,
    BlankLine,
    Block,
    Comment,
    CompoundExpr,
    Directive,
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
    RawLine,
    RegDecl,
    RegisterOperand,
    Statement,
    VarDecl,
    VectorOperand,
)
from .reading import ParseError, parse
from .types import LinkingDirective, ScalarType


def emit(module: Module) -> str:
    """The module as PTX."""
    if module.raw_source is not None and (module._parsed or _says(module.raw_source, module)):
        return module.raw_source
    return "\n".join(_module(module)) + "\n"


def _says(source: str, module: Module) -> bool:
    try:
        return parse(source) == module
    except ParseError:
        return False


def _list(words: Iterable[str]) -> str:
    return ", ".join(words)


# ---- lines


def _module(module: Module) -> Iterator[str]:
    yield from _header(module)
    previous: Directive | None = None
    for node in module.directives:
        if not isinstance(node, BlankLine):
            if separated(previous, node):
                yield ""
            previous = node
        if isinstance(node, Function):
            yield from _function(node)
        else:
            yield from _statement(node, 0)


def _header(module: Module) -> Iterable[str]:
    header = module.raw_header
    if header is not None and _says(header, replace(module, directives=())):
        return header.rstrip("\n").split("\n")
    lines = [f".version {module.version.major}.{module.version.minor}"]
    if module.target.targets:  # a module without any is a text that is only begun
        lines.append(f".target {_list(module.target.targets)}")
    if module.address_size is not None:
        lines.append(f".address_size {module.address_size.size}")
    return lines


def _function(function: Function) -> Iterator[str]:
    linking = _linking(function.linking)
    attributes = _attributes(function.attributes)
    if function.is_entry:
        head = f"{linking}.entry {attributes}{function.name}("
    else:
        results = f"({_list(map(_param, function.return_params))}) " if function.return_params else ""
        head = f"{linking}.func {attributes}{results}{function.name}("
    if function.params:
        yield head
        *others, last = map(_param, function.params)
        for param in others:
            yield f"\t{param},"
        yield f"\t{last}"
        head = ")"
    else:
        head += ")"
    lines = [head, *map(_directive, function.directives)]
    if function.body is None:
        lines[-1] += ";"
        yield from lines
        return
    yield from lines
    yield "{"
    for node in function.body:
        yield from _statement(node, 1)
    yield "}"


def _statement(node: Statement, depth: int) -> Iterator[str]:
    indent = "\t" * depth
    match node:
        case Instruction():
            yield f"{indent}{_instruction(node)}{_behind(node.formatting)}"
        case Label():
            yield f"{node.name}:{_behind(node.formatting)}"
        case RegDecl():
            count = "" if node.count is None else f"<{node.count}>"
            yield f"{indent}.reg {_vector(node.vector)}{_type(node.type)} {node.name}{count};{_behind(node.formatting)}"
        case VarDecl():
            yield f"{indent}{_variable(node)}{_behind(node.formatting)}"
        case PragmaDirective():
            yield f'{indent}.pragma "{node.value}";{_behind(node.formatting)}'
        case Comment():
            yield from _comment(node.text, indent)
        case BlankLine():
            yield ""
        case RawLine():
            yield f"{indent}{node.text}" if depth and node.text[:1] not in ("", " ", "\t") else node.text
        case Block():
            yield f"{indent}{{"
            for inner in node.body:
                yield from _statement(inner, depth + 1)
            yield f"{indent}}}"
        case IntrinsicScope():
            yield f"{indent}// BEGIN {node.name}({node.args_repr})"
            for inner in node.body:
                yield from _statement(inner, depth)
            yield f"{indent}// END {node.name}"
        case CompoundExpr():
            for instruction in node.instructions:
                yield from _statement(instruction, depth)
        case _:
            raise TypeError(f"a statement is a node of pyptx.ir; {node!r} is a {type(node).__name__}")


def _behind(formatting: FormattingInfo | None) -> str:
    return f" {formatting.trailing}" if formatting and formatting.trailing else ""


def _comment(text: str, indent: str) -> Iterable[str]:
    if text.startswith("/*"):
        return [f"{indent}{text}"]
    return [f"{indent}{line}" if line.startswith("//") else f"{indent}// {line}".rstrip() for line in text.split("\n")]


# ---- declarations


def _type(type: ScalarType | str) -> str:
    return type.ptx if isinstance(type, ScalarType) else f".{type.removeprefix('.')}"


def _linking(linking: LinkingDirective | None) -> str:
    return f"{linking.ptx} " if linking else ""


def _vector(length: int | None) -> str:
    return f".v{length} " if length else ""


def _align(bytes: int | None) -> str:
    return f".align {bytes} " if bytes else ""


def _attributes(attributes: Iterable[str]) -> str:
    words = _list("." + attribute.removeprefix(".") for attribute in attributes)
    return f".attribute({words}) " if words else ""


def _variable(v: VarDecl) -> str:
    unsized = v.unsized if v.unsized is not None else v.linking is LinkingDirective.EXTERN and v.array_size is None
    array = "[]" if unsized else f"[{v.array_size}]" if v.array_size is not None else ""
    array += "".join(f"[{size}]" for size in v.inner)
    value = f" = {v.initializer}" if v.initializer is not None else ""
    space = f"{_linking(v.linking)}{v.state_space.ptx} {_attributes(v.attributes)}{_align(v.alignment)}"
    return f"{space}{_vector(v.vector)}{_type(v.type)} {v.name}{array}{value};"


def _param(p: Param) -> str:
    is_ptr = p.is_ptr if p.is_ptr is not None else p.ptr_state_space is not None or p.ptr_alignment is not None
    space = f"{p.ptr_state_space.ptx} " if p.ptr_state_space else ""
    ptr = f".ptr {space}{_align(p.ptr_alignment)}" if is_ptr else ""
    array = "[]" if p.unsized else f"[{p.array_size}]" if p.array_size is not None else ""
    return f"{p.state_space.ptx} {_align(p.alignment)}{_vector(p.vector)}{_type(p.type)} {ptr}{p.name}{array}"


def _directive(directive: FunctionDirective) -> str:
    name = directive.name.removeprefix(".")
    return f".{name} {_list(map(str, directive.values))}".rstrip() + (";" if name == "pragma" else "")


# ---- instructions


def _instruction(i: Instruction) -> str:
    guard = f"@{'!' if i.predicate.negated else ''}{i.predicate.register} " if i.predicate else ""
    operands = _list(map(_operand, i.operands))
    return f"{guard}{i.opcode}{''.join(i.modifiers)} {operands}".rstrip() + ";"


def _operand(operand: Operand) -> str:
    match operand:
        case RegisterOperand(name) | LabelOperand(name):
            return name
        case ImmediateOperand(text):
            return text
        case VectorOperand(elements):
            return f"{{{_list(map(_operand, elements))}}}"
        case ParenthesizedOperand(elements):
            return f"({_list(map(_operand, elements))})"
        case NegatedOperand(inner):
            return f"!{_operand(inner)}"
        case PipeOperand(left, right):
            return f"{_operand(left)}|{_operand(right)}"
        case AddressOperand(base, offset, suffix):
            return f"[{base}{_offset(offset)}]{suffix}"
    raise TypeError(f"an operand is a node of pyptx.ir; {operand!r} is a {type(operand).__name__}")


def _offset(offset: str | None) -> str:
    if not offset or offset[0] in ",+":
        return offset or ""
    return f"+{offset}"  # `[r+-8]`: ptxas takes no `[r-8]`


speak_in_own_words(globals(), "emit")
