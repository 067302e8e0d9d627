"""Kernels that the tests of launching share."""

from typing import Any

from pyptx import Kernel, Tile, kernel, ptx, reg
from pyptx.types import PtxType, b8, b16, b32, b64, f32, u32

WARP = 32


def offset(bytes_: int) -> Any:
    """The byte offset of this thread's element."""
    return (reg.from_(ptx.special.ctaid.x(), u32) * WARP + reg.from_(ptx.special.tid.x(), u32)) * bytes_


@kernel(in_specs=(Tile("N", f32), Tile("N", f32)), out_specs=(Tile("N", f32),), grid=lambda N: N // WARP, block=WARP)
def add(A, B, C):
    """C = A + B; N is a multiple of 32."""
    pa, pb, pc = ptx.global_ptrs(A, B, C)
    at = offset(4)
    pa += at
    pb += at
    pc += at
    a, b = reg.scalar(f32), reg.scalar(f32)
    ptx.inst.ld.global_.f32(a, ptx.addr(pa))
    ptx.inst.ld.global_.f32(b, ptx.addr(pb))
    ptx.inst.add.f32(a, a, b)
    ptx.inst.st.global_.f32(ptx.addr(pc), a)
    ptx.ret()


@kernel(
    in_specs=(Tile("M", "K", f32), Tile("K", "N", f32)),
    out_specs=(Tile("M", "N", f32),),
    grid=lambda M, N: M * N // WARP,
    block=WARP,
)
def zeros_like_matmul(A, B, C):
    """C = 0, with the shapes of a matrix product; M * N is a multiple of 32."""
    _, _, pc = ptx.global_ptrs(A, B, C)
    pc += offset(4)
    ptx.inst.st.global_.f32(ptx.addr(pc), reg.scalar(f32, init=0.0))
    ptx.ret()


@kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile(WARP, f32), Tile(WARP, u32)), grid=1, block=WARP)
def value_and_index(X, Y, I):  # noqa: E741
    """Y = X, I = 0, 1, 2, …"""
    px, py, pi = ptx.global_ptrs(X, Y, I)
    at = offset(4)
    px += at
    py += at
    pi += at
    x = reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.st.global_.f32(ptx.addr(py), x)
    ptx.inst.st.global_.u32(ptx.addr(pi), reg.from_(ptx.special.tid.x(), u32))
    ptx.ret()


@kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile("R", WARP, f32),), grid=lambda R: R, block=WARP)
def repeat(X, Y):
    """X, R times: no input has the dimension R."""
    px, py = ptx.global_ptrs(X, Y)
    px += reg.from_(ptx.special.tid.x(), u32) * 4
    py += offset(4)
    x = reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.st.global_.f32(ptx.addr(py), x)
    ptx.ret()


@kernel(
    in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // WARP, block=WARP, raw_params=[("f32", "factor")]
)
def scale(X, Y):
    """Y = X * factor."""
    px, py = ptx.global_ptrs(X, Y)
    at = offset(4)
    px += at
    py += at
    x, factor = reg.scalar(f32), reg.scalar(f32)
    ptx.inst.ld.param.f32(factor, ptx.addr("factor"))
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.mul.f32(x, x, factor)
    ptx.inst.st.global_.f32(ptx.addr(py), x)
    ptx.ret()


@kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile(WARP, f32),), grid=2, block=WARP)
def one_block_too_many(X, Y):
    """Reads and writes 64 elements of 32."""
    px, py = ptx.global_ptrs(X, Y)
    at = offset(4)
    px += at
    py += at
    x = reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.st.global_.f32(ptx.addr(py), x)
    ptx.ret()


def copy_kernel(dtype: PtxType) -> Kernel:
    """Y = X for 32 elements of any type."""
    size = {8: 1, 16: 2, 32: 4, 64: 8}[dtype.bits]
    bits = {1: b8, 2: b16, 4: b32, 8: b64}[size]
    register = b16 if size == 1 else bits

    @kernel(in_specs=(Tile(WARP, dtype),), out_specs=(Tile(WARP, dtype),), grid=1, block=WARP)
    def copy(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        at = offset(size)
        px += at
        py += at
        x = reg.scalar(register)
        getattr(ptx.inst.ld.global_, bits.name)(x, ptx.addr(px))
        getattr(ptx.inst.st.global_, bits.name)(ptx.addr(py), x)
        ptx.ret()

    return copy
