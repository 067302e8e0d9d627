"""TMA descriptors: what a tile's tensor map is, and how a kernel's image takes descriptors. GPUs copy with them in tests/gpu."""

import pytest
from tma_kernels import by_hand_kernel, raw_box_kernel, raw_slabs_kernel, round_trip_kernel

from pyptx import Layout, Tile, _ptx, kernel, ptx, reg
from pyptx.types import b64, bf16, e4m3, f16, f32, u32

TensorMap = _ptx.TensorMap
no_gpu = pytest.mark.skipif(_ptx.why_no_gpu() is None, reason="this machine has a GPU")


def load_and_leave(X, Y):
    """Loads the descriptors' addresses and does nothing with them: an instruction of its own for each."""
    for tensor in (Y, X):
        reg.scalar(b64, init=tensor.tma_desc())
    ptx.ret()


def with_a_block(X, Y, *, BM=64):
    load_and_leave(X, Y)


def image_of(x: Tile, y: Tile, shape, fn=load_and_leave, **kwargs):
    k = kernel(in_specs=(x,), out_specs=(y,), grid=1, block=32, raw_params=[("u32", "n")])(fn)
    image, _ = k._plan_for({"n": 3, **kwargs}).bind([(shape, _ptx.numpy_name(x.dtype))])
    return image


# -- what a tensor map is


def test_interleaved_channels_count_slices():
    m = TensorMap.tiled((2, 3, 10), f16, (1, 2, 8), interleave="16B")
    assert m.strides == (480, 160) and m.box_bytes == 8 * 16  # one slice of channels, whatever the box has
    m = TensorMap.im2col((2, 3, 9, 10), f16, (0, 0), (0, 0), 64, 20, interleave="32B", swizzle="32B")
    assert m.strides == (8640, 2880, 320) and m.box_bytes == 20 * 32


@pytest.mark.parametrize(
    ("dtype", "row", "moved", "alignment"), [("b4x16", 128, 64, 16), ("b4x16_p64", 128, 64, 32), ("b6x16_p32", 192, 96, 32)]
)
def test_packed_elements(dtype, row, moved, alignment):
    """Blackwell's elements of 4 and 6 bits, by the names of PTX."""
    m = TensorMap.tiled((8, 256), dtype, (4, 128), swizzle="128B")
    assert (m.dtype, m.strides, m.box_bytes) == (dtype, (row,), 4 * moved)
    assert len(m.words(64)) == 128
    if alignment == 32:
        with pytest.raises(ValueError, match="not a multiple of 32 bytes"):
            m.words(16)
        with pytest.raises(ValueError, match="moves 128 elements of type"):
            TensorMap.tiled((8, 256), dtype, (4, 64))
    assert TensorMap.im2col((2, 5, 6, 128), dtype, (0, 0), (0, 0), 128, 8).box_bytes == 8 * moved
    with pytest.raises(TypeError, match="TensorMap"):
        TensorMap.tiled((8, 256), "b5x16", (4, 128))


def test_of_a_tile():
    m = TensorMap.of(Tile("M", "K", bf16, Layout.TMA_128B, tma_box=(64, 64)), {"M": 512, "K": 128})
    assert (m.dtype, m.shape, m.strides, m.box, m.box_bytes, m.swizzle) == ("bf16", (512, 128), (256,), (64, 64), 8192, "128B")
    assert repr(m) == "<tensor map bf16 (512, 128) in boxes of (64, 64), swizzle 128B>"
    assert m == TensorMap.of(Tile(512, 128, bf16, Layout.TMA_128B, tma_box=(64, 64)))
    assert hash(m) == hash(TensorMap.of(Tile(512, 128, bf16, Layout.TMA_128B, tma_box=(64, 64))))
    assert m != TensorMap.of(Tile(512, 128, f16, Layout.TMA_128B, tma_box=(64, 64))) and m != 3


def test_of_slabs_and_of_bytes():
    m = TensorMap.of(Tile(512, 256, bf16, tma_box=(128, 128), tma_rank=3, tma_padding=True))
    assert (m.shape, m.strides, m.box) == ((4, 512, 64), (128, 512), (2, 128, 72))
    assert TensorMap.of(Tile(64, 128, e4m3, Layout.TMA_128B)).dtype == "u8"


@pytest.mark.parametrize(
    ("tile", "says"),
    [
        (Tile(16, 9, f32), "it is 36 bytes; a tensor map needs a multiple of 16"),
        (Tile(512, f32), "the box (512,) is 512; one tensor copy moves 1 to 256"),
        (Tile(64, 256, bf16, Layout.TMA_128B, tma_box=(64, 128)), "swizzle 128B takes at most 128"),
        (Tile(64, 64, bf16, tma_box=(64, 4)), "is 8 bytes (4 elements of 2); a tensor copy needs a multiple of 16"),
        (Tile(64, 96, bf16, tma_rank=3), "not a whole number of slabs of 64 columns"),
        (Tile(64, 64, bf16, tma_rank=4), "tma_rank 4; what fits is 2"),
    ],
)
def test_of_a_tile_that_has_none(tile, says):
    with pytest.raises(ValueError) as raised:
        TensorMap.of(tile)
    assert raised.value.kind == "bad_tile" and says in str(raised.value)


def test_of_a_tile_of_unknown_size():
    with pytest.raises(KeyError, match="`K`"):
        TensorMap.of(Tile("M", "K", f32), {"M": 64})


# -- kernels that take descriptors


def test_an_image_takes_the_descriptors_that_the_entry_names():
    x, y = Tile("M", 64, bf16, Layout.TMA_128B, tma_box=("BM", 64)), Tile("M", 64, bf16)
    image = image_of(x, y, (256, 64), with_a_block, BM=32)
    (first, of_y), (second, of_x) = image.descriptors
    assert (first, second) == (1, 0), "inputs count first, and the entry names Y's first"
    assert of_x == TensorMap.of(x, {"M": 256, "BM": 32}) and of_x.box == (32, 64)
    assert of_y == TensorMap.of(y, {"M": 256})
    lines = [line.strip(" \t,") for line in image.ptx.splitlines() if ".param ." in line and "ld." not in line]
    assert lines == [".param .u64 X", ".param .u64 Y", ".param .u32 n", ".param .u64 Y_tma_desc", ".param .u64 X_tma_desc"]


def test_the_record_carries_them_to_an_image_of_text():
    image = image_of(Tile("M", 64, bf16, Layout.TMA_128B), Tile("M", 64, bf16), (128, 64))
    text = _ptx.Image.from_text(
        image.ptx,
        image.entry,
        grid=image.grid,
        block=image.block,
        inputs=1,
        outputs=1,
        scalars=[(3, 4)],
        descriptors=image.descriptors,
    )
    assert text.meta == image.meta and text.key == image.key and text.descriptors == image.descriptors


def test_other_sizes_are_other_images():
    x, y = Tile("M", 64, bf16, Layout.TMA_128B, tma_box=(64, 64)), Tile("M", 64, bf16, tma_box=(64, 64))
    small, large = image_of(x, y, (128, 64)), image_of(x, y, (256, 64))
    assert small.ptx == large.ptx and small.key != large.key


def test_a_shape_without_a_tensor_map_is_refused_at_the_call():
    with pytest.raises(ValueError) as raised:
        image_of(Tile("M", "K", f32), Tile("M", 64, f32), (64, 9))
    assert raised.value.kind == "bad_tile"
    assert "the TMA descriptor of tensor `X` of kernel `load_and_leave`: " in str(raised.value)
    assert "it is 36 bytes; a tensor map needs a multiple of 16" in str(raised.value)


def test_a_parameter_named_like_a_descriptor_may_be_the_authors():
    @kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, u32),), grid=1, block=32, raw_params=[("u64", "X_tma_desc")])
    def by_hand(X, Y):
        ptx.ret()

    image, _ = by_hand._plan_for({"X_tma_desc": 0x1000}).bind([((32,), "uint32")])
    assert image.descriptors == []


def test_kernels_with_descriptors_lower_for_gpus_without_one():
    jax = pytest.importorskip("jax")

    @kernel(in_specs=(Tile("M", 64, f32),), out_specs=(Tile("M", 64, f32),), grid=1, block=32)
    def copy(X, Y):
        reg.scalar(b64, init=X.tma_desc())
        ptx.ret()

    text = jax.jit(copy).trace(jax.ShapeDtypeStruct((64, 64), "float32")).lower(lowering_platforms=("cuda",)).as_text()
    assert "pyptx_launch" in text and "X_tma_desc" in text


@pytest.mark.parametrize(
    "made",
    [
        raw_box_kernel(bf16, (128, 128), (64, 64), Layout.TMA_128B),
        raw_slabs_kernel(bf16, (128, 256), (32, 128), Layout.TMA_128B),
        raw_slabs_kernel(bf16, (64, 128), (32, 64), Layout.ROW, padding=True),
        by_hand_kernel(f32, (64, 32), (64, 32)),
        *(round_trip_kernel(f32, (32,) * rank, (4,) * rank, Layout.ROW) for rank in range(1, 6)),
    ],
    ids=repr,
)
def test_the_kernels_of_the_gpu_tests_assemble(made, ptxas):
    ptxas(made.ptx())


@no_gpu
def test_encoding_needs_a_driver():
    with pytest.raises(RuntimeError) as raised:
        TensorMap.of(Tile(64, 64, f32)).encode(0x1000)
    assert raised.value.kind in ("no_driver", "no_device")
