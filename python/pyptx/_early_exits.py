"""`return`, `break` and `continue` that stand in a `with ptx.if_(…):` and leave out what comes behind it.

A body runs once, while it is traced: such a word is always executed, whatever the registers hold, and Python never reaches the
statements behind the block. What stands under a Python `if` inside of the block is the author's own choice, and not looked at.
"""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from types import CodeType

_Exit = ast.Return | ast.Break | ast.Continue
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def early_exit(code: CodeType, line: int) -> tuple[str, int] | None:
    """The word that leaves a `with` of this line early, and its line; None when none does, or the source is not there. Called by
    the core when a block begins."""
    return _exits(code).get(line)


@lru_cache(maxsize=1024)
def _exits(code: CodeType) -> dict[int, tuple[str, int]]:
    """By each line of the head of a `with` of the function."""
    found: dict[int, tuple[str, int]] = {}
    function = _function(code)
    if function is not None:
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


def _look(body: list[ast.stmt], around: list[tuple[ast.stmt, bool]], found: dict[int, tuple[str, int]]) -> None:
    """Looks through statements. `around`: the statements that these stand in, and whether something follows each in its own."""
    for i, statement in enumerate(body):
        inside = [*around, (statement, i + 1 < len(body))]
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            continue  # looked at when it runs
        if isinstance(statement, (ast.With, ast.AsyncWith)) and (word := _unconditional(statement.body)) and _skips(word, inside):
            for item in statement.items:
                for line in range(statement.lineno, (item.context_expr.end_lineno or statement.lineno) + 1):
                    found[line] = (type(word).__name__.lower(), word.lineno)
        for part in ("body", "orelse", "finalbody"):
            _look(getattr(statement, part, []), inside, found)
        for clause in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            _look(clause.body, inside, found)


def _unconditional(body: list[ast.stmt]) -> _Exit | None:
    """The exit that a block's body always comes to, straight or in blocks inside of it."""
    for statement in body:
        if isinstance(statement, _Exit):
            return statement
        if isinstance(statement, (ast.With, ast.AsyncWith)) and (word := _unconditional(statement.body)):
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
