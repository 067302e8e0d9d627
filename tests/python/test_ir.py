"""Nodes are values: equality, hashing, editing; the enums; normalised modules and their difference."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import pyptx
from pyptx import _ptx
from pyptx.emitter import emit
from pyptx.ir import (
    AddressSize,
    BlankLine,
    Block,
    Comment,
    FormattingInfo,
    Function,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    LinkingDirective,
    Module,
    RegDecl,
    RegisterOperand,
    ScalarType,
    StateSpace,
    Target,
    VectorOperand,
    Version,
    diff_modules,
    nodes,
    normalize_module,
)
from pyptx.ir.compound import CompoundExpr
from pyptx.parser import parse

SOURCE = """.version 8.5
.target sm_90a
.address_size 64

.visible .entry f()
{
\t// one
\t.reg .b32 %r<2>;

\t{
\t\tadd.u32 %r1, %r0, 1; // two
\t}
\tret;
}
"""
CLASSES = [c for c in vars(nodes).values() if isinstance(c, type) and dataclasses.is_dataclass(c)]


@pytest.mark.parametrize("node", CLASSES, ids=lambda c: c.__name__)
def test_nodes_are_frozen_and_hold_no_further_names(node: type) -> None:
    fields = {field.name: f"<{field.name}>" for field in dataclasses.fields(node) if field.init}
    made = node(**fields)
    again = node(**fields)
    assert made == again and hash(made) == hash(again) and made is not again
    assert pickle.loads(pickle.dumps(made)) == made and copy.copy(made) == made
    for name in fields:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, name, 1)
    with pytest.raises((AttributeError, TypeError)):
        made.another = 1


def test_layout_does_not_count() -> None:
    plain, laid_out = Label("L"), Label("L", FormattingInfo(trailing="// here"))
    assert plain == laid_out and hash(plain) == hash(laid_out)
    assert Label("L") != Label("M")
    assert VectorOperand((ImmediateOperand("1"),)) != VectorOperand((RegisterOperand("1"),))


def test_enums_spell_themselves() -> None:
    assert ScalarType.BF16X2.ptx == ".bf16x2" and ScalarType.from_ptx(".u32") is ScalarType.U32
    assert StateSpace.from_ptx("shared::cta") is StateSpace.SHARED_CTA and StateSpace.SHARED_CLUSTER.ptx == ".shared::cluster"
    assert LinkingDirective.from_ptx("extern").ptx == ".extern"
    for enum in (ScalarType, StateSpace, LinkingDirective):
        for member in enum:
            assert enum.from_ptx(member.ptx) is member
        with pytest.raises(ValueError, match="`nothing` is not a " + enum.__name__):
            enum.from_ptx("nothing")


def test_scalar_types_are_those_of_the_table() -> None:
    assert {type.value for type in ScalarType} == {type.name for type in _ptx.TYPES}
    assert all(name == name.upper() for name in ScalarType.__members__)


def test_normalised_modules_have_no_layout() -> None:
    module = normalize_module(parse(SOURCE))
    (function,) = module.directives
    assert [type(node) for node in function.body] == [RegDecl, Instruction, Instruction]
    assert all(node.formatting is None for node in function.body)
    assert module.raw_source is None
    assert normalize_module(module) == module


def test_intrinsics_and_compounds_are_flattened() -> None:
    ret = Instruction("ret")
    scope = IntrinsicScope("relu", "x", (CompoundExpr((ret, ret)), Block((ret, BlankLine(), Comment("c")))))
    module = Module(Version(8, 5), Target(("sm_90a",)), AddressSize(64), (Function(True, "f", body=(scope,)),))
    assert normalize_module(module).directives == (Function(True, "f", body=(ret, ret, ret)),)


def test_the_difference_of_modules() -> None:
    module = parse(SOURCE)
    assert diff_modules(module, parse(SOURCE.replace("// one", "// three").replace("\n\n\t{", "\n\t{"))) == []
    changed = diff_modules(module, parse(SOURCE.replace("%r0, 1", "%r0, 2").replace("8.5", "8.6")))
    assert [line for line in changed if line[0] in "-+" and line[1:2] not in "-+"] == [
        "-.version 8.5", "+.version 8.6", "-\tadd.u32 %r1, %r0, 1;", "+\tadd.u32 %r1, %r0, 2;",
    ]  # fmt: skip
    assert diff_modules(module, parse(SOURCE.replace("8.5", "8.6")), entry_only=True) == []
    assert diff_modules(module, parse(SOURCE.replace("ret", "exit")), entry_only=True) != []


def test_an_edit_is_written_and_the_rest_stays() -> None:
    module = parse(SOURCE)
    (function,) = module.directives
    edited = dataclasses.replace(function, name="g", body=(*function.body[:-1], Instruction("exit")))
    text = emit(dataclasses.replace(module, directives=(edited,)))
    assert text == SOURCE.replace(" f()", " g()").replace("ret;", "exit;")


def said(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(pyptx.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def test_importing_the_package_does_not_bring_the_nodes() -> None:
    rooms = ("pyptx.ir", "pyptx.parser", "pyptx.emitter", "pyptx.cli")
    assert said(f"import sys, pyptx; print([m for m in sys.modules if m.startswith({rooms})])") == "[]\n"


def test_nodes_bring_no_framework() -> None:
    code = "import sys, pyptx.ir, pyptx.parser, pyptx.emitter, pyptx.cli; print({'numpy', 'jax', 'torch'} & set(sys.modules))"
    assert said(code) == "set()\n"


def test_nodes_are_reexported() -> None:
    for node in CLASSES:
        assert getattr(pyptx.ir, node.__name__) is node
