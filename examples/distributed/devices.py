"""Not an example: devices for the programs beside it, processes for torch, clocks, and the table that they print.

JAX      one process, a mesh of devices, `jax.shard_map`: XLA runs the program on all of them
torch    one process a device; they meet in `torch.distributed`, by NCCL on GPUs and by gloo on the CPU
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from examples.running import fits_gpu, largest_error

Work = Callable[..., tuple[list[float], float | None, float | None]]


@dataclass(frozen=True)
class Run:
    """One run of a program: the largest error of each result, and microseconds of the whole problem on one device and on all of
    them; None on the CPU, whose executor is not for speed."""

    route: str
    where: str
    devices: int
    errors: tuple[float, ...]
    alone: float | None
    together: float | None


# -- JAX


def jax_devices(count: int, arch: str) -> list[Any]:
    """That many GPUs for `arch`, else the CPU as that many devices. ValueError where there are fewer."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # torch may want memory of the same GPUs
    import jax

    with contextlib.suppress(RuntimeError):  # JAX has started; then there is what there is
        jax.config.update("jax_num_cpu_devices", count)
    try:
        devices = jax.devices("cuda")
    except RuntimeError:
        devices = []
    if not devices or not fits_gpu(arch, tuple(map(int, devices[0].compute_capability.split(".")))):
        devices = jax.devices("cpu")
    if len(devices) < count:
        raise ValueError(f"{count} devices were asked for; JAX sees {len(devices)} of kind {devices[0].platform}")
    return devices[:count]


def jax_microseconds(call: Callable[[], Any], calls: int = 20) -> float:
    """Microseconds a call takes, on average over calls in a row, until all results are there."""
    import jax

    jax.block_until_ready([call() for _ in range(3)])
    begin = time.perf_counter()
    jax.block_until_ready([call() for _ in range(calls)])
    return (time.perf_counter() - begin) * 1e6 / calls


# -- torch


def run_torch(count: int, work: Work, *arguments: Any, arch: str) -> Run:
    """`work(rank, count, device, *arguments)` in `count` processes, each with a device of its own; rank 0's result. It gives the
    largest errors over all the processes and the two times."""
    import torch

    on_gpus = torch.cuda.is_available() and fits_gpu(arch, torch.cuda.get_device_capability())
    if on_gpus and torch.cuda.device_count() < count:
        raise ValueError(f"{count} devices were asked for; torch sees {torch.cuda.device_count()} GPUs")
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_process, args=(count, folder, on_gpus, work, arguments), nprocs=count)
        errors, alone, together = pickle.loads((Path(folder) / "result").read_bytes())
    where = torch.cuda.get_device_name() if on_gpus else "executor"
    return Run("torch", where, count, tuple(errors), alone, together)


def _process(rank: int, count: int, folder: str, on_gpus: bool, work: Work, arguments: tuple[Any, ...]) -> None:
    import torch

    if on_gpus:
        device = torch.device("cuda", rank)
        torch.cuda.set_device(device)
    else:
        device = torch.device("cpu")
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all the processes are here
        torch.set_num_threads(1)
    # They find one another by a file; `torchrun` would give them addresses in the environment.
    torch.distributed.init_process_group(
        "nccl" if on_gpus else "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=count
    )
    try:
        errors, alone, together = work(rank, count, device, *arguments)
        worst = torch.tensor([*errors, alone or 0.0, together or 0.0], dtype=torch.float64, device=device)
        torch.distributed.all_reduce(worst, op=torch.distributed.ReduceOp.MAX)
        *errors, alone_of_all, together_of_all = worst.tolist()
        if rank == 0:
            times = (alone_of_all, together_of_all) if on_gpus else (None, None)
            (Path(folder) / "result").write_bytes(pickle.dumps((errors, *times)))
        torch.distributed.barrier()  # nobody leaves while another still waits for it
    finally:
        torch.distributed.destroy_process_group()


# -- both


def error_of(got: Any, expected: np.ndarray, floor: float, tolerance: float, what: str) -> float:
    """The largest error, relative to the expected number or to `floor` where that is larger. AssertionError above the
    tolerance."""
    error = largest_error(np.asarray(got, np.float64), expected, floor)
    assert error <= tolerance, f"{what}: error {error:.2e}, more than {tolerance:.2e}"
    return error


def arguments(about: str) -> argparse.Namespace:
    """The command line of the programs."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--devices", type=int, help="how many (default: all GPUs, or 2 on the CPU)")
    parser.add_argument("--route", choices=["jax", "torch"], action="append", help="default: those that are installed")
    given = parser.parse_args()
    if given.devices is not None and given.devices < 1:
        parser.error(f"--devices is {given.devices}; at least one is needed")
    return given


def installed_routes() -> list[str]:
    """JAX and torch, where they are installed."""
    from importlib.util import find_spec

    return [name for name in ("jax", "torch") if find_spec(name)]


def gpus_for(arch: str) -> int:
    """How many GPUs for `arch` this machine has."""
    from pyptx import _ptx

    if _ptx.why_no_gpu() is not None:
        return 0
    major_minor = _ptx.detect_arch().removeprefix("sm_").rstrip("af")
    return _ptx.device_count() if fits_gpu(arch, (int(major_minor[:-1]), int(major_minor[-1]))) else 0


def print_runs(name: str, results: tuple[str, ...], runs: list[Run]) -> None:
    """A line a run: errors of the results; on GPUs microseconds of the whole problem on one and on all."""
    print(name)
    for run in runs:
        errors = "  ".join(f"{what} {error:.1e}" for what, error in zip(results, run.errors, strict=True))
        times = ""
        if run.alone is not None and run.together is not None:
            ratio = run.alone / run.together
            times = f"  one device {run.alone:9.1f} us, {run.devices} devices {run.together:9.1f} us ({ratio:.2f} x)"
        print(f"  {run.route:<6} {run.devices} x {run.where:<12} errors: {errors}{times}", flush=True)
