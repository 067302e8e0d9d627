"""What a user gets to read who writes what is easily written: each message says what was seen and what would fit."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import pyptx
from pyptx import Module, Tile, _ptx, kernel, ptx, reg, smem
from pyptx.types import b32, f32, s32, u8, u32

pytestmark = pytest.mark.filterwarnings("ignore::pyptx.PtxWarning")
TILE = Tile(32, f32)
SPECS: dict[str, Any] = {"in_specs": (TILE,), "out_specs": (TILE,), "grid": 1, "block": 32}


def error_of(call: Any, kind: str) -> str:
    with pytest.raises(pyptx.PtxError) as caught:
        call()
    assert caught.value.kind == kind
    return "\n".join([caught.value.message, *caught.value.notes])


def text_of(body: Any) -> str:
    def k() -> None:
        body()
        ptx.ret()

    return kernel(k).ptx()


@kernel(**SPECS)
def copies(X, Y):
    px, py = ptx.global_ptrs(X, Y)
    i = reg.from_(ptx.special.tid.x(), u32)
    ptx.inst.st.global_.f32(ptx.addr(py + i * 4), ptx.let.ld.global_.f32(ptx.addr(px + i * 4)))
    ptx.ret()


def test_targets_are_a_list(tmp_path):
    for targets in ("sm_90a", [90]):
        words = error_of(lambda targets=targets: copies.save(tmp_path / "k", targets=targets), "argument_kind")
        assert f"`targets` is `{targets!r}`; what fits is a list of targets, such as `['sm_90a']`" in words


@pytest.mark.parametrize(
    "text, place, what",
    [
        ("/* here", "line 1, column 1", "a comment `/*`"),
        ("{ }\n  bar.sync 0; /* there {", "line 2, column 15", "a comment `/*`"),
        ('{ }\n.pragma "nounroll;', "line 2, column 9", 'a string `"`'),
    ],
)
def test_a_comment_of_a_text_is_closed(text, place, what):
    words = error_of(lambda: text_of(lambda: ptx.raw(text)), "syntax")
    assert f"{place} of the text: {what} is not closed\ntext: {text.splitlines()[-1].strip()}" in words


def test_what_is_quoted_in_a_text_is_no_end_of_it():
    assert "bar.sync" in text_of(lambda: ptx.raw("// a /* here\nbar.sync 0; /* } */"))


def test_an_allocation_in_bytes():
    words = error_of(lambda: text_of(lambda: smem.alloc(f32, (1024, 1024))), "shared_memory_size")
    assert "an allocation of 4194304 bytes is more than the 232448 bytes" in words


def test_a_range_has_a_start_and_a_stop():
    def body() -> None:
        for _ in ptx.range_(5):
            pass

    words = error_of(lambda: text_of(body), "argument_kind")
    assert words == "`ptx.range_` has a start and a stop; it is given the int `5` alone\nhint: `ptx.range_(0, …)`"


def test_a_name_that_no_launch_takes():
    def long() -> None:
        ptx.ret()

    long.__name__ = "k" * 5000
    words = error_of(kernel(in_specs=(), out_specs=(), grid=1)(long), "launch_config")
    assert f"the name of kernel `{'k' * 32}…` has 5000 letters; what can be launched has at most 4096" in words


def test_letters_are_bytes():
    words = error_of(lambda: Module().var("v", u8, init="hello"), "bad_initialiser")
    assert "the initial value of variable `v` is the text `'hello'`" in words
    assert "hint: letters are bytes: `init=b'hello'`" in words


def test_division_of_signed_integers_is_hinted_as_it_can_be_written():
    def divide() -> None:
        reg.scalar(s32, 5) / 2

    words = error_of(lambda: text_of(divide), "bad_operator")
    assert "hint: PTX divides .s32 towards zero: `ptx.let.div.s32(a, b)` is PTX's" in words
    assert "div.s32" in text_of(lambda: ptx.let.div.s32(reg.scalar(s32, 5), 2))


def test_a_variable_of_another_module():
    table = Module().var("table", u32, 4)

    def loads() -> None:
        ptx.let.ld.global_.u32(ptx.addr(table, 4))
        ptx.inst.mov.b32(reg.alloc(b32), 1)

    words = error_of(lambda: text_of(loads), "undefined_symbol")
    assert "`table` is a variable of another module than the kernel's" in words
    assert "hint: a kernel has the variables of its own module: `@kernel(module=m, …)`" in words


def test_the_signature_of_a_kernel_is_that_of_its_calls():
    assert str(inspect.signature(copies)) == "(X, /, *, out=None)"

    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("M", f32),), raw_params=[("u32", "N"), ("f32", "by")], grid=1)
    def many(X, Y, *, fast=True): ...

    assert str(inspect.signature(many)) == "(X, /, *, fast=True, M, by, out=None)"

    @kernel
    def text_alone(X): ...

    assert str(inspect.signature(text_alone)) == "(X, /)"
    assert isinstance(inspect.signature(pyptx.Kernel), inspect.Signature)
    with pytest.raises(AttributeError, match="no attribute 'sinature'"):
        _ = copies.sinature


def test_an_error_under_jit_is_at_the_call():
    jax = pytest.importorskip("jax")
    wrong = np.zeros(32, np.int32)
    with pytest.raises(TypeError, match="element type is int32") as caught:
        jax.jit(copies)(wrong)
    line = inspect.currentframe().f_lineno - 1
    assert caught.value.where == (__file__, line)


def test_a_name_is_listed_once() -> None:
    tile = Tile("N", f32)

    @kernel(in_specs=(tile,), out_specs=(tile,), raw_params=[("u32", "N")], grid=1, block=32)
    def k(X, Y, *, SCALE=1):
        ptx.ret()

    said = error_of(lambda: k(np.zeros(32, np.float32), wrong=1), "argument_kind")
    assert "it takes `SCALE`, `N`" in said
    assert said.count("`N`") == 1


def test_completion_shows_what_authors_use() -> None:
    for module in (ptx, reg, smem):
        assert set(dir(module)) == set(module.__all__)


def test_errors_call_a_function_by_its_name() -> None:
    nameless = [name for name, each in vars(_ptx).items() if type(each).__name__ == "nb_func" and each.__name__ != name]
    assert not nameless
    assert _ptx.smem.alloc.__qualname__ == "smem.alloc"
    for call, words in ((lambda: ptx.loop(5), "`loop` is given the int `5`; "), (smem.alloc, "`smem.alloc` is given nothing; ")):
        with pytest.raises(pyptx.PtxError) as error:
            call()
        assert error.value.message.startswith(words), error.value.message


def test_an_array_is_no_operand():
    words = error_of(lambda: text_of(lambda: ptx.inst.add.f32(reg.scalar(f32), 1.0, np.ones(3))), "argument_kind")
    assert "an operand is the ndarray `array([1., 1., 1.])`; what fits is a register, a number" in words
    words = error_of(lambda: text_of(lambda: ptx.inst.add.u32(reg.scalar(u32), 1, np.arange(2))), "argument_kind")
    assert "an operand is the ndarray `array([0, 1])`" in words
    assert "add.f32 %f0, 0f3F800000, 0f40000000;" in text_of(lambda: ptx.inst.add.f32(reg.scalar(f32), 1.0, np.float32(2)))


def test_tensors_of_the_signature_have_no_elements():
    def read(X, Y):
        X[0]

    def write(X, Y):
        Y[0] = 1.0

    for body, name in ((read, "X"), (write, "Y")):
        words = error_of(lambda body=body: kernel(**SPECS)(body).ptx(), "bad_operator")
        assert f"`{name}` is a tensor of the kernel's signature: it has no elements while the body is traced" in words
        assert f"`(x,) = ptx.global_ptrs({name})`" in words


def test_the_dtype_of_a_tile_is_no_text():
    words = error_of(lambda: Tile("N", "f32"), "bad_tile")
    assert words == 'a Tile needs a dtype, and the text "f32" names a dimension; the dtype is `f32` itself, without quotes'
    assert "as in `Tile(N, M, f32)`" in error_of(lambda: Tile("N", "M"), "bad_tile")


def test_scalars_go_by_name():
    @kernel(**SPECS, raw_params=[("u32", "n"), ("f32", "by")])
    def k(X, Y):
        ptx.ret()

    for scalars in ((7,), (7, 1.5)):
        words = error_of(lambda scalars=scalars: k(np.ones(32, np.float32), *scalars), "argument_count")
        assert words.startswith(f"kernel `k` takes 1 tensor; the call has {1 + len(scalars)}\n")
        assert words.endswith("scalars go by name: `n=7`")
    assert k(np.ones(32, np.float32), n=7, by=1.5).shape == (32,)


def test_kernels_are_not_called_in_a_body():
    @kernel(**SPECS)
    def outer(X, Y):
        copies(X)

    words = error_of(outer.ptx, "argument_kind")
    assert "argument 0 (`X`) of kernel `copies` is `X`, a tensor of the kernel whose body this is" in words
    assert "device functions, which `@func` makes" in words


def test_bytes_in_another_order_and_how_to_mend_it():
    words = error_of(lambda: copies(np.ones(32, ">f4")), "argument_dtype")
    assert 'the element type is big-endian float32; the kernel takes little-endian: call `.astype("float32")`' in words


def test_other_forms_are_named_once():
    words = error_of(lambda: text_of(lambda: reg.scalar(u32, init=float("nan"))), "operand_mismatch").splitlines()
    others = [line for line in words if line.startswith("or: ")]
    assert others and len(others) == len(set(others))


def test_a_condition_of_registers_is_no_condition_of_python():
    words = error_of(lambda: text_of(lambda: bool(reg.scalar(u32, init=1) < 3)), "bad_operator")
    assert "`with ptx.if_(p):` writes a branch that the kernel takes, and `ptx.while_` a loop" in words
