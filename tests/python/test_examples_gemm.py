"""The matrix products for Ampere and Blackwell: examples/ampere/gemm.py, examples/blackwell/gemm_highperf_blackwell.py and
grouped_gemm.py. The executor runs them (of Blackwell's two kernels the first), a GPU those of Ampere
(tests/gpu/test_examples_ampere_gemm.py).
The others' arithmetic on addresses is followed in numpy here, too: no GPU has run them yet."""

import importlib
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from examples.ampere import gemm as ampere  # noqa: E402
from examples.blackwell import gemm_highperf_blackwell as blackwell  # noqa: E402
from examples.blackwell import grouped_gemm as grouped  # noqa: E402

from pyptx import _ptx  # noqa: E402
from pyptx.types import bf16, f16, f32  # noqa: E402

GROUPED = [(1, 128, 64, 64), (2, 128, 192, 128), (8, 1024, 2048, 2048)]
KERNELS = [
    *(("sm_80", ampere.build_gemm, size, {"dtype": t}) for size in [(128, 128, 32), (4096, 4096, 4096)] for t in (f32, bf16)),
    ("sm_90a", ampere.build_gemm, (1024, 1024, 1024), {"arch": "sm_90a"}),
    *(
        ("sm_100a", build, size, {})
        for build in (blackwell.build_gemm, blackwell.build_gemm_2sm)
        for size in [(8, 8, 8), (300, 520, 136), (8192, 8192, 8192)]
    ),
    *(
        ("sm_100a", grouped.build_grouped_gemm, size, {})
        for size in [(1, 128, 64, 64), (2, 128, 192, 128), (8, 1024, 2048, 2048)]
    ),
]


@pytest.mark.parametrize(("arch", "build", "size", "options"), KERNELS)
def test_ptxas_takes_them_without_a_word(arch, build, size, options, ptxas) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = build(*size, **options)
        text = kernel.ptx()
    log = ptxas(text, arch, "-v")
    assert "0 bytes spill stores, 0 bytes spill loads" in log and "warning" not in log, log
    assert kernel.resources()["spill_stores"] == 0


def test_the_twin_in_cpp() -> None:
    """ptx/author/example_gemm_blackwell_test.cpp holds examples/cpp/gemm_blackwell.hpp to the same file, and blesses it."""
    golden = ROOT / "tests" / "golden" / "write" / "gemm_blackwell_1000_520_4104.ptx"
    assert blackwell.build_gemm(1000, 520, 4104).ptx() == golden.read_text()


def test_builders_are_cached() -> None:
    assert ampere.build_gemm(128, 128, 32) is ampere.build_gemm(128, 128, 32)
    assert blackwell.build_gemm(8, 8, 8) is blackwell.build_gemm(8, 8, 8)
    assert blackwell.build_gemm_2sm(8, 8, 8) is not blackwell.build_gemm(8, 8, 8)
    assert grouped.build_grouped_gemm(1, 128, 64, 64) is grouped.build_grouped_gemm(1, 128, 64, 64)


@pytest.mark.parametrize("size", [(0, 128, 32), (64, 128, 32), (128, 130, 32), (128, 128, 48)])
def test_sizes_that_ampere_does_not_take(size) -> None:
    with pytest.raises(ValueError, match="multiples of 128, and K of 32"):
        ampere.build_gemm(*size)


def test_a_type_that_ampere_does_not_write() -> None:
    with pytest.raises(ValueError, match="what fits is f32 or bf16"):
        ampere.build_gemm(128, 128, 32, dtype=f16)


@pytest.mark.parametrize("build", [blackwell.build_gemm, blackwell.build_gemm_2sm])
@pytest.mark.parametrize("size", [(0, 8, 8), (8, 12, 8), (8, 8, 4), (8, 8, 60)])
def test_sizes_that_blackwell_does_not_take(build, size) -> None:
    with pytest.raises(ValueError, match="N and K multiples of 8"):
        build(*size)


@pytest.mark.parametrize("size", [(0, 128, 64, 64), (1, 64, 64, 64), (1, 128, 32, 64), (1, 128, 64, 100)])
def test_sizes_that_grouped_gemm_does_not_take(size) -> None:
    with pytest.raises(ValueError, match="M is a multiple of 128"):
        grouped.build_grouped_gemm(*size)


def test_tensor_maps_are_such_as_the_driver_takes() -> None:
    for kernel in (blackwell.build_gemm(300, 520, 136), blackwell.build_gemm_2sm(300, 520, 136)):
        for tile in (*kernel.in_specs, *kernel.out_specs):
            assert _ptx.TensorMap.of(tile, {}).swizzle == "128B"
    for tile in grouped.build_grouped_gemm(2, 128, 192, 128).in_specs:
        assert _ptx.TensorMap.of(tile, {}).swizzle == "128B"


def test_shared_memory_is_what_a_block_can_have() -> None:
    assert blackwell.ALONE.bytes <= 227 * 1024 and blackwell.PAIR.bytes <= 227 * 1024
    for layout in (blackwell.ALONE, blackwell.PAIR):
        assert layout.b_at % 1024 == layout.b_bytes % 1024 == layout.c_at % 1024 == layout.full_at % 8 == layout.slot_at % 4 == 0


# -- Ampere: what lies where in shared memory


def ampere_stage() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A tile of A and one of B, and a stage's memory as the threads' copies leave it (in elements)."""
    a, b = np.arange(128 * 32).reshape(128, 32), 10000 + np.arange(32 * 128).reshape(32, 128)
    memory = np.full(ampere.STAGE_BYTES // 2, -1)
    tid = np.arange(128)
    a_row, a_piece, b_row, b_piece = tid >> 2, tid & 3, tid >> 4, tid & 15
    a_to = a_row * 64 + (a_piece ^ (a_row >> 1 & 3)) * 16
    b_to = b_row * 256 + (b_piece ^ (b_row & 7)) * 16 + ampere.A_BYTES
    for i in range(4):
        for j in range(8):  # elements of a piece
            memory[(a_to + i * 32 * 64) // 2 + j] = a[a_row + i * 32, a_piece * 8 + j]
            memory[(b_to + i * 8 * 256) // 2 + j] = b[b_row + i * 8, b_piece * 8 + j]
    assert (memory >= 0).all()
    return a, b, memory


def ldmatrix(memory: np.ndarray, lanes: np.ndarray, trans: bool = False) -> np.ndarray:
    """[register, lane, half] of ldmatrix.m8n8.x4, and that its rows lie in different banks."""
    registers = np.empty((4, 32, 2), int)
    lane = np.arange(32)
    for j in range(4):
        rows = lanes[8 * j : 8 * j + 8]
        assert len(set(rows % 128 // 16)) == 8, "a bank conflict"
        matrix = memory[rows[:, None] // 2 + np.arange(8)]
        matrix = matrix.T if trans else matrix
        registers[j] = np.stack([matrix[lane // 4, lane % 4 * 2 + half] for half in range(2)], axis=1)
    return registers


def test_ampere_reads_fragments_as_mma_has_them() -> None:
    a, b, memory = ampere_stage()
    lane = np.arange(32)
    low, high, row, pair = lane & 15, lane >> 4, lane >> 2, (lane & 3) * 2
    for first in (0, 64):  # rows of A, and columns of B, of a warp
        for k in range(2):
            for m in range(4):
                address = (first + low) * 64 + ((high ^ (low >> 1 & 3)) ^ 2 * k) * 16 + m * 16 * 64
                got = ldmatrix(memory, address)
                for j in range(4):  # m16n8k16: a0, a1: rows l / 4 and 8 on; a2, a3: the same, 8 columns on
                    for half in range(2):
                        expected = a[first + m * 16 + row + j % 2 * 8, k * 16 + pair + j // 2 * 8 + half]
                        assert (got[j, :, half] == expected).all()
            for n in range(4):
                address = low * 256 + first * 2 + ampere.A_BYTES + ((high ^ (low & 7)) ^ 2 * n) * 16 + k * 16 * 256
                got = ldmatrix(memory, address, trans=True)
                for j in range(4):  # two products' b0, b1: rows 2 (l % 4) and 8 on, of column l / 4
                    for half in range(2):
                        expected = b[k * 16 + pair + half + j % 2 * 8, first + n * 16 + j // 2 * 8 + row]
                        assert (got[j, :, half] == expected).all()


# -- Blackwell


def swizzled(address: np.ndarray) -> np.ndarray:
    """Where the 128-byte swizzle puts a byte: its 16-byte piece is counted from the row's number, modulo 8."""
    return address ^ ((address >> 7 & 7) << 4)


def copied(tile: np.ndarray, memory: np.ndarray, at: int) -> None:
    """A tensor copy of a box of 64 columns of 16 bits."""
    rows, columns = np.indices(tile.shape)
    memory[swizzled(at + rows * 128 + columns * 2) // 2] = tile


def read(memory: np.ndarray, at: int, extent: int, *, major: str, stride: int, leading: int = 0) -> np.ndarray:
    """What tcgen05.mma reads through a descriptor of a 128-byte swizzle: `extent` of M or N by 16 of K (canonical layouts)."""
    mn, k = np.indices((extent, 16))
    if major == "K":
        offset = mn // 8 * stride + mn % 8 * 128 + k * 2
    else:
        offset = mn // 64 * leading + mn % 64 * 2 + k // 8 * stride + k % 8 * 128
    return memory[swizzled(at + offset) // 2]


def test_blackwell_reads_stages_as_they_were_copied() -> None:
    for layout, b_rows in ((blackwell.ALONE, 256), (blackwell.PAIR, 128)):
        memory = np.full(layout.c_at // 2, -1)
        tiles = np.arange(layout.c_at // 2)
        at = [(stage * blackwell.A_BYTES, 128) for stage in range(layout.stages)]
        at += [(layout.b_at + stage * layout.b_bytes, b_rows) for stage in range(layout.stages)]
        cut = [(place, tiles[place // 2 :][: rows * 64].reshape(rows, 64)) for place, rows in at]
        for place, tile in cut:
            copied(tile, memory, place)
        assert (memory >= 0).all()  # side by side, without a gap
        for place, tile in cut:
            for i in range(4):
                got = read(memory, place + 32 * i, len(tile), major="K", stride=1024)
                assert (got == tile[:, 16 * i : 16 * i + 16]).all()


@pytest.mark.parametrize("columns", [64, 128])
def test_grouped_gemm_reads_b_as_it_was_copied(columns) -> None:
    tile = np.arange(64 * columns).reshape(64, columns)
    memory = np.full(64 * columns, -1)
    for slab in range(columns // 64):
        copied(tile[:, slab * 64 : slab * 64 + 64], memory, slab * 64 * 128)
    for step in range(4):
        got = read(memory, step * 16 * 128, columns, major="MN", stride=1024, leading=64 * 128)
        assert (got == tile[16 * step : 16 * step + 16].T).all()


def test_a_warp_stores_the_box_that_the_copy_reads() -> None:
    lane = np.arange(32)
    memory = np.full((32 * 64, 2), -1)
    for piece in range(8):
        address = (lane << 7) + (((lane & 7) << 4) ^ piece * 16)
        for quarter in range(4):
            assert len(set(address[quarter * 8 : quarter * 8 + 8] % 128)) == 8, "a bank conflict"
        for j in range(8):
            memory[address // 2 + j] = np.stack([lane, np.full(32, piece * 8 + j)], axis=1)
    rows, columns = np.indices((32, 64))
    box = memory[swizzled(rows * 128 + columns * 2) // 2]
    assert (box[..., 0] == rows).all() and (box[..., 1] == columns).all()


def ring(stages: int, steps: int):
    """ptx.pipeline: (stage, phase) of each advance."""
    cursor = phase = 0
    for _ in range(steps):
        flip = cursor == stages
        phase ^= flip
        stage = 0 if flip else cursor
        cursor = stage + 1
        yield stage, int(phase)


@pytest.mark.parametrize("layout", [blackwell.ALONE, blackwell.PAIR])
@pytest.mark.parametrize("steps", [1, 3, 4, 5, 6, 7, 12, 64])
def test_the_ring_never_overwrites_and_ends_empty(layout, steps) -> None:
    """Two threads by turns, each as far as its barriers let it: all is copied once and read once, in order."""
    full, empty = [0] * layout.stages, [0] * layout.stages  # phases completed
    copies, reads = list(ring(layout.stages, steps + layout.stages)), list(ring(layout.stages, steps))
    holds: list[int | None] = [None] * layout.stages
    i = j = 0

    def over(completed: int, parity: int) -> bool:  # mbarrier.try_wait.parity: the phase of that parity is not the one under way
        return completed % 2 != parity

    while True:
        before = (i, j)
        while i < len(copies) and over(empty[copies[i][0]], copies[i][1] ^ 1):
            stage = copies[i][0]
            if i < steps:
                assert holds[stage] is None
                holds[stage] = i
                full[stage] += 1
            i += 1
        if j < steps and over(full[reads[j][0]], reads[j][1]):
            stage = reads[j][0]
            assert holds[stage] == j
            holds[stage] = None
            empty[stage] += 1
            j += 1
        if (i, j) == before:
            break
    assert i == steps + layout.stages and j == steps and holds == [None] * layout.stages


# -- the references, and the programs


def test_references() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-3, 4, (6, 4)).astype(np.float32), rng.integers(-3, 4, (4, 5)).astype(np.float32)
    product = np.array([[sum(a[i, k] * b[k, j] for k in range(4)) for j in range(5)] for i in range(6)])
    assert np.array_equal(ampere.reference_gemm(a, b), product)
    assert np.array_equal(blackwell.reference_gemm(a, b.T), product)


def test_check_runs_on_the_executor_where_there_is_no_gpu_of_the_kind(monkeypatch) -> None:
    monkeypatch.setattr("examples.running.torch_with_gpu", lambda arch: None)
    monkeypatch.setattr("examples.running.jax_gpu", lambda arch: None)
    for result, bound in (
        (blackwell.check(128, 256, 64), 0.01),
        (blackwell.check(128, 256, 64, build=blackwell.build_gemm_2sm), 0.01),
        (grouped.check(1, 128, 64, 64), 1e-5),
    ):
        assert result.where == "executor" and result.error is not None and result.error < bound


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
def test_the_executor_runs_the_product_of_ampere(monkeypatch, dtype, arch) -> None:
    """cp.async, ldmatrix and mma.sync: whole numbers exactly, others to the rounding of the sums."""
    monkeypatch.setattr("examples.running.torch_with_gpu", lambda arch: None)
    monkeypatch.setattr("examples.running.jax_gpu", lambda arch: None)
    from examples.running import numpy_type

    for m, n, k in [(128, 128, 32), (128, 128, 160), (256, 128, 64)]:
        rng = np.random.default_rng(m + n + k)
        a, b = (rng.integers(-3, 4, shape).astype(numpy_type(bf16)) for shape in ((m, k), (k, n)))
        c = ampere.build_gemm(m, n, k, arch=arch, dtype=dtype)(a, b)
        expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(numpy_type(dtype))
        assert np.array_equal(np.asarray(c).view(expected.dtype), expected)
    result = ampere.check(128, 128, 64, arch=arch, dtype=dtype)
    assert result.where == "executor" and result.error is not None


@pytest.mark.parametrize("size", [(8, 8, 8), (128, 256, 64), (200, 264, 328)])
def test_the_executor_runs_the_product_of_blackwell(size) -> None:
    """Several tiles, edges that fill none, K loops over more steps than there are stages."""
    from examples.running import numpy_type

    m, n, k = size
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-3, 4, shape).astype(numpy_type(bf16)) for shape in ((m, k), (n, k)))
    c = blackwell.build_gemm(m, n, k)(a, b)
    expected = (a.astype(np.float64) @ b.astype(np.float64).T).astype(numpy_type(bf16))
    assert np.array_equal(np.asarray(c).view(expected.dtype), expected)


@pytest.mark.parametrize("size", GROUPED[:2])
def test_the_executor_runs_grouped_products_of_blackwell(size) -> None:
    from examples.running import numpy_type, random_array

    groups, m, n, k = size
    a, b = random_array((groups * m, k), bf16, 1), random_array((groups * k, n), bf16, 2)
    c = np.asarray(grouped.build_grouped_gemm(groups, m, n, k)(a, b)).reshape(groups, m, n)
    wide = [x.astype(numpy_type(bf16)).astype(np.float64) for x in (a.reshape(groups, m, k), b.reshape(groups, k, n))]
    assert np.allclose(c, wide[0] @ wide[1], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ["ampere.gemm", "blackwell.gemm_highperf_blackwell", "blackwell.grouped_gemm"])
def test_as_programs(name) -> None:
    path = ROOT / "examples" / (name.replace(".", "/") + ".py")
    done = subprocess.run(
        [sys.executable, path], env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/local/bin:/usr/bin:/bin"}, cwd="/",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "sm_" in done.stdout.splitlines()[0] and len(done.stdout.splitlines()) >= 2
    importlib.import_module(f"examples.{name}")
