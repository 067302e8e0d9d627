"""Runs an example where this machine can, on a GPU through torch or JAX, else on the executor, and holds it to a reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx import Kernel, PtxError
from pyptx.types import PtxType


@dataclass(frozen=True)
class Result:
    """What a check saw. `error` is None where the kernel was only assembled."""

    shape: str
    where: str
    error: float | None = None
    microseconds: float | None = None
    bytes_moved: int = 0
    operations: int = 0


def numpy_type(dtype: PtxType) -> np.dtype[Any]:
    """The numpy dtype of the elements. bfloat16 and float8 come from the package ml_dtypes."""
    names = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16"}
    names |= {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
    if dtype.name in ("bf16", "e4m3", "e5m2"):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, names[dtype.name]))
    return np.dtype(names.get(dtype.name) or dtype.name.replace("s", "int").replace("u", "uint"))


def random_array(shape: Sequence[int], dtype: PtxType, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Normally distributed numbers, rounded to the type."""
    numbers = np.random.default_rng(seed).standard_normal(tuple(shape), dtype=np.float32) * np.float32(scale)
    return numbers.astype(numpy_type(dtype))


def largest_error(got: np.ndarray, expected: np.ndarray, floor: float = 0.0) -> float:
    """The largest error, relative to the expected number, or to `floor` where that is larger. A NaN never passes."""
    difference = np.abs(np.asarray(got, np.float64) - expected)
    error = difference / np.maximum(np.abs(expected), max(floor, np.finfo(np.float64).tiny))
    return float(np.max(error)) if np.isfinite(error).all() else float("inf")


# -- where to run


def fits_gpu(arch: str, capability: tuple[int, int]) -> bool:
    """Whether a GPU of that compute capability runs code for `arch`: sm_90a only 9.0, sm_80 every later one too."""
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", arch)
    if match is None:
        return False
    wanted = (int(match[1]), int(match[2]))
    if match[3] == "a":
        return capability == wanted
    if match[3] == "f":
        return capability[0] == wanted[0] and capability >= wanted
    return capability >= wanted


def torch_with_gpu(arch: str) -> Any | None:
    """torch, if it is installed and sees a GPU for `arch`."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() and fits_gpu(arch, torch.cuda.get_device_capability()) else None


def jax_gpu(arch: str) -> Any | None:
    """JAX's first GPU, if JAX is installed and it is one for `arch`."""
    try:
        import jax

        device = jax.devices("cuda")[0]
    except (ImportError, RuntimeError):
        return None
    major, _, minor = str(device.compute_capability).partition(".")
    return device if fits_gpu(arch, (int(major), int(minor))) else None


def on_gpu(arch: str) -> bool:
    """Whether `run` will run a kernel for `arch` on a GPU."""
    return torch_with_gpu(arch) is not None or jax_gpu(arch) is not None


def to_torch(array: np.ndarray) -> Any:
    """The numpy array as a torch tensor on the GPU. torch takes no numpy bfloat16: it goes by way of its bits."""
    import torch

    small = {"bfloat16": torch.bfloat16, "float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2}
    if array.dtype.name in small:
        bits = torch.from_numpy(array.view(np.int16 if array.itemsize == 2 else np.uint8).copy())
        return bits.view(small[array.dtype.name]).cuda()
    return torch.from_numpy(array.copy()).cuda()


def from_torch(tensor: Any) -> np.ndarray:
    """The tensor as numpy, bfloat16 and float8 as float32: exactly."""
    import torch

    small = (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
    result: np.ndarray = (tensor.float() if tensor.dtype in small else tensor).cpu().numpy()
    return result


def torch_microseconds(call: Callable[[], Any], calls: int = 20) -> float:
    """Microseconds a call takes on the GPU, on average over calls in a row, by CUDA events."""
    import torch

    for _ in range(3):
        call()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e3 / calls


def run(kernel: Kernel, *inputs: np.ndarray) -> tuple[list[np.ndarray] | None, str, float | None]:
    """Runs the kernel: its outputs (None: it was only assembled), where it ran, and microseconds if torch measured them."""
    if torch_with_gpu(kernel.arch) is not None:
        import torch

        tensors = [to_torch(array) for array in inputs]
        outputs = kernel(*tensors)
        listed = outputs if isinstance(outputs, tuple) else (outputs,)
        took = torch_microseconds(lambda: kernel(*tensors))
        return [from_torch(tensor) for tensor in listed], f"{torch.cuda.get_device_name()}, torch", took
    device = jax_gpu(kernel.arch)
    if device is not None:
        import jax

        outputs = jax.jit(lambda *arrays: kernel(*arrays))(*(jax.device_put(array, device) for array in inputs))
        listed = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
        return [np.asarray(array) for array in listed], f"{device.device_kind}, JAX", None
    try:
        outputs = kernel(*inputs)
    except PtxError as error:
        if error.kind != "not_executed":  # only a GPU runs it
            raise
        return None, assembled(kernel), None
    return list(outputs if isinstance(outputs, tuple) else (outputs,)), "executor", None


def assembled(kernel: Kernel) -> str:
    """What ptxas says of the kernel, where there is a ptxas."""
    try:
        resources = kernel.resources()
    except PtxError as error:
        if error.kind != "no_tool":
            raise
        kernel.ptx()
        return f"written and checked only: no GPU for {kernel.arch} and no ptxas here"
    return f"assembled only, no GPU for {kernel.arch} here: {resources}"


def run_and_compare(
    kernel: Kernel,
    shape: str,
    inputs: Sequence[np.ndarray],
    expected: np.ndarray,
    *,
    tolerance: float,
    floor: float = 0.0,
    operations: int = 0,
) -> Result:
    """Runs a kernel of one output and holds it to `expected`. AssertionError when it is further off than `tolerance`."""
    outputs, where, took = run(kernel, *inputs)
    if outputs is None or not kernel.out_specs:
        return Result(shape, where)
    error = largest_error(outputs[0], expected, floor)
    assert error <= tolerance, f"{kernel!r} {shape} on {where}: error {error:.2e}, more than {tolerance:.2e}"
    moved = sum(array.nbytes for array in inputs) + expected.size * kernel.out_specs[0].dtype.bits // 8
    return Result(shape, where, error, took, moved, operations)


def print_table(name: str, results: Iterable[Result]) -> None:
    """A line a result: shape, error, where it ran; of timed runs microseconds and GB/s, or TFLOP/s where operations are known."""
    print(name)
    for r in results:
        line = f"  {r.shape:<28}"
        if r.error is not None:
            line += f" error {r.error:.1e}"
        if r.microseconds is not None:
            rate = f"{r.operations / r.microseconds / 1e6:7.1f} TFLOP/s" if r.operations else ""
            line += f"  {r.microseconds:9.1f} us  {rate or f'{r.bytes_moved / r.microseconds / 1e3:7.0f} GB/s'}"
        print(f"{line}  {r.where}", flush=True)
