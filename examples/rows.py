"""What the kernels that go row by row share: one block a row, every thread takes 16 bytes at a time.

    row of N elements   | t0 | t1 | t2 | … | t255 | t0 | t1 | … | t255 | t0 | …  |
                         16 B  pass 0               pass 1               pass 2, perhaps not full

Neighbouring threads read neighbouring 16 bytes, so that a warp's load is four whole 128-byte lines. bfloat16 is widened to f32 as
it is loaded and rounded back as it is stored; everything between is f32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyptx import ptx, reg, smem
from pyptx.types import PtxType, b32, bf16, f32, u64

WARP_SIZE = 32
LOAD_BYTES = 16  # ld.global.v4, the most that one thread loads at once
MAX_THREADS = 1024
KEPT_VALUES = 32  # of a row, in a thread's registers: with 1024 threads there are 64 registers each
LONGEST_ROW = 1 << 18  # of unrolled passes there are 64 then


class Row:
    """How a row of N elements is split among the threads of a block."""

    def __init__(self, N: int, dtype: PtxType, most_threads: int = MAX_THREADS) -> None:
        if dtype not in (f32, bf16):
            raise ValueError(f"the elements are {dtype}; these kernels take f32 or bf16")
        self.element_bytes = dtype.bits // 8
        self.vector = LOAD_BYTES // self.element_bytes  # elements a load
        if N <= 0 or N % self.vector or N > LONGEST_ROW:
            raise ValueError(
                f"N is {N}; a row of {dtype} is read {LOAD_BYTES} bytes at a time, "
                f"so N must be a multiple of {self.vector}, from {self.vector} to {LONGEST_ROW}"
            )
        self.dtype = dtype
        self.bytes = N * self.element_bytes
        self.loads = N // self.vector  # of the whole row
        # The fewest threads, in whole warps and a power of two, that have 16 values each; a longer row gives them more.
        self.threads = WARP_SIZE
        while self.threads < most_threads and self.threads * 16 < N:
            self.threads *= 2
        self.passes = -(-self.loads // self.threads)
        self.is_kept = self.passes * self.vector <= KEPT_VALUES

    def start(self, pointer: Any, row: Any) -> None:
        """Moves the pointer to a row. 64 bits: a tensor may be larger than 4 GiB."""
        offset = reg.scalar(u64)
        ptx.inst.mul.wide.u32(offset, row, self.bytes)
        pointer += offset

    def guards(self, tid: Any) -> list[Any]:
        """Per pass: None where every thread has elements, else the predicate of those that have. Only the last pass needs one."""
        left = self.loads - (self.passes - 1) * self.threads
        return [None] * (self.passes - 1) + [tid < left if left < self.threads else None]

    def load(self, pointer: Any, i: int, guard: Any, outside: float = 0.0) -> list[Any]:
        """The thread's elements of pass i, as f32 registers; `outside` in those of threads that have none.

        `.nc`: nobody writes the inputs while the kernel runs. That lets ptxas move these loads ahead of earlier stores.
        """
        address = ptx.addr(pointer, i * self.threads * LOAD_BYTES)
        if self.dtype == f32:
            values = fresh(f32, 4, None if guard is None else outside)
            ptx.inst.ld.global_.nc.v4.f32(values, address, pred=guard)
            return values
        # Two bfloat16 a word, and each is the upper half of the f32 with the same value.
        words = fresh(b32, 4, None if guard is None else bf16_pair(outside))
        ptx.inst.ld.global_.nc.v4.b32(words, address, pred=guard)
        values = fresh(f32, 8)
        for word, low, high in zip(words, values[::2], values[1::2], strict=True):
            ptx.inst.shl.b32(low, word, 16)
            ptx.inst.and_.b32(high, word, 0xFFFF0000)
        return values

    def store(self, pointer: Any, i: int, guard: Any, values: list[Any]) -> None:
        """Stores the thread's elements of pass i."""
        address = ptx.addr(pointer, i * self.threads * LOAD_BYTES)
        if self.dtype == f32:
            ptx.inst.st.global_.v4.f32(address, values, pred=guard)
            return
        words = fresh(b32, 4)
        for word, low, high in zip(words, values[::2], values[1::2], strict=True):
            ptx.inst.cvt.rn.bf16x2.f32(word, high, low)  # rounds both; the first goes to the upper half
        ptx.inst.st.global_.v4.b32(address, words, pred=guard)

    def reader(self, pointer: Any, guards: list[Any], outside: float = 0.0) -> Callable[[int], list[Any]]:
        """A function of the pass that gives its elements: of a short row from registers, of a long one from memory each time."""
        if not self.is_kept:
            return lambda i: self.load(pointer, i, guards[i], outside)
        return [self.load(pointer, i, guard, outside) for i, guard in enumerate(guards)].__getitem__

    def all_sum(self, value: Any, tid: Any) -> Any:
        """The sum of every thread's f32 `value`, for all of them: see all_reduce."""
        return self.all_reduce(ptx.warp.reduce_sum, value, tid)

    def all_max(self, value: Any, tid: Any) -> Any:
        """The largest of every thread's f32 `value`, for all of them."""
        return self.all_reduce(ptx.warp.reduce_max, value, tid)

    def all_reduce(self, reduce: Callable[..., object], value: Any, tid: Any) -> Any:
        """Reduces over the block; every thread gets the same result, to the last bit.

            warp 0   lanes → one value ─┐                         ┌→ every warp reduces them once more
            warp 1   lanes → one value ─┼→ partial[warp] │ barrier ┤
            …                           ┘                         └→ …

        Shared memory that is used once needs no second barrier.
        """
        reduce(value)
        warps = self.threads // WARP_SIZE
        if warps == 1:
            return value
        partial = smem.alloc(f32, (warps, 1))
        with ptx.if_((tid & (WARP_SIZE - 1)) == 0):
            partial[tid >> 5, 0] = value
        ptx.bar.sync(0)
        total = partial[tid & (warps - 1), 0]
        reduce(total, width=warps)
        return total


def fresh(dtype: PtxType, count: int, value: float | int | None = None) -> list[Any]:
    """`count` new registers, with a value or without."""
    return [reg.scalar(dtype) if value is None else reg.scalar(dtype, init=value) for _ in range(count)]


def bf16_pair(value: float) -> int:
    """0 or an infinity twice, as bfloat16, in one word."""
    return {0.0: 0, float("inf"): 0x7F807F80, float("-inf"): 0xFF80FF80}[value]
