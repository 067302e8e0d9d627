"""The stubs that editors and type checkers read: every dot of `ptx.inst`, every helper's signature."""

import ast
import itertools
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import pyptx
from pyptx import _ptx, ptx, reg
from pyptx.reg import Reg
from pyptx.types import b32, b64, f32, pred

PACKAGE = Path(pyptx.__file__).parent


@cache
def classes() -> dict[str, ast.ClassDef]:
    tree = ast.parse((PACKAGE / "inst.pyi").read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


@cache
def members(name: str) -> tuple[dict[str, str], list[ast.FunctionDef]]:
    """Of a class of inst.pyi: the class that each word leads to, and its calls."""
    words, calls = {}, []
    for node in classes()[name].body:
        if isinstance(node, ast.AnnAssign):
            words[ast.unparse(node.target)] = ast.unparse(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.name == "__call__":
            calls.append(node)
    return words, calls


@given(st.data())
def test_the_stubs_have_the_dots_that_the_table_has(data) -> None:
    dots, name = ptx.inst, "Inst"
    while words := dir(dots):
        stub, _ = members(name)
        assert set(stub) == set(words), f"{name} for {dots!r}"
        word = data.draw(st.sampled_from(sorted(words)))
        dots, name = getattr(dots, word), stub[word]
    assert members(name)[1], f"{name}: no way on, and no call"


def given_by(dots, count: int) -> str:
    """What `ptx.let` gives, as its stub spells it, for the first sources that fit; nothing where none of these do."""
    word, wide, single, truth = (reg.scalar(dtype) for dtype in (b32, b64, f32, pred))
    kinds = (word, wide, single, truth, ptx.addr(wide), 1, [word, word])
    for sources in itertools.product(kinds, repeat=count):
        try:
            fresh = dots(*sources)
        except pyptx.PtxError:
            continue
        spelled = {Reg: "Reg", list: "list[Reg]"}
        return spelled[type(fresh)] if not isinstance(fresh, tuple) else f"tuple[{', '.join(spelled[type(r)] for r in fresh)}]"
    return ""


def test_the_stubs_of_let_say_what_it_gives() -> None:
    """Of every class that is called with at most two sources. What gives nothing is not there."""
    opcodes = set(members("Let")[0])
    assert opcodes < set(dir(ptx.let)) and set(dir(ptx.let)) - opcodes > {"st", "bra", "red", "wgmma"}
    held, todo = Counter[str](), [(ptx.let, "Let")]
    seen = {"Let"}
    with _ptx.Trace("test", arch="sm_100a"):
        while todo:
            dots, name = todo.pop()
            words, calls = members(name)
            assert set(words) <= set(dir(dots)), f"{name} for {dots!r}"
            todo += [(getattr(dots, word), to) for word, to in words.items() if to not in seen]
            seen |= set(words.values())
            for call in calls[:1]:  # of two for one number of sources, the first has no dtype
                count = max(len(call.args.posonlyargs) - 1, 0) - len(call.args.defaults)
                if call.returns is not None and count <= 2 and (kind := given_by(dots, count)):
                    assert kind == ast.unparse(call.returns), f"{name} for {dots!r}"
                    held[kind] += 1
    assert held["Reg"] > 500 and held["list[Reg]"] > 50 and held["tuple[Reg, Reg]"] > 0, held


def test_the_stubs_of_an_instruction(golden) -> None:
    """Where its dots lead, how it is called, what an editor shows."""

    def show(name: str, path: str) -> Iterator[str]:
        words, calls = members(name)
        for call in calls:
            assert call.returns is not None
            yield f"{path}({ast.unparse(call.args)}) -> {ast.unparse(call.returns)}"
            yield from ("    " + line for line in (ast.get_docstring(call) or "").splitlines() if line)
        for word, to in words.items():
            yield from show(to, f"{path}.{word}")

    shown: list[str] = []
    for root, path in (
        ("Inst", "fma.rz"), ("Inst", "mbarrier.try_wait"), ("Inst", "setmaxnreg"), ("Inst", "elect"), ("Inst", "bar.red"),
        ("Inst", "call"), ("Let", "elect"), ("Let", "mov.b64"), ("Let", "bar.red"),
    ):  # fmt: skip
        name = root
        for word in path.split("."):
            name = members(name)[0][word]
        shown += show(name, path if root == "Inst" else f"let {path}")
    golden("inst_stubs.txt", "\n".join(shown) + "\n")


def test_the_stubs_are_the_same_for_every_python() -> None:
    """What the generator imports of itself differs from version to version, and is no package that pyptx asks for."""
    for name in ("_ptx.pyi", "inst.pyi"):
        tree = ast.parse((PACKAGE / name).read_text())
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
        assert imported <= {"collections.abc", "enum", "typing"}


def test_the_signatures_of_the_helpers(golden) -> None:
    """Everything that `pyptx.ptx`, `reg` and `smem` are made of, without its documentation."""

    def lines(body: list[ast.stmt], indent: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
                yield f"{indent}class {node.name}{bases}"
                yield from lines(node.body, indent + "    ")
            elif isinstance(node, ast.FunctionDef):
                kind = "".join(f"@{ast.unparse(d)} " for d in node.decorator_list)
                returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                yield f"{indent}{kind}{node.name}({ast.unparse(node.args)}){returns}"
            elif isinstance(node, ast.AnnAssign):
                yield indent + ast.unparse(node)

    golden("helper_stubs.txt", "\n".join(lines(ast.parse((PACKAGE / "_ptx.pyi").read_text()).body, "")) + "\n")
