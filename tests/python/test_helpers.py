"""A helper is declared once, in a row beside its C++ function: what Python has of it is made of the row."""

import ast
import inspect
from functools import reduce
from pathlib import Path

import pytest

import pyptx
from pyptx import _ptx, ptx, smem

HELPERS = dict(_ptx.helpers())  # by name; a method of a handle bears the name of the helper that it is
PLACES = sorted({place for _, place in _ptx.helpers()})

# What `ptx` has besides helpers: the trace's control flow and declarations, objects of Python's own, single instructions.
CONTROL = {
    "Address", "BarrierArray", "BarrierSlot", "NamedBarrier", "NegPred", "PipeRef", "PipelineState", "addr", "bra",
    "cvta", "elif_", "else_", "expr", "file_", "global_ptrs", "if_", "kloop", "label", "loc", "loop",
    "named_barrier", "param", "pipe", "pipeline", "pragma", "range_", "raw", "ret", "scope", "special", "sreg", "var",
    "while_",
}  # fmt: skip
OTHERS = CONTROL | {"mad", "inst", "let", "ctaid_x", "ctaid_y", "mbarrier.array"}


def functions(path: str, held: object) -> set[str]:
    """The functions below a public name, by their paths."""
    kind = type(held).__name__
    if kind in ("nb_func", "nb_method", "nb_bound_method"):
        return {path}
    if not str(getattr(held, "__module__", type(held).__module__)).startswith("pyptx") or len(path) > 60:
        return set()
    found = {f"{path}.__call__"} if "__call__" in vars(held if isinstance(held, type) else type(held)) else set()
    return found.union(*(functions(f"{path}.{name}", getattr(held, name)) for name in dir(held) if not name.startswith("_")))


def declared_name(path: str) -> str:
    """`cp.async_.bulk.tensor_2d.store` is declared for every rank at once."""
    path = path.replace("async_bulk", "async_.bulk")
    for rank in "12345":
        path = path.replace(f"bulk.tensor.tensor_{rank}d", "bulk.tensor_Nd").replace(f"bulk.tensor_{rank}d", "bulk.tensor_Nd")
    return f"ptx.{path}"


@pytest.mark.parametrize("name", sorted(set(ptx.__all__) - OTHERS))
def test_every_public_helper_is_declared(name) -> None:
    found = functions(name, getattr(ptx, name)) - OTHERS
    assert found, name
    assert {declared_name(path) for path in found} <= HELPERS.keys()


def test_what_is_left_is_known() -> None:
    """A name that is neither declared nor listed above is new: it wants a row."""
    assert set(ptx.__all__) >= OTHERS - {"mbarrier.array"}
    assert len(HELPERS) > 80 and {"ptx.wgmma.mma_async", "ptx.tcgen05.mma", "ptx.mbarrier.init"} <= HELPERS.keys()
    assert set(smem.__all__) >= {"alloc", "wgmma_tile"}


@pytest.mark.parametrize("place", PLACES)
def test_a_row_gives_signature_help_and_stub(place) -> None:
    function = reduce(getattr, place.split("."), _ptx)
    ((signature, doc, *_),) = function.__nb_signature__
    name = place.rsplit(".", 1)[-1]
    assert signature.startswith(f"def {name}(") and doc and doc in inspect.getdoc(function)
    (defined,) = ast.parse(f"{signature}: ...").body
    assert isinstance(defined, ast.FunctionDef) and defined.returns is not None
    stub = ast.parse((Path(pyptx.__file__).parent / "_ptx.pyi").read_text())
    for part in place.split("."):
        stub = next(node for node in stub.body if getattr(node, "name", "") == part)
    stubbed = ast.unparse(stub.args).replace("typing.", "")
    assert stubbed == ast.unparse(defined.args).replace("typing.", "")


def test_arguments_that_do_not_fit_are_refused_before_anything_is_written() -> None:
    with _ptx.Trace("test") as trace:
        tile = smem.alloc(pyptx.types.b32, 16)
        for call in (
            lambda: ptx.mbarrier.init(tile, "not a number of PTX"),
            lambda: ptx.cp.async_.bulk(dst=tile, src=tile, size=None, mbar=tile),
            lambda: ptx.tcgen05.alloc(tile, 32, cta_group="one"),
        ):
            with pytest.raises(pyptx.PtxError):
                call()
        assert trace.statements == []
