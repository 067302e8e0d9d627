"""RMS norm with its rows split over devices, and the gradient of its weight summed over them.

    device 0   rows    0 … B/2-1   y = rms_norm(x, w)   dw = sum of dy * x / rms(x) over these rows ─┐
    device 1   rows  B/2 … B-1     y = rms_norm(x, w)   dw = …                                       ─┴─► sum: dw, on each device

This is data parallelism: each device has all of the weight and some of the rows, and one sum of N numbers is all that goes
between them. Both steps are the kernel of examples/rms_norm.py: with a weight of ones it gives x / rms(x).

``python examples/distributed/rms_norm_data_parallel.py --devices 2`` runs it by JAX (`jax.shard_map`, `jax.lax.psum`) and by
torch (`torch.distributed`, `all_reduce`), on GPUs or, small, on the executor, and holds both to float64.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

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
from examples.rms_norm import build_rms_norm, reference
from examples.running import torch_microseconds

ARCH = "sm_90a"
TOLERANCE = 1e-5


def problem(B: int, N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, w and dy; the same in every process."""
    rng = np.random.default_rng(0)
    x, dy = (rng.standard_normal((B, N), dtype=np.float32) for _ in range(2))
    return x, rng.standard_normal(N, dtype=np.float32), dy


def errors_of(y: Any, dw: Any, x: np.ndarray, w: np.ndarray, dy: np.ndarray, rows: slice) -> list[float]:
    """The largest errors of y, of these rows, and of dw, of all of them, against float64."""
    expected_dw = (dy.astype(np.float64) * reference(x, np.ones_like(w))).sum(axis=0)
    return [
        error_of(y, reference(x[rows], w), 0.0, TOLERANCE, "y"),
        error_of(dw, expected_dw, len(x) ** 0.5, TOLERANCE, "dw"),  # a sum of B numbers of either sign
    ]


def rows_of_each(B: int, count: int) -> int:
    if B % count:
        raise ValueError(f"{B} rows are not split evenly over {count} devices")
    return B // count


# -- JAX: one program for the mesh


def run_jax(count: int, B: int, N: int) -> Run:
    devices = jax_devices(count, ARCH)
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    def step_of(rows: int) -> Any:
        kernel = build_rms_norm(rows, N)

        def step(x: Any, w: Any, dy: Any) -> Any:
            return kernel(x, w), (dy * kernel(x, jnp.ones_like(w))).sum(axis=0)

        return step

    mesh = jax.make_mesh((count,), ("devices",), devices=devices)
    here = step_of(rows_of_each(B, count))

    def everywhere(x: Any, w: Any, dy: Any) -> Any:
        y, dw = here(x, w, dy)
        return y, jax.lax.psum(dw, "devices")

    split, whole = P("devices"), P()
    together = jax.jit(jax.shard_map(everywhere, mesh=mesh, in_specs=(split, whole, split), out_specs=(split, whole)))
    x, w, dy = problem(B, N)
    inputs = [jax.device_put(a, NamedSharding(mesh, spec)) for a, spec in ((x, split), (w, whole), (dy, split))]
    y, dw = together(*inputs)
    errors = tuple(errors_of(y, dw, x, w, dy, slice(None)))
    if devices[0].platform == "cpu":
        return Run("jax", "executor", count, errors, None, None)
    alone, on_one = jax.jit(step_of(B)), [jax.device_put(a, devices[0]) for a in (x, w, dy)]
    return Run(
        "jax",
        devices[0].device_kind,
        count,
        errors,
        jax_microseconds(lambda: alone(*on_one)),
        jax_microseconds(lambda: together(*inputs)),
    )


# -- torch: a process for each device


def torch_process(rank: int, count: int, device: Any, B: int, N: int) -> tuple[list[float], float | None, float | None]:
    """What the process of one device does."""
    import torch

    here = rows_of_each(B, count)
    rows = slice(rank * here, (rank + 1) * here)
    x, w, dy = problem(B, N)

    def step_of(rows: slice, reduce: bool) -> Any:
        kernel = build_rms_norm(len(x[rows]), N)
        tx, tw, tdy = (torch.from_numpy(a.copy()).to(device) for a in (x[rows], w, dy[rows]))
        ones = torch.ones_like(tw)

        def step() -> Any:
            y, dw = kernel(tx, tw), (tdy * kernel(tx, ones)).sum(0)
            if reduce:
                torch.distributed.all_reduce(dw)
            return y, dw

        return step

    together = step_of(rows, reduce=True)
    y, dw = together()
    errors = errors_of(y.cpu(), dw.cpu(), x, w, dy, rows)
    if device.type == "cpu":
        return errors, None, None
    on_all = torch_microseconds(together)
    on_one = torch_microseconds(step_of(slice(None), reduce=False)) if rank == 0 else None
    return errors, on_one, on_all


def main() -> None:
    given = arguments(str(__doc__).partition("\n")[0])
    gpus = gpus_for(ARCH)
    count = given.devices or gpus or 2
    B, N = (16384, 2048) if gpus else (8 * count, 128)
    routes = {"jax": lambda: run_jax(count, B, N), "torch": lambda: run_torch(count, torch_process, B, N, arch=ARCH)}
    runs = [routes[route]() for route in given.route or installed_routes()]
    print_runs(f"rms_norm_data_parallel, {B} x {N}, f32", ("y", "dw"), runs)


if __name__ == "__main__":
    main()
