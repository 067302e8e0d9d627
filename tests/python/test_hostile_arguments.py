"""Every public function and class, with what fits nowhere in each argument: an error of ours at the author's line or a result."""

import enum
import importlib
import inspect
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pyptx
from pyptx import PtxError, Tile, _ptx, differentiable_kernel, kernel, ptx, reg, smem, types
from pyptx.parser.parser import ParseError, parse
from pyptx.types import f32, u32

HOSTILE = [None, 5, 1 << 80, -1, "x", [], float("nan"), object()]
GOOD = [lambda: reg.scalar(u32), lambda: f32, lambda: 4, lambda: smem.alloc(f32, (8, 8))]
MODULES = (
    "ptx", "reg", "smem", "specs", "types", "wgmma_layout", "spec", "parser", "parser.lexer", "emitter", "ir.normalize",
    "jax_support", "gradients",
)  # fmt: skip
# A registration that any value may be given to; and what no author calls.
LEFT_OUT = {"set_mock_ffi_callback", "speak_in_own_words"}


def callables(name: str, owner: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Functions, and what is called as one, below a public name."""
    if isinstance(owner, type):
        if not issubclass(owner, (BaseException, enum.Enum)) and owner.__module__.startswith("pyptx"):
            yield name, owner
    elif type(owner).__name__ in ("nb_func", "nb_method", "nb_bound_method", "function"):
        if str(owner.__module__).startswith("pyptx"):
            yield name, owner
    elif type(owner).__module__.startswith("pyptx") and type(owner).__name__ not in ("Inst", "PtxType") and depth < 3:
        for each in dir(owner):
            if not each.startswith("_"):
                yield from callables(f"{name}.{each}", getattr(owner, each, None), depth + 1)


def everything() -> list[tuple[str, Any]]:
    found: dict[str, Any] = {}
    for module in (importlib.import_module(f"pyptx.{name}") for name in MODULES):
        for name in getattr(module, "__all__", None) or [each for each in dir(module) if not each.startswith("_")]:
            for path, each in callables(name, getattr(module, name)):
                if name not in LEFT_OUT:
                    found.setdefault(f"{module.__name__.removeprefix('pyptx.')}.{path}", each)
    return sorted(found.items())


def argument_counts(function: Any) -> range:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return range(6)
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    needed = sum(each.default is each.empty for each in positional)
    more = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    return range(needed, min(len(positional), 6) + 1 + more)


MISSING = re.compile(r"missing \d+ required|unexpected keyword|positional argument|got multiple values")


def complaint(function: Any, arguments: list[Any]) -> str | None:
    """What is raw in how a call fails; None when nothing is."""
    try:
        with _ptx.Trace("hostile"):
            function(*[each() if each in GOOD else each for each in arguments])
    except (PtxError, ParseError):
        return None
    except (TypeError, OverflowError, AttributeError, SystemError, RuntimeError) as error:
        if type(error) is RuntimeError and "bad_cast" not in str(error):
            return None  # ours, in the words that the specification has
        # Which parameters there are is Python's to say, also of our functions.
        return None if MISSING.search(str(error)) else f"{type(error).__name__}: {error}"
    except Exception:
        return None
    return None


@pytest.mark.parametrize(("name", "function"), everything(), ids=lambda value: value if isinstance(value, str) else "")
def test_what_fits_nowhere_is_refused_in_our_words(name, function):
    raw = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for count in argument_counts(function):
            for value in HOSTILE:
                lists = [[value] * count]
                lists += [[value if i == at else good for i in range(count)] for at in range(count) for good in GOOD]
                for arguments in lists:
                    said = complaint(function, arguments)
                    if said is not None:
                        raw.setdefault(said, arguments)
    assert raw == {}, name


# -- the calls that were found by hand


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
def one(A, B, *, value=None):
    ptx.ret()


@kernel(out_specs=(Tile("N", f32),), in_specs=(), grid=1, block=32)
def named(B):
    ptx.ret()


def written(function):
    def call():
        with _ptx.Trace("by_hand"):
            function()

    return call


CALLS = [
    (lambda: Tile(1 << 70, f32), "1180591620717411303424"),
    (lambda: Tile(-1 << 70, f32), "-1180591620717411303424"),
    (lambda: named(N=1 << 80), "1208925819614629174706176"),
    (lambda: named(N=-1), "-1"),
    (lambda: kernel(grid=1 << 40)(one._fn), "1099511627776"),
    (lambda: kernel(grid=lambda: 1 << 40, in_specs=(), out_specs=(Tile(1, f32),))(named._fn)(), "1099511627776"),
    (lambda: kernel(arch=90)(one._fn), "`90`"),
    (lambda: kernel(arch=None)(one._fn), "`None`"),
    (lambda: kernel(version=8.5)(one._fn), "8.5"),
    (lambda: kernel(version=(8, "5"))(one._fn), "'5'"),
    (lambda: kernel(raw_params=["u32"])(one._fn), r"\['u32'\]"),
    (lambda: kernel(raw_params="u32")(one._fn), "'u32'"),
    (lambda: kernel(raw_params=[("u32", 5)])(one._fn), "5"),
    (lambda: kernel(raw_directives=[("maxnreg", 5)])(one._fn), "maxnreg"),
    (lambda: kernel(raw_directives=5)(one._fn), "5"),
    (lambda: kernel(reqntid="x")(one._fn), "'x'"),
    (lambda: kernel(extern_smem=5)(one._fn), "`5`"),
    (lambda: kernel(tensor_maps=5)(one._fn), "`5`"),
    (lambda: kernel(tensor_maps={"A": 5})(one._fn), "5"),
    (lambda: kernel(input_output_aliases=[0])(one._fn), r"\[0\]"),
    (lambda: kernel(cooperative=1)(one._fn), "`1`"),
    (lambda: kernel(tma=np.zeros(3))(one._fn), "array"),
    (lambda: kernel(block=np.zeros(3))(one._fn), "array"),
    (lambda: kernel(smem=np.zeros(3))(one._fn), "array"),
    (written(lambda: ptx.raw(5)), "`5`"),
    (lambda: parse(None), "None"),
    (lambda: parse(b"x"), "b'x'"),
    (lambda: one.prepare("x"), "'x'"),
    (lambda: one.prepare(5), "`5`"),
    (lambda: one.save("/nowhere/x", 5), "`5`"),
    (lambda: differentiable_kernel(None, None), "`None`"),
    (lambda: differentiable_kernel(one, 5), "`5`"),
    (lambda: differentiable_kernel(one, one, save_for_backward=5), "`5`"),
    (lambda: differentiable_kernel(one, one, num_grad_inputs="x"), "'x'"),
]


@pytest.mark.parametrize(("call", "value"), CALLS)
def test_the_error_names_the_value_and_the_line(call, value):
    with pytest.raises(PtxError, match=value) as error:
        call()
    assert error.value.where is not None and error.value.where[0] == __file__


def test_an_array_is_a_template_value():
    assert one.ptx(value=np.zeros(3), N=32) == one.ptx(value=None, N=32)
    x = np.zeros(32, np.float32)
    one(x, value=np.zeros(3))


def test_a_symbolic_size_of_jax_is_named():
    jax = pytest.importorskip("jax")
    from jax import export

    (n,) = export.symbolic_shape("n")
    with pytest.raises(PtxError, match=r"dimension 0 of argument 0 of kernel `one` is symbolic \(`n`\)") as error:
        export.export(jax.jit(lambda x: one(x)))(jax.ShapeDtypeStruct((n,), "float32"))
    assert error.value.where[0] == __file__
    assert types is pyptx.types


# -- tracebacks


def frames(call) -> list[str]:
    """The files of the frames from the call on."""
    try:
        call()
    except Exception as error:
        found, traceback = [], error.__traceback__
        while traceback is not None:
            found.append(traceback.tb_frame.f_code.co_filename)
            traceback = traceback.tb_next
        return found[1:]
    raise AssertionError("nothing was raised")


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=1, block=32)
def faulty(A, B, *, kind="python"):
    if kind == "python":
        raise KeyError("the author's")
    ptx.inst.add.u32(1, 2)


def test_nothing_of_ours_lies_between_a_call_and_the_authors_line():
    x = np.zeros(32, np.float32)
    for _ in range(2):
        assert frames(lambda: faulty(x)) == [__file__, __file__], "the lambda and the body"
        assert frames(lambda: faulty(x, kind="ours")) == [__file__, __file__]
        assert frames(lambda: one(5)) == [__file__]
        assert frames(lambda: one(x, nothing=5)) == [__file__]
        ours = [file for file in frames(lambda: faulty.ptx()) if file != __file__]
        assert len(ours) <= 2, "`ptx` and `module`"
    with pytest.raises(KeyError, match="the author's"):
        faulty(x)


FOREIGN = """
from pyptx import PtxError, _ptx

for owner in [each for each in vars(_ptx).values() if isinstance(each, type)]:
    for name, method in list(vars(owner).items()):
        get = getattr(method, "__get__", None) if isinstance(method, property) else None
        kind = type(method).__name__
        if get is None and kind != "nb_method":
            continue
        for count in range(1 if get else 5):
            try:
                get(5) if get else method(5, *[3] * count)
            except (PtxError, TypeError, ValueError, AttributeError, KeyError, RuntimeError, StopIteration):
                pass
print("alive")
"""


def test_no_method_takes_an_object_of_another_class_for_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FOREIGN], capture_output=True, text=True, check=False)
    assert done.stdout == "alive\n", done.stderr[-2000:]
