"""@kernel: signature, specialisation, text."""

import importlib.util
import threading
from pathlib import Path

import pytest

from pyptx import Kernel, Layout, Tile, _ptx, intrinsic, kernel, ptx, reg, smem
from pyptx._trace import get_ctx, trace_scope
from pyptx.emitter import emit
from pyptx.kernel import TensorSpec, TmaDescriptorHandle
from pyptx.types import bf16, f32, u32

EXAMPLE = Path(__file__).parents[2] / "examples" / "rms_norm.py"


def example():
    spec = importlib.util.spec_from_file_location("rms_norm_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def body_of(text: str) -> list[str]:
    inside = text[text.index("{\n") + 2 : text.rindex("}")]
    return [line.strip() for line in inside.splitlines() if not line.strip().startswith(".reg")]


@kernel(
    in_specs=(Tile("M", "N", f32), Tile("N", bf16, Layout.COL)), out_specs=(Tile("M", f32),), grid=lambda M: M // 4, block=(32, 4)
)
def shaped(X, W, Y, *, BM=64, flag=None):
    """What it does."""
    seen.append((X, W, Y, BM, flag))


seen: list = []


# -- the program of the specification


def test_rms_norm_is_its_golden_text_and_ptxas_takes_it(golden, ptxas) -> None:
    text = example().build_rms_norm(16, 512).ptx()
    golden("rms_norm.ptx", text)
    ptxas(text)


def test_the_same_kernel_gives_the_same_bytes() -> None:
    build = example().build_rms_norm
    assert build(16, 512).ptx() == build(16, 512).ptx()
    texts = []
    threads = [threading.Thread(target=lambda: texts.append(build(16, 512).ptx())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 4 and len(set(texts)) == 1


def test_names_are_counted_from_zero_in_every_trace() -> None:
    def counted(X):
        bars, tile = smem.mbarrier(2), smem.alloc(f32, (2, 32))
        p = reg.from_(ptx.special.tid.x(), u32) == 0
        with ptx.if_(p):
            ptx.mbarrier.wait(bars[1], 0)
        for _ in ptx.range_(0, 3):
            ptx.warp.reduce_sum(tile[0, 1])
        ptx.kloop(reg.scalar(u32, init=5), unroll=2, body=lambda: reg.array(f32, 2))
        reg.alloc(u32)
        X.tma_desc()
        ptx.ret()

    def text() -> str:
        return kernel(in_specs=(Tile(32, 32, f32),))(counted).ptx()

    first = text()
    with trace_scope():  # one that is left in its middle
        smem.alloc(f32, 3)
        reg.array(u32, 3)
    assert text() == first and "$_else_0:" in first and "smem_0" in first and "mbar_0" in first


# -- signature


def test_properties() -> None:
    assert shaped.in_specs == (Tile("M", "N", f32), Tile("N", bf16, Layout.COL)) and shaped.out_specs == (Tile("M", f32),)
    assert (shaped.block, shaped.cluster, shaped.smem, shaped.arch) == ((32, 4, 1), (1, 1, 1), 0, "sm_90a")
    assert callable(shaped.grid) and shaped._resolve_grid({"M": 8, "N": 3}) == (2, 1, 1)
    assert shaped.template_params == {"BM": 64, "flag": None}
    shaped.template_params["BM"] = 1
    assert shaped.template_params["BM"] == 64
    assert (shaped.__name__, shaped.__doc__, shaped.__module__) == ("shaped", "What it does.", __name__)
    assert shaped.__wrapped__ is shaped._fn
    for word in ("shaped", "sm_90a", "X: Tile('M', 'N', f32)", "BM=64", "(32, 4, 1)"):
        assert word in repr(shaped)


def test_tensors_are_bound_to_their_specs() -> None:
    seen.clear()
    shaped.ptx(M=8, N=3, BM=7)
    x, w, y, bm, flag = seen[0]
    assert (x.name, x.shape, x.dtype, x.layout) == ("X", (8, 3), f32, Layout.ROW)
    assert (w.name, w.shape, w.dtype, w.layout) == ("W", (3,), bf16, Layout.COL)
    assert (y.name, y.shape, bm, flag) == ("Y", (8,), 7, None)
    shaped.ptx(N=5)
    x, w, y, bm, _ = seen[1]
    assert (x.shape, w.shape, y.shape, bm) == (None, (5,), None, 64)


def test_entry_parameters_in_order() -> None:
    @kernel(
        in_specs=(Tile(4, f32),),
        out_specs=(Tile(4, f32),),
        raw_params=[("u32", "n"), ("b8.align64.array128", "map"), ("u64.ptr.global.palign16", "p")],
    )
    def with_params(X, Y):
        ptx.param(u32, "n")
        ptx.ret()

    text = with_params.ptx()
    params_text = text[text.index("(") + 2 : text.index("\n)")].split(",\n")
    assert params_text == [
        "\t.param .u64 X",
        "\t.param .u64 Y",
        "\t.param .u32 n",
        "\t.param .align 64 .b8 map[128]",
        "\t.param .u64 .ptr .global .align 16 p",
    ]
    assert "ld.param.u32 %r0, [n];" in text


def test_without_specs_there_are_no_tensor_parameters() -> None:
    @kernel
    def bare(X):
        ptx.ret()

    assert ".visible .entry bare()" in bare.ptx()
    with pytest.raises(NotImplementedError, match="in_specs"):
        bare([1.0])


def test_directives() -> None:
    assert "\n.reqntid 128, 1, 1\n{" in Kernel(lambda_named("a"), reqntid=(128, 1, 1)).ptx()
    both = Kernel(lambda_named("b"), reqntid=(1, 1, 1), raw_directives=[("maxntid", (256,)), ("explicitcluster", ())]).ptx()
    assert "\n.maxntid 256\n.explicitcluster\n{" in both and "reqntid" not in both


def lambda_named(name):
    def fn():
        ptx.ret()

    fn.__name__ = name
    return fn


def test_extern_shared_memory() -> None:
    def fn():
        assert smem.base().dtype is u32
        ptx.ret()

    text = Kernel(fn, extern_smem=True).ptx()
    assert ".extern .shared .align 128 .b8 global_smem[];" in text and "mov.u32 %r0, global_smem;" in text
    assert ".extern .shared .align 128 .b8 tiles[];" in Kernel(fn, extern_smem="tiles").ptx()


def test_arch_and_version() -> None:
    def fn():
        ptx.ret()

    assert Kernel(fn).ptx().startswith(".version 8.5\n.target sm_90a\n.address_size 64\n")
    assert Kernel(fn, arch="sm_100a").ptx().startswith(".version 8.8\n.target sm_100a\n")
    assert Kernel(fn, arch="sm_80", version=(8, 0)).ptx().startswith(".version 8.0\n.target sm_80\n")


# ptxas refuses these targets in texts of an older version.
@pytest.mark.parametrize(
    ("version", "archs"),
    [
        ((8, 5), "sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a"),
        ((8, 7), "sm_120 sm_120a"),
        ((8, 8), "sm_100 sm_100a sm_101a sm_103 sm_103a sm_121 sm_121a"),
        ((9, 0), "sm_88 sm_110 sm_110a"),
    ],
)
def test_the_version_goes_by_the_target(version, archs) -> None:
    for arch in archs.split():
        assert Kernel(lambda_named("fn"), arch=arch).traced().version == version, arch


# -- specialisation


def test_the_same_arguments_give_the_same_module() -> None:
    assert shaped.module(M=8) is shaped.module(M=8) and shaped.module(BM=64, M=8) is shaped.module(M=8)
    assert shaped.module(M=8) is not shaped.module(M=9)
    assert shaped.module(flag=1) is not shaped.module(flag=1.0)
    assert shaped.module(flag=True) is not shaped.module(flag=1)
    assert shaped.ptx(flag=[1]) == shaped.ptx(flag=[1])


def test_modules() -> None:
    module = shaped.traced()
    assert (module.entry, module.version, module.target, module.instructions, module.warnings) == (
        "shaped",
        (8, 5),
        "sm_90a",
        0,
        [],
    )
    assert module.text == str(module) == shaped.ptx()
    assert repr(module) == "<PTX 8.5 for sm_90a: shaped, 0 instructions>"
    assert shaped._trace() is shaped.module() and emit(shaped.module()) == module.text


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        ({"BK": 1}, "no template parameter or dimension `BK`.*`BM`, `flag`, `M`, `N`"),
        ({"M": "8"}, "dimension `M`.*'8'.*an int"),
        ({"M": True}, "dimension `M`"),
    ],
)
def test_bad_keyword_arguments(kwargs, text) -> None:
    with pytest.raises(TypeError, match=text):
        shaped.ptx(**kwargs)


def test_a_template_value_serves_as_the_dimension_of_its_name() -> None:
    @kernel(in_specs=(Tile("M", f32),), grid=lambda M, BM: (M // BM, 2))
    def tiled(X, *, M=32, BM=8):
        seen.append(X.shape)

    seen.clear()
    tiled.ptx()
    tiled.ptx(M=64)
    assert seen == [(32,), (64,)]
    assert tiled._resolve_grid({"M": 64, "BM": 8}) == (8, 2, 1)


def test_errors_of_a_grid_function_are_the_authors() -> None:
    @kernel(in_specs=(Tile("M", f32),), grid=lambda M: M // 0)
    def broken(X): ...

    with pytest.raises(ZeroDivisionError):
        broken._resolve_grid({"M": 8})
    with pytest.raises(ValueError, match="at least 1"):
        Kernel(lambda_named("zero"), grid=lambda: 0)._resolve_grid({})
    with pytest.raises(ValueError, match="no grid"):
        Kernel(lambda_named("none"))._resolve_grid({})


def test_an_error_in_the_body_leaves_no_trace_current() -> None:
    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Kernel(fails).ptx()
    assert not _ptx.is_tracing()


def test_traces_nest() -> None:
    def inner():
        reg.scalar(f32, init=1.0)

    def outer():
        reg.scalar(f32, init=2.0)
        texts.append(Kernel(inner).ptx())
        reg.scalar(f32, init=3.0)

    texts: list[str] = []
    texts.append(Kernel(outer).ptx())
    assert body_of(texts[0]) == ["mov.f32 %f0, 0f3F800000;"]
    assert body_of(texts[1]) == ["mov.f32 %f0, 0f40000000;", "mov.f32 %f1, 0f40400000;"]


# -- tensors, traces, intrinsics


def test_tensor_specs() -> None:
    spec = TensorSpec("A", (4,), f32, Layout.ROW)
    assert repr(spec) == "TensorSpec(A, shape=(4,), dtype=f32)"
    handle = spec.tma_desc()
    assert isinstance(handle, TmaDescriptorHandle) and handle.tensor is spec and handle.name == "A_tma_desc"
    assert TensorSpec("A").shape is None
    with _ptx.Trace("test"):
        assert spec.tma_desc() is spec.tma_desc()


def test_trace_scope() -> None:
    with trace_scope(ptx_version=(8, 0)) as ctx:
        assert get_ctx() is ctx
        reg.scalar(f32, init=1.0)
        smem.alloc(f32, 8)
        assert [node.opcode for node in ctx.statements] == ["mov"]
        assert [node.name for node in ctx.var_decls] == ["smem_0"] and [node.name for node in ctx.reg_decls] == ["%f"]
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        get_ctx()
    assert ctx.finish().version == (8, 0)
    with pytest.raises(RuntimeError), ctx:
        pass


def test_intrinsics_mark_what_they_write(trace) -> None:
    @intrinsic
    def twice(r, *, by=2):
        return r * by

    assert twice.__is_ptx_intrinsic__ and twice.__name__ == "twice"
    assert twice(reg.scalar(u32), by=3).name == "%r1"
    assert trace.statements == ["// BEGIN twice(%r0, by=3)", "mul.lo.s32 %r1, %r0, 3;", "// END twice"]


def test_intrinsics_outside_a_trace_are_plain_functions() -> None:
    assert intrinsic(lambda a: a + 1)(1) == 2
