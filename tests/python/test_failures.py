"""Odd arguments, odd environments: each gives a clear error, and never a crash, a hang or wrong data. docs/failures.md lists what
may go wrong and where it is tested; what a call with ordinary tensors may get wrong is in test_launch_numpy.py and its like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from launching import WARP, add, offset, scale  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, _ptx, kernel, ptx, reg, spec  # noqa: E402
from pyptx.types import f32, u32  # noqa: E402

ROOT = Path(__file__).parents[2]
X = np.arange(64, dtype=np.float32)


def refused(kind, call, *parts):
    """The call raises that kind of error, and says all the parts."""
    with pytest.raises(pyptx.PtxError) as raised:
        call()
    assert raised.value.kind == kind, raised.value
    for part in parts:
        assert part in str(raised.value)
    return raised.value


def run(program, **settings):
    import os

    folders = os.pathsep.join([str(Path(pyptx.__file__).parents[1]), str(Path(__file__).parent)])
    environment = {**os.environ, "PYTHONPATH": folders, **settings}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False, timeout=120
    )


# -- numpy, and what speaks its interfaces


@pytest.mark.parametrize(
    ("argument", "kind", "says"),
    [
        pytest.param(X[::-1], "argument_layout", "strides are (-1,) elements; the kernel takes row-major (1,)", id="reversed"),
        pytest.param(X.astype(">f4"), "argument_dtype", "big-endian float32", id="big-endian"),
        pytest.param(np.array(1, np.float32), "argument_rank", "a tensor of shape () has rank 0", id="0-d"),
        pytest.param(X.astype(object), "argument_dtype", "object, which PTX does not have", id="object"),
        pytest.param(X.astype(complex), "argument_dtype", "complex128; the kernel takes float32", id="complex"),
        pytest.param(X.astype("M8[s]"), "argument_dtype", "datetime64[s], which PTX does not have", id="datetime"),
        pytest.param(np.zeros(64, [("a", "f4")]), "argument_dtype", "void32, which PTX does not have", id="structured"),
        pytest.param(X.astype(bool), "argument_dtype", "bool; the kernel takes float32", id="bool"),
        pytest.param(np.zeros(64, [("a", "f4"), ("b", "i1")])["a"], "argument_layout", "strides are (0,)", id="odd stride"),
        pytest.param(np.ma.masked_array(X, X > 3), "argument_layout", "the array is masked", id="masked"),
        pytest.param(memoryview(X), "argument_kind", "is a `memoryview`; it takes a tensor", id="memoryview"),
        pytest.param(np.ones((1, 64), np.float32), "argument_rank", "rank 2", id="2-d"),
    ],
)
def test_odd_arrays(argument, kind, says):
    refused(kind, lambda: add(argument, X), "argument 0 (`A`) of kernel `add`", says)
    refused(kind, lambda: add(X, argument), "argument 1 (`B`) of kernel `add`", says)


class Interface:
    def __init__(self, **answer):
        self.__array_interface__ = {"typestr": "<f4", "shape": (64,), "data": (X.ctypes.data, False), **answer}


class Dlpack:
    def __init__(self, answer, device=(1, 0)):
        self.answer, self.device = answer, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("argument", "kind", "says"),
    [
        (Interface(data=(0, False)), "argument_memory", "the tensor has no memory"),
        (Interface(data=None), "argument_kind", "is an `Interface`, whose `__array_interface__` gives something that is not one"),
        (Interface(shape=5), "argument_kind", "whose `__array_interface__` gives something that is not one"),
        (Interface(shape=(-64,)), "argument_kind", "whose `__array_interface__` gives a negative size"),
        (Interface(typestr="?"), "argument_dtype", "the element type is , which PTX does not have"),
        (Dlpack(5), "argument_kind", "is a `Dlpack`, whose `__dlpack__` gives something that this version does not read"),
        (Dlpack(BufferError("not now")), "argument_kind", "whose `__dlpack__` fails: BufferError: not now"),
        (Dlpack(5, None), "argument_kind", "whose `__dlpack__` gives something that is not one"),
    ],
)
def test_interfaces_that_answer_nonsense(argument, kind, says):
    refused(kind, lambda: add(X, argument), "argument 1 (`B`) of kernel `add`", says)


def test_an_interface_may_raise_what_is_no_error():
    with pytest.raises(KeyboardInterrupt):
        add(X, Dlpack(KeyboardInterrupt()))


def of_rank(n):
    @kernel(in_specs=(Tile(*(1,) * (n - 1), WARP, f32),), out_specs=(Tile(*(1,) * (n - 1), WARP, f32),), grid=1, block=WARP)
    def copy(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        at = offset(4)
        px += at
        py += at
        x = reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(px))
        ptx.inst.st.global_.f32(ptx.addr(py), x)
        ptx.ret()

    return copy


@pytest.mark.parametrize("n", [6, 20])
def test_many_dimensions(n):
    k = of_rank(n)
    x = X[:WARP].reshape((1,) * (n - 1) + (WARP,))
    assert (k(x) == x).all()
    refused("argument_rank", lambda: k(x[0]), f"has rank {n - 1}", f"has rank {n}")


def test_tensors_without_elements():
    assert add(X[:0], X[:0]).shape == (0,)
    refused("dim_conflict", lambda: add(X[:0], X), "64 here, 0 from argument 0 (`A`)")
    refused("argument_dtype", lambda: add(X[:0], X[:0].astype(int)), "int64")


# -- torch


def odd_torch_tensors():
    torch = pytest.importorskip("torch")
    t = torch.ones(64)
    freed = torch.ones(64)
    freed.untyped_storage().resize_(0)
    return {
        "sparse": (t.to_sparse(), "argument_layout", "torch.sparse_coo"),
        "meta": (t.to("meta"), "argument_device", "the tensor is on `meta`"),
        "nested": (torch.nested.nested_tensor([t[:3], t[:4]]), "argument_layout", "nested"),
        "complex": (t.to(torch.complex64), "argument_dtype", "complex64"),
        "conjugate": (t.to(torch.complex64).conj(), "argument_layout", "lazy conjugate"),
        "0-d": (torch.tensor(1.0), "argument_rank", "rank 0"),
        "expanded": (torch.ones(1).expand(64), "argument_layout", "strides are (0,) elements"),
        "freed": (freed, "argument_memory", "the tensor has no memory"),
        "zeros without memory": (torch._efficientzerotensor(64), "argument_memory", "the tensor has no memory"),
        "needs a gradient": (torch.nn.Parameter(t), "argument_gradient", "requires a gradient"),
        "None": (None, "argument_kind", "`NoneType`"),
        "list": ([1.0] * 64, "argument_kind", "`list`"),
        "dtype": (torch.float32, "argument_kind", "`dtype`"),
    }


@pytest.mark.filterwarnings("ignore:.*nested tensors")
@pytest.mark.parametrize(
    "name",
    ["sparse", "meta", "nested", "complex", "conjugate", "0-d", "expanded", "freed", "zeros without memory",
     "needs a gradient", "None", "list", "dtype"],
)  # fmt: skip
def test_odd_torch_tensors(name):
    torch = pytest.importorskip("torch")
    t = torch.ones(64)
    tensor, kind, says = odd_torch_tensors()[name]
    for _ in range(2):  # when the kernel has never been called with good tensors, and when it has
        refused(kind, lambda: add(tensor, t), "argument 0 (`A`) of kernel `add`", says)
        refused(kind, lambda: add(t, tensor), "argument 1 (`B`) of kernel `add`", says)
        assert torch.equal(add(t, t), 2 * t)


def test_parameters_and_subclasses_are_tensors():
    torch = pytest.importorskip("torch")
    t = torch.ones(64)
    for x in (torch.nn.Parameter(t, requires_grad=False), t.as_subclass(type("Sub", (torch.Tensor,), {}))):
        assert torch.equal(add(x, t).as_subclass(torch.Tensor), 2 * t)


# -- JAX


def test_odd_jax_arrays():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    x = jnp.asarray(X)
    refused("argument_rank", lambda: add(jnp.float32(1), x), "argument 0 (`A`)", "rank 0")
    refused("argument_dtype", lambda: add(x.astype(jnp.complex64), x), "argument 0 (`A`)", "complex64")
    refused("argument_dtype", lambda: add(x, x.astype("int4")), "argument 1 (`B`)", "int4, which PTX does not have")
    refused("argument_dtype", lambda: add(jax.random.key(0), x), "argument 0 (`A`)", "key<")
    refused("argument_kind", lambda: add(x, jax.ShapeDtypeStruct((64,), "float32")), "argument 1 (`B`)", "`ShapeDtypeStruct`")
    refused("argument_kind", lambda: jax.jit(lambda a: add(a, None))(X), "argument 1 (`B`)", "`NoneType`")
    refused("argument_kind", lambda: jax.jit(lambda a: add(X, X, out=a))(X), "output 0 (`C`)", "Tracer")
    gone = x + 1
    gone.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        add(gone, x)


def test_a_tracer_beside_numpy_and_after_its_time():
    jax = pytest.importorskip("jax")
    kept = []
    assert (jax.jit(lambda a: (kept.append(a), add(a, X))[1])(X) == 2 * X).all()
    with pytest.raises(jax.errors.UnexpectedTracerError):
        add(kept[0], X)


def test_what_the_executor_does_not_run_fails_when_jax_compiles():
    jax = pytest.importorskip("jax")

    @kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile(WARP, f32),), grid=4, block=WARP, arch="sm_90a")
    def asks_a_texture(X, Y):
        ptx.inst.txq.width.b32(reg.scalar(u32), ptx.addr(ptx.global_ptrs(Y)[0]))

    says = r"`txq.width.b32` is not executed: "
    with pytest.raises(RuntimeError, match=says) as raised:
        asks_a_texture(X[:WARP])
    assert raised.value.kind == "not_executed"
    x = jax.numpy.asarray(X[:WARP])
    with pytest.raises(Exception, match="UNIMPLEMENTED: .*" + says):
        jax.jit(asks_a_texture).lower(x).compile()


def test_a_gpu_array_that_nobody_could_answer():
    done = run("""
import ctypes
import numpy as np
from launching import add
from pyptx import PtxError

class OnCuda:
    def __init__(self):
        self.array = np.arange(64, dtype=np.float32)
    def __dlpack_device__(self):
        return (2, 0)
    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        ctypes.c_int32.from_address(get(capsule, b"dltensor") + 8).value = 2
        return capsule

try:
    add(OnCuda(), OnCuda())
except PtxError as error:
    print(error.kind, error)
""")
    says = "argument_kind error: argument 0 (`A`) of kernel `add` is an `OnCuda` on a GPU, and neither torch nor CuPy"
    assert says in done.stdout, done.stdout + done.stderr


# -- scalars and geometry


def test_scalars_that_are_no_numbers():
    refused("argument_kind", lambda: scale(X, factor=None), "parameter `factor` of kernel `scale` is a `NoneType`")
    refused("argument_kind", lambda: scale(X, factor="2"), "is a `str`; what fits is a number")
    refused("argument_kind", lambda: scale(X, factor=1j), "is a `complex`")
    refused("argument_kind", lambda: scale(X, factor=np.ones(3)), "is a `ndarray`")
    refused("immediate_range", lambda: scale(X, factor=10**400), "is an integer too large for a `.f32`")


def test_large_integers_keep_their_value_in_a_float():
    for factor in (2**63, 2**64 + 5, -(2**63), np.uint64(2**63)):
        assert (scale(X, factor=factor) == X * np.float32(int(factor))).all()


def test_a_scalar_may_be_a_tensor_of_one_element():
    torch = pytest.importorskip("torch")
    for factor in (torch.tensor(2.5), torch.tensor([2.5]), np.float64(2.5), np.array(2.5)):
        assert (scale(X, factor=factor) == X * 2.5).all()
    refused("argument_kind", lambda: scale(X, factor=torch.ones(3)), "is a `Tensor`")


def launched(**options):
    options = {"grid": 1, "block": WARP, **options}

    @kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile(WARP, f32),), **options)
    def it(X, Y):
        ptx.ret()

    return it(X[:WARP])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"block": 2048}, "kernel `it`: block (2048, 1, 1) has 2048 threads in x; at most 1024 fit"),
        ({"block": (1, 1, 65)}, "kernel `it`: block (1, 1, 65) has 65 threads in z; at most 64 fit"),
        ({"block": 0}, "the block is `0`; each of its sizes is at least 1"),
        ({"block": 64, "reqntid": (32, 1, 1)}, "kernel `it`: block (64, 1, 1) does not fit the kernel's `.reqntid` (32, 1, 1)"),
        ({"grid": 3, "cluster": 2}, "kernel `it`: grid (3, 1, 1) is not a whole number of clusters (2, 1, 1) in x"),
        ({"grid": 0}, "the grid of kernel `it` is `0`"),
        ({"grid": None}, "kernel `it` has no grid"),
        ({"smem": 300000}, "kernel `it`: 300000 bytes of shared memory; a block on sm_90a has at most 232448"),
        ({"smem": -1}, "the shared memory `smem` is `-1`; what fits is a number of bytes"),
        ({"smem": 1 << 40}, "the shared memory `smem` is `1099511627776`"),
    ],
)  # fmt: skip
def test_launches_that_no_gpu_takes(options, says):
    refused("launch_config", lambda: launched(**options), says)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"block": "32"}, "the block is `'32'`; what fits is one to three ints"),
        ({"grid": lambda: None}, "the grid of kernel `it` is `None`"),
        ({"smem": "48K"}, "the shared memory `smem` is `'48K'`"),
    ],
)
def test_launches_in_words_of_another_type(options, says):
    refused("argument_kind", lambda: launched(**options), says)


# -- the environment and files


def test_files_are_os_errors_and_settings_are_value_errors(tmp_path, monkeypatch):
    with pytest.raises(OSError, match=r"cannot (read|write) `.*`: No such file") as raised:
        _ptx.load(str(tmp_path / "nothing"))
    assert isinstance(raised.value, pyptx.PtxError) and raised.value.kind == "file_error"
    with pytest.raises(OSError, match=str(tmp_path)):
        add.save(tmp_path / "no" / "folder", N=64)
    for name, value, says in (
        ("PYPTX_NO_COMPILE", "yes", "PYPTX_NO_COMPILE is `yes`; what fits is `1` or `0`"),
        ("PYPTX_STRICT", "2", "PYPTX_STRICT is `2`; what fits is `1` or `0`"),
        ("PYPTX_JIT", "nvcc", "PYPTX_JIT is `nvcc`; what fits is `ptxas` or `driver`"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            with pytest.raises(ValueError, match=says) as wrong:
                add.save(tmp_path / "add", targets=["sm_90a"], N=64)
            assert wrong.value.kind == "bad_setting"


def test_a_bad_pyptx_check_fails_the_import_or_is_said():
    done = run("import pyptx", PYPTX_CHECK="maybe")
    assert done.returncode != 0 or "PYPTX_CHECK" in done.stderr
    assert "PYPTX_CHECK" in done.stderr and "maybe" in done.stderr


def test_what_ptxas_refuses_is_at_the_authors_line(tmp_path, monkeypatch, ptxas_path):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))

    @kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile(WARP, f32),), grid=1, block=WARP)
    def refused_by_ptxas(X, Y):
        with spec.strict(False):
            ptx.raw("add.nonsense.u32 %tid, %tid, 1;")
        ptx.ret()

    error = refused("compile_error", lambda: refused_by_ptxas.save(tmp_path / "it"), "add.nonsense.u32", "ptxas")
    line = refused_by_ptxas._fn.__code__.co_firstlineno + 3
    assert error.where == (__file__, line)


@pytest.mark.skipif(sys.platform == "win32", reason="no sub-interpreters of this kind")
@pytest.mark.parametrize("before", ["", "import pyptx"])
def test_a_sub_interpreter_is_refused(before):
    pytest.importorskip("_testcapi")
    done = run(f"""
{before}
import _testcapi
_testcapi.run_in_subinterp('''
try:
    import pyptx
except ImportError as error:
    print("refused:", error)
''')
""")
    assert done.returncode == 0 and "refused:" in done.stdout and "interpreter" in done.stdout, done.stdout + done.stderr


@pytest.mark.skipif(_ptx.why_no_gpu() is None, reason="this machine has a GPU")
def test_a_fork_before_any_gpu_call_is_fine():
    done = run("""
import os
import numpy as np
from launching import add
x = np.arange(64, dtype=np.float32)
add(x, x)
pid = os.fork()
if pid == 0:
    os._exit(0 if (add(x, x) == 2 * x).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
""")
    assert done.returncode == 0, done.stderr
