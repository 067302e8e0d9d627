"""The examples on the executor in every kind of order: early, late, and 32 random ones find nothing, and give the same bits."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("ml_dtypes")

from examples.running import random_array

import pyptx
from pyptx import executor
from pyptx.types import bf16, f32

SEEDS = 32


def example(path: str) -> Any:
    return importlib.import_module(f"examples.{path}")


def arrays(*shapes: tuple[int, ...], dtype: Any = bf16) -> list[Any]:
    return [random_array(shape, dtype, seed=i) for i, shape in enumerate(shapes)]


def rows(folder: str, name: str) -> tuple[pyptx.Kernel, list[Any]]:
    weights = {"rms_norm": [(512,)], "layer_norm": [(512,), (512,)], "softmax": [], "swiglu": [(3, 512)]}[name]
    return getattr(example(f"{folder}.{name}"), f"build_{name}")(3, 512), arrays((3, 512), *weights, dtype=f32)


ROWS = [
    (folder, name) for folder in ("ampere", "hopper", "blackwell") for name in ("rms_norm", "layer_norm", "softmax", "swiglu")
]
CASES: dict[str, Callable[[], tuple[pyptx.Kernel, list[Any]]]] = {
    **{f"{folder}.{name}": lambda folder=folder, name=name: rows(folder, name) for folder, name in ROWS},  # type: ignore[misc]
    "ampere.gemm": lambda: (example("ampere.gemm").build_gemm(128, 128, 96), arrays((128, 96), (96, 128))),
    "hopper.gemm": lambda: (example("hopper.gemm_highperf_hopper").gemm_warp_specialized, arrays((256, 320), (256, 320))),
    "hopper.grouped_gemm": lambda: (
        example("hopper.grouped_gemm").build_grouped_gemm(2, 64, 64, 192),
        arrays((128, 192), (384, 64)),
    ),
    "hopper.attention": lambda: (
        example("hopper.experimental.flash_attention_hopper").build_flash_attention(1, 1, 256, 64),
        arrays(*[(1, 1, 256, 64)] * 3),
    ),
    "hopper.attention, causal": lambda: (
        example("hopper.experimental.flash_attention_hopper").build_flash_attention(1, 1, 256, 64, True),
        arrays(*[(1, 1, 256, 64)] * 3),
    ),
    "blackwell.gemm": lambda: (
        example("blackwell.gemm_highperf_blackwell").build_gemm(200, 264, 328),
        arrays((200, 328), (264, 328)),
    ),
    "blackwell.gemm_2sm": lambda: (
        example("blackwell.gemm_highperf_blackwell").build_gemm_2sm(200, 264, 328),
        arrays((200, 328), (264, 328)),
    ),
    "blackwell.grouped_gemm": lambda: (
        example("blackwell.grouped_gemm").build_grouped_gemm(2, 128, 64, 192),
        arrays((256, 192), (384, 64)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_found_and_the_bits_are_the_same(name: str) -> None:
    kernel, inputs = CASES[name]()
    result = executor.sweep(kernel, *inputs, seeds=SEEDS)
    assert len(result.runs) == 2 + SEEDS and not any(run.fault for run in result.runs)
    assert (list(result.findings), result.outputs_differ) == ([], False), str(result)
