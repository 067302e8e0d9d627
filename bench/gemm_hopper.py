"""The Hopper matrix product of the examples beside cuBLAS, compiled by every ptxas of this machine and by the driver, in one run.

python bench/gemm_hopper.py [--sizes 4096 8192] [--rounds N] [--ptxas PATH ...] [--json FILE]

Each compiler's code is an arm of its own, cuBLAS (torch.matmul) one more. An arm's launches go over several sets of random
matrices, more of them than the L2 cache holds, in one CUDA graph; the arms take turns, so that a change of the clocks hits them
all, and a round's ratio is cuBLAS's time over the arm's: above 1 the arm is the faster one. Medians, and the range in which 10 to
90 % of the rounds lie.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyptx import Kernel, PtxError, PtxWarning, _ptx

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))
EXAMPLE = REPOSITORY / "examples" / "hopper" / "gemm_highperf_hopper.py"
NAME = "gemm_warp_specialized"
LAUNCHES = 6  # in a graph
ROTATED = 256 << 20  # bytes of the sets together at least: several times the L2 cache


def fresh_kernel(number: int) -> Kernel:
    """The example's kernel under a name of its own, so that no arm finds another's code loaded."""
    source = EXAMPLE.read_text().replace(f"def {NAME}(", f"def {NAME}_{number}(")
    scope: dict[str, Any] = {"__name__": f"{NAME}_{number}", "__file__": str(EXAMPLE), "__package__": "examples.hopper"}
    exec(compile(source, str(EXAMPLE), "exec"), scope)
    found: Kernel = scope[f"{NAME}_{number}"]
    return found


def compilers(more: list[str]) -> list[tuple[str, dict[str, str]]]:
    """What each is called, and the environment that chooses it."""
    found: list[tuple[str, dict[str, str]]] = []
    seen: set[str] = set()
    for path, version in [*_ptx.found_ptxas(), *((path, _ptx.ptxas_version(path)) for path in more)]:
        release = next((word for word in version.replace(",", " ").split() if word.startswith("V")), "V?")[1:]
        if release in seen:
            continue  # the same program in two places
        seen.add(release)
        found.append((f"ptxas {release}", {"PYPTX_PTXAS": path}))
    return [*found, ("the driver", {"PYPTX_JIT": "driver"})]


def load(torch: Any, number: int, environment: dict[str, str]) -> tuple[Kernel, list[str]]:
    """A kernel that this compiler made, and what it said."""
    kernel = fresh_kernel(number)
    kept = {name: os.environ.get(name) for name in ("PYPTX_PTXAS", "PYPTX_JIT", "PYPTX_CACHE_DIR")}
    os.environ |= environment | {"PYPTX_CACHE_DIR": "off"}
    try:
        small = torch.zeros(256, 256, device="cuda", dtype=torch.bfloat16)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", PtxWarning)
            kernel(small, small)
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    return kernel, [str(warning.message).splitlines()[0] for warning in said]


def graph_of(torch: Any, call: Callable[..., Any], sets: list[Any]) -> Any:
    """A graph of LAUNCHES launches, over the sets in turn."""
    for operands in sets:
        call(*operands)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(LAUNCHES):
            call(*sets[i % len(sets)])
    return graph


def check(torch: Any, call: Callable[..., Any], operands: Any) -> float:
    """The relative error against f32 sums, over an output that was poisoned."""
    a, b, c = operands
    c.fill_(float("nan"))
    call(a, b, c)
    torch.backends.cuda.matmul.allow_tf32 = False
    worst, total = 0.0, 0.0
    for begin in range(0, a.shape[0], 1024):  # a slice of rows at a time
        expected = a[begin : begin + 1024].float() @ b.float().t()
        worst += float((c[begin : begin + 1024].float() - expected).square().sum())
        total += float(expected.square().sum())
    error = float((worst / total) ** 0.5)
    assert error < 4e-3, f"relative error {error:.1e}"
    return error


def measure(torch: Any, size: int, arms: dict[str, Callable[..., Any]], rounds: int) -> dict[str, Any]:
    count = max(2, -(-ROTATED // (3 * 2 * size * size)))
    sets = [
        (
            *(torch.randn(size, size, device="cuda").bfloat16() for _ in range(2)),
            torch.empty(size, size, device="cuda").bfloat16(),
        )
        for _ in range(count)
    ]
    for name, call in arms.items():
        print(f"  {name:16} relative error {check(torch, call, sets[0]):.1e}")
    graphs = {name: graph_of(torch, call, sets) for name, call in arms.items()}
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times: dict[str, list[float]] = {name: [] for name in arms}
    for turn in range(rounds + 3):
        for name, graph in graphs.items():
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            if turn >= 3:  # clocks and caches have settled
                times[name].append(begin.elapsed_time(end) * 1e3 / LAUNCHES)
    report = {}
    for name, took in times.items():
        ratios = sorted(peer / own for peer, own in zip(times["cuBLAS"], took, strict=True))
        low, high = ratios[len(ratios) // 10], ratios[len(ratios) * 9 // 10]
        median, microseconds = statistics.median(ratios), statistics.median(took)
        print(
            f"  {size:5}  {name:16} {microseconds:8.1f} us  {2 * size**3 / microseconds / 1e6:6.1f} TFLOP/s   "
            f"{median:6.3f} of cuBLAS  ({low:.3f} to {high:.3f})",
            flush=True,
        )
        report[name] = {"us": round(microseconds, 1), "ratio": round(median, 4), "from": round(low, 4), "to": round(high, 4)}
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[4096, 8192], help="M = N = K (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=50, help="(default %(default)s)")
    parser.add_argument("--ptxas", nargs="*", default=[], help="more of them than are found")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("gemm_hopper: torch is not installed; nothing measured")
        return 0
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        print("gemm_hopper: no Hopper GPU; nothing measured")
        return 0
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}")
    arms: dict[str, Callable[..., Any]] = {"cuBLAS": lambda a, b, c: torch.matmul(a, b.t(), out=c)}
    said: dict[str, list[str]] = {}
    for number, (name, environment) in enumerate(compilers(options.ptxas)):
        try:
            kernel, said[name] = load(torch, number, environment)
        except PtxError as error:
            print(f"  {name}: does not make it: {str(error).splitlines()[0]}")
            continue
        arms[name] = lambda a, b, c, kernel=kernel: kernel(a, b, out=c)
        print(f"  {name:16} {environment.get('PYPTX_PTXAS', '')}")
        for warning in said[name]:
            print(f"    {warning}")
    report: dict[str, Any] = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "said": said}
    for size in options.sizes:
        report[str(size)] = measure(torch, size, arms, options.rounds)
        torch.cuda.empty_cache()
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
