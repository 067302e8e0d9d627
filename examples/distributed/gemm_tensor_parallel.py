"""A matrix product C = A Bᵀ with K split over devices, as the second matrix of a transformer's layer is ("row parallel").

               K of device 0  K of device 1
    A [M, K]   ┌────────────┬────────────┐        device 0   A₀ B₀ᵀ ─┐
               │     A₀     │     A₁     │        device 1   A₁ B₁ᵀ ─┴─► sum: C, on each device
    B [N, K]   │     B₀     │     B₁     │
               └────────────┴────────────┘

Each device keeps its part of the weight B, and gets A split in the same way by the layer before. On Hopper GPUs the products are
those of hopper/gemm_highperf_hopper.py, bfloat16 in and out: each device rounds its part to bfloat16, and the sum is one of
bfloat16, which moves half the bytes of float32. On the CPU a small product of fused multiply-adds in float32 stands in.

``python examples/distributed/gemm_tensor_parallel.py --devices 2`` runs it by JAX (`jax.shard_map`, `jax.lax.psum`) and by torch
(`torch.distributed`, `all_reduce`), and holds both to float64.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from pyptx import Kernel, Tile, kernel, ptx, reg
from pyptx.types import bf16, f32, u32, u64

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.distributed.devices import (
    Run,
    arguments,
    error_of,
    gpus_for,
    installed_routes,
    jax_devices,
    jax_microseconds,
    print_runs,
    run_torch,
)
from examples.hopper.gemm_highperf_hopper import gemm_warp_specialized, reference_gemm
from examples.running import from_torch, random_array, to_torch, torch_microseconds

ARCH = "sm_90a"
WARP = 32


@kernel(
    in_specs=(Tile("M", "K", f32), Tile("N", "K", f32)),
    out_specs=(Tile("M", "N", f32),),
    raw_params=[("u32", "N"), ("u32", "K")],
    grid=lambda M, N: (N // WARP, M),
    block=WARP,
    arch=ARCH,
)
def gemm_by_fma(A, B, C):
    """A thread for each element of C; N is a multiple of 32."""
    a, b, c = ptx.global_ptrs(A, B, C)
    N, K = ptx.param(u32, "N"), ptx.param(u32, "K")
    row = reg.from_(ptx.special.ctaid.y(), u32)
    column = reg.from_(ptx.special.ctaid.x(), u32) * WARP + reg.from_(ptx.special.tid.x(), u32)

    def at(i: Any, width: Any) -> Any:
        """The byte offset of a row."""
        offset = reg.scalar(u64)
        ptx.inst.mul.wide.u32(offset, i, width)
        return offset * 4

    a += at(row, K)
    b += at(column, K)
    total, x, y = reg.scalar(f32, init=0.0), reg.scalar(f32), reg.scalar(f32)
    for _ in ptx.range_(0, K):  # a loop of the kernel
        ptx.inst.ld.global_.f32(x, ptx.addr(a))
        ptx.inst.ld.global_.f32(y, ptx.addr(b))
        ptx.inst.fma.rn.f32(total, x, y, total)
        a += 4
        b += 4
    c += at(row, N)
    c += column * 4
    ptx.inst.st.global_.f32(ptx.addr(c), total)
    ptx.ret()


def problem(M: int, N: int, K: int, k: Kernel) -> tuple[np.ndarray, np.ndarray]:
    """A and B; the same in every process."""
    dtype = bf16 if k is gemm_warp_specialized else f32
    return random_array((M, K), dtype, seed=0), random_array((N, K), dtype, seed=1)


def error(c: Any, a: np.ndarray, b: np.ndarray, count: int) -> float:
    """The largest error against float64; of small sums relative to a typical one. A part rounded to bfloat16 is off by up to
    2**-9 of itself, and there are `count` of them."""
    tolerance = 2**-6 * count**0.5 if a.dtype != np.float32 else 1e-5
    return error_of(c, reference_gemm(a, b), a.shape[1] ** 0.5, tolerance, "C")


def part_of_each(K: int, count: int) -> int:
    if K % (8 * count):
        raise ValueError(f"K is {K}; it is split over {count} devices in multiples of 8")
    return K // count


# -- JAX: one program for the mesh


def run_jax(count: int, M: int, N: int, K: int) -> Run:
    part_of_each(K, count)
    devices = jax_devices(count, ARCH)
    import jax
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    on_cpu = devices[0].platform == "cpu"
    product = gemm_by_fma if on_cpu else gemm_warp_specialized
    mesh = jax.make_mesh((count,), ("devices",), devices=devices)
    split = P(None, "devices")

    def everywhere(a: Any, b: Any) -> Any:
        return jax.lax.psum(product(a, b), "devices")

    together = jax.jit(jax.shard_map(everywhere, mesh=mesh, in_specs=(split, split), out_specs=P()))
    a, b = problem(M, N, K, product)
    inputs = [jax.device_put(x, NamedSharding(mesh, split)) for x in (a, b)]
    errors = (error(together(*inputs), a, b, count),)
    if on_cpu:
        return Run("jax", "executor", count, errors, None, None)
    alone, on_one = jax.jit(lambda a, b: product(a, b)), [jax.device_put(x, devices[0]) for x in (a, b)]
    return Run(
        "jax",
        devices[0].device_kind,
        count,
        errors,
        jax_microseconds(lambda: alone(*on_one)),
        jax_microseconds(lambda: together(*inputs)),
    )


# -- torch: a process for each device


def torch_process(rank: int, count: int, device: Any, M: int, N: int, K: int) -> tuple[list[float], float | None, float | None]:
    """What the process of one device does."""
    import torch

    on_cpu = device.type == "cpu"
    product = gemm_by_fma if on_cpu else gemm_warp_specialized
    a, b = problem(M, N, K, product)
    width = part_of_each(K, count)
    columns = slice(rank * width, (rank + 1) * width)

    def tensors(columns: slice) -> list[Any]:
        parts = [np.ascontiguousarray(x[:, columns]) for x in (a, b)]
        return [torch.from_numpy(x) if on_cpu else to_torch(x) for x in parts]

    here = tensors(columns)

    def together() -> Any:
        c = product(*here)
        torch.distributed.all_reduce(c)
        return c

    errors = [error(from_torch(together()), a, b, count)]
    if on_cpu:
        return errors, None, None
    on_all, on_one = torch_microseconds(together), None
    if rank == 0:
        whole = tensors(slice(None))
        on_one = torch_microseconds(lambda: product(*whole))
    return errors, on_one, on_all


def main() -> None:
    given = arguments(str(__doc__).partition("\n")[0])
    gpus = gpus_for(ARCH)
    count = given.devices or gpus or 2
    M, N, K = (4096, 4096, 8192) if gpus else (16, 32, 32 * count)
    routes = {"jax": lambda: run_jax(count, M, N, K), "torch": lambda: run_torch(count, torch_process, M, N, K, arch=ARCH)}
    runs = [routes[route]() for route in given.route or installed_routes()]
    print_runs(f"gemm_tensor_parallel, {M} x {N} x {K}, {'bfloat16' if gpus else 'f32'}", ("C",), runs)


if __name__ == "__main__":
    main()
