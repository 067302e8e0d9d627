"""Whole kernels on the executor: the Hopper matrix product and flash attention of the examples, exact and fast, beside numpy.

python bench/executor_kernels.py [--gemm 512 1024 2048] [--attention 1x4x1024x64 ...] [--rounds N] [--json FILE]

The arms take turns: `numerics="exact"`, `numerics="fast"`, and the same mathematics by numpy in float32. Seconds of the clock,
least of the rounds; what a kernel computes is held to float64 once, by the examples' own checks, before anything is timed.
Aims of a machine of two cores: 2048 x 2048 x 2048 at most 2 s fast, attention 1 x 4 x 1024 x 64 at most 1 s.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pyptx import executor
from pyptx.types import bf16

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from examples.hopper import gemm_highperf_hopper as gemm  # noqa: E402 (the examples are found by the line above)
from examples.hopper.experimental import flash_attention_hopper as attention  # noqa: E402
from examples.running import random_array  # noqa: E402

Call = Callable[[], Any]


def with_numerics(numerics: executor.Numerics, call: Call) -> Call:
    """The call, its tensor cores' sums computed so."""

    def run() -> None:
        with executor.arithmetic(numerics=numerics):
            call()

    return run


def gemm_arms(size: int) -> tuple[str, int, dict[str, Call]]:
    """The name, the floating-point operations, and the arms of a square product."""
    gemm.check(256, 256, 128)
    a, b = (random_array((size, size), bf16, seed=seed) for seed in (0, 1))
    wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)

    def run() -> Any:
        return gemm.gemm_warp_specialized(a, b)

    arms: dict[str, Call] = {"exact": with_numerics("exact", run), "fast": with_numerics("fast", run)}
    arms["numpy, float32"] = lambda: wide_a @ wide_b.T
    return f"gemm {size} x {size} x {size}", 2 * size**3, arms


def attention_arms(B: int, H: int, S: int, D: int) -> tuple[str, int, dict[str, Call]]:
    """The same of an attention that is not causal."""
    attention.check(B, H, min(S, 256), D)
    q, k, v = (random_array((B, H, S, D), bf16, seed=seed) for seed in range(3))
    wide_q, wide_k, wide_v = (x.astype(np.float32) for x in (q, k, v))
    kernel = attention.build_flash_attention(B, H, S, D)

    def run() -> Any:
        return kernel(q, k, v)

    def by_numpy() -> Any:
        scores = wide_q @ wide_k.swapaxes(-1, -2) * np.float32(D**-0.5)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights @ wide_v / weights.sum(axis=-1, keepdims=True)

    arms: dict[str, Call] = {"exact": with_numerics("exact", run), "fast": with_numerics("fast", run)}
    arms["numpy, float32"] = by_numpy
    return f"attention {B} x {H} x {S} x {D}", 4 * B * H * S * S * D, arms


def least_seconds(arms: dict[str, Call], rounds: int) -> dict[str, float]:
    """Seconds of each arm, least of the rounds, in which they take turns."""
    least = dict.fromkeys(arms, float("inf"))
    for _ in range(rounds):
        for name, call in arms.items():
            begin = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - begin)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gemm", type=int, nargs="*", default=[512, 2048], metavar="N", help="square products of these sizes")
    parser.add_argument("--attention", nargs="*", default=["1x4x1024x64"], metavar="BxHxSxD")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    measured = []
    made: list[Callable[[], tuple[str, int, dict[str, Call]]]] = [partial(gemm_arms, size) for size in options.gemm]
    made += [partial(attention_arms, *map(int, shape.split("x"))) for shape in options.attention]
    for make in made:
        name, operations, arms = make()
        seconds = least_seconds(arms, options.rounds)
        measured.append({"kernel": name, "operations": operations, "seconds": seconds})
        print(name)
        for arm, took in seconds.items():
            rate = operations / took * 1e-9
            print(f"  {arm:<16}{took:9.3f} s {rate:9.2f} GFLOP/s {took / seconds['numpy, float32']:9.1f} of numpy", flush=True)
    if options.json:
        options.json.write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()
