"""The executor against the GPU: asynchronous copies, mbarriers and tensor maps, the same kernels on both, byte for byte."""

from __future__ import annotations

import itertools
import random
from math import prod

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0), reason="no NVIDIA GPU with tensor copies here"
)

from tma_kernels import THREADS, raw_box_kernel, raw_slabs_kernel, round_trip_kernel, thread, wait, write_out  # noqa: E402

from pyptx import Layout, Tile, _ptx, kernel, ptx, reg, smem  # noqa: E402
from pyptx.types import b32, b64, bf16, f16, f32, f64, pred, s32, s64, tf32, u8, u32, u64  # noqa: E402

DICE = np.random.default_rng(20240611)


def bits(shape, dtype, floats=False):
    """Any bits, as a torch tensor of the CPU; numbers of ordinary size where a sum is asked for."""
    name = str(dtype)
    if floats and name in ("f32", "f64", "f16", "bf16", "tf32"):
        return torch.from_numpy(DICE.standard_normal(shape)).to(getattr(torch, _ptx.numpy_name(dtype)))
    size = max(dtype.bits // 8, 1)
    raw = torch.from_numpy(DICE.integers(0, 256, (prod(shape) * size,), dtype=np.uint8))
    return raw.view(getattr(torch, _ptx.numpy_name(dtype))).view(shape)


def as_bytes(x):
    return x.contiguous().cpu().view(-1).view(torch.uint8)


def expect_same(k, *arrays, say=""):
    ours, theirs = k(*arrays), k(*(a.cuda() for a in arrays))
    for mine, gpu in zip(*(r if isinstance(r, tuple) else (r,) for r in (ours, theirs)), strict=True):
        left, right = as_bytes(mine), as_bytes(gpu)
        differ = torch.nonzero(left != right).flatten()
        assert not len(differ), f"{say}: {len(differ)} of {len(left)} bytes differ, the first at {int(differ[0])}"


# ---- tensor copies


@pytest.mark.parametrize("layout", [Layout.ROW, Layout.TMA_32B, Layout.TMA_64B, Layout.TMA_128B], ids=lambda layout: layout.value)
@pytest.mark.parametrize("dtype", [u8, f16, f32, f64], ids=str)
def test_boxes_in_shared_memory(layout, dtype):
    span = {Layout.ROW: 96, Layout.TMA_32B: 32, Layout.TMA_64B: 64, Layout.TMA_128B: 128}[layout]
    columns = span // (dtype.bits // 8)
    shape, box = (100, 2 * columns), (32, columns)
    expect_same(raw_box_kernel(dtype, shape, box, layout), bits(shape, dtype))


def test_slabs():
    expect_same(raw_slabs_kernel(bf16, (64, 256), (32, 128), Layout.TMA_128B), bits((64, 256), bf16))
    expect_same(raw_slabs_kernel(bf16, (64, 128), (32, 64), Layout.ROW, padding=True), bits((64, 128), bf16))


@pytest.mark.parametrize("tma", ["address", "value"])
def test_round_trips(tma):
    for shape, box in [((1000,), (256,)), ((100, 60), (32, 32)), ((5, 20, 48), (2, 8, 32)), ((2, 3, 4, 5, 32), (1, 2, 2, 4, 32))]:
        expect_same(round_trip_kernel(f32, shape, box, Layout.ROW, tma), bits(shape, f32), say=str(shape))


def loads(tensor_map, dtype, coordinates, room, expected, offsets=(), shape=()):
    """Y = shared memory, filled with 0xCC before, after a load of one box."""
    rank = len(coordinates)

    @kernel(
        in_specs=(Tile(*(shape or tensor_map.shape), dtype),),
        out_specs=(Tile(room // 4, u32),),
        grid=1,
        block=THREADS,
        tma="value",
        tensor_maps={"X": tensor_map},
    )
    def one_load(X, Y):
        (out,) = ptx.global_ptrs(Y)
        tile, barrier, t = smem.alloc(u8, (room,), align=1024), smem.mbarrier(1)[0], thread()
        at = reg.scalar(u32)
        ptx.inst.mov.u32(at, tile.name)
        at += t * 4
        for begin in range(0, room, 4 * THREADS):
            ptx.inst.st.shared.u32(ptx.addr(at, begin), 0xCCCCCCCC)
        with ptx.if_(t == 0):
            ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(barrier), 1)
        ptx.inst.fence.proxy.async_.shared__cta()
        ptx.bar.sync(0)
        with ptx.if_(t == 0):
            ptx.inst.mbarrier.arrive.expect_tx.shared__cta.b64(reg.scalar(b64), ptx.addr(barrier), expected)
            if offsets:
                copy = getattr(ptx.cp.async_.bulk.tensor, f"im2col_{rank}d")
                copy(tile, X.tma_desc(), coordinates, offsets, mbar=barrier)
            else:
                copy = getattr(ptx.cp.async_.bulk, f"tensor_{rank}d")
                copy(dst=tile, src=X.tma_desc(), coord=coordinates, mbar=barrier)
        wait(barrier)
        write_out(tile, t, out, room)
        ptx.ret()

    return one_load


SPANS = {"NONE": 0, "32B": 32, "64B": 64, "128B": 128}


def random_loads(count):
    dice = random.Random(11)
    while count:
        dtype = dice.choice([u8, f16, bf16, f32, f64, u32, tf32])
        size, rank, swizzle = max(dtype.bits // 8, 1), dice.randint(1, 5), dice.choice(list(SPANS))
        inner = dice.choice([16, 32, 48, 64, 96, 112, 128]) // size
        shape = [dice.choice([1, 3, 7, 16, 33]) for _ in range(rank - 1)] + [dice.choice([16, 48, 64, 160]) * 4 // size]
        box = [dice.choice([1, 2, 5, 8]) for _ in range(rank - 1)] + [inner]
        steps = [dice.choice([1, 1, 2, 3]) for _ in range(rank - 1)] + [1]
        fill = dice.choice(["zero", "nan"]) if str(dtype).startswith(("f", "b", "t")) else "zero"
        try:
            made = _ptx.TensorMap.tiled(shape, dtype, box, swizzle=swizzle, fill=fill, element_strides=steps)
        except ValueError:
            continue
        rows = prod(-(-b // s) for b, s in zip(box[:-1], steps[:-1], strict=True))
        room = -(-rows * max(inner * size, SPANS[swizzle]) // (4 * THREADS)) * 4 * THREADS
        if room > 32768:
            continue
        outer = [dice.choice([0, 1, -1, -3, s - 1, s]) for s in reversed(shape[:-1])]
        first = dice.choice([0, -1, 1, 2, shape[-1] * size // 16 - 1, shape[-1] * size // 16]) * 16 // size
        yield made, dtype, (first, *outer), room, rows * inner * size
        count -= 1


@pytest.mark.parametrize("number", range(60))
def test_random_boxes_in_and_out_of_bounds(number):
    tensor_map, dtype, coordinates, room, expected = next(itertools.islice(random_loads(number + 1), number, None))
    k = loads(tensor_map, dtype, coordinates, room, expected)
    expect_same(k, bits(tensor_map.shape, dtype), say=f"{tensor_map!r} at {coordinates}")


def random_interleaved(count):
    """Maps of slices of channels, their tensors' bytes, coordinates, offsets and what the mbarrier is told."""
    dice = random.Random(12)
    while count:
        dtype, slices = dice.choice([u8, f16, bf16, f32, f64, u32]), dice.choice([16, 32])
        size, rank = dtype.bits // 8, dice.randint(3, 5)
        shape = [dice.choice([1, 2, 3, 5]) for _ in range(rank - 1)] + [dice.choice([1, 3, 8, 20])]
        steps = [dice.choice([1, 1, 1, 2, 3]) for _ in range(rank)]
        fill = dice.choice(["zero", "nan"]) if str(dtype)[0] in "fb" else "zero"
        more = {"swizzle": "32B" if slices == 32 else dice.choice(list(SPANS)), "interleave": f"{slices}B", "fill": fill}
        channels = dice.choice([16, 32, 64]) // size
        outside = lambda n: dice.choice([0, 0, 1, -1, -2, n - 1, n])  # noqa: E731
        try:
            if dice.random() < 0.5:
                box = [dice.choice([1, 2, 4]) for _ in range(rank - 1)] + [channels]
                made = _ptx.TensorMap.tiled(shape, dtype, box, element_strides=steps, **more)
                coordinates, offsets = [outside(n) for n in reversed(shape)], ()
            else:
                lower, upper = ([dice.randint(-2, 1) for _ in range(rank - 2)] for _ in range(2))
                pixels = dice.choice([1, 7, 20, 33])
                made = _ptx.TensorMap.im2col(shape, dtype, lower, upper, channels, pixels, element_strides=steps, **more)
                within = [dice.randint(a, n - 1 + b) for n, a, b in zip(shape[2:], lower, upper, strict=True)]
                coordinates, offsets = [*within[::-1], outside(shape[1]), outside(shape[0])], [0, 1, 2][: rank - 2]
        except ValueError:
            continue
        room = -(-made.box_bytes // (4 * THREADS)) * 4 * THREADS
        if room > 32768:
            continue
        count -= 1
        yield made, dtype, prod(shape) * slices, tuple(coordinates), room, tuple(offsets)


@pytest.mark.parametrize("number", range(60))
def test_interleaved_channels(number):
    made, dtype, size, coordinates, room, offsets = next(itertools.islice(random_interleaved(number + 1), number, None))
    shape = (size // (dtype.bits // 8),)
    k = loads(made, dtype, coordinates, room, made.box_bytes, offsets, shape)
    x = bits(shape, dtype).clone()  # torch's own memory lies at a multiple of 32 bytes
    expect_same(k, x, say=f"{made!r} at {coordinates}, {offsets}")


@pytest.mark.parametrize("coordinates", [(0, 0, 0), (3, 0, 1), (7, 3, 0), (8, 0, 0), (0, 4, 0)], ids=str)
@pytest.mark.parametrize("slices", [16, 32])
def test_stores_of_interleaved_channels(slices, coordinates):
    """1024 bytes of shared memory are 8 pixels of 8 or 4 images; those that lie in the tensor are stored."""
    images = 1024 // (8 * slices)
    made = _ptx.TensorMap.tiled(
        (images, 4, 8), u32, (images, 2, 8), interleave=f"{slices}B", swizzle="32B" if slices == 32 else "NONE"
    )
    tensor = Tile(images * 4 * 8 * slices // 128, 32, u32)

    @kernel(in_specs=(Tile(8, 32, u32), tensor), out_specs=(tensor,), grid=1, block=32, arch="sm_90a", tensor_maps={"Y": made})
    def store(X, Z, Y):
        tile, t, _ = tile_and_output(X, Z, Y, tensor.shape[0])
        with ptx.if_(t == 0):
            ptx.cp.async_.bulk.tensor_3d.store(dst=Y.tma_desc(), src=tile, coord=coordinates)
            done()
        ptx.ret()

    expect_same(store, bits((8, 32), u32), bits(tensor.shape, u32))


@pytest.mark.parametrize("offsets", [(0, 0), (1, 2), (2, 0)], ids=str)
@pytest.mark.parametrize("stride", [1, 2])
def test_columns_of_pixels(offsets, stride):
    strides = [1, stride, stride, 1]
    made = _ptx.TensorMap.im2col((3, 9, 8, 32), f32, (-1, -1), (-1, -1), 32, 64, element_strides=strides)
    x = bits((3, 9, 8, 32), f32, floats=True)
    expect_same(loads(made, f32, (0, 1, 2, 0), 8192, 64 * 32 * 4, offsets), x)


OPS = ["add", "min", "max", "inc", "dec", "and", "or", "xor"]
TYPES = [u32, s32, u64, s64, f32, f64, f16, bf16]


def is_reduction(op, dtype):
    name = str(dtype)
    if op in ("inc", "dec"):
        return name == "u32"
    if op in ("and", "or", "xor"):
        return name[0] in "us" and name != "s64"  # of a map of s64 it is an illegal instruction (facts.md)
    if op == "add":
        return name != "s64"
    return name not in ("f32", "f64")


def tile_and_output(X, Z, Y, rows):
    """X in shared memory, Z in Y (its first rows of 128 bytes): where the tile is, and the thread."""
    tile, t = smem.alloc(u8, (1024,), align=128), thread()
    source, before, sink = ptx.global_ptrs(X, Z, Y)
    word, at = reg.scalar(b32), reg.scalar(u32)
    ptx.inst.mov.u32(at, tile.name)
    at += t * 4
    source += t * 4
    before += t * 4
    sink += t * 4
    for begin in range(0, 128 * max(rows, 8), 128):
        if begin < 1024:
            ptx.inst.ld.global_.b32(word, ptx.addr(source, begin))
            ptx.inst.st.shared.b32(ptx.addr(at, begin), word)
        if begin < 128 * rows:
            ptx.inst.ld.global_.b32(word, ptx.addr(before, begin))
            ptx.inst.st.global_.b32(ptx.addr(sink, begin), word)
    ptx.inst.fence.proxy.async_()
    ptx.bar.sync(0)
    return tile, t, sink


def done():
    ptx.inst.cp.async_.bulk.commit_group()
    ptx.inst.cp.async_.bulk.wait_group(0)


REDUCTIONS = [pytest.param(op, dtype, id=f"{dtype}-{op}") for dtype in TYPES for op in OPS if is_reduction(op, dtype)]


@pytest.mark.parametrize(("op", "dtype"), REDUCTIONS)
def test_reductions_of_tensors(op, dtype):
    """Y = Z, then op= X: a box in row 1, clipped below."""
    columns = 128 // (dtype.bits // 8)
    matrix = Tile(8, columns, dtype, tma_box=(8, columns))

    @kernel(in_specs=(matrix, matrix), out_specs=(matrix,), grid=1, block=32, arch="sm_90a")
    def reduce(X, Z, Y):
        tile, t, _ = tile_and_output(X, Z, Y, 8)
        with ptx.if_(t == 0):
            ptx.cp.reduce.async_.bulk.tensor_2d(op, dst=Y.tma_desc(), src=tile, coord=(0, 1))
            done()
        ptx.ret()

    for _ in range(4):
        expect_same(reduce, bits((8, columns), dtype), bits((8, columns), dtype), say=f"{op}.{dtype}")


@pytest.mark.parametrize(("op", "dtype"), REDUCTIONS)
def test_bulk_reductions(op, dtype):
    columns, untyped = 128 // (dtype.bits // 8), dtype
    if op in ("and", "or", "xor"):
        untyped = {32: b32, 64: b64}[dtype.bits]
    matrix = Tile(8, columns, dtype)

    @kernel(in_specs=(matrix, matrix), out_specs=(matrix,), grid=1, block=32, arch="sm_90a")
    def reduce(X, Z, Y):
        tile, t, sink = tile_and_output(X, Z, Y, 8)
        with ptx.if_(t == 0):
            ptx.cp.reduce.async_.bulk(op, untyped, dst=sink, src=tile, size=1024)
            done()
        ptx.ret()

    for _ in range(4):
        expect_same(reduce, bits((8, columns), dtype), bits((8, columns), dtype), say=f"{op}.{dtype}")


@pytest.mark.parametrize("coordinates", [(0, 0), (0, 5), (8, 0), (16, 7), (32, 0), (0, 8), (40, 40)], ids=str)
def test_stores_are_clipped(coordinates):
    matrix = Tile(8, 32, u32, tma_box=(8, 32))

    @kernel(in_specs=(matrix, matrix), out_specs=(matrix,), grid=1, block=32, arch="sm_90a")
    def store(X, Z, Y):
        tile, t, _ = tile_and_output(X, Z, Y, 8)
        with ptx.if_(t == 0):
            ptx.cp.async_.bulk.tensor_2d.store(dst=Y.tma_desc(), src=tile, coord=coordinates)
            done()
        ptx.ret()

    expect_same(store, bits((8, 32), u32), bits((8, 32), u32))


# ---- descriptors


@pytest.mark.parametrize("number", range(40))
def test_the_bytes_of_a_descriptor(number):
    """Y = the 128 bytes of X's tensor map, but for the address."""
    tensor_map, dtype, *_ = next(itertools.islice(random_loads(number + 1), number, None))

    @kernel(
        in_specs=(Tile(*tensor_map.shape, dtype),),
        out_specs=(Tile(32, u32),),
        grid=1,
        block=32,
        tensor_maps={"X": tensor_map},
        arch="sm_90a",
    )
    def own_bytes(X, Y):
        (out,) = ptx.global_ptrs(Y)
        word, t = reg.scalar(u32), thread()
        ptx.inst.ld.global_.u32(word, ptx.addr(X.tma_desc() + t * 4), pred=t >= 2)
        ptx.inst.mov.u32(word, 0, pred=t < 2)
        ptx.inst.st.global_.u32(ptx.addr(out + t * 4), word)
        ptx.ret()

    x = bits(tensor_map.shape, dtype)
    ours, theirs = own_bytes(x).numpy(), own_bytes(x.cuda()).cpu().numpy()
    different = [(i, hex(int(a)), hex(int(b))) for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    assert not different, f"{tensor_map!r}: words (number, executor, driver) {different}"


# ---- mbarriers


def test_counts_states_and_phases():
    """What one thread sees of a barrier of 5 arrivals: pending counts, and which phase is complete."""

    @kernel(in_specs=(Tile(1, u32),), out_specs=(Tile(64, u32),), grid=1, block=1, arch="sm_90a")
    def story(X, Y):
        (out,) = ptx.global_ptrs(Y)
        barrier, at = ptx.addr(smem.mbarrier(1)[0]), itertools.count(0, 4)
        bar = ptx.inst.mbarrier
        state, count, complete = reg.scalar(b64), reg.scalar(u32), reg.scalar(pred)

        def say_state():
            bar.pending_count.b64(count, state)
            ptx.inst.st.global_.u32(ptx.addr(out, next(at)), count)

        def say_phases():
            for parity in (0, 1):
                bar.test_wait.parity.shared__cta.b64(complete, barrier, parity)
                ptx.inst.selp.u32(count, 1, 0, complete)
                ptx.inst.st.global_.u32(ptx.addr(out, next(at)), count)

        bar.init.shared__cta.b64(barrier, 5)
        say_phases()
        for arrivals in (1, 2):
            bar.arrive.shared__cta.b64(state, barrier, arrivals)
            say_state()
        bar.arrive.noComplete.shared__cta.b64(state, barrier, 1)
        say_state()
        say_phases()
        bar.arrive.expect_tx.shared__cta.b64(state, barrier, 100)
        say_state()
        say_phases()
        for part in (60, 40):
            bar.complete_tx.shared__cta.b64(barrier, part)
            say_phases()
        bar.arrive_drop.shared__cta.b64(state, barrier)
        say_state()
        bar.test_wait.shared__cta.b64(complete, barrier, state)
        bar.arrive.shared__cta.b64(state, barrier, 4)
        say_state()
        say_phases()
        bar.expect_tx.relaxed.cta.shared__cta.b64(barrier, 16)
        bar.arrive_drop.shared__cta.b64(state, barrier, 2)
        say_state()
        bar.arrive.shared__cta.b64(state, barrier, 2)
        say_state()
        say_phases()
        bar.complete_tx.shared__cta.b64(barrier, 16)
        say_phases()
        bar.arrive.shared__cta.b64(state, barrier)
        say_state()
        while (offset := next(at)) < 256:
            ptx.inst.st.global_.u32(ptx.addr(out, offset), 0)
        ptx.ret()

    expect_same(story, torch.zeros(1, dtype=torch.int32).view(torch.uint32))


def test_small_copies():
    """cp.async of 4, 8 and 16 bytes, with fewer to read and with none."""

    @kernel(in_specs=(Tile(32 * 16, u32),), out_specs=(Tile(32 * 16, u32),), grid=1, block=32, arch="sm_90a")
    def small(X, Y):
        source, out = ptx.global_ptrs(X, Y)
        tile, t, at = smem.alloc(u8, (2048,), align=128), thread(), reg.scalar(u32)
        ptx.inst.mov.u32(at, tile.name)
        at += t * 64
        source += t * 64
        some = reg.scalar(u32)
        ptx.inst.rem.u32(some, t, 17)
        least = reg.scalar(u32)
        copy = ptx.inst.cp.async_
        copy.cg.shared.global_(ptx.addr(at), ptx.addr(source), 16)
        copy.cg.shared.global_(ptx.addr(at, 16), ptx.addr(source, 16), 16, some)
        ptx.inst.min.u32(least, some, 8)
        copy.ca.shared.global_(ptx.addr(at, 32), ptx.addr(source, 32), 8, least)
        ptx.inst.min.u32(least, some, 4)
        copy.ca.shared.global_(ptx.addr(at, 40), ptx.addr(source, 40), 4, least)
        copy.ca.shared.global_(ptx.addr(at, 44), ptx.addr(source, 44), 4)
        copy.ca.shared.global_(ptx.addr(at, 48), ptx.addr(source, 48), 16, t > 9)
        copy.commit_group()
        copy.wait_group(0)
        ptx.bar.sync(0)
        ptx.inst.mov.u32(at, tile.name)
        at += t * 4
        out += t * 4
        for begin in range(0, 2048, 128):
            ptx.inst.ld.shared.u32(least, ptx.addr(at, begin))
            ptx.inst.st.global_.u32(ptx.addr(out, begin), least)
        ptx.ret()

    expect_same(small, bits((512,), u32))
