"""Clusters of several blocks on the executor: blocks read each other's shared memory, arrive at each other's barriers, and copy
into all of them at once."""

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import b8, f32, pred, u32

THREADS = 32


def wait(barrier) -> None:
    """Until the barrier's first phase is over."""
    done = reg.scalar(pred)
    ptx.label("not_yet")
    ptx.inst.mbarrier.try_wait.parity.shared__cta.b64(done, ptx.addr(barrier), 0)
    ptx.bra("not_yet", pred=~done)


def exchange(cluster: int, grid: int):
    """Y = what the next block of the cluster has of X, read from its shared memory."""
    n = grid * THREADS

    @kernel(in_specs=(Tile(n, f32),), out_specs=(Tile(n, f32),), grid=grid, block=THREADS, cluster=cluster, arch="sm_90a")
    def exchange(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        tile = smem.alloc(f32, (THREADS,))
        mine, value = reg.scalar(u32), reg.scalar(f32)
        t = reg.from_(ptx.special.tid.x(), u32)
        at = reg.from_(ptx.special.ctaid.x(), u32) * THREADS + t
        ptx.inst.mov.u32(mine, tile.name)
        mine += t * 4
        ptx.inst.ld.global_.f32(value, ptx.addr(x + at * 4))
        ptx.inst.st.shared.f32(ptx.addr(mine), value)
        ptx.cluster.sync()
        following = reg.from_(ptx.special.cluster_ctarank(), u32) + 1
        ptx.inst.rem.u32(following, following, reg.from_(ptx.special.cluster_nctarank(), u32))
        theirs = ptx.cluster.map_shared_u32(mine, following)
        ptx.inst.ld.shared__cluster.f32(value, ptx.addr(theirs))
        ptx.inst.st.global_.f32(ptx.addr(y + at * 4), value)
        ptx.cluster.sync()
        ptx.ret()

    return exchange


def turned(x: np.ndarray, cluster: int) -> np.ndarray:
    return np.roll(x.reshape(-1, cluster, THREADS), -1, axis=1).reshape(-1)


@pytest.mark.parametrize("cluster", [1, 2, 4, 8, 16])
def test_blocks_read_each_others_shared_memory(cluster):
    x = np.arange(32 * THREADS, dtype=np.float32)
    np.testing.assert_array_equal(exchange(cluster, 32)(x), turned(x, cluster))


def test_on_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(8 * THREADS, dtype=torch.float32)
    np.testing.assert_array_equal(exchange(4, 8)(x).numpy(), turned(x.numpy(), 4))


def test_under_jit():
    jax = pytest.importorskip("jax")
    x = np.arange(8 * THREADS, dtype=np.float32)
    np.testing.assert_array_equal(np.asarray(jax.jit(exchange(2, 8))(jax.numpy.asarray(x))), turned(x, 2))


def test_one_block_copies_into_all_and_hears_from_all():
    @kernel(
        in_specs=(Tile(THREADS, u32),),
        out_specs=(Tile(4 * THREADS, u32),),
        grid=4,
        block=THREADS,
        cluster=(4, 1, 1),
        arch="sm_90a",
    )
    def share(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        tile = smem.alloc(b8, (4 * THREADS,), align=128)
        ready, full = smem.mbarrier(2)
        word, source = reg.scalar(u32), reg.scalar(u32)
        t = reg.from_(ptx.special.tid.x(), u32)
        rank = reg.from_(ptx.special.cluster_ctarank(), u32)
        with ptx.if_(t == 0):
            ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(ready), 4)
            ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(full), 1)
            ptx.inst.fence.mbarrier_init.release.cluster()
        ptx.cluster.sync()
        with ptx.if_(t == 0):
            ptx.mbarrier.arrive_expect_tx(full, 4 * THREADS)
            ptx.cluster.arrive_remote(ready, 0)
            with ptx.if_(rank == 0):
                wait(ready)
                name = ptx.inst.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes.multicast__cluster
                name(ptx.addr(tile.name), ptx.addr(x), 4 * THREADS, ptx.addr(full), 0b1111)
        done = reg.scalar(pred)
        ptx.label("copied")
        ptx.inst.mbarrier.try_wait.parity.shared__cta.b64(done, ptx.addr(full), 0)
        ptx.bra("copied", pred=~done)
        ptx.inst.mov.u32(source, tile.name)
        ptx.inst.ld.shared.u32(word, ptx.addr(source + t * 4))
        word += rank * 1000
        ptx.inst.st.global_.u32(ptx.addr(y + (rank * THREADS + t) * 4), word)
        ptx.cluster.sync()
        ptx.ret()

    x = np.arange(THREADS, dtype=np.uint32)
    np.testing.assert_array_equal(share(x), np.concatenate([x + 1000 * rank for rank in range(4)]))


def test_a_fault_says_which_block_of_the_cluster():
    @kernel(in_specs=(), out_specs=(Tile(2, u32),), grid=2, block=1, cluster=2, arch="sm_90a")
    def beyond(Y):
        tile = smem.alloc(u32, (4,))
        base, word = reg.scalar(u32), reg.scalar(u32)
        ptx.inst.mov.u32(base, tile.name)
        ptx.inst.ld.shared__cluster.u32(word, ptx.addr(ptx.cluster.map_shared_u32(base, 2)))
        ptx.ret()

    with pytest.raises(RuntimeError, match=r"in no block's shared memory: the cluster has 2 blocks") as raised:
        beyond()
    assert raised.value.kind == "out_of_bounds"
    assert "block (0, 0, 0), rank 0 of cluster (0, 0, 0)" in str(raised.value)
