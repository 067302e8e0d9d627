"""`inspect.signature` of what the core has: it is the one that the stub says."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyptx import _ptx, ptx

STUB = Path(inspect.getfile(_ptx)).parent / "_ptx.pyi"
FUNCTIONS = {"nb_func", "nb_method"}


def functions(scope: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every function of the core's with one form, by its place in the module."""
    for name, thing in vars(scope).items():
        if type(thing).__name__ in FUNCTIONS and len(thing.__nb_signature__) == 1:
            yield place + name, thing
        elif isinstance(thing, type) and thing.__module__ == _ptx.__name__ and scope is _ptx:
            yield from functions(thing, f"{name}.")


def stubbed(body: list[ast.stmt], place: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from stubbed(node.body, f"{place}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not any("property" in ast.unparse(d) for d in node.decorator_list):
            yield place + node.name, node


def test_every_function_has_the_parameters_of_its_stub():
    stubs = dict(stubbed(ast.parse(STUB.read_text()).body))
    compared = 0
    for place, function in functions(_ptx):
        signature = inspect.signature(function)
        if place not in stubs:
            continue
        given = stubs[place].args
        named = [*given.posonlyargs, *given.args, *filter(None, [given.vararg]), *given.kwonlyargs, *filter(None, [given.kwarg])]
        assert list(signature.parameters) == [one.arg for one in named], place
        by_name = [name for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY]
        assert by_name == [one.arg for one in given.kwonlyargs], place
        needed = [name for name, p in signature.parameters.items() if p.default is p.empty and p.kind not in (2, 4)]
        positional = [one.arg for one in (*given.posonlyargs, *given.args)]
        asked = positional[: len(positional) - len(given.defaults)]
        asked += [one.arg for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None]
        assert needed == asked, place
        compared += 1
    assert compared > 300


@pytest.mark.parametrize(
    ("thing", "shown"),
    [
        (ptx.mbarrier.init, "(m: 'typing.Any', count: 'Reg | int', *, pred: 'Reg | NegPred | None' = None) -> 'None'"),
        (ptx.cp.async_.bulk.commit_group, "(*, pred: 'Reg | NegPred | None' = None) -> 'None'"),
        (_ptx.Reg.max, "(self, other: 'Reg | typing.SupportsIndex | float') -> 'Reg'"),
        (_ptx.RegArray, "(base: 'str', count: 'int', dtype: 'PtxType')"),
    ],
    ids=["function", "bound method", "method", "class"],
)
def test_shown(thing, shown):
    assert str(inspect.signature(thing)).startswith(shown)


def test_defaults_that_are_objects():
    image = inspect.signature(_ptx.Image)
    assert tuple(image.parameters["grid"].default) == (1, 1, 1) and image.parameters["aliases"].default == {}
