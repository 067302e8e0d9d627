"""The examples on Hopper's tensor cores: grouped_gemm, gemm_highperf_hopper and flash_attention_hopper. A GPU runs them
(tests/gpu/test_examples_hopper_gemm.py); here they are assembled, and their arithmetic on addresses is followed in numpy."""

import importlib
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from examples import running  # noqa: E402
from examples.hopper.experimental.flash_attention_hopper import build_flash_attention, reference_flash_attention  # noqa: E402
from examples.hopper.gemm_highperf_hopper import gemm_warp_specialized, grid  # noqa: E402
from examples.hopper.grouped_gemm import build_grouped_gemm, reference_grouped_gemm  # noqa: E402

from pyptx import _ptx, wgmma_layout  # noqa: E402
from pyptx.types import bf16  # noqa: E402

GROUPED = [(1, 64, 64, 64), (2, 128, 192, 128), (8, 1024, 2048, 2048)]
GEMM = [(8, 8, 8), (300, 520, 136), (8192, 8192, 8192)]
ATTENTION = [
    (1, 1, 1, 64, False),
    (1, 1, 128, 128, True),
    (2, 3, 256, 128, False),
    (2, 3, 500, 64, False),
    (2, 3, 500, 128, True),
    (1, 2, 8192, 64, True),
]


def kernels():
    yield from ((f"grouped{size}", lambda size=size: (build_grouped_gemm(*size), {})) for size in GROUPED)
    yield from ((f"gemm{size}", lambda size=size: (gemm_warp_specialized, dict(zip("MNK", size, strict=True)))) for size in GEMM)
    yield from ((f"attention{size}", lambda size=size: (build_flash_attention(*size), {})) for size in ATTENTION)


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in kernels()])
def test_ptxas_takes_them_as_they_are_meant(make, ptxas) -> None:
    """No spills, and nothing to say: ptxas tells of products that it serialises (C7510 to C7519) and of a `setmaxnreg` that it
    drops (C7508) in its log alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel, sizes = make()
        text = kernel.ptx(**sizes)
    log = ptxas(text, "sm_90a", "-v")
    assert "0 bytes spill stores, 0 bytes spill loads" in log and "warning" not in log, log
    assert "C75" not in log and "setmaxnreg" not in log and "serialized" not in log, log
    assert kernel.resources(**sizes)["spill_stores"] == 0


def sass_operations(path: Path) -> list[int]:
    """The operations of a cubin's machine code: the low 12 bits of its 16-byte instructions."""
    import struct

    image = path.read_bytes()
    (sections_at,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, sections_at + i * size) for i in range(count)]
    for section in sections:
        name = image[sections[names][4] + section[0] :].split(b"\0", 1)[0]
        if name.startswith(b".text."):
            code = image[section[4] : section[4] + section[5]]
            return [struct.unpack_from("<H", code, at)[0] & 0xFFF for at in range(0, len(code), 16)]
    raise AssertionError("no code")


@pytest.mark.parametrize("D", [64, 128])
def test_the_softmax_stays_beside_the_products(D, ptxas, tmp_path) -> None:
    """ptxas likes to wait for all products before the softmax; then nothing overlaps. See `wait_for_v`."""
    ptxas(build_flash_attention(1, 1, 1024, D).ptx())
    hgmma, hgmma_rs, warpgroup, mufu = 0x9F0, 0xDF0, 0x9C5, 0x308
    seen = [op for op in sass_operations(tmp_path / "kernel.cubin") if op in (hgmma, hgmma_rs, warpgroup, mufu)]
    # of the loop: scores, the last block's output, wait for the scores, 64 exponentials and two shrinks, wait for the output
    loop = [hgmma] * (D // 16) + [hgmma_rs] * 8 + [warpgroup] + [mufu] * 66 + [warpgroup]
    assert any(seen[i : i + len(loop)] == loop for i in range(len(seen)))


def test_gemm_is_its_cpp_twin() -> None:
    """ptx/author/example_gemm_test.cpp holds examples/cpp/gemm_hopper.hpp to the same file, and blesses it."""
    golden = (ROOT / "tests" / "golden" / "write" / "gemm_warp_specialized.ptx").read_text()
    assert gemm_warp_specialized.ptx() == golden
    assert gemm_warp_specialized.ptx(M=512, N=768, K=256) == golden  # one text for all sizes


def test_builders_are_cached() -> None:
    assert build_grouped_gemm(2, 128, 192, 128) is build_grouped_gemm(2, 128, 192, 128)
    assert build_flash_attention(1, 1, 64, 64) is not build_flash_attention(1, 1, 64, 64, True)


@pytest.mark.parametrize("size", [(0, 64, 64, 64), (1, 96, 64, 64), (1, 64, 32, 64), (1, 64, 64, 100)])
def test_sizes_that_grouped_gemm_does_not_take(size) -> None:
    with pytest.raises(ValueError, match="multiples of 64"):
        build_grouped_gemm(*size)


def test_sizes_that_attention_does_not_take() -> None:
    with pytest.raises(ValueError, match="D is 64 or 128"):
        build_flash_attention(1, 1, 128, 96)
    with pytest.raises(ValueError, match="must be positive"):
        build_flash_attention(1, 1, 128, 64, scale=-1.0)


def test_the_grid_covers_every_tile_and_no_cluster_is_idle() -> None:
    for M, N in [(8, 8), (256, 256), (257, 256), (4096, 4096), (8192, 264)]:
        blocks, *rest = grid(M, N)
        tiles = -(-M // 256) * -(-N // 256)
        assert rest == [1, 1] and blocks % 2 == 0 and blocks // 2 == min(tiles, 66)


def test_tiles_come_once_each() -> None:
    """`corner` of gemm_highperf_hopper, in Python."""
    for tiles_m, tiles_n in [(1, 1), (3, 5), (8, 2), (9, 4), (20, 7)]:
        corners = set()
        for tile in range(tiles_m * tiles_n):
            band = tile // (tiles_n * 8)
            height = min(tiles_m - band * 8, 8)
            inside = tile - band * tiles_n * 8
            corners.add((band * 8 + inside % height, inside // height))
        assert corners == {(m, n) for m in range(tiles_m) for n in range(tiles_n)}


# -- what lies where in shared memory


def swizzled(address: np.ndarray) -> np.ndarray:
    """Where the 128-byte swizzle puts a byte: its 16-byte piece is counted from the row's number, modulo 8."""
    return address ^ ((address >> 7 & 7) << 4)


def copied(tile: np.ndarray, memory: np.ndarray, at: int) -> None:
    """A tensor copy of a box of 64 columns of 16 bits."""
    rows, columns = np.indices(tile.shape)
    memory[swizzled(at + rows * 128 + columns * 2) // 2] = tile


def matrix(memory: np.ndarray, at: int, layout, major: str, extent: int) -> np.ndarray:
    """What wgmma reads through a descriptor: `extent` of M or N by 16 of K, of a 128-byte swizzle."""
    mn, k = np.indices((extent, 16))
    leading, stride = layout.leading_byte_offset, layout.stride_byte_offset
    if major == "K":  # groups of 8 rows of 128 bytes
        offset = mn // 8 * stride + mn % 8 * 128 + k * 2
    else:  # pieces of 64 columns, in groups of 8 rows
        offset = mn // 64 * leading + mn % 64 * 2 + k // 8 * stride + k % 8 * 128
    return memory[swizzled(at + offset) // 2]


@pytest.mark.parametrize(("rows", "columns", "extent"), [(64, 64, 64), (128, 64, 128), (256, 64, 256), (128, 128, 64)])
def test_a_k_major_tile_is_read_as_it_was_copied(rows, columns, extent) -> None:
    """A of both products, B of gemm, Q and K of attention: slabs of 64 columns one behind the other."""
    tile = np.arange(rows * columns).reshape(rows, columns)
    memory = np.full(rows * columns, -1)
    for slab in range(columns // 64):
        copied(tile[:, slab * 64 : slab * 64 + 64], memory, slab * rows * 128)
    layout = wgmma_layout.pick_gmma_layout(elem_bytes=2, m_or_n=extent, k=64, major="K")
    for first in range(0, rows, extent):  # a warpgroup's part
        for step in range(columns // 16):
            at = first * 128 + step // 4 * rows * 128 + step % 4 * 32
            assert (matrix(memory, at, layout, "K", extent) == tile[first : first + extent, step * 16 : step * 16 + 16]).all()


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (64, 128), (128, 64), (128, 128)])
def test_an_n_major_tile_is_read_as_it_was_copied(rows, columns) -> None:
    """B of grouped_gemm, V of attention."""
    tile = np.arange(rows * columns).reshape(rows, columns)
    memory = np.full(rows * columns, -1)
    for slab in range(columns // 64):
        copied(tile[:, slab * 64 : slab * 64 + 64], memory, slab * rows * 128)
    layout = wgmma_layout.pick_gmma_layout(elem_bytes=2, m_or_n=columns, k=rows, major="MN")
    for step in range(rows // 16):
        assert (matrix(memory, step * 16 * 128, layout, "MN", columns) == tile[step * 16 : step * 16 + 16].T).all()


def test_a_warp_stores_the_box_that_the_copy_reads() -> None:
    """stmatrix of gemm and attention: register j of lane l of a group of 16 columns, as wgmma leaves it."""
    lanes = np.arange(32)
    memory = np.full((16 * 64, 2), -1)
    for group in range(4):
        lane_rows = swizzled(((lanes & 15) << 7) + ((lanes >> 4) << 4) + 32 * group)  # smem.apply_swizzle
        for j in range(4):  # matrix j: its rows are where lanes 8 j to 8 j + 7 say; lane l has two numbers of row l / 4
            where = lane_rows[8 * j + lanes // 4] // 2 + lanes % 4 * 2
            row, column = lanes // 4 + j % 2 * 8, group * 16 + j // 2 * 8 + lanes % 4 * 2
            for half in range(2):
                memory[where + half] = np.stack([row, column + half], axis=1)
    rows, columns = np.indices((16, 64))
    box = memory[swizzled(rows * 128 + columns * 2) // 2]
    assert (box[..., 0] == rows).all() and (box[..., 1] == columns).all()


def test_tensor_maps_are_such_as_the_driver_takes() -> None:
    for _, make in kernels():
        kernel, sizes = make()
        text = kernel.ptx(**sizes)
        for name, tile in zip("ABC" if "A_tma_desc" in text else "QKVO", (*kernel.in_specs, *kernel.out_specs), strict=True):
            if f"{name}_tma_desc" in text:
                assert _ptx.TensorMap.of(tile, sizes).swizzle == "128B"


# -- the references


def test_references() -> None:
    a, b = running.random_array((4, 3), bf16, 0), running.random_array((6, 5), bf16, 1)
    c = reference_grouped_gemm(a, b, 2)
    assert np.array_equal(c[:2], a[:2].astype(float) @ b[:3].astype(float))
    assert np.array_equal(c[2:], a[2:].astype(float) @ b[3:].astype(float))
    q, k, v = (running.random_array((1, 1, 4, 64), bf16, i) for i in range(3))
    o = reference_flash_attention(q, k, v, causal=True)
    np.testing.assert_allclose(o[0, 0, 0], v[0, 0, 0].astype(float))  # the first row sees itself alone
    np.testing.assert_allclose(o[0, 0, 3], reference_flash_attention(q, k, v)[0, 0, 3])  # the last one sees all


@pytest.mark.parametrize("size", [(1, 128, 64, 64), (2, 128, 192, 128)])
def test_the_executor_runs_the_grouped_product(monkeypatch, size) -> None:
    """Tensor copies, an mbarrier and wgmma."""
    monkeypatch.setattr("examples.running.torch_with_gpu", lambda arch: None)
    monkeypatch.setattr("examples.running.jax_gpu", lambda arch: None)
    from examples.hopper import grouped_gemm

    result = grouped_gemm.check(*size)
    assert result.where == "executor" and result.error is not None and result.error < 1e-5


@pytest.mark.parametrize("name", ["grouped_gemm", "gemm_highperf_hopper", "experimental.flash_attention_hopper"])
def test_as_programs(name) -> None:
    path = ROOT / "examples" / "hopper" / (name.replace(".", "/") + ".py")
    done = subprocess.run(
        [sys.executable, path], env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/local/bin:/usr/bin:/bin"}, cwd="/",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    title, *lines = done.stdout.splitlines()
    assert title.endswith("sm_90a") and lines
    importlib.import_module(f"examples.hopper.{name}")
