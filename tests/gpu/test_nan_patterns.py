"""What `abs.f32` and `neg.f32` make of a NaN, bit for bit, whatever stands behind them: a compiler may fold a change of sign
into the instruction that follows, and then the NaN that one sees is another one's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg
from pyptx.types import b32, f32, pred, u32

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU here")

NANS = [0x7F800001, 0x7FC00000, 0x7FC00001, 0x7FC12345, 0x7FFFFFFF, 0x7FFFFFFE, 0x7F812345, 0x7FBFFFFF]
PATTERNS = np.array([*NANS, 0x3F800000, 0, 1, 0x7F800000], np.uint32)
PATTERNS = np.concatenate([PATTERNS, PATTERNS | np.uint32(0x80000000)] * 2)[:32]
CANONICAL = np.uint32(0x7FFFFFFF)


def plain(instruction, out, value) -> None:
    """The result is stored."""
    changed = reg.scalar(f32)
    instruction(changed, value)
    ptx.inst.mov.b32(out, changed)


def masked(instruction, out, value) -> None:
    """Its bits go through an integer instruction."""
    changed, bits = reg.scalar(f32), reg.scalar(b32)
    instruction(changed, value)
    ptx.inst.mov.b32(bits, changed)
    ptx.inst.and_.b32(out, bits, 0xFFFFFFFE)


def compared(instruction, out, value) -> None:
    """Its bits are compared as an integer."""
    changed, bits = reg.scalar(f32), reg.scalar(u32)
    instruction(changed, value)
    ptx.inst.mov.b32(bits, changed)
    ptx.inst.max.u32(out, bits, 0x10)


def in_a_branch(instruction, out, value) -> None:
    """In every lane, but the compiler does not know that."""
    changed, always = reg.scalar(f32), reg.scalar(pred)
    ptx.inst.mov.b32(changed, value)
    ptx.inst.setp.lt.u32(always, reg.from_(ptx.special.tid.x(), u32), 1000)
    with ptx.if_(always):
        instruction(changed, value)
    ptx.inst.mov.b32(out, changed)


def added(instruction, out, value) -> None:
    """An addition takes it, which could take the sign along."""
    changed, total = reg.scalar(f32), reg.scalar(f32)
    instruction(changed, value)
    ptx.inst.add.f32(total, changed, value)
    ptx.inst.mov.b32(out, total)


def multiplied(instruction, out, value) -> None:
    """A product takes it, which could take the sign along."""
    changed, total = reg.scalar(f32), reg.scalar(f32)
    instruction(changed, value)
    ptx.inst.fma.rn.f32(total, changed, changed, value)
    ptx.inst.mov.b32(out, total)


@pytest.mark.parametrize("op", ["abs", "neg"])
@pytest.mark.parametrize("flush", [False, True], ids=["", "ftz"])
@pytest.mark.parametrize("use", [plain, masked, compared, in_a_branch, added, multiplied])
def test_the_nan_of_a_change_of_sign(op: str, flush: bool, use: Callable[..., None]) -> None:
    @kernel(in_specs=[Tile(32, u32)], out_specs=[Tile(32, u32)], grid=1, block=32, arch="sm_90a")
    def signs(X, Y):
        x, y = ptx.global_ptrs(X, Y)
        at = reg.from_(ptx.special.tid.x(), u32) * 4
        word, value, out = reg.scalar(b32), reg.scalar(f32), reg.scalar(b32)
        ptx.inst.ld.global_.b32(word, ptx.addr(x + at))
        ptx.inst.mov.b32(value, word)
        instruction = getattr(ptx.inst, op)
        use((instruction.ftz if flush else instruction).f32, out, value)
        ptx.inst.st.global_.b32(ptx.addr(y + at), out)
        ptx.ret()

    cpu = signs(PATTERNS)
    gpu = signs(torch.from_numpy(PATTERNS.view(np.int32)).cuda().view(torch.uint32)).cpu().numpy()
    np.testing.assert_array_equal([hex(v) for v in gpu.view(np.uint32)], [hex(v) for v in cpu.view(np.uint32)])
    if use is plain:
        nan = np.isnan(PATTERNS.view(np.float32))
        assert (cpu.view(np.uint32)[nan] == CANONICAL).all()
