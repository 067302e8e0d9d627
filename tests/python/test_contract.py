"""Names and meanings that programs written for pyptx 0.1.1 count on, where no other test looks."""

import ctypes
import functools
import inspect

import numpy as np
import pytest

import pyptx
from pyptx import Kernel, Layout, PtxWarning, Tile, _ptx, kernel, ptx, reg, smem
from pyptx.emitter import emit
from pyptx.ir import Comment, Function, Instruction, Module, RegisterOperand, diff_modules, normalize_module
from pyptx.ir.optimize import copy_propagate
from pyptx.kernel import TensorSpec, TmaDescriptorHandle
from pyptx.parser import parse
from pyptx.parser.lexer import LexError, tokenize
from pyptx.spec import PtxValidationError
from pyptx.specs import Dim, unify_envs
from pyptx.types import b8, b16, b32, b64, bf16, bf16x2, e4m3, e5m2, f16, f16x2, f32, pred, s8, s32, tf32, u8, u16, u32, u64

# -- tma, pred=


def test_a_multicast_by_names_alone(trace) -> None:
    tile, bars, maps = smem.alloc(bf16, (2, 64, 64)), smem.mbarrier(1), reg.scalar(b64)
    mask, at = reg.scalar(u16), reg.scalar(u32)
    load = ptx.tma.load_3d_multicast
    load(dst=tile[0], src=maps, coords=(0, at, 1), mbar=bars[0], mask=mask, issuer=0)
    load(tile[0], maps, mbar=bars[0], mask=3, row=at, col=64)
    load(tile[0], maps, at, 64, bars[0], 3)
    multicast = (
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [smem_0], "
        "[%rd0, {0, %r0, 1}], [mbar_0], "
    )
    assert [line for line in trace.statements if "multicast" in line] == [
        f"@%p0 {multicast}%rs0;", f"{multicast}3;", f"{multicast}3;",
    ]  # fmt: skip
    for missing, said in (({"mbar": bars[0]}, "mask"), ({"mask": 3}, "mbarrier")):
        with pytest.raises((TypeError, ValueError), match=said):
            load(tile[0], maps, coords=(0, 0, 0), **missing)
    with pytest.raises(TypeError, match=r"row|coord"):
        load(tile[0], maps, mbar=bars[0], mask=3)


def test_every_barrier_takes_a_guard(ptxas) -> None:
    @kernel(arch="sm_90a", cluster=2, reqntid=(128, 1, 1))
    def guarded() -> None:
        p = reg.from_(ptx.special.tid.x(), u32) < 32
        ptx.bar.sync(1, 32, pred=p)
        ptx.bar.sync(pred=~p)
        ptx.named_barrier(3, count=64).sync(pred=p)
        ptx.cluster.arrive(pred=p)
        ptx.cluster.wait(aligned=False, pred=p)
        ptx.cluster.sync(pred=~p)
        ptx.setmaxnreg(40, inc=False, pred=p)
        ptx.setmaxnreg_inc(232, pred=~p)
        ptx.setmaxnreg_dec(24, pred=p)
        ptx.elect_sync(reg.scalar(b32), reg.scalar(pred), 0xFFFFFFFF, pred=p)

    text = guarded.ptx()
    for line in (
        "@%p0 bar.sync 1, 32;", "@!%p0 bar.sync 0;", "@%p0 bar.sync 3, 64;", "@%p0 barrier.cluster.arrive;",
        "@%p0 barrier.cluster.wait;", "@!%p0 barrier.cluster.arrive;", "@!%p0 barrier.cluster.wait;",
        "@%p0 setmaxnreg.dec.sync.aligned.u32 40;", "@!%p0 setmaxnreg.inc.sync.aligned.u32 232;",
        "@%p0 setmaxnreg.dec.sync.aligned.u32 24;", "@%p0 elect.sync %r1|%p1, 4294967295;",
    ):  # fmt: skip
        assert f"\t{line}\n" in text, line
    ptxas(text)
    with _ptx.Trace("test"), pytest.raises(TypeError, match="the guard is"):
        ptx.bar.sync(pred=reg.scalar(u32))


# -- the module


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
def twice(X, Y, *, times=2.0):
    x, y = ptx.global_ptrs(X, Y)
    at = (reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)) * 4
    v = reg.scalar(f32)
    ptx.inst.ld.global_.f32(v, ptx.addr(x + at))
    ptx.inst.mul.f32(v, v, times)
    ptx.inst.st.global_.f32(ptx.addr(y + at), v)
    ptx.ret()


def test_the_module_is_the_ir() -> None:
    module = twice.module(N=64)
    assert type(module) is Module and module == parse(twice.ptx(N=64))
    assert emit(module) == twice.ptx(N=64)
    assert module is twice.module(N=64, times=2.0) and module is not twice.module(N=64, times=3.0)
    (entry,) = [node for node in module.directives if isinstance(node, Function)]
    assert entry.is_entry and entry.name == "twice" and [p.name for p in entry.params] == ["X", "Y"]
    assert [s.opcode for s in normalize_module(module).directives[0].body if isinstance(s, Instruction)][-1] == "ret"
    assert diff_modules(module, twice.module(N=96)) == [] and diff_modules(module, twice.module(times=0.5)) != []
    assert twice._trace(N=64) is module
    assert twice.traced(N=64).text == twice.ptx(N=64)


# -- grids


def test_a_grid_by_position() -> None:
    def over(grid, *, dims=("M", "N"), **template):
        specs = [Tile(*dims, f32)]

        def body(X, Y, *, BM=16):
            ptx.ret()

        return Kernel(body, in_specs=specs, out_specs=specs, grid=grid)._resolve_grid({"M": 64, "N": 32, "BM": 16, **template})

    class Grid:
        def __call__(self, rows, columns):
            return rows, columns

        def method(self, rows, columns):
            return rows, columns

    assert over(lambda m, n: (m, n)) == (64, 32, 1)
    assert over(lambda m, n, z=3: (m, n, z)) == (64, 32, 3)
    assert over(lambda rows: rows // 16) == (4, 1, 1)
    assert over(lambda *sizes: sizes) == (64, 32, 1)
    assert over(lambda m, *rest: (m, *rest)) == (64, 32, 1)
    assert over(lambda M, columns: (M, columns)) == (64, 32, 1)
    assert over(lambda rows, columns, BM: (rows // BM, columns)) == (4, 32, 1)
    assert over(lambda BM, rows, columns: (rows // BM, columns)) == (4, 32, 1)
    assert over(lambda m, n, /: (m, n)) == (64, 32, 1)
    assert over(Grid()) == over(Grid().method) == over(functools.partial(lambda a, m, n: (m, n), 0)) == (64, 32, 1)
    # by name, in any order, as ever
    assert over(lambda N, M: (M, N)) == (64, 32, 1)
    assert over(lambda N, *, M: (M, N)) == (64, 32, 1)
    assert over(lambda N, BM=1: (N // BM,)) == (2, 1, 1)
    assert over(lambda **sizes: (sizes["M"], sizes["N"])) == (64, 32, 1)
    assert over(lambda M, /, N: (M, N)) == (64, 32, 1)
    assert over(lambda: 7) == (7, 1, 1)
    with pytest.raises(ValueError, match="`N` would be `M`"):
        over(lambda N, rows: (N, rows))
    with pytest.raises(ValueError, match=r"`m`, `n`, `k`; the dimensions are `M`, `N`"):
        over(lambda m, n, k: (m, n, k))


def test_a_call_with_a_grid_by_position() -> None:
    @kernel(in_specs=(Tile("ROWS", f32),), out_specs=(Tile("ROWS", f32),), grid=lambda n: n // 32, block=32)
    def copy(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        at = (reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)) * 4
        ptx.inst.st.global_.b32(ptx.addr(y + at), ptx.inst.ld.global_.b32(reg.scalar(b32), ptx.addr(x + at)))

    x = np.arange(96, dtype=np.float32)
    assert (copy(x) == x).all()


# -- types of tensors


@pytest.mark.parametrize(
    ("dtype", "fits", "refused"),
    [
        (u32, "int32 uint32", "float32 int64 int16"), (s32, "uint32", "float32"), (b32, "float32 int32", "float64"),
        (u8, "int8 bool uint8", "int16"), (s8, "uint8 bool", "uint16"), (b8, "int8 bool", "int16"),
        (b16, "float16 int16 uint16", "float32"), (b64, "float64 int64 complex64", "float32"), (u64, "int64", "float64"),
        (f32, "float32", "int32 uint32"),
    ],
)  # fmt: skip
def test_types_of_equal_width(dtype, fits, refused) -> None:
    width = dtype.bits // 8

    @kernel(in_specs=(Tile(32, dtype),), out_specs=(Tile(32, dtype),), grid=1, block=32)
    def copy(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        at = reg.from_(ptx.special.tid.x(), u32) * width
        move = reg.scalar(b64 if width == 8 else b16 if width == 2 else b32)
        name = f"b{8 * width}"
        getattr(ptx.inst.ld.global_, name)(move, ptx.addr(x + at))
        getattr(ptx.inst.st.global_, name)(ptx.addr(y + at), move)

    for name in fits.split():
        x = np.arange(32).astype(name)
        y = copy(x)
        assert y.dtype == _ptx.numpy_name(dtype) and y.tobytes() == x.tobytes()
        out = np.zeros(32, name)
        if name != "complex64":
            assert copy(x, out=out) is out and out.tobytes() == x.tobytes()
    for name in refused.split():
        with pytest.raises(TypeError, match=f"the element type is {name}"):
            copy(np.zeros(32, name))


# -- operators


def test_an_operator_in_place_changes_the_register_that_all_names_mean(trace) -> None:
    a = reg.scalar(u32)
    b, c, d, e, f, g, h, i = (a,) * 8
    b += 1
    c -= 1
    d *= 3
    e <<= 2
    f >>= 2
    g &= 7
    h |= 8
    i ^= 9
    assert all(each is a for each in (b, c, d, e, f, g, h, i))
    assert [line.split(" ", 1)[1] for line in trace.statements] == [f"%r0, %r0, {n};" for n in (1, 1, 3, 2, 2, 7, 8, 9)]
    fresh = a | 8
    assert fresh is not a and fresh.name == "%r1"
    for name in ["add", "sub", "mul", "lshift", "rshift", "and", "or", "xor"]:
        assert "In place" in getattr(type(a), f"__i{name}__").__doc__


def test_operators_between_widths_and_kinds(ptxas) -> None:
    @kernel(arch="sm_90a")
    def mixed():
        wide, narrow, signed = reg.scalar(u64, init=1), reg.scalar(u32, init=2), reg.scalar(s32, init=-1)
        x, h, bf = reg.scalar(f32, init=1.0), reg.scalar(f16, init=0), reg.scalar(bf16, init=0)
        results = [wide & narrow, wide | signed, wide ^ narrow, narrow & wide, narrow & x, 3 ^ narrow]
        wide &= narrow
        assert [r.dtype for r in results] == [u64, u64, u64, u64, u32, u32]
        for p in (h < h, h == h, bf >= bf, bf != bf):
            assert p.dtype is pred

    text = mixed.ptx()
    for line in ("cvt.s64.s32", "setp.lt.f16", "setp.eq.f16", "setp.ge.bf16", "setp.ne.bf16", "and.b32 %r2, %r0, %f0"):
        assert line in text
    ptxas(text)


def test_initial_values_of_floats() -> None:
    with _ptx.Trace("test") as trace:
        for dtype in (f16x2, bf16x2, f16, bf16, e4m3):
            with pytest.raises(TypeError, match="cannot start as"):
                reg.scalar(dtype, init=1.5)
        reg.scalar(tf32, init=1)
        reg.scalar(tf32, init=1.0)
        reg.scalar(f16x2, init=0x3C003C00)
        assert [line.split(", ")[1] for line in trace.statements] == ["0f3F800000;", "0f3F800000;", "1006648320;"]


# -- words that the table has never heard of


def test_an_unknown_word_is_text_and_a_warning(ptxas_path) -> None:
    @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32)
    def future(X, Y):
        a = reg.scalar(f32, init=1.0)
        p = reg.scalar(u32, init=0) == 0
        ptx.inst.frobnicate.sync.f32(a, [a, a], 2, ptx.addr("X", 4), "somewhere", 0.5, pred=~p)
        ptx.inst.add.wobbly.f32(a, a, a)

    with pytest.warns(PtxWarning) as said:
        text = future.ptx()
    assert (
        "\t@!%p0 frobnicate.sync.f32 %f0, {%f0, %f0}, 2, [X+4], somewhere, 0f3F000000;\n\tadd.wobbly.f32 %f0, %f0, %f0;\n" in text
    )
    messages = [str(w.message) for w in said if "ptxas to judge" in str(w.message)]
    assert len(messages) == 2 and "`frobnicate`" in messages[0] and "`.wobbly`" in messages[1]
    line = future.__wrapped__.__code__.co_firstlineno + 4
    assert {(w.filename, w.lineno) for w in said if "frobnicate" in str(w.message)} == {(__file__, line)}
    # what nobody checked is not executed
    with pytest.warns(PtxWarning), pytest.raises(pyptx.PtxError, match="frobnicate") as raised:
        future(np.zeros(32, np.float32), times=1) if False else Kernel(future.__wrapped__, in_specs=future.in_specs,
            out_specs=future.out_specs, grid=1, block=32)(np.zeros(32, np.float32))  # fmt: skip
    assert raised.value.kind == "not_executed" and raised.value.where == (__file__, line)


def test_a_filter_makes_an_error_of_it(trace) -> None:
    import warnings

    with warnings.catch_warnings(), pytest.raises(PtxWarning, match=r"fmaa.*did you mean `fma`|`fma`"):
        warnings.simplefilter("error", PtxWarning)
        ptx.inst.fmaa.rn.f32(1, 2)
    assert trace.statements == []


def test_what_the_table_contradicts_stays_an_error(trace) -> None:
    a = reg.scalar(f32)
    for wrong in (
        lambda: ptx.inst.ld.f32.global_,
        lambda: ptx.inst.fma.f32,
        lambda: ptx.inst.add.f32(a, a),
        lambda: ptx.inst.add.u64(a, a, a),
        lambda: ptx.inst.fma.rn(a, a, a, a),
    ):
        with pytest.raises(pyptx.PtxError):
            wrong()
    for odd in ("__wrapped__", "_repr_html_", "é", "f 32", "f.32"):
        with pytest.raises(AttributeError):
            getattr(ptx.inst.add, odd)


# -- small things


def test_descriptors_and_tiles_say_what_they_are() -> None:
    handle = TmaDescriptorHandle(TensorSpec("A"))
    assert handle.name == "A_tma_desc" and handle.tensor.name == "A" and TensorSpec("A").tma_desc().name == handle.name
    assert TmaDescriptorHandle(tensor=TensorSpec("B")).name == "B_tma_desc"
    with pytest.raises(TypeError, match="what fits is a tensor"):
        TmaDescriptorHandle("A")
    assert (Tile.layout, Tile.tma_box, Tile.tma_rank, Tile.tma_padding) == (Layout.ROW, None, 2, False)
    tile = Tile("M", 64, bf16, Layout.COL, tma_box=(64, 64), tma_rank=3, tma_padding=True)
    assert (tile.layout, tile.tma_box, tile.tma_rank, tile.tma_padding) == (Layout.COL, (64, 64), 3, True)
    with pytest.raises(AttributeError):
        tile.layout = Layout.ROW
    assert str(inspect.signature(Tile)) == (
        "(*dims_and_dtype, dtype=None, layout=<Layout.ROW: 'row'>, tma_box=None, tma_rank=2, tma_padding=False) -> None"
    )
    assert str(inspect.signature(TensorSpec)) == "(name, shape=None, dtype=None, layout=None) -> None"
    assert list(inspect.signature(unify_envs).parameters) == ["envs"] and unify_envs([{"M": 1}, {"N": 2}]) == {"M": 1, "N": 2}
    assert Dim.copy_with((int, str)) == Dim


def test_the_launcher_has_its_symbol() -> None:
    assert ctypes.cast(ctypes.CDLL(_ptx.__file__).PyptxLaunch, ctypes.c_void_p).value


def test_a_kernel_without_specs_has_none() -> None:
    @kernel
    def plain():
        ptx.ret()

    assert plain.in_specs == () and plain.out_specs == ()
    with pytest.raises(NotImplementedError, match="in_specs"):
        plain()


def test_bad_shapes_are_validation_errors(trace) -> None:
    tile, d = smem.wgmma_tile(bf16, (64, 64)), reg.array(f32, 32)
    with pytest.raises(PtxValidationError, match=r"^wgmma\.mma_async\.sync\.aligned\.m64n60k16\.f32\.bf16\.bf16") as raised:
        ptx.wgmma.mma_async(shape=(64, 60, 16), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, d=d, a=tile, b=tile)
    assert isinstance(raised.value, ValueError) and raised.value.where[0] == __file__
    with pytest.raises(PtxValidationError, match=r"^mma\.sync\.aligned\.m16n8k17"):
        ptx.mma.sync(
            shape=(16, 8, 17), dtype_d=f32, dtype_a=bf16, dtype_b=bf16, dtype_c=f32, d=d.regs()[:4], a=d.regs()[:4],
            b=d.regs()[:2], c=d.regs()[:4],
        )  # fmt: skip


def test_small_names(trace) -> None:
    assert ptx.named_barrier(4).barrier_id == ptx.named_barrier(4).id == 4
    assert ptx.tcgen05.BLACKWELL_MASKED_DESC_B128 == 0x4000404000010000
    assert [t.text for t in tokenize("ret;")][:2] == ["ret", ";"]
    with pytest.raises(LexError, match="what fits is a text"):
        tokenize(b"ret;")
    assert pyptx.spec.validate.validate_instruction is pyptx.spec.validate_instruction
    assert pyptx.spec.ptx.INSTRUCTIONS is pyptx.spec.INSTRUCTIONS


def test_registers_by_the_name_of_a_family() -> None:
    @kernel(arch="sm_90a")
    def named():
        words = reg.array(b32, 2, name="%b")
        byte = reg.scalar(e5m2)
        ptx.inst.mov.b32(words[1], 7)
        ptx.inst.mov.b16(byte, 1)
        late = reg.scalar(u32, name="%fd3")
        ptx.inst.mov.u32(late, 3)
        reg.scalar(pyptx.types.f64, init=1.0)

    text = named.ptx()
    assert ".reg .b32 %b<2>;" in text and ".reg .b16 %bx<1>;" in text and "mov.f64 %fdx0," in text and ".reg .b32 %fd3;" in text
    with _ptx.Trace("test"):
        reg.scalar(e4m3)
        with pytest.raises(ValueError, match="`%b` is the family of"):
            reg.array(b32, 2, name="%b")
        for wrong in (lambda: reg.scalar(u32, name="%laneid"), lambda: reg.array(u32, 4, name="%envreg")):
            with pytest.raises(ValueError, match="special register"):
                wrong()


def test_bytes_are_the_registers_that_hold_them(ptxas) -> None:
    @kernel(arch="sm_90a")
    def moves():
        small, byte = reg.scalar(e4m3, init=1), reg.scalar(u8, init=2)
        ptx.inst.mov.b16(small, 3)
        ptx.inst.add.u16(small, small, 1)
        ptx.inst.mov.b32(byte, 3)
        ptx.inst.mov.u32(reg.scalar(u32), "WARP_SZ")

    text = moves.ptx()
    assert "mov.b16 %b0, 3;" in text and "mov.u32 %r1, WARP_SZ;" in text
    ptxas(text)


def test_shared_memory_of_any_rank(ptxas) -> None:
    @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32)
    def through(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        line, cube = smem.alloc(f32, 32), smem.alloc(f32, (2, 4, 4))
        lane = reg.from_(ptx.special.tid.x(), u32)
        v = reg.scalar(f32)
        ptx.inst.ld.global_.f32(v, ptx.addr(x + lane * 4))
        line[lane] = v
        ptx.bar.sync()
        cube[lane >> 4, (lane >> 2) & 3, lane & 3] = line[lane ^ 1]
        ptx.bar.sync()
        first = reg.scalar(u32, init=0) + (lane >> 4)
        ptx.inst.st.global_.f32(ptx.addr(y + lane * 4), cube[first, (lane >> 2) & 3, lane & 3])
        with ptx.if_(lane == 0):
            line[3] = cube[1, 2, 3]
            cube[0, 1, 2] = line[3,]
            cube[1, lane, 2] = line[lane]
            ptx.inst.mov.f32(v, cube[lane, 1, 0])

    x = np.arange(32, dtype=np.float32)
    assert (through(x) == x.reshape(16, 2)[:, ::-1].reshape(32)).all()
    ptxas(through.ptx())
    with _ptx.Trace("test"):
        cube, lane = smem.alloc(f32, (2, 4, 4)), reg.scalar(u32)
        for key in ((0, 1), lane, (0, 1, 2, 3), (0, 1, "x")):
            with pytest.raises(TypeError):
                cube[key]
        for key in ((2, 0, 0), (0, 4, 0), (0, 0, -1)):
            with pytest.raises(IndexError):
                cube[key]


def test_literals_are_what_was_written(ptxas) -> None:
    @kernel(arch="sm_90a")
    def literals():
        x, d, p = reg.scalar(f32), reg.scalar(pyptx.types.f64), reg.scalar(pred)
        ptx.inst.mov.f32(x, "0d3FF0000000000000")
        ptx.inst.mov.f32(x, "0f3F800000")
        ptx.inst.mov.f64(d, "0f3F800000")
        ptx.inst.mov.f64(d, "0d3FF0000000000000")
        for number in (-1, 0, 1, 2, 1 << 40):
            ptx.inst.mov.pred(p, number)

    text = literals.ptx()
    shown = [line.split(", ")[-1] for line in text.splitlines() if line.startswith("\tmov")]
    assert shown == [
        "0d3FF0000000000000;", "0f3F800000;", "0f3F800000;", "0d3FF0000000000000;", "-1;", "0;", "1;", "2;", "1099511627776;",
    ]  # fmt: skip
    ptxas(text)


def test_any_number_but_zero_is_true() -> None:
    @kernel(out_specs=(Tile(4, u32),), in_specs=(Tile(1, u32),), grid=1, block=1)
    def truth(X, Y):
        (y,) = ptx.global_ptrs(Y)
        p = reg.scalar(pred)
        for i, number in enumerate((-1, 0, 2, 1 << 32)):
            ptx.inst.mov.pred(p, number)
            ptx.inst.st.global_.u32(ptx.addr(y, 4 * i), ptx.inst.selp.u32(reg.scalar(u32), 7, 9, p))

    assert truth(np.zeros(1, np.uint32)).tolist() == [7, 9, 7, 7]


def test_copies_are_read_at_their_source() -> None:
    text = (
        ".version 8.5\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 o) {\n"
        ".reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p;\n"
        "mov.u32 %r1, %r0; add.u32 %r2, %r1, %r1; mov.u64 %rd1, %rd0; st.global.v2.u32 [%rd1+4], {%r1, %r2};\n"
        "mov.u32 %r0, 5; add.u32 %r3, %r1, 1; mov.u32 %r4, %r3; @%p mov.u32 %r4, %r2; add.u32 %r5, %r4, 1;\n"
        "mov.u32 %r6, %r5; L: add.u32 %r7, %r6, 1; ret; }\n"
    )
    (entry,) = [node for node in parse(text).directives if isinstance(node, Function)]
    before = [node for node in entry.body if isinstance(node, Instruction)]
    after = [node for node in copy_propagate(entry.body) if isinstance(node, Instruction)]
    changed = {i: after[i] for i in range(len(before)) if before[i] != after[i]}
    assert sorted(changed) == [1, 3]
    assert changed[1].operands == (RegisterOperand("%r2"), RegisterOperand("%r0"), RegisterOperand("%r0"))
    assert changed[3].operands[0].base == "%rd0" and changed[3].operands[1].elements[0] == RegisterOperand("%r0")
    assert copy_propagate([Comment("x")]) == [Comment("x")] and copy_propagate([]) == []
