"""TMA descriptors on a GPU: copies by tensor maps of every kind, tensors that take turns, CUDA graphs, several threads."""

from __future__ import annotations

import threading

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0), reason="no NVIDIA GPU with tensor copies here"
)

from tma_kernels import (  # noqa: E402
    SWIZZLE_BYTES,
    THREADS,
    by_hand_kernel,
    bytes_of,
    columns_kernel,
    load,
    raw_box_kernel,
    raw_slabs_kernel,
    round_trip_kernel,
    write_out,
)

from pyptx import Layout, Tile, _ptx, jax_support, kernel, ptx, torch_support, types  # noqa: E402
from pyptx.types import bf16, e4m3, f16, f32, f64, u8, u32  # noqa: E402


def torch_dtype(dtype):
    return getattr(torch, _ptx.numpy_name(dtype))


def random_tensor(shape, dtype, device="cuda"):
    """Any bits, where a copy must keep them all."""
    size = bytes_of(dtype)
    count = torch.Size(shape).numel()
    if dtype == types.pred:
        return torch.randint(0, 2, shape, device=device).bool()
    if dtype == types.tf32:  # whose copies may round
        return torch.randint(-1000, 1000, shape, device=device).float()
    return torch.randint(0, 256, (count * size,), dtype=torch.uint8, device=device).view(torch_dtype(dtype)).view(shape)


def as_bytes(x):
    return x.contiguous().view(-1).view(torch.uint8)


def swizzled(rows, layout):
    """The bytes of shared memory that holds a box, given as rows of bytes: the 16-byte piece at address a lies at a, the bits
    4 to 6 exchanged with those above as the swizzle says."""
    flat = rows.reshape(-1)
    width = SWIZZLE_BYTES[layout]
    if width is None:
        return flat
    at = torch.arange(flat.numel(), device=flat.device)
    to = at ^ ((at >> 7) % (width // 16) << 4)
    out = torch.empty_like(flat)
    out[to] = flat
    return out


def boxes(x, box):
    """The boxes of a matrix, along the rows first; outside the tensor there are zeros."""
    down, across = -(-x.shape[0] // box[0]), -(-x.shape[1] // box[1])
    whole = torch.zeros(down * box[0], across * box[1], dtype=torch.uint8, device=x.device).repeat_interleave(
        x.element_size(), dim=1
    )
    wide = as_bytes(x).view(x.shape[0], -1)
    whole[: wide.shape[0], : wide.shape[1]] = wide
    width = box[1] * x.element_size()
    for i in range(down):
        for j in range(across):
            yield whole[i * box[0] : (i + 1) * box[0], j * width : (j + 1) * width]


# -- what is copied


@pytest.mark.parametrize("layout", list(SWIZZLE_BYTES), ids=lambda layout: layout.value)
@pytest.mark.parametrize("dtype", [bf16, f32, e4m3, f64], ids=str)
def test_a_box_lies_in_shared_memory_as_its_swizzle_says(layout, dtype):
    columns = (SWIZZLE_BYTES[layout] or 96) // bytes_of(dtype)
    box, shape = (64, columns), (192, 2 * columns)
    x = random_tensor(shape, dtype)
    y = raw_box_kernel(dtype, shape, box, layout)(x)
    for i, rows in enumerate(boxes(x, box)):
        assert torch.equal(as_bytes(y[i]), swizzled(rows, layout)), f"box {i}"


def test_outside_of_the_tensor_there_are_zeros():
    shape, box = (100, 72), (64, 64)
    x = random_tensor(shape, f16)
    y = raw_box_kernel(f16, shape, box, Layout.TMA_128B)(x)
    for i, rows in enumerate(boxes(x, box)):
        assert torch.equal(as_bytes(y[i]), swizzled(rows, Layout.TMA_128B)), f"box {i}"


@pytest.mark.parametrize("layout", [Layout.TMA_128B, Layout.ROW], ids=lambda layout: layout.value)
def test_slabs_of_64_columns(layout):
    shape, box = (128, 256), (32, 128)
    x = random_tensor(shape, bf16)
    y = raw_slabs_kernel(bf16, shape, box, layout)(x)
    for i, rows in enumerate(boxes(x, box)):
        slabs = [swizzled(rows[:, begin : begin + 128], layout) for begin in (0, 128)]
        assert torch.equal(as_bytes(y[i]), torch.cat(slabs)), f"box {i}"


def test_slabs_with_padded_rows():
    shape, box = (64, 128), (32, 64)
    x = random_tensor(shape, bf16)
    y = raw_slabs_kernel(bf16, shape, box, Layout.ROW, padding=True)(x)
    for i, rows in enumerate(boxes(x, box)):
        padded = torch.nn.functional.pad(rows, (0, 16))
        assert torch.equal(as_bytes(y[i]), padded.reshape(-1)), f"box {i}"


@pytest.mark.parametrize(
    "name",
    ["pred", "u8", "s8", "e4m3", "e5m2", "u16", "s16", "f16", "bf16", "u32", "s32", "f32", "tf32", "u64", "s64", "f64"],
)
def test_every_type_comes_and_goes(name):
    dtype = types.from_name(name)
    columns = 128 // bytes_of(dtype)
    shape = (96, 2 * columns)
    x = random_tensor(shape, dtype)
    y = round_trip_kernel(dtype, shape, (64, columns), Layout.TMA_128B)(x)
    assert y.dtype == x.dtype and torch.equal(as_bytes(y), as_bytes(x))


@pytest.mark.parametrize(
    ("shape", "box"),
    [
        ((1000,), (256,)),
        ((100, 60), (32, 32)),
        ((5, 20, 48), (2, 8, 32)),
        ((3, 4, 10, 16), (2, 2, 8, 16)),
        ((2, 3, 4, 5, 32), (1, 2, 2, 4, 32)),
    ],
    ids=lambda value: f"{len(value)}d",
)
def test_tensors_of_one_to_five_dimensions(shape, box):
    x = random_tensor(shape, f32)
    assert torch.equal(as_bytes(round_trip_kernel(f32, shape, box, Layout.ROW)(x)), as_bytes(x))


# -- descriptors over time


both_forms = pytest.mark.parametrize("tma", ["address", "value"])


@both_forms
def test_tensors_take_turns(tma):
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B, tma)
    tensors = [torch.full((128, 32), float(i), device="cuda") for i in range(40)]  # more than are remembered without asking
    for _ in range(3):
        results = [k(x) for x in tensors]
        for i, y in enumerate(results):
            assert (y == i).all()
    taller = torch.full((256, 32), -1.0, device="cuda")
    assert torch.equal(k(taller), taller) and torch.equal(k(tensors[3]), tensors[3])


@both_forms
def test_a_tensor_in_the_place_of_another(tma):
    """The allocator gives freed memory out again: the same address with another shape is another descriptor."""
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B, tma)
    for n in (64, 192, 128, 64, 320, 192):
        x = torch.randn(n, 32, device="cuda")
        assert torch.equal(k(x), x)
        del x


@both_forms
def test_many_threads_and_streams(tma):
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B, tma)
    wrong = []

    def call(seed):
        with torch.cuda.stream(torch.cuda.Stream()):
            kept = []
            for i in range(30):
                x = torch.full((64 * (1 + i % 3), 32), float(100 * seed + i), device="cuda")
                kept.append(x)
                if not torch.equal(k(x), x):
                    wrong.append((seed, i))

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@both_forms
def test_a_graph_replays_copies_of_what_the_tensor_holds_then(tma):
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B, tma)
    x = torch.ones(128, 32, device="cuda")
    k(x)  # loads it; the graph's output is new all the same
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = k(x)
    for value in (2.0, 3.0):
        x.fill_(value)
        # In between, other tensors have come and gone through the same kernel.
        for n in (64, 128, 192):
            other = torch.randn(n, 32, device="cuda")
            assert torch.equal(k(other), other)
        graph.replay()
        torch.cuda.synchronize()
        assert (y == value).all()


def test_a_graph_may_be_the_first_to_see_a_tensor():
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.ROW)
    image, _ = k._plan_for({}).bind([((448, 32), "float32")])
    image.prepare(0)
    fresh = [torch.full((448, 32), float(i), device="cuda") for i in range(600)]  # more than one block of descriptors
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [k(x) for x in fresh]
    for x in fresh:
        x.add_(1)
    graph.replay()
    torch.cuda.synchronize()
    for i, y in enumerate(results):
        assert (y == i + 1).all()


def test_the_kernel_may_be_compiled_by_torch():
    torch._dynamo.reset()
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B)

    @torch.compile(fullgraph=True)
    def f(x):
        return k(x + 1) * 2

    for n in (64, 128, 64):
        x = torch.randn(n, 32, device="cuda")
        assert torch.equal(f(x), (x + 1) * 2)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_each_gpu_has_its_own():
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B)
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        x = torch.randn(128, 32, device=device)
        y = k(x)
        assert y.device == x.device and torch.equal(y, x)


# -- descriptors by hand


@pytest.mark.parametrize(("dtype", "layout"), [(bf16, Layout.TMA_128B), (u8, Layout.TMA_64B), (f32, Layout.ROW)], ids=str)
def test_a_descriptor_of_the_authors_own(dtype, layout):
    columns = (SWIZZLE_BYTES[layout] or 64) // bytes_of(dtype)
    x = random_tensor((64, columns), dtype)
    keep, host, device = jax_support.synthesize_tma_descriptor((64, columns), dtype, layout, (64, columns), x.data_ptr())
    assert host % 64 == 0 and device % 64 == 0 and len(bytes(keep)) == 128
    y = by_hand_kernel(dtype, (64, columns), (64, columns))(x, descriptor=device)
    assert torch.equal(as_bytes(y[0]), swizzled(as_bytes(x).view(64, -1), layout))


def test_descriptors_without_an_address_can_be_made():
    for make in (
        lambda: jax_support.synthesize_tma_descriptor((256, 256), bf16, Layout.TMA_128B),
        lambda: jax_support.synthesize_tma_descriptor_3d(256, 256, bf16, 128, 64),
    ):
        keep, host, device = make()
        assert host and device and len(bytes(keep)) == 128
    assert jax_support.synthesize_tma_descriptor((256, 256), bf16, Layout.TMA_128B)[0].map.box == (128, 64)
    assert jax_support.synthesize_tma_descriptor_3d(256, 256, bf16, 128, 64)[0].map.box == (1, 128, 64)


def test_a_registered_text_takes_descriptors():
    shape, box = (128, 64), (64, 64)
    k = raw_box_kernel(bf16, shape, box, Layout.TMA_128B)
    handle = jax_support.get_cubin_registry().register("// by its text\n" + k.ptx(), "raw_box", grid=(1, 2, 1), block=(128, 1, 1))
    jax_support.register_launch_config(handle, 0, (1, 2, 1), (128, 1, 1))
    keep, host, device = jax_support.synthesize_tma_descriptor(shape, bf16, Layout.TMA_128B, box)
    jax_support.add_tma_spec_to_shim(handle, 0, host, device)
    del keep
    spec = {"out_specs": (Tile(2, 2048, u32),), "out_shape_env": {}, "grid": (1, 2, 1), "block": (128, 1, 1)}
    for _ in range(3):
        x = random_tensor(shape, bf16)
        y = torch_support.call_kernel_via_torch(x, cubin_handle=handle, **spec)
        assert torch.equal(as_bytes(y), as_bytes(k(x)))


# -- what goes wrong


def test_a_tensor_that_starts_in_the_middle():
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B)
    x = torch.zeros(64 * 32 + 1, device="cuda")[1:].view(64, 32)
    with pytest.raises(ValueError, match="is not a multiple of 16 bytes, which a tensor map needs") as raised:
        k(x)
    assert raised.value.kind == "argument_alignment" and "tensor `X` of kernel `round_trip`" in str(raised.value)
    y = torch.randn(64, 32, device="cuda")
    assert torch.equal(k(y), y)


# -- JAX


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax")
    try:
        jax.devices("cuda")
    except RuntimeError:
        pytest.skip("this JAX has no CUDA")
    return jax


def test_jax_eager_jitted_and_in_command_buffers(jax):
    jnp = jax.numpy
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B)
    for n in (64, 128):
        a = jnp.arange(n * 32, dtype=jnp.float32).reshape(n, 32)
        assert (k(a) == a).all()

    @jax.jit
    def f(a):
        for _ in range(6):
            a = k(a + 1)
        return a

    for i in range(8):
        a = jnp.full((128, 32), float(i))
        assert (f(a) == i + 6).all()


# -- maps of the author's own


def columns_of(x, im2col, corners, channels, pixels, channel, first, offsets):
    """What an im2col copy brings: `pixels` positions of the box in space, images after one another, each moved by the offsets."""
    images, height, width, _ = x.shape
    (low_h, low_w), (high_h, high_w) = corners
    places = [(n, h, w) for n in range(images) for h in range(low_h, height + high_h) for w in range(low_w, width + high_w)]
    begin = places.index(first)
    out = torch.zeros(pixels, channels, dtype=x.dtype, device=x.device)
    for i, (n, h, w) in enumerate(places[begin : begin + pixels]):
        h, w = h + offsets[0], w + offsets[1]
        if 0 <= h < height and 0 <= w < width:
            out[i] = x[n, h, w, channel : channel + channels]
    return out


@pytest.mark.parametrize("offsets", [(0, 0), (1, 2), (2, 0)], ids=str)
@pytest.mark.parametrize("pixels", [64, 96])
def test_columns_of_pixels(offsets, pixels):
    x = torch.randn(2, 8, 8, 32, device="cuda")
    corners = (-1, -1), (-1, -1)
    tensor_map = _ptx.TensorMap.im2col(x.shape, f32, *corners, 32, pixels, swizzle="NONE")
    k = columns_kernel(tensor_map, 4, (0, -1, -1, 0), offsets[::-1])
    expected = columns_of(x, None, corners, 32, pixels, 0, (0, -1, -1), offsets)
    assert torch.equal(as_bytes(k(x)), as_bytes(expected))


def test_floats_outside_may_be_nan():
    x = torch.randn(8, 32, device="cuda")
    tensor_map = _ptx.TensorMap.tiled((8, 32), f32, (16, 32), fill="nan")

    @kernel(
        in_specs=(Tile(8, 32, f32),),
        out_specs=(Tile(16, 32, f32),),
        grid=1,
        block=THREADS,
        tma="value",
        tensor_maps={"X": tensor_map},
    )
    def padded(X, Y):
        (out,) = ptx.global_ptrs(Y)
        descriptor, copy = X.tma_desc(), ptx.cp.async_.bulk.tensor_2d
        tile, t = load(2048, lambda dst, bar: copy(dst=dst, src=descriptor, coord=(0, 0), mbar=bar))
        write_out(tile, t, out, 2048)
        ptx.ret()

    y = padded(x)
    assert torch.equal(y[:8], x) and y[8:].isnan().all()


def test_the_driver_agrees_about_every_map():
    """Random maps, right and wrong: what we refuse the driver refuses, and what we take it takes."""
    import random

    dice = random.Random(5)
    verdicts = {True: 0, False: 0}
    for _ in range(3000):
        rank = dice.randint(1, 5)
        dtype = dice.choice([u8, f16, bf16, f32, f64, u32])
        shape = [dice.choice([1, 2, 7, 16, 64, 100, 256]) for _ in range(rank)]
        more = {
            "swizzle": dice.choice(["NONE", "NONE", "32B", "64B", "128B"]),
            "interleave": dice.choice(["NONE", "NONE", "NONE", "16B", "32B"]),
            "l2_promotion": dice.choice(["NONE", "64B", "128B", "256B"]),
            "fill": dice.choice(["zero", "zero", "nan"]),
            "element_strides": [dice.choice([1, 1, 1, 2, 8]) for _ in range(rank)],
        }
        try:
            if rank > 2 and dice.random() < 0.4:
                space = rank - 2
                lower = [dice.choice([-1, 0, 1, -20]) for _ in range(space)]
                upper = [dice.choice([-1, 0, 1, -3]) for _ in range(space)]
                made = _ptx.TensorMap.im2col(
                    shape, dtype, lower, upper, dice.choice([8, 16, 32, 64]), dice.choice([1, 64, 1024]), **more
                )
            else:
                box = [dice.choice([1, 4, 8, 16, 32, 64, 256]) for _ in range(rank)]
                made = _ptx.TensorMap.tiled(shape, dtype, box, **more)
        except ValueError:
            verdicts[False] += 1
            continue
        made.encode(1 << 20)  # raises when the driver does not take what we took
        verdicts[True] += 1
    assert min(verdicts.values()) > 300, verdicts
