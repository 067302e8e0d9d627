"""`return`, `break` and `continue` that stand in a `with ptx.if_(…):` and leave out what comes behind it.

A body runs once, while it is traced: such a word is always executed, whatever the registers hold, and Python never reaches the
statements behind the block. Under a Python `if`, `for` or `try` inside of the block, a `break` or `continue` of an unrolled loop
is the author's own choice, and not looked at; a `return` counts when it is taken.
"""

from __future__ import annotations

import ast
import dis
import linecache
from functools import lru_cache
from types import CodeType

_Exit = ast.Return | ast.Break | ast.Continue
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


Places = frozenset[tuple[int, int, int, int]]  # first line and column, last line and column

# What Python does between the end of a block and the `return` that left it: it ends further blocks, and gets the result ready.
_BETWEEN = frozenset({
    "CACHE", "CALL", "COPY", "LOAD_COMMON_CONSTANT", "LOAD_CONST", "LOAD_SMALL_INT", "NOP", "NOT_TAKEN", "POP_EXCEPT", "POP_TOP",
    "PRECALL", "PUSH_NULL", "RESUME", "SWAP",
})  # fmt: skip


def early_exit(code: CodeType, line: int) -> tuple[str, int] | Places | tuple[()] | None:
    """The word that leaves a `with` of this line early, and its line; or the places of the `return`s that may; None when none
    does, () when the source is not there. Called by the core when a block begins."""
    exits = _exits(code)
    return () if exits is None else exits.get(line)


def taken(code: CodeType, offset: int, returns: Places) -> int | None:
    """The line of the `return` that a block is left by, whose end is called at this offset of the function's code; None at the
    end of its body. Pythons differ in what they give the line of the `return`: what is done before the end, or behind it."""
    instructions = list(dis.get_instructions(code))
    at = next((i for i, instruction in enumerate(instructions) if instruction.offset >= offset), len(instructions))
    for steps, stops in ((instructions[at + 1 :], False), (reversed(instructions[:at]), True)):
        for instruction in steps:
            leaves = instruction.opname.startswith(("RETURN", "JUMP", "RERAISE"))
            if leaves != stops and (line := _line_of(instruction, returns)):
                return line
            if leaves or instruction.opname not in _BETWEEN:
                break
    return None


def left_early(code: CodeType, offset: int) -> bool:
    """Whether a block, whose end is called at this offset of the function's code, is left by a `return` that leaves something
    out. For code without a source, as at Python's prompt, of which nobody knows whether a `break` is the author's choice.

    How it goes on behind the block the code itself says: there an exception leads that the block takes for done with.
    """
    instructions = list(dis.get_instructions(code))
    index = {each.offset: i for i, each in enumerate(instructions)}
    here = instructions[index[offset]].positions if offset in index else None
    if here is None or here.col_offset is None:
        return False
    behind = []
    for i, each in enumerate(instructions):
        if each.opname == "WITH_EXCEPT_START" and each.positions == here:
            jump = next((at for at in instructions[i : i + 6] if at.opname.endswith("IF_TRUE")), None)
            if jump is None:
                return False
            behind.append(_goes_on(instructions, index, index[jump.argval]))
    return bool(behind) and [] not in behind and not _goes_on(instructions, index, index[offset] + 1)


def _goes_on(instructions: list[dis.Instruction], index: dict[int, int], i: int) -> list[tuple[str, str]]:
    """What is done from there on, to the function's end or for a while. Not where: compilers copy what is short."""
    done: list[tuple[str, str]] = []
    for _ in range(200):
        at = instructions[i]
        if len(done) == 24 or at.opname.startswith("RETURN"):
            break
        if at.opname.startswith("JUMP") and "IF" not in at.opname:
            i = index[at.argval]
            continue
        if at.opname not in _BETWEEN:
            done.append((at.opname, "" if "JUMP" in at.opname or at.opname == "FOR_ITER" else at.argrepr))
        i += 1
    return done


def _line_of(instruction: dis.Instruction, returns: Places) -> int | None:
    """The line of the `return` that an instruction is of."""
    at = instruction.positions
    if at is None or at.lineno is None or at.col_offset is None:
        return None
    first = (at.lineno, at.col_offset)
    return next((begin[0] for *begin, line, column in returns if tuple(begin) <= first < (line, column)), None)


def is_for_statement(code: CodeType, offset: int) -> bool:
    """Whether the instruction at this offset takes the iterator of a `for`, and not of `list(…)`, `zip(…)` or a comprehension,
    which would run what is done with each element once."""
    iterates = dis.opname[code.co_code[offset]] in ("GET_ITER", "FOR_ITER") and code.co_name not in _COMPREHENSIONS
    return iterates and offset not in _in_comprehensions(code)


@lru_cache(maxsize=1024)
def _in_comprehensions(code: CodeType) -> frozenset[int]:
    """Where comprehensions iterate that Python 3.12 and newer compile into the function: they begin by putting the function's own
    variable of that name aside."""
    found, instructions = set(), list(dis.get_instructions(code))
    for i, each in enumerate(instructions[:-1]):
        if each.opname == "GET_ITER" and instructions[i + 1].opname == "LOAD_FAST_AND_CLEAR":
            found |= {each.offset, next((at.offset for at in instructions[i:] if at.opname == "FOR_ITER"), each.offset)}
    return frozenset(found)


@lru_cache(maxsize=1024)
def _exits(code: CodeType) -> dict[int, tuple[str, int] | Places] | None:
    """By each line of the head of a `with` of the function; None where its source is not there."""
    found: dict[int, tuple[str, int] | Places] = {}
    function = _function(code)
    if function is None:
        return None
    _look(function.body, [], found)
    return found


def _function(code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    tree = _tree("".join(linecache.getlines(code.co_filename)))
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, _FUNCTIONS) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


@lru_cache(maxsize=64)
def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _look(body: list[ast.stmt], around: list[tuple[ast.stmt, bool]], found: dict[int, tuple[str, int] | Places]) -> None:
    """Looks through statements. `around`: the statements that these stand in, and whether something follows each in its own."""
    for i, statement in enumerate(body):
        inside = [*around, (statement, i + 1 < len(body))]
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            continue  # looked at when it runs
        if isinstance(statement, (ast.With, ast.AsyncWith)) and (exits := _leaving(statement, inside)):
            for item in statement.items:
                for line in range(statement.lineno, (item.context_expr.end_lineno or statement.lineno) + 1):
                    found[line] = exits
        for part in ("body", "orelse", "finalbody"):
            _look(getattr(statement, part, []), inside, found)
        for clause in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            _look(clause.body, inside, found)


def _leaving(block: ast.With | ast.AsyncWith, inside: list[tuple[ast.stmt, bool]]) -> tuple[str, int] | Places | None:
    """What leaves the block early and leaves something out."""
    word = _unconditional(block.body)
    if word is not None and _skips(word, inside):
        return type(word).__name__.lower(), word.lineno
    returns = [each for each in _returns(block.body) if _skips(each, inside)]
    return frozenset((r.lineno, r.col_offset, r.end_lineno or r.lineno, r.end_col_offset or 0) for r in returns) or None


def _returns(body: list[ast.stmt]) -> list[ast.Return]:
    """Those of the function itself, wherever they stand."""
    found: list[ast.Return] = []
    for statement in body:
        if isinstance(statement, ast.Return):
            found.append(statement)
        elif not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            for part in ("body", "orelse", "finalbody"):
                found += _returns(getattr(statement, part, []))
            for clause in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
                found += _returns(clause.body)
    return found


def _unconditional(body: list[ast.stmt]) -> _Exit | None:
    """The exit that a block's body always comes to, straight or in blocks and `try`s inside of it."""
    for statement in body:
        if isinstance(statement, _Exit):
            return statement
        if isinstance(statement, (ast.With, ast.AsyncWith, ast.Try)) and (word := _unconditional(statement.body)):
            return word
        if isinstance(statement, ast.Try) and (word := _unconditional(statement.finalbody)):
            return word
    return None


def _skips(word: _Exit, around: list[tuple[ast.stmt, bool]]) -> bool:
    """Whether the exit leaves anything out: statements behind its block, or rounds of a loop."""
    for statement, followed in reversed(around):
        loop = isinstance(statement, (ast.For, ast.AsyncFor, ast.While))
        if loop and isinstance(word, ast.Continue):
            return False  # nothing stood behind it in the loop
        if loop:
            return True  # the rounds to come
        if followed:
            return True
    return False
