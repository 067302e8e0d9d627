"""What a call of a kernel costs the host, beside torch's own: an RMS norm with all checks and a fresh output, and torch.add.

python bench/torch_launch.py [--calls N] [--json FILE]

Each route is called in short bursts, the GPU's queue emptied between them outside the clock, so that no launch waits for room;
the routes take turns, so that a change of the machine's pace hits them all. Medians of the bursts.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BURST = 100  # calls between two synchronisations: far below the 1024 launches that the driver queues


def measure(routes: dict[str, Callable[[], Any]], calls: int, synchronize: Callable[[], Any]) -> dict[str, float]:
    """Nanoseconds a call, by route."""
    times: dict[str, list[float]] = {name: [] for name in routes}
    for call in routes.values():
        for _ in range(3 * BURST):
            call()
        synchronize()
    gc.collect()
    gc.disable()
    for _ in range(max(1, calls // BURST)):
        for name, call in routes.items():
            synchronize()
            begin = time.perf_counter_ns()
            for _ in range(BURST):
                call()
            times[name].append((time.perf_counter_ns() - begin) / BURST)
    gc.enable()
    return {name: statistics.median(bursts) for name, bursts in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000, help="of each route (default %(default)s)")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("torch_launch: torch is not installed; nothing measured")
        return 0
    if not torch.cuda.is_available():
        print("torch_launch: no NVIDIA GPU; nothing measured")
        return 0
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
    from rms_norm import build_rms_norm

    kernel = build_rms_norm(16, 512)
    x, w = torch.randn(16, 512, device="cuda"), torch.randn(512, device="cuda")
    out = torch.empty_like(x)
    kernel(x, w)
    plan = kernel._plan
    routes: dict[str, Callable[[], Any]] = {
        "torch.add": lambda: torch.add(x, x),
        "kernel(x, w)": lambda: kernel(x, w),
        "kernel._plan(x, w)": lambda: plan(x, w),
        "torch.add(out=)": lambda: torch.add(x, x, out=out),
        "torch.empty_like": lambda: torch.empty_like(x),
        "torch rms_norm": lambda: torch.nn.functional.rms_norm(x, (512,), w, 1e-6),
    }
    nanoseconds = measure(routes, options.calls, torch.cuda.synchronize)
    base = nanoseconds["torch.add"]
    figures = {name: {"ns": round(ns), "x_torch_add": round(ns / base, 3)} for name, ns in nanoseconds.items()}
    report = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "python": sys.version.split()[0],
        "routes": figures,
    }
    print(f"{report['gpu']}, torch {report['torch']}, Python {report['python']}: host cost of a call, medians")
    for name, figure in figures.items():
        print(f"  {name:20} {figure['ns']:7} ns   {figure['x_torch_add']:5.2f} x torch.add")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
