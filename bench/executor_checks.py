"""What each level of checks of a run costs: examples on the executor, the levels taking turns; medians of the processor's time,
which what else the machine does changes little.

python bench/executor_checks.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.ampere import gemm as ampere_gemm
from examples.hopper import gemm_highperf_hopper as hopper_gemm
from examples.hopper import rms_norm
from examples.hopper.experimental import flash_attention_hopper as attention
from examples.running import random_array

from pyptx import Kernel
from pyptx.executor import Checks
from pyptx.types import bf16

ROUNDS = 15


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    return [random_array(shape, bf16, seed=i) for i, shape in enumerate(shapes)]


def cases() -> dict[str, tuple[Kernel, list[Any]]]:
    rows = np.random.default_rng(0).standard_normal((64, 4096)).astype(np.float32)
    return {
        "rms_norm 64 x 4096 f32": (rms_norm.build_rms_norm(64, 4096), [rows, np.ones(4096, np.float32)]),
        "ampere gemm 128 x 128 x 512": (ampere_gemm.build_gemm(128, 128, 512), arrays((128, 512), (512, 128))),
        "hopper gemm 256 x 512 x 1024": (hopper_gemm.gemm_warp_specialized, arrays((256, 1024), (512, 1024))),
        "attention 1 x 1 x 1024 x 64": (attention.build_flash_attention(1, 1, 1024, 64), arrays(*[(1, 1, 1024, 64)] * 3)),
    }


def seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {}
    for name, (kernel, inputs) in cases().items():
        times: dict[Checks, list[float]] = {"off": [], "cheap": [], "full": []}
        kernel(*inputs)
        for _ in range(ROUNDS):
            for level, measured in times.items():
                measured.append(seconds(partial(kernel.simulate, *inputs, checks=level)))
        medians = {level: statistics.median(measured) for level, measured in times.items()}
        results[name] = medians
        told = [f"{level} {median * 1e3:8.2f} ms {median / medians['off']:5.2f} times" for level, median in medians.items()]
        print(f"{name:30} {'   '.join(told)}")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
