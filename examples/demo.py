"""The main job, shown: one kernel, its PTX, what ptxas says of it, and a table of every way to run it on this machine.

``./dev demo`` builds the project and runs this. Exit status 1 when any row is wrong.
"""

from __future__ import annotations

import argparse
import inspect
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from examples.hopper import rms_norm as example

ROWS, COLUMNS, TOLERANCE = 16, 512, 1e-6


@dataclass
class Row:
    """One way to run the kernel: where, how far from float64, how long a call takes; or why it could not be run."""

    route: str
    device: str
    error: float | None = None
    microseconds: float | None = None
    note: str = ""

    @property
    def wrong(self) -> bool:
        return self.error is not None and not self.error < TOLERANCE


def relative_error(got: Any, expected: np.ndarray) -> float:
    """Largest elementwise relative error; NaN never passes."""
    return float(np.max(np.abs(np.asarray(got, np.float64) - expected) / np.abs(expected)))


def median_call(call: Callable[[], Any], wait: Callable[[Any], Any] = lambda out: out, calls: int = 20) -> float:
    """Median microseconds of a call until its result is there, after one warm-up."""
    wait(call())
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        wait(call())
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def numpy_rows(kernel: Any, x: np.ndarray, w: np.ndarray, expected: np.ndarray) -> list[Row]:
    return [Row("numpy", "executor", relative_error(kernel(x, w), expected), median_call(lambda: kernel(x, w)))]


def jax_rows(kernel: Any, x: np.ndarray, w: np.ndarray, expected: np.ndarray) -> list[Row]:
    try:
        import jax
    except ImportError:
        return [Row("jax.jit", "-", note="jax is not installed")]
    rows = []
    for platform in ("cpu", "cuda"):
        try:
            device = jax.devices(platform)[0]
        except RuntimeError:
            rows.append(Row("jax.jit", "GPU", note="jax sees no GPU here"))
            continue
        call = jax.jit(lambda a, b: kernel(a, b))
        a, b = jax.device_put(x, device), jax.device_put(w, device)
        error = relative_error(call(a, b), expected)
        took = median_call(lambda call=call, a=a, b=b: call(a, b), lambda out: out.block_until_ready())  # type: ignore[misc]
        rows.append(Row("jax.jit", "executor" if platform == "cpu" else str(device.device_kind), error, took))
    return rows


def torch_rows(kernel: Any, x: np.ndarray, w: np.ndarray, expected: np.ndarray) -> list[Row]:
    try:
        import torch
    except ImportError:
        return [Row("torch", "-", note="torch is not installed")]
    a, b = torch.from_numpy(x), torch.from_numpy(w)
    rows = [Row("torch", "executor", relative_error(kernel(a, b), expected), median_call(lambda: kernel(a, b)))]
    if not torch.cuda.is_available():
        return [*rows, Row("torch", "GPU", note="torch sees no GPU here")]
    a, b = a.cuda(), b.cuda()
    error = relative_error(kernel(a, b).cpu(), expected)
    took = median_call(lambda: kernel(a, b), lambda _: torch.cuda.synchronize())
    return [*rows, Row("torch", torch.cuda.get_device_name(), error, took)]


def cpp_rows(program: Path | None, text: str) -> list[Row]:
    """Runs the C++ twin, which compares with float64 itself, and holds its PTX to the Python kernel's."""
    if program is None or not program.exists():
        return [Row("C++", "-", note="the C++ example is not built (./dev demo builds it)")]
    printed = subprocess.run([program, "--ptx"], capture_output=True, text=True, check=True).stdout
    if printed != text:
        return [Row("C++", "-", error=float("nan"), note="its PTX differs from the Python kernel's")]
    done = subprocess.run([program, "--json"], capture_output=True, text=True, check=False)
    rows = []
    for line in done.stdout.splitlines():
        r = json.loads(line)
        rows.append(Row("C++", r["device"], r.get("max_relative_error"), r.get("microseconds"), r.get("note", "")))
    if done.returncode != 0:
        rows.append(Row("C++", "-", error=float("nan"), note=done.stderr.strip()))
    return rows


def show_kernel(console: Console, text: str) -> None:
    source = inspect.getsource(example.build_rms_norm)
    python = Syntax(source, "python", background_color="default")
    console.print(Panel(python, title="the kernel, examples/hopper/rms_norm.py", title_align="left"))
    lines = text.splitlines()
    head, tail = lines[:34], lines[-6:]
    shown = "\n".join([*head, f"\t// … {len(lines) - len(head) - len(tail)} more lines …", *tail])
    ptx = Syntax(shown, "ptx", background_color="default", tab_size=4)
    console.print(Panel(ptx, title="its PTX, kernel.ptx()", title_align="left"))


def show_verdict(console: Console, kernel: Any) -> None:
    """What ptxas makes of the text: registers, spills, and the size of the machine code."""
    try:
        report = kernel.resources()
    except RuntimeError as error:
        console.print(f"[yellow]ptxas:[/] {str(error).splitlines()[0]}")
        return
    console.print(
        f"[green]ptxas accepts it[/]: {report['registers']} registers, {report['spill_stores']} bytes of spill stores, "
        f"{report['spill_loads']} of spill loads, for {kernel.arch}"
    )


def show_table(console: Console, rows: list[Row]) -> None:
    table = Table(title=f"RMS norm, {ROWS} x {COLUMNS}, float32: every way to run it here", title_justify="left")
    table.add_column("route")
    table.add_column("device")
    table.add_column("max relative error vs float64", justify="right")
    table.add_column("time per call", justify="right")
    table.add_column("")
    for r in rows:
        if r.error is None:
            table.add_row(r.route, r.device, "-", "-", f"[dim]{r.note}[/]")
            continue
        took = "-" if r.microseconds is None else f"{r.microseconds:,.1f} us"
        table.add_row(r.route, r.device, f"{r.error:.2e}", took, f"[red]wrong {r.note}[/]" if r.wrong else "[green]right[/]")
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cpp", type=Path, help="the built examples/cpp/rms_norm")
    parser.add_argument("--json", type=Path, help="also write the rows there")
    args = parser.parse_args()

    console = Console()
    kernel = example.build_rms_norm(ROWS, COLUMNS)
    text = kernel.ptx()
    show_kernel(console, text)
    show_verdict(console, kernel)

    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    w = rng.standard_normal(COLUMNS, dtype=np.float32)
    expected = example.reference_rms_norm(x, w)
    rows: list[Row] = []
    for what, make in (
        ("numpy", lambda: numpy_rows(kernel, x, w, expected)),
        ("jax", lambda: jax_rows(kernel, x, w, expected)),
        ("torch", lambda: torch_rows(kernel, x, w, expected)),
        ("C++", lambda: cpp_rows(args.cpp, text)),
    ):
        with console.status(f"running from {what} …"):
            rows += make()
    show_table(console, rows)
    if kernel.ptx() != text:
        console.print("[red]the PTX changed between calls[/]")
        return 1
    if args.json:
        args.json.write_text(json.dumps([vars(r) for r in rows], indent=1))
    wrong = [r for r in rows if r.wrong]
    console.print("[red]some rows are wrong[/]" if wrong else "[green]every row that ran is right[/]")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
