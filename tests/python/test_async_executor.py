"""The executor's asynchronous copies: by TMA descriptors that a launch makes, on tensors of the CPU."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from tma_kernels import (
    SWIZZLE_BYTES,
    THREADS,
    columns_kernel,
    load,
    raw_box_kernel,
    raw_slabs_kernel,
    round_trip_kernel,
)

from pyptx import Layout, Tile, _ptx, kernel, ptx, reg, smem
from pyptx.types import bf16, f16, f32, u8, u32

RANDOM = np.random.default_rng(20240611)


def dtype_of(dtype):
    return np.dtype({"bf16": "u2", "e4m3": "u1"}.get(str(dtype), _ptx.numpy_name(dtype)))


def random_array(shape, dtype):
    """Any bits, where a copy must keep them all."""
    bits = RANDOM.integers(0, 256, (prod(shape) * dtype_of(dtype).itemsize,), dtype=np.uint8)
    return bits.view(dtype_of(dtype)).reshape(shape)


def swizzled(rows, layout):
    """The bytes of shared memory that holds a box, given as rows of bytes."""
    flat, width = rows.reshape(-1), SWIZZLE_BYTES[layout]
    if width is None:
        return flat
    at = np.arange(flat.size)
    out = np.empty_like(flat)
    out[at ^ ((at >> 7) % (width // 16) << 4)] = flat
    return out


def boxes(x, box):
    """The boxes of a matrix as rows of bytes, along the rows first; outside the tensor there are zeros."""
    down, across = -(-x.shape[0] // box[0]), -(-x.shape[1] // box[1])
    whole = np.zeros((down * box[0], across * box[1]), x.dtype)
    whole[: x.shape[0], : x.shape[1]] = x
    for i in range(down):
        for j in range(across):
            part = whole[i * box[0] : (i + 1) * box[0], j * box[1] : (j + 1) * box[1]]
            yield np.ascontiguousarray(part).view(np.uint8)


@pytest.mark.parametrize("layout", list(SWIZZLE_BYTES), ids=lambda layout: layout.value)
@pytest.mark.parametrize("dtype", [f16, f32, u8], ids=str)
def test_a_box_lies_in_shared_memory_as_its_swizzle_says(layout, dtype):
    columns = (SWIZZLE_BYTES[layout] or 96) // dtype_of(dtype).itemsize
    box, shape = (64, columns), (96, 2 * columns)
    x = random_array(shape, dtype)
    y = np.asarray(raw_box_kernel(dtype, shape, box, layout)(x))
    for i, rows in enumerate(boxes(x, box)):
        assert np.array_equal(y[i].view(np.uint8), swizzled(rows, layout)), f"box {i}"


def test_outside_of_the_tensor_there_are_zeros():
    shape, box = (100, 72), (64, 64)
    x = random_array(shape, f16)
    y = np.asarray(raw_box_kernel(f16, shape, box, Layout.TMA_128B)(x))
    for i, rows in enumerate(boxes(x, box)):
        assert np.array_equal(y[i].view(np.uint8), swizzled(rows, Layout.TMA_128B)), f"box {i}"


def test_slabs_of_64_columns():
    shape, box = (64, 128), (32, 128)
    x = random_array(shape, f16)
    y = np.asarray(raw_slabs_kernel(f16, shape, box, Layout.TMA_128B)(x))
    for i, rows in enumerate(boxes(x, box)):
        slabs = [swizzled(np.ascontiguousarray(rows[:, begin : begin + 128]), Layout.TMA_128B) for begin in (0, 128)]
        assert np.array_equal(y[i].view(np.uint8), np.concatenate(slabs)), f"box {i}"


@pytest.mark.parametrize("tma", ["address", "value"])
@pytest.mark.parametrize(
    ("shape", "box"),
    [
        ((1000,), (256,)),
        ((100, 60), (32, 32)),
        ((5, 20, 48), (2, 8, 32)),
        ((3, 4, 10, 16), (2, 2, 8, 16)),
        ((2, 3, 4, 5, 32), (1, 2, 2, 4, 32)),
    ],
    ids=lambda sizes: "x".join(map(str, sizes)),
)
def test_boxes_of_every_rank_come_and_go(shape, box, tma):
    x = random_array(shape, u32)
    y = np.asarray(round_trip_kernel(u32, shape, box, Layout.ROW, tma)(x))
    assert np.array_equal(y, x)


def test_torch_tensors_of_the_cpu():
    torch = pytest.importorskip("torch")
    x = torch.randn(96, 128).to(torch.bfloat16)
    y = round_trip_kernel(bf16, (96, 128), (64, 64), Layout.TMA_128B)(x)
    assert torch.equal(y, x)


def test_a_first_dimension_that_is_open():
    k = round_trip_kernel(f32, ("N", 64), (32, 32), Layout.TMA_128B)
    for rows in (32, 45, 96):
        x = random_array((rows, 64), u32).view(np.float32)
        assert np.array_equal(np.asarray(k(x)).view(np.uint32), x.view(np.uint32))


def test_pixels_under_a_filter():
    images, height, width, channels, pixels = 2, 5, 7, 16, 40
    tensor_map = _ptx.TensorMap.im2col((images, height, width, channels), f32, (-1, -1), (-1, -1), 8, pixels)
    x = random_array((images, height, width, channels), u32)
    start, offsets = (8, 2, 1, 0), (1, 2)  # channel, w, h, image; along w, h
    y = np.asarray(columns_kernel(tensor_map, 4, start, offsets)(x.view(np.float32))).reshape(pixels, 8)
    # the filter's base goes through its box of every image; of each place, the pixel at the offset is copied
    bases = [(n, h, w) for n in range(images) for h in range(-1, height - 1) for w in range(-1, width - 1)]
    first = bases.index((0, 1, 2))
    for row, (n, h, w) in zip(y, bases[first : first + pixels], strict=True):
        h, w = h + offsets[1], w + offsets[0]
        inside = 0 <= h < height and 0 <= w < width
        assert np.array_equal(row, x[n, h, w, 8:16] if inside else np.zeros(8, np.uint32)), (n, h, w)


def test_bytes_that_never_come_are_a_deadlock_at_the_waits_line():
    @kernel(in_specs=(Tile(64, 64, f32, tma_box=(64, 32)),), out_specs=(Tile(64, 64, f32),), grid=1, block=THREADS)
    def short(X, Y):
        descriptor = X.tma_desc()
        # the barrier expects a box more than comes
        load(2 * 64 * 32 * 4, lambda dst, bar: ptx.cp.async_.bulk.tensor_2d(dst=dst, src=descriptor, coord=(0, 0), mbar=bar))
        ptx.ret()

    with pytest.raises(RuntimeError, match=r"phase 0 of the mbarrier at shared address 0x.*, which lacks") as raised:
        short(np.zeros((64, 64), np.float32))
    assert raised.value.kind == "deadlock"
    assert "bytes" in str(raised.value) and "tma_kernels.py" in str(raised.value.where)


def test_copies_without_a_descriptor():
    """Y = X: a bulk copy into shared memory, and one back."""
    size = 4096

    @kernel(in_specs=(Tile(size // 4, u32),), out_specs=(Tile(size // 4, u32),), grid=1, block=THREADS)
    def there_and_back(X, Y):
        source, sink = ptx.global_ptrs(X, Y)
        loaded, t = load(size, lambda dst, bar: ptx.inst.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes(
            ptx.addr(dst), ptx.addr(source), size, ptx.addr(bar)))  # fmt: skip
        with ptx.if_(t == 0):
            ptx.inst.cp.async_.bulk.global_.shared__cta.bulk_group(ptx.addr(sink), ptx.addr(loaded), size)
            ptx.inst.cp.async_.bulk.commit_group()
            ptx.inst.cp.async_.bulk.wait_group(0)
        ptx.ret()

    x = RANDOM.integers(0, 2**32, size // 4, dtype=np.uint32)
    assert np.array_equal(np.asarray(there_and_back(x)), x)


def test_a_store_of_what_nothing_has_written():
    @kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, u32),), grid=1, block=32)
    def from_nothing(X, Y):
        (sink,) = ptx.global_ptrs(Y)
        tile = smem.alloc(u32, (32,), align=128)
        with ptx.if_(reg.from_(ptx.special.tid.x(), u32) == 0):
            ptx.inst.cp.async_.bulk.global_.shared__cta.bulk_group(ptx.addr(sink), ptx.addr(tile), 128)
            ptx.inst.cp.async_.bulk.commit_group()
            ptx.inst.cp.async_.bulk.wait_group(0)
        ptx.ret()

    with pytest.raises(RuntimeError, match="nothing has written byte 0 of shared memory") as raised:
        from_nothing(np.zeros(32, np.uint32))
    assert raised.value.kind == "uninitialised"
    assert raised.value.where[0] == __file__
