"""Kernels that copy by TMA, for the tests of descriptors. Written with `ptx.inst` but for the copies themselves."""

from math import prod
from typing import Any

from pyptx import Kernel, Layout, Tile, kernel, ptx, reg, smem
from pyptx.types import PtxType, b8, b64, from_name, pred, u32, u64

THREADS = 128
SWIZZLE_BYTES = {Layout.TMA_128B: 128, Layout.TMA_64B: 64, Layout.TMA_32B: 32, Layout.ROW: None}


def bytes_of(dtype: PtxType) -> int:
    return max(dtype.bits // 8, 1)


def thread() -> Any:
    return reg.from_(ptx.special.tid.x(), u32)


def wait(barrier: Any) -> None:
    """Until the barrier's first phase is over."""
    done = reg.scalar(pred)
    ptx.label("not_yet")
    ptx.inst.mbarrier.try_wait.parity.shared__cta.b64(done, ptx.addr(barrier), 0)
    ptx.bra("not_yet", pred=~done)


def load(box_bytes: int, issue: Any) -> tuple[Any, Any]:
    """A box in shared memory, by `issue(destination, barrier)` in thread 0; every thread waits for it. The tile, and the thread's
    number."""
    tile = smem.alloc(b8, (box_bytes,), align=1024)
    barrier = smem.mbarrier(1)[0]
    t = thread()
    with ptx.if_(t == 0):
        ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(barrier), 1)
        ptx.inst.fence.proxy.async_.shared__cta()
        ptx.inst.mbarrier.arrive.expect_tx.shared__cta.b64(reg.scalar(b64), ptx.addr(barrier), box_bytes)
        issue(tile, barrier)
    ptx.bar.sync(0)
    wait(barrier)
    return tile, t


def write_out(tile: Any, t: Any, out: Any, box_bytes: int) -> None:
    """The bytes of shared memory, in their order."""
    source, word = reg.scalar(u32), reg.scalar(u32)
    ptx.inst.mov.u32(source, tile.name)
    source += t * 4
    out += t * 4
    for begin in range(0, box_bytes, 4 * THREADS):
        left = (box_bytes - begin) // 4
        p = t < left if left < THREADS else None
        ptx.inst.ld.shared.u32(word, ptx.addr(source, begin), pred=p)
        ptx.inst.st.global_.u32(ptx.addr(out, begin), word, pred=p)


def raw_box_kernel(dtype: PtxType, shape: tuple[int, int], box: tuple[int, int], layout: Layout) -> Kernel:
    """Y[i] = the bytes of shared memory after box i of X was copied there; boxes go along the rows first."""
    box_bytes = prod(box) * bytes_of(dtype)
    across, down = -(-shape[1] // box[1]), -(-shape[0] // box[0])

    @kernel(
        in_specs=(Tile(*shape, dtype, layout, tma_box=box),),
        out_specs=(Tile(across * down, box_bytes // 4, u32),),
        grid=(across, down),
        block=THREADS,
    )
    def raw_box(X, Y):
        (out,) = ptx.global_ptrs(Y)
        x, y = reg.from_(ptx.special.ctaid.x(), u32), reg.from_(ptx.special.ctaid.y(), u32)
        descriptor, coord = X.tma_desc(), (x * box[1], y * box[0])
        tile, t = load(box_bytes, lambda dst, bar: ptx.cp.async_.bulk.tensor_2d(dst=dst, src=descriptor, coord=coord, mbar=bar))
        out += (y * across + x) * box_bytes
        write_out(tile, t, out, box_bytes)
        ptx.ret()

    return raw_box


def raw_slabs_kernel(
    dtype: PtxType, shape: tuple[int, int], box: tuple[int, int], layout: Layout, padding: bool = False
) -> Kernel:
    """The same through the view of 64-column slabs."""
    box_bytes = box[0] * (72 if padding else 64) * (box[1] // 64) * bytes_of(dtype)
    across, down = shape[1] // box[1], shape[0] // box[0]

    @kernel(
        in_specs=(Tile(*shape, dtype, layout, tma_box=box, tma_rank=3, tma_padding=padding),),
        out_specs=(Tile(across * down, box_bytes // 4, u32),),
        grid=(across, down),
        block=THREADS,
    )
    def raw_slabs(X, Y):
        (out,) = ptx.global_ptrs(Y)
        x, y = reg.from_(ptx.special.ctaid.x(), u32), reg.from_(ptx.special.ctaid.y(), u32)
        descriptor, row, col = X.tma_desc(), y * box[0], x * box[1]
        tile, t = load(box_bytes, lambda dst, bar: ptx.tma.load_3d(dst, descriptor, row, col, bar))
        out += (y * across + x) * box_bytes
        write_out(tile, t, out, box_bytes)
        ptx.ret()

    return raw_slabs


def round_trip_kernel(
    dtype: PtxType, shape: tuple[int | str, ...], box: tuple[int, ...], layout: Layout, tma: str = "address"
) -> Kernel:
    """Y = X, box by box: in and out by tensor copies of the shape's rank. A first dimension may be open."""
    box_bytes = prod(box) * bytes_of(dtype)
    tile = Tile(*shape, dtype, layout, tma_box=box, tma_rank=2 if len(shape) == 2 else len(shape))
    counts = [-(-size // width) for size, width in zip(shape[1:], box[1:], strict=True)]  # type: ignore[operator]

    def grid(**dims: int) -> int:
        first = dims.get(shape[0], shape[0]) if isinstance(shape[0], str) else shape[0]
        return -(-first // box[0]) * prod(counts)

    @kernel(
        in_specs=(tile,),
        out_specs=(tile,),
        grid=grid if isinstance(shape[0], int) else lambda N: grid(N=N),
        block=THREADS,
        tma=tma,
    )
    def round_trip(X, Y):
        source, sink = X.tma_desc(), Y.tma_desc()
        rest, coord = reg.from_(ptx.special.ctaid.x(), u32), []
        for count, width in zip(reversed(counts), reversed(box[1:]), strict=True):
            index = reg.scalar(u32)
            ptx.inst.rem.u32(index, rest, count)
            ptx.inst.div.u32(rest, rest, count)
            coord.append(index * width)
        coord.append(rest * box[0])
        copy = getattr(ptx.cp.async_.bulk, f"tensor_{len(box)}d")
        loaded, t = load(box_bytes, lambda dst, bar: copy(dst=dst, src=source, coord=tuple(coord), mbar=bar))
        with ptx.if_(t == 0):
            copy.store(dst=sink, src=loaded, coord=tuple(coord))
            ptx.inst.cp.async_.bulk.commit_group()
            ptx.inst.cp.async_.bulk.wait_group(0)
        ptx.ret()

    return round_trip


def columns_kernel(tensor_map: Any, rank: int, coord: tuple[int, ...], offsets: tuple[int, ...]) -> Kernel:
    """Y = the bytes of shared memory after one column of pixels (`.im2col`) of X was copied there; X's tile is the map's."""
    box_bytes = tensor_map.box_bytes

    @kernel(
        in_specs=(Tile(*tensor_map.shape, from_name(tensor_map.dtype)),),
        out_specs=(Tile(box_bytes // 4, u32),),
        grid=1,
        block=THREADS,
        tma="value",
        tensor_maps={"X": tensor_map},
    )
    def columns(X, Y):
        (out,) = ptx.global_ptrs(Y)
        descriptor = X.tma_desc()
        copy = getattr(ptx.cp.async_.bulk.tensor, f"im2col_{rank}d")
        tile, t = load(box_bytes, lambda dst, bar: copy(dst, descriptor, coord, offsets, mbar=bar))
        write_out(tile, t, out, box_bytes)
        ptx.ret()

    return columns


def by_hand_kernel(dtype: PtxType, shape: tuple[int, int], box: tuple[int, int]) -> Kernel:
    """`raw_box_kernel` of one box, with the descriptor's address in a parameter of the author's own."""
    box_bytes = prod(box) * bytes_of(dtype)

    @kernel(
        in_specs=(Tile(*shape, dtype),),
        out_specs=(Tile(1, box_bytes // 4, u32),),
        grid=1,
        block=THREADS,
        raw_params=[("u64", "descriptor")],
    )
    def by_hand(X, Y):
        (out,) = ptx.global_ptrs(Y)
        descriptor = ptx.param(u64, "descriptor")
        tile, t = load(box_bytes, lambda dst, bar: ptx.cp.async_.bulk.tensor_2d(dst=dst, src=descriptor, coord=(0, 0), mbar=bar))
        write_out(tile, t, out, box_bytes)
        ptx.ret()

    return by_hand
