"""What working with the project costs: importing pyptx, including the authoring header, rebuilding after an edit, tracing.

python bench/developer_costs.py [--build build/release] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = ("numpy", "jax", "jaxlib", "torch", "cuda")


def seconds(command: list[str], **options: object) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, **options)  # type: ignore[call-overload]
    return time.perf_counter() - begin


def import_cost() -> dict[str, object]:
    """Milliseconds of `import pyptx` in a fresh process, beyond an empty one, and which heavy packages it brought."""
    probe = (
        "import sys, time; b = time.perf_counter(); import pyptx; t = time.perf_counter() - b; "
        f"print(t * 1e3, *[m for m in {HEAVY!r} if m in sys.modules])"
    )
    times, heavy = [], []
    for _ in range(11):
        done = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True, cwd=ROOT)
        first, *heavy = done.stdout.split()
        times.append(float(first))
    return {"import_pyptx_ms": round(statistics.median(times), 1), "import_brings": heavy}


def include_cost(build: Path) -> dict[str, object]:
    """Seconds to read the whole authoring header with every row of the table."""
    source = build / "include_cost.cpp"
    source.write_text("#include <ptx/write/write.hpp>\nint main() {}\n")
    command = ["g++", "-std=c++20", "-O0", "-fsyntax-only", "-I", str(ROOT), "-I", str(build / "generated"), str(source)]
    return {"include_authoring_header_s": round(statistics.median(seconds(command) for _ in range(3)), 2)}


def rebuild_cost(build: Path) -> dict[str, object]:
    """Seconds of `cmake --build` after touching one source file of one room."""
    costs = {}
    for file in ("ptx/write/emit.cpp", "ptx/vgpu/ops/floating.cpp", "ptx/check/check.cpp", "ptx/launch/image.cpp"):
        (ROOT / file).touch()
        costs[file] = round(seconds(["cmake", "--build", str(build)]), 1)
    return {"rebuild_after_touching_s": costs}


def trace_cost() -> dict[str, object]:
    """Microseconds of tracing, checking and printing, per instruction, of an unrolled kernel."""
    from pyptx import kernel, ptx, reg
    from pyptx.types import f32

    @kernel(arch="sm_90a")
    def unrolled(*, n=10_000):
        acc, x = reg.scalar(f32, init=0.0), reg.scalar(f32, init=1.0)
        for _ in range(n):
            ptx.inst.fma.rn.f32(acc, x, x, acc)
        ptx.ret()

    unrolled.ptx(n=100)
    costs = {}
    for n in (1_000, 10_000, 100_000):
        begin = time.perf_counter()
        unrolled.ptx(n=n)
        costs[str(n)] = round((time.perf_counter() - begin) / n * 1e6, 3)
    return {"trace_check_print_us_per_instruction": costs}


def call_cost() -> dict[str, object]:
    """Nanoseconds that a kernel's call with three tensors spends before its launch plan, a Python function in its place here."""
    from pyptx import Tile, kernel
    from pyptx.types import f32

    @kernel(in_specs=[Tile(32, f32)] * 3, out_specs=[Tile(32, f32)], grid=1)
    def nothing(a, b, c, out): ...

    def cost(function: Callable[[float, float, float], object]) -> float:
        return min(timeit.repeat(lambda: function(1.0, 2.0, 3.0), number=200_000, repeat=5)) / 200_000 * 1e9

    def plan(a: float, b: float, c: float, out: object = None) -> None:
        return None

    nothing._plan = plan
    return {"call_before_the_plan_ns": round(cost(nothing) - cost(plan))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found: dict[str, object] = {}
    build = args.build.resolve()
    for measure in (import_cost, trace_cost, call_cost, lambda: include_cost(build), lambda: rebuild_cost(build)):
        part = measure()
        for name, value in part.items():
            print(f"{name}: {value}")
        found |= part
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
