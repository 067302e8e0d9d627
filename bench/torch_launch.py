"""What a call of a kernel costs the host, beside torch's, cuda.core's and JAX's own calls, in one run.

python bench/torch_launch.py [--calls N] [--only PART ...] [--json FILE]

Each route is called in short bursts, the GPU's queue emptied between them outside the clock, so that no launch waits for room;
the routes of a table take turns, so that a change of the machine's pace hits them all. Medians of the bursts. The kernel is
D = A * B + C on 16 x 512 floats, with all checks; its `programmatic` twin waits with griddepcontrol.wait and may start early.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pyptx import Kernel, Tile, kernel, ptx, reg
from pyptx.types import f32, u32

BURST = 100  # calls between two synchronisations: far below the 1024 launches that the driver queues
ROWS, COLUMNS, BLOCK = 16, 512, 128
Routes = dict[str, Callable[[], Any]]


def elementwise(inputs: int, **more: Any) -> Kernel:
    """D = A * B + C for three inputs, A * B for two; the sum of any other number."""
    names = [f"X{i}" for i in range(inputs)]

    def body(*tensors: Any) -> None:
        if more.get("programmatic"):
            ptx.inst.griddepcontrol.wait()
        pointers = ptx.global_ptrs(*tensors)
        at = (reg.from_(ptx.special.ctaid.x(), u32) * BLOCK + reg.from_(ptx.special.tid.x(), u32)) * 4
        values = []
        for pointer in pointers[:-1]:
            values.append(reg.scalar(f32))
            ptx.inst.ld.global_.f32(values[-1], ptx.addr(pointer + at))
        if inputs == 3:
            ptx.inst.fma.rn.f32(values[0], *values)
        elif inputs == 2:
            ptx.inst.mul.f32(values[0], *values)
        else:
            for value in values[1:]:
                ptx.inst.add.f32(values[0], values[0], value)
        ptx.inst.st.global_.f32(ptx.addr(pointers[-1] + at), values[0])
        ptx.ret()

    # Tensors are the function's parameters, so the function is written for their number.
    arguments = ", ".join([*names, "Y"])
    scope: dict[str, Any] = {"body": body}
    exec(f"def elementwise({arguments}): body({arguments})", scope)
    tile = Tile(ROWS, COLUMNS, f32)
    make = kernel(in_specs=(tile,) * inputs, out_specs=(tile,), grid=ROWS * COLUMNS // BLOCK, block=BLOCK, **more)
    return make(scope["elementwise"])


def measure(routes: Routes, calls: int, synchronize: Callable[[], Any]) -> dict[str, float]:
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


def show(title: str, nanoseconds: dict[str, float]) -> dict[str, Any]:
    """Prints a table; the first route is what the others are compared with."""
    peer, base = next(iter(nanoseconds.items()))
    print(f"\n{title}")
    for name, ns in nanoseconds.items():
        print(f"  {name:42} {ns:8.0f} ns   {ns / base:5.2f} x {peer}")
    return {name: {"ns": round(ns), "ratio": round(ns / base, 3)} for name, ns in nanoseconds.items()}


def cuda_core_route(tensors: list[Any], text: str, entry: str) -> Callable[[], Any] | None:
    """cuda.core's bare launch of a kernel: no checks, no output of its own."""
    try:
        from cuda.core import Device, LaunchConfig, ObjectCode, launch
    except ImportError:
        return None
    device = Device()
    device.set_current()
    bare = ObjectCode.from_ptx(text.encode()).get_kernel(entry)
    config = LaunchConfig(grid=ROWS * COLUMNS // BLOCK, block=BLOCK)
    stream, addresses = device.default_stream, [tensor.data_ptr() for tensor in tensors]
    return lambda: launch(stream, config, bare, *addresses)


def eager(torch: Any, calls: int) -> dict[str, Any]:
    a, b, c, out = (torch.randn(ROWS, COLUMNS, device="cuda") for _ in range(4))
    muladd, early = elementwise(3), elementwise(3, programmatic=True)
    for k in (muladd, early):
        assert torch.allclose(k(a, b, c), torch.addcmul(c, a, b), rtol=1e-5, atol=1e-5)
    routes: Routes = {
        "torch.add(x, y)": lambda: torch.add(a, b),
        "torch.addcmul(c, a, b)": lambda: torch.addcmul(c, a, b),
        "kernel(a, b, c)": lambda: muladd(a, b, c),
        "kernel(a, b, c), programmatic": lambda: early(a, b, c),
        "torch.empty_like(x)": lambda: torch.empty_like(a),
    }
    report: dict[str, Any] = {
        "eager": show("eager, three inputs and an output that is allocated", measure(routes, calls, torch.cuda.synchronize))
    }
    routes = {}
    if bare := cuda_core_route([a, b, c, out], muladd.ptx(), "elementwise"):
        routes["cuda.core launch(…), the same kernel"] = bare
    names = ", ".join(f".param .u64 p{i}" for i in range(4))
    nothing = f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing({names}) {{ ret; }}"
    if bare := cuda_core_route([a, b, c, out], nothing, "nothing"):
        routes["cuda.core launch(…), an empty kernel"] = bare
    routes |= {
        "torch.add(x, y, out=)": lambda: torch.add(a, b, out=out),
        "kernel(a, b, c, out=)": lambda: muladd(a, b, c, out=out),
        "kernel(a, b, c, out=), programmatic": lambda: early(a, b, c, out=out),
    }
    report["out="] = show("with out=", measure(routes, calls, torch.cuda.synchronize))
    counts = (1, 2, 4, 6, 8)
    kernels = {n: elementwise(n) for n in counts}
    # bound one by one: a loop's lambda would see the last one only
    routes = {f"{n} inputs": (lambda k=kernels[n], t=[a] * n: k(*t, out=out)) for n in counts}  # type: ignore[misc]
    grown = measure(routes, calls, torch.cuda.synchronize)
    report["growth"] = show("growth with the number of tensors, out=", grown)
    slope = (grown["8 inputs"] - grown["1 inputs"]) / 7
    print(f"  a tensor more: {slope:.0f} ns")
    report["ns_a_tensor"] = round(slope)
    return report


def compiled(torch: Any, calls: int) -> dict[str, Any]:
    a, b, c = (torch.randn(ROWS, COLUMNS, device="cuda") for _ in range(3))
    multiply, muladd = elementwise(2), elementwise(3)
    report = {}
    for mode in ("default", "max-autotune-no-cudagraphs"):
        torch._dynamo.reset()
        product = torch.compile(lambda x, y: x * y, mode=mode, fullgraph=True)
        same = torch.compile(lambda x, y: multiply(x, y), mode=mode, fullgraph=True)
        ours = torch.compile(lambda x, y, z: muladd(x, y, z), mode=mode, fullgraph=True)
        with torch.no_grad():
            assert torch.equal(same(a, b), a * b)
            assert torch.allclose(ours(a, b, c), torch.addcmul(c, a, b), rtol=1e-5, atol=1e-5)
            routes: Routes = {
                "torch.compile(a * b)": partial(product, a, b),
                "torch.compile(kernel(a, b))": partial(same, a, b),
                "torch.compile(kernel(a, b, c))": partial(ours, a, b, c),
            }
            report[mode] = show(f"torch.compile, {mode}", measure(routes, calls // 4, torch.cuda.synchronize))
    return report


def jitted(calls: int) -> dict[str, Any]:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        import jax

        device = jax.devices("cuda")[0]
    except (ImportError, RuntimeError):
        print("\nJAX with CUDA is not here: not measured")
        return {}
    x = jax.device_put(jax.numpy.ones((ROWS, COLUMNS), jax.numpy.float32), device)
    one, three = elementwise(1), elementwise(3)
    last: list[Any] = [x]
    double, ours, both = jax.jit(lambda a: a * 2), jax.jit(lambda a: one(a)), jax.jit(lambda a: three(a, a, a))

    def route(call: Callable[[Any], Any]) -> Callable[[], None]:
        def run() -> None:
            last[0] = call(x)

        return run

    routes = {"jax.jit(a * 2)": route(double), "jax.jit(kernel(a))": route(ours), "jax.jit(kernel(a, a, a))": route(both)}
    report = show("jax.jit", measure(routes, calls // 2, lambda: jax.block_until_ready(last[0])))
    return report | {"executables": executables(jax, x)}


def executables(jax: Any, x: Any) -> dict[str, int]:
    """How many programs XLA compiles for a kernel's scalar of many values: traced, and given outside of jit."""
    k = scaled()
    under_jit = jax.jit(lambda a, n: k(a, n=n))
    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))
    values = range(2, 34)
    counts = {}
    for name, call in {"a traced scalar": under_jit, "a scalar outside of jit": lambda a, n: k(a, n=n)}.items():
        jax.block_until_ready(call(x, jax.numpy.uint32(1) if call is under_jit else 1))
        compiled.clear()
        for n in values:
            y = call(x, jax.numpy.uint32(n) if call is under_jit else n)
        counts[name] = sum("backend_compile" in event for event in compiled)
        assert (y == x * values[-1]).all()
        print(f"  {name}, {len(values)} values more: {counts[name]} executables more")
    return counts


def scaled() -> Kernel:
    """Y = n * X for a whole number n that comes with the call."""
    tile = Tile(ROWS, COLUMNS, f32)

    @kernel(in_specs=(tile,), out_specs=(tile,), grid=ROWS * COLUMNS // BLOCK, block=BLOCK, raw_params=[("u32", "n")])
    def scale(X, Y):  # type: ignore[no-untyped-def]
        px, py = ptx.global_ptrs(X, Y)
        at = (reg.from_(ptx.special.ctaid.x(), u32) * BLOCK + reg.from_(ptx.special.tid.x(), u32)) * 4
        value, factor = reg.scalar(f32), reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(px + at))
        ptx.inst.cvt.rn.f32.u32(factor, ptx.param(u32, "n"))
        ptx.inst.mul.f32(value, value, factor)
        ptx.inst.st.global_.f32(ptx.addr(py + at), value)
        ptx.ret()

    return scale


FIRST_CALL = """
import sys, time
sys.path[:0] = {path!r}
import torch
x = torch.ones({rows}, {columns}, device="cuda")
torch.cuda.synchronize()
begin = time.perf_counter_ns()
from torch_launch import elementwise
imported = time.perf_counter_ns()
k = elementwise(3)
y = k(x, x, x)
torch.cuda.synchronize()
done = time.perf_counter_ns()
assert (y == 2).all()
print((imported - begin) / 1e6, (done - imported) / 1e6)
"""


def first_call() -> dict[str, Any]:
    """Milliseconds of `import pyptx` and of a kernel's first call (traced, checked, loaded, run), in processes that share a disk
    cache: the first one compiles."""
    program = FIRST_CALL.format(path=[str(Path(__file__).parent), *sys.path], rows=ROWS, columns=COLUMNS)
    print("\nfirst call in a new process, milliseconds")
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for process in ("cache empty", "second process", "third process", "fourth process"):
            environment = {**os.environ, "PYPTX_CACHE_DIR": folder}
            done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
            imported, call = map(float, done.stdout.split())
            print(f"  {process:16} import pyptx {imported:6.1f}   kernel's first call {call:6.1f}")
            found.append({"import_ms": round(imported, 2), "first_call_ms": round(call, 2)})
    return {"processes": found}


def summarise(report: dict[str, Any]) -> None:
    """The figures that the project holds itself to, and what this run saw."""
    rows: list[tuple[str, float, float]] = []
    if "eager" in report:
        out, bare = report["out="], "cuda.core launch(…), the same kernel"
        rows.append(("eager, of torch.add", report["eager"]["kernel(a, b, c)"]["ratio"], 0.75))
        if bare in out:
            rows.append(("out=, of cuda.core's bare launch", out["kernel(a, b, c, out=)"]["ns"] / out[bare]["ns"], 1.0))
        rows.append(("a tensor more, ns", report["ns_a_tensor"], 60))
    for mode, routes in report.get("compiled", {}).items():
        for name in ("torch.compile(kernel(a, b))", "torch.compile(kernel(a, b, c))"):
            rows.append((f"{name}, {mode}, of a * b", routes[name]["ratio"], 1.0))
    if jax := report.get("jax"):
        rows.append(("jax.jit(kernel(a)), of a * 2", jax["jax.jit(kernel(a))"]["ratio"], 1.0))
        rows += [(f"executables for {name}", count, 0) for name, count in jax["executables"].items()]
    print("\nseen, and at most")
    for name, seen, most in rows:
        print(f"  {name:68} {seen:6.2f}  {most:5.2f}  {'' if seen <= most else 'MISSED'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000, help="of each route (default %(default)s)")
    parts = ("first", "eager", "compiled", "jax")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="parts of it (default: all)")
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
    report: dict[str, Any] = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "python": sys.version.split()[0],
    }
    print(f"{report['gpu']}, torch {report['torch']}, Python {report['python']}: host cost of a call, medians")
    if "first" in options.only:
        report["first_call"] = first_call()
    if "eager" in options.only:
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        report |= eager(torch, options.calls)
        os.sched_setaffinity(0, cores)  # what compiles uses all of them
    if "compiled" in options.only:
        report["compiled"] = compiled(torch, options.calls)
    if "jax" in options.only:
        report["jax"] = jitted(options.calls)
    summarise(report)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
