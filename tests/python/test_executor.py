"""pyptx.executor: any kernel of any text, with mixed parameters, regions, options, and errors as fields."""

from __future__ import annotations

import ctypes
import struct
import warnings

import numpy as np
import pytest

import pyptx
from pyptx import executor

HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"
SCALE = (
    HEADER
    + """.file 1 "/src/kernels.py"
.visible .entry scale(.param .u32 n, .param .u64 x, .param .f32 k, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  .reg .f32 %f<3>;
  .reg .pred %p;
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r0;
  @%p bra DONE;
  ld.param.u64 %d0, [x];
  mul.wide.u32 %d1, %r1, 4;
  add.u64 %d0, %d0, %d1;
  .loc 1 20 9
  ld.global.f32 %f0, [%d0];
  ld.param.f32 %f1, [k];
  mul.f32 %f0, %f0, %f1;
  ld.param.u64 %d2, [out];
  add.u64 %d2, %d2, %d1;
  st.global.f32 [%d2], %f0;
DONE:
  ret;
}
"""
)


@pytest.fixture
def program() -> executor.Program:
    return executor.Program(SCALE, "scale.ptx")


def test_runs_with_parameters_as_they_come(program: executor.Program) -> None:
    x, out = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    assert program.entries == ("scale",)
    assert program.target == "sm_90a"
    assert program.parameters("scale")[2] == ("k", "f32", 4, False)
    report = program.run("scale", [40, x, 2.0, out], grid=3, block=16)
    assert report.blocks == 3 and report.warp_instructions == 3 * 17  # a block is a warp here
    assert (out == 2 * x).all()
    again = program.run("scale", {"out": out, "k": -1, "x": x, "n": 8}, grid=(1, 1), block=(8, 1, 1), workers=1)
    assert again.blocks == 1
    assert (out[:8] == -x[:8]).all() and out[8] == 16


def test_views_share_their_storage(program: executor.Program) -> None:
    store = np.arange(64, dtype=np.float32)
    program.run("scale", [16, store[:16], 10.0, store[32:48]], block=16)
    assert (store[32:48] == 10 * store[:16]).all()
    with pytest.raises(pyptx.PtxError) as error:
        program.run("scale", [40, store[40:], 1.0, np.zeros(64, np.float32)], block=40)
    assert error.value.region == "x" and error.value.thread == (24, 0, 0)  # the storage ends, not the view


def test_torch_tensors_and_views_of_one_storage(program: executor.Program) -> None:
    torch = pytest.importorskip("torch")
    store = torch.arange(64, dtype=torch.float32)
    program.run("scale", [16, store[1:17], 3.0, store[40:]], block=16)
    assert torch.equal(store[40:56], 3 * torch.arange(1, 17, dtype=torch.float32))
    program.run("scale", [torch.tensor(1), store, torch.tensor(2.0), store[63:]], block=1)  # numbers in tensors
    assert store[63] == 0


def test_errors_have_fields(program: executor.Program) -> None:
    x, out = np.zeros(40, np.float32), np.zeros(64, np.float32)
    with pytest.raises(RuntimeError) as caught:
        program.run("scale", [64, x, 2.0, out], grid=4, block=16)
    error = caught.value
    assert isinstance(error, pyptx.PtxError)
    assert (error.kind, error.kernel, error.instruction) == ("out_of_bounds", "scale", "ld.global.f32")
    line = next(i for i, text in enumerate(SCALE.splitlines(), 1) if "ld.global" in text)
    assert (error.ptx_line, error.where) == (line, ("scale.ptx", line))
    assert (error.block, error.thread) == ((2, 0, 0), (8, 0, 0))
    assert (error.address, error.access_bytes, error.region) == (x.ctypes.data + 160, 4, "x")
    assert error.places == [("source", "/src/kernels.py", 20)]
    assert "source: /src/kernels.py:20:9" in error.notes


def test_regions(program: executor.Program) -> None:
    x, out = np.zeros(64, np.float32), np.zeros(64, np.float32)

    def kind(*regions: object) -> str:
        with pytest.raises(pyptx.PtxError) as error:
            program.run("scale", [16, x, 1.0, out], block=16, regions=regions)
        return f"{error.value.kind} {error.value.region}"

    assert kind(executor.Region(out, "the output", writable=False)) == "read_only the output"
    assert kind(executor.Region(x, "the input", bytes=12)) == "out_of_bounds the input"
    assert kind(executor.Region(x.ctypes.data, "by address", bytes=8)) == "out_of_bounds by address"
    assert kind(executor.Region(x, "unwritten", initialised=False)) == "uninitialised None"
    program.run("scale", [16, x, 1.0, out], block=16, regions=[executor.Region(x, initialised=False)], check_initialised=False)
    program.run("scale", [16, x.ctypes.data, 1.0, out.ctypes.data], block=16, regions=[x, out])
    x.flags.writeable = False
    program.run("scale", [16, x, 1.0, out], block=16)
    with pytest.raises(pyptx.PtxError, match="which the kernel may only read"):
        program.run("scale", [16, out, 1.0, x], block=16)


def test_refuses_what_does_not_fit(program: executor.Program) -> None:
    x = np.zeros(16, np.float32)

    def says(text: str, *parameters: object, **options: object) -> None:
        with pytest.raises(pyptx.PtxError, match=text) as error:
            program.run("scale", parameters, **options)  # type: ignore[arg-type]
        assert error.value.where is not None and error.value.where[0] == __file__

    says("takes 4 parameters; 3 were given", 1, x, 1.0)
    says("`n` of kernel `scale`: a `.u32` parameter takes an integer", 1.5, x, 1.0, x)
    says("cannot hold the address of a tensor", 1, x, x, x)
    says("has 4 bytes, 2 were given", b"ab", x, 1.0, x)
    says("what fits is a number, or one to three of them", 1, x, 1.0, x, grid=(1, 1, 1, 1))
    says("`workers` is `-1`", 1, x, 1.0, x, workers=-1)
    says("is an address alone", 1, x, 1.0, x, regions=[4096])
    says("is said to have 65 bytes; its tensor's storage has 64", 1, x, 1.0, x, regions=[executor.Region(x, bytes=65)])
    with pytest.raises(pyptx.PtxError, match="has no parameter `y`; what fits are values of n, x, k, out"):
        program.run("scale", {"n": 1, "x": x, "k": 1, "out": x, "y": 2})
    with pytest.raises(pyptx.PtxError, match="the text has no kernel `scales`"):
        program.run("scales")
    with pytest.raises(ValueError, match=r"k\.ptx:4:1"):
        executor.Program(HEADER + "?", "k.ptx")


def test_structures_by_value_and_variables() -> None:
    text = (
        HEADER
        + """.global .u32 total = 5;
.visible .entry k(.param .align 4 .b8 pair[8], .param .u16 c)
{
  .reg .b32 %r<4>;
  .reg .b16 %h;
  ld.param.u32 %r0, [pair];
  ld.param.u32 %r1, [pair+4];
  ld.param.u16 %h, [c];
  cvt.u32.u16 %r2, %h;
  add.u32 %r0, %r0, %r1;
  add.u32 %r0, %r0, %r2;
  atom.global.add.u32 %r3, [total], %r0;
  ret;
}
"""
    )
    program = executor.Program(text)
    program.run("k", [struct.pack("<II", 10, 200), 3000])
    total = program.variable("total")
    assert struct.unpack("<I", total)[0] == 3215
    total[:] = struct.pack("<I", 0)
    program.run("k", [struct.pack("<II", 1, 1), 0])
    assert struct.unpack("<I", program.variable("total"))[0] == 2
    with pytest.raises(pyptx.PtxError, match="an array of 8 bytes; what fits are that many `bytes`"):
        program.run("k", [1, 2])


def test_eight_bytes_may_be_a_pointer() -> None:
    """CUTLASS's DSL declares pointers as `.b8 p[8]`."""
    text = (
        HEADER
        + """.visible .entry k(.param .align 8 .b8 p[8])
{
  .reg .b64 %a;
  ld.param.u64 %a, [p];
  st.global.u32 [%a+4], 7;
  ret;
}
"""
    )
    program = executor.Program(text)
    for given in (lambda x: x, executor.Region):
        x = np.zeros(2, np.uint32)
        program.run("k", [given(x)])
        assert x.tolist() == [0, 7]
    with pytest.raises(pyptx.PtxError, match="that many `bytes`, or a tensor for its address"):
        program.run("k", [5])


def test_descriptors_by_value() -> None:
    from pyptx import _ptx, types

    text = (
        HEADER
        + """.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128])
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  .reg .pred %p;
  .shared .align 128 .b8 tile[256];
  .shared .align 8 .b64 bar;
  mov.b64 %d1, map;
  cvta.param.u64 %d1, %d1;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  @%p bra WAIT;
  mbarrier.init.shared::cta.b64 [bar], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
  mov.b32 %r1, 4;
  mov.b32 %r2, 2;
  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [%d1, {%r1, %r2}], [bar];
WAIT:
  bar.sync 0;
  .reg .pred %done;
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0;
  @!%done bra AGAIN;
  ld.param.u64 %d2, [out];
  mul.wide.u32 %d3, %r0, 4;
  add.u64 %d2, %d2, %d3;
  .reg .b32 %s;
  mov.b32 %s, tile;
  mad.lo.u32 %s, %r0, 4, %s;
  ld.shared.u32 %r3, [%s];
  st.global.u32 [%d2], %r3;
  ret;
}
"""
    ).replace(".target sm_90a", ".target sm_90a")
    x = np.arange(32 * 32, dtype=np.uint32).reshape(32, 32)
    raw = np.zeros(32 * 32 * 4 + 16, np.uint8)
    start = -raw.ctypes.data % 16
    aligned = raw[start : start + x.nbytes].view(np.uint32).reshape(32, 32)
    aligned[:] = x
    tensor_map = _ptx.TensorMap.tiled((32, 32), types.u32, (8, 8))
    out = np.zeros(64, np.uint32)
    words = tensor_map.words(aligned.ctypes.data)
    assert len(words) == 128
    executor.Program(text).run("k", [out, words], block=64, regions=[aligned])
    assert (out.reshape(8, 8) == x[2:10, 4:12]).all()
    with pytest.raises(ValueError, match="not a multiple of 16"):
        tensor_map.words(aligned.ctypes.data + 4)


def test_print_and_limits(capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        HEADER
        + """.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 words[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry hello()
{
  .reg .b64 %d;
  .reg .b32 %r;
  mov.b64 %d, words;
  cvta.global.u64 %d, %d;
  {
    .param .b64 f;
    st.param.b64 [f], %d;
    .param .b64 a;
    st.param.b64 [a], 0;
    .param .b32 r;
    call.uni (r), vprintf, (f, a);
    ld.param.b32 %r, [r];
  }
  ret;
}
.visible .entry forever()
{
AGAIN:
  bra AGAIN;
}
"""
    )
    program = executor.Program(text)
    seen: list[str] = []
    program.run("hello", grid=2, print=seen.append)
    assert seen == ["hello\n", "hello\n"]
    program.run("hello")
    assert capsys.readouterr().out == "hello\n"

    def fails(text: str) -> None:
        raise LookupError(text)

    with pytest.raises(LookupError, match="hello"):
        program.run("hello", print=fails)
    with pytest.raises(pyptx.PtxError) as error:
        program.run("forever", max_instructions=1000)
    assert error.value.kind in ("step_limit", "deadlock")


def test_names_all_that_is_not_executed() -> None:
    lines = [
        ".visible .entry k(.param .u64 t)",
        "{",
        ".reg .b32 %r; .reg .b64 %d; .reg .f32 %f<4>;",
        "ld.param.u64 %d, [t];",
        "mov.b32 %r, 0;",
        "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d, {%r}];",
        "tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d, {%f0, %f1}];",
        "ret;",
        "}",
    ]
    program = executor.Program(HEADER + "\n".join(lines))
    found = program.unsupported()
    assert [(error.kind, error.ptx_line) for error in found] == [("not_executed", 9), ("not_executed", 10)]
    assert found[0].instruction == "tex.1d.v4.f32.s32"
    assert program.unsupported("k")[1].message == found[1].message
    with pytest.raises(pyptx.PtxError) as error:
        program.run("k", [0])
    assert error.value.message == found[0].message


def test_other_arrays(program: executor.Program) -> None:
    class Foreign:
        """Somebody's array, seen through its interface alone."""

        def __init__(self) -> None:
            self.memory = (ctypes.c_float * 16)(*range(16))
            self.__array_interface__ = {
                "version": 3, "shape": (16,), "typestr": "<f4", "data": (ctypes.addressof(self.memory), False),
            }  # fmt: skip

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x, out = Foreign(), np.zeros(16, np.float32)
        program.run("scale", [16, x, 2.0, out], block=16)
    assert (out == 2 * np.arange(16)).all()
    backwards = np.arange(16, dtype=np.float32)[::-1]
    program.run("scale", [1, backwards, 1.0, out], block=1)
    assert out[0] == 15


def test_a_tensor_of_one_integer_is_memory() -> None:
    torch = pytest.importorskip("torch")
    turns = torch.zeros(1, dtype=torch.int32)
    body = "ld.param.u64 %rd0, [out];\nred.global.add.u32 [%rd0], 1;\nret;\n"
    text = f"{HEADER}.visible .entry count(.param .u64 out)\n{{\n.reg .b64 %rd<1>;\n{body}}}\n"
    executor.Program(text).run("count", [turns.data_ptr()], block=32, regions=[turns])
    assert turns.item() == 32


ALL_REDUCE = """.version 8.1
.target sm_90
.address_size 64
.visible .entry all_reduce(.param .u64 everyone, .param .u64 own)
{
  .reg .b64 %d<3>;
  .reg .b32 %r0;
  .reg .f32 %f0;
  ld.param.u64 %d0, [everyone];
  ld.param.u64 %d1, [own];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 4;
  add.u64 %d0, %d0, %d2;
  add.u64 %d1, %d1, %d2;
  multimem.ld_reduce.relaxed.sys.global.add.f32 %f0, [%d0];
  st.global.f32 [%d1], %f0;
  multimem.st.relaxed.sys.global.f32 [%d0], %f0;
  ret;
}
"""


def test_a_multicast_region_is_the_memory_of_several_devices() -> None:
    all_reduce = executor.Program(ALL_REDUCE)
    devices = [np.arange(32, dtype=np.float32) + 100 * i for i in range(3)]
    total, own = sum(devices), np.zeros(32, np.float32)
    everyone = executor.Region(devices[0], "everyone", replicas=devices[1:])
    all_reduce.run("all_reduce", [everyone, own], block=32)
    assert (own == total).all()
    for memory in devices:
        assert (memory == total).all()
    alone = executor.Region(own, "alone", replicas=())
    all_reduce.run("all_reduce", [alone, own], block=32)  # one device: its own value
    assert (own == total).all()
    assert alone.address != own.ctypes.data
    with pytest.raises(pyptx.PtxError, match="which is no multimem address: what multimem") as error:
        all_reduce.run("all_reduce", [devices[0], own], block=32)
    assert error.value.kind == "out_of_bounds"
    with pytest.raises(pyptx.PtxError, match="which is a multimem address"):
        all_reduce.run("all_reduce", [everyone, everyone], block=32)
    with pytest.raises(
        pyptx.PtxError, match="replica 0 of parameter `everyone` of kernel `all_reduce` is said to have 128 bytes"
    ):
        all_reduce.run("all_reduce", [executor.Region(own, replicas=[np.zeros(31, np.float32)]), own], block=32)
    aside = np.zeros(64, np.float32)
    aside = aside[(own.ctypes.data - aside.ctypes.data) // 4 % 4 + 1 :][:32]  # 4 bytes further than `own` from a multiple of 16
    with pytest.raises(pyptx.PtxError, match=r"replica 1 of multicast region .* lies .* bytes behind a multiple of 16") as error:
        all_reduce.run("all_reduce", [executor.Region(own, replicas=[own, aside]), own], block=32)
    assert error.value.kind == "launch_config"
    devices[2].flags.writeable = False
    with pytest.raises(pyptx.PtxError, match="which the kernel may only read"):
        all_reduce.run("all_reduce", [executor.Region(devices[0], replicas=[devices[2]]), own], block=32)


# ---- arithmetic on request

MMA = (
    HEADER
    + """.visible .entry mma(.param .u64 a, .param .u64 b, .param .u64 d)
{
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  .reg .f32 %f<4>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %d0, [a];
  ld.param.u64 %d1, [b];
  ld.param.u64 %d2, [d];
  mul.wide.u32 %d3, %r0, 16;
  add.u64 %d0, %d0, %d3;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d3, %r0, 8;
  add.u64 %d1, %d1, %d3;
  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d0];
  ld.global.v2.b32 {%r5, %r6}, [%d1];
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%d2];
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};
  st.global.v4.f32 [%d2], {%f0, %f1, %f2, %f3};
  ret;
}
"""
)


def _mma_by_chains(a: np.ndarray, b: np.ndarray, d: np.ndarray) -> np.ndarray:
    """One fused multiply-add after the other: in float64, where these sums are exact, and rounded to float32 each time."""
    sums = d.copy()
    for k in range(a.shape[1]):
        exact = a[:, k, None].astype(np.float64) * b[None, k, :].astype(np.float64) + sums.astype(np.float64)
        sums = exact.astype(np.float32)
    return sums


def test_products_are_added_up_as_asked() -> None:
    import ml_dtypes

    rng = np.random.default_rng(5)
    a, b = (np.float32(rng.integers(-255, 255, shape)).astype(ml_dtypes.bfloat16) for shape in ((16, 16), (16, 8)))
    d = np.float32(rng.integers(-(2**24), 2**24, (16, 8))) / np.float32(2**10)
    d[0] += np.float32(2**21)
    lanes = np.arange(32)
    g, t = lanes // 4, lanes % 4
    rows, columns = (g, g, g + 8, g + 8), (2 * t, 2 * t + 1, 2 * t, 2 * t + 1)
    a_given = np.stack([a[g + 8 * (r % 2), 2 * t + 8 * (r // 2) + j] for r in range(4) for j in range(2)], axis=1)
    b_given = np.stack([b[2 * t + 8 * r + j, g] for r in range(2) for j in range(2)], axis=1)
    program = executor.Program(MMA)

    def run(**arithmetic: str) -> np.ndarray:
        fragment = np.stack([d[row, column] for row, column in zip(rows, columns, strict=True)], axis=1)
        memory = [np.ascontiguousarray(each) for each in (a_given.view(np.uint16), b_given.view(np.uint16), fragment)]
        program.run("mma", memory, block=32, **arithmetic)  # type: ignore[arg-type]
        result = np.empty_like(d)
        for i in range(4):
            result[rows[i], columns[i]] = memory[2][:, i]
        return result

    chains = _mma_by_chains(a.astype(np.float32), b.astype(np.float32), d)
    assert np.array_equal(run(numerics="fast"), chains)
    exact = run()
    assert not np.array_equal(exact, chains)  # a tensor core cuts what a chain rounds
    assert np.array_equal(run(numerics="exact"), exact)
    with executor.arithmetic(numerics="fast"):
        assert np.array_equal(run(), chains)
        assert np.array_equal(run(numerics="exact"), exact)
    assert np.array_equal(run(), exact)

    assert program.fidelity("mma") == []
    (note,) = program.fidelity("mma", numerics="fast")
    assert note.fidelity == "within a bound" and "fused multiply-adds" in note.why and note.instruction.startswith("mma.sync")


def test_an_arithmetic_that_there_is_not(program: executor.Program) -> None:
    x = np.zeros(1, np.float32)
    with pytest.raises(pyptx.PtxError, match="`numerics` is `quick`; what fits is `exact` or `fast`"):
        program.run("scale", [0, x, 1.0, x], numerics="quick")  # type: ignore[arg-type]
    words = "`approx` is `none`; what fits is `hardware`, `rounded` or `perturb`"
    with pytest.raises(pyptx.PtxError, match=words), executor.arithmetic(approx="none"):  # type: ignore[arg-type]
        pass


def test_approximations_on_request() -> None:
    text = (
        HEADER
        + """.visible .entry root(.param .u64 x)
{
  .reg .b32 %r<1>;
  .reg .b64 %d<2>;
  .reg .f32 %f<2>;
  mov.u32 %r0, %tid.x;
  ld.param.u64 %d0, [x];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d0, %d0, %d1;
  ld.global.f32 %f0, [%d0];
  rsqrt.approx.f32 %f1, %f0;
  st.global.f32 [%d0], %f1;
  ret;
}
"""
    )
    program = executor.Program(text)
    values = np.linspace(1, 100, 512, dtype=np.float32)

    def run(**arithmetic: object) -> np.ndarray:
        x = values.copy()
        program.run("root", [x], block=512, **arithmetic)  # type: ignore[arg-type]
        return x

    right = (1 / np.sqrt(values.astype(np.float64))).astype(np.float32)
    assert np.array_equal(run(approx="rounded"), right)
    assert not np.array_equal(run(), right)
    assert np.allclose(run(approx="perturb", seed=1), right, rtol=2**-22)
    assert not np.array_equal(run(approx="perturb", seed=1), run(approx="perturb", seed=2))
    assert np.array_equal(run(approx="perturb", seed=1), run(approx="perturb", seed=1))
