"""Sizes on both sides of every boundary inside the executor: a warp's turn (2048 instructions), vectors of 32, 64 and 128 lanes,
blocks of one warp to 1024 threads, pages of 4096 bytes, the segments that accesses are taken in. Against numpy in float64."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from examples.rms_norm import build_rms_norm, reference  # noqa: E402

from pyptx import Tile, kernel, ptx, reg  # noqa: E402
from pyptx.types import bf16, f32, pred, u8, u16, u32, u64  # noqa: E402


def around(*sizes: int, step: int = 1, least: int = 1) -> list[int]:
    """Each size, and its neighbours."""
    return sorted({size + off for size in sizes for off in (-step, 0, step) if size + off >= least})


# ---- the specification's own program, unrolled: its length is the row's


def run_rms_norm(B: int, items: int, run=None) -> None:
    N = 32 * items
    rng = np.random.default_rng(N)
    x, w = rng.standard_normal((B, N), dtype=np.float32), rng.standard_normal(N, dtype=np.float32)
    k = build_rms_norm(B, N)
    y = np.asarray(run(k, x, w) if run else k(x, w))
    np.testing.assert_allclose(y, reference(x, w), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("items", [1, 2, 3, *range(112, 132), 146, 250])
def test_rms_norm_of_every_length(items: int) -> None:
    run_rms_norm(2, items)


@pytest.mark.parametrize("B", [1, 3, 131, 132, 133])
def test_rms_norm_of_many_rows(B: int) -> None:
    run_rms_norm(B, 4)


def test_rms_norm_of_4096_under_jit() -> None:
    jax = pytest.importorskip("jax")
    run_rms_norm(4, 128, lambda k, x, w: jax.jit(lambda x, w: k(x, w))(x, w))


def test_rms_norm_of_4096_in_torch() -> None:
    torch = pytest.importorskip("torch")
    run_rms_norm(4, 128, lambda k, x, w: k(torch.from_numpy(x), torch.from_numpy(w)).numpy())


def test_rms_norm_of_4096_in_numpy() -> None:
    run_rms_norm(4, 128)


# ---- the examples that go row by row: one to 32 warps a row, one to many passes


@pytest.mark.parametrize("name", ["rms_norm", "layer_norm", "softmax", "swiglu"])
@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
def test_rows(name: str, dtype) -> None:
    check = importlib.import_module(f"examples.hopper.{name}").check
    vector = 128 // dtype.bits  # a thread's load
    lengths = around(vector, 32 * vector, 64 * vector, 128 * vector, 1024, 4096, step=vector, least=vector)
    for number, N in enumerate(lengths):
        result = check(1 + number % 3, N, dtype=dtype)
        assert result.error is not None and np.isfinite(result.error), (name, N)


# ---- loops and branches: trip counts that differ from thread to thread


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 64, 1024])
def test_trip_counts(threads: int) -> None:
    @kernel(in_specs=[Tile(threads, u32)], out_specs=[Tile(threads, u32)], grid=1, block=threads, arch="sm_90a")
    def count(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        at = reg.from_(ptx.special.tid.x(), u32) * 4
        trips, done, more = reg.scalar(u32), reg.scalar(u32, init=0), reg.scalar(pred)
        ptx.inst.ld.global_.u32(trips, ptx.addr(x + at))
        ptx.label("again")
        ptx.inst.setp.lt.u32(more, done, trips)
        ptx.bra("out", pred=~more)
        done += 1
        ptx.bra("again")
        ptx.label("out")
        ptx.inst.st.global_.u32(ptx.addr(y + at), done)
        ptx.ret()

    rng = np.random.default_rng(threads)
    for most in around(1, 511, 512, 682, 1023, 1024, 2048):
        trips = rng.integers(0, most + 1, threads).astype(np.uint32)
        trips[-1] = most
        np.testing.assert_array_equal(count(trips), trips)


# ---- copies of every width: from any place of a page to any other, with a part of a block at the end


@pytest.mark.parametrize("dtype", [u8, u16, u32, u64], ids=str)
@pytest.mark.parametrize("threads", [32, 96, 256])
def test_copies_across_pages(dtype, threads: int) -> None:
    item = dtype.bits // 8
    of_page = 4096 // item
    word = u16 if dtype is u8 else dtype  # a register for it

    def copy_of(N: int):
        @kernel(in_specs=[Tile(N, dtype)], out_specs=[Tile(N, dtype)], grid=-(-N // threads), block=threads, arch="sm_90a")
        def copy(X, Y):
            x, y = ptx.global_ptrs(X, Y)
            index = reg.from_(ptx.special.ctaid.x(), u32) * threads + reg.from_(ptx.special.tid.x(), u32)
            value, inside = reg.scalar(word), reg.scalar(pred)
            ptx.inst.setp.lt.u32(inside, index, N)
            with ptx.if_(inside):
                getattr(ptx.inst.ld.global_, dtype.name)(value, ptx.addr(x + index * item))
                getattr(ptx.inst.st.global_, dtype.name)(ptx.addr(y + index * item), value)
            ptx.ret()

        return copy

    base = np.random.default_rng(item).integers(0, 255, 3 * 4096 + 64, dtype=np.uint8)
    for N in around(1, 31, 32, threads, of_page, step=1):
        copy = copy_of(N)
        for offset in (0, item, 4096 - item, 4096 - 32 * item, 64):
            x = base[offset : offset + N * item].view(f"u{item}")
            np.testing.assert_array_equal(copy(x), x, err_msg=f"{N} elements from byte {offset}")
