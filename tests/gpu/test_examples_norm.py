"""The examples that go row by row, on a GPU, over torch tensors."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU here")

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.running import fits_gpu, from_torch, largest_error  # noqa: E402

from pyptx.types import bf16, f32  # noqa: E402

ARCHS = {"hopper": "sm_90a", "ampere": "sm_80", "blackwell": "sm_100a"}
INPUTS = {"rms_norm": ("BN", "N"), "layer_norm": ("BN", "N", "N"), "softmax": ("BN",), "swiglu": ("BN", "BN")}
TORCH = {"f32": torch.float32, "bf16": torch.bfloat16}
SHAPES = [(1, 8), (3, 40), (5, 1000), (64, 512), (7, 4096), (1024, 8192), (33, 32768), (16, 131072), (8, 262144)]


def needs(folder: str) -> None:
    if not fits_gpu(ARCHS[folder], torch.cuda.get_device_capability()):
        pytest.skip(f"{torch.cuda.get_device_name()} does not run {ARCHS[folder]}")


def tensors(name: str, B: int, N: int, dtype, scale: float = 1.0) -> list:
    generator = torch.Generator(device="cuda").manual_seed(B * 1000003 + N)
    shapes = {"BN": (B, N), "N": (N,)}
    return [(torch.randn(shapes[s], generator=generator, device="cuda") * scale).to(TORCH[dtype.name]) for s in INPUTS[name]]


def compare(folder: str, name: str, B: int, N: int, dtype, inputs: list) -> None:
    example = importlib.import_module(f"examples.{folder}.{name}")
    hopper = importlib.import_module(f"examples.hopper.{name}")
    kernel = getattr(example, f"build_{name}")(B, N, dtype=dtype)
    y = kernel(*inputs)
    assert y.shape == (B, N) and y.dtype == TORCH[dtype.name] and y.device == inputs[0].device
    # the reference is numpy in float64; of a large tensor some rows, among them the first and the last
    rows = sorted({*range(0, B, max(1, B // 16)), B - 1})
    reference = getattr(example, f"reference_{name}")
    some = [from_torch(t[rows] if t.ndim == 2 else t) for t in inputs]
    assert largest_error(from_torch(y[rows]), reference(*some), hopper.FLOOR) <= hopper.TOLERANCE[dtype.name]
    again = kernel(*inputs)
    assert torch.equal(y, again)  # every bit, each time


@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
@pytest.mark.parametrize(("B", "N"), SHAPES)
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("folder", ARCHS)
def test_against_float64(folder, name, B, N, dtype) -> None:
    needs(folder)
    compare(folder, name, B, N, dtype, tensors(name, B, N, dtype))


@pytest.mark.parametrize("name", ["softmax", "swiglu"])
def test_large_numbers(name) -> None:
    needs("ampere")
    inputs = tensors(name, 64, 4096, f32, scale=30.0)
    compare("ampere", name, 64, 4096, f32, inputs)


@pytest.mark.parametrize("name", INPUTS)
def test_a_tensor_larger_than_4_gib(name) -> None:
    """Rows beyond 2**32 bytes: addresses are 64 bits wide."""
    needs("ampere")
    B, N = (1 << 32) // (32768 * 2) + 5, 32768
    need = B * N * 2 * (1 + len([s for s in INPUTS[name] if s == "BN"])) * 2
    if torch.cuda.mem_get_info()[0] < 2 * need:
        pytest.skip(f"less than {2 * need >> 30} GiB free on this GPU")
    shapes = {"BN": (B, N), "N": (N,)}
    inputs = [torch.empty(shapes[s], dtype=torch.bfloat16, device="cuda").normal_() for s in INPUTS[name]]
    compare("ampere", name, B, N, bf16, inputs)


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("folder", ARCHS)
def test_check_measures_on_the_gpu(folder, name) -> None:
    needs(folder)
    example = importlib.import_module(f"examples.{folder}.{name}")
    result = example.check(2048, 4096)
    assert result.where.endswith("torch") and result.microseconds is not None and result.microseconds > 0
