"""Linear and cross-entropy in one, forward and backward, beside torch; measured by bench/kernels.py."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from pyptx import kernels


class LossCell(NamedTuple):
    """Rows [rows, k] and a weight [classes, k]; the mean loss and the gradients of both, or the loss alone."""

    rows: int
    k: int
    classes: int
    gradient: bool = True
    chunk: int | None = None
    operation: str = "linear_cross_entropy"
    dtype: str = "bfloat16"

    def __str__(self) -> str:
        kind = "forward and backward" if self.gradient else "forward"
        chunk = "" if self.chunk is None else f" by {self.chunk} rows"
        return f"{self.operation} {self.rows}x{self.k}x{self.classes} {self.dtype} {kind}{chunk}"


def loss_cells() -> list[LossCell]:
    return [
        LossCell(4096, 4096, 128256), LossCell(4096, 4096, 128256, False), LossCell(8192, 4096, 128256),
        LossCell(4096, 4096, 128256, chunk=1024), LossCell(4096, 4096, 128256, chunk=2048),
    ]  # fmt: skip


class _Call:
    """A call that is repeated as a CUDA graph is: backwards allocate, and 15 ms hide what the host does."""

    def __init__(self, call: Callable[..., Any], sets: list[Any]) -> None:
        self.call, self.sets = call, sets

    def replay(self) -> None:
        for inputs in self.sets:
            self.call(*inputs)


REST = 0.05  # seconds between calls that are measured by themselves


def _with_rests(torch: Any, call: _Call, rounds: int) -> list[float]:
    """Microseconds of calls between which the GPU rests, so that power does not lower its clocks."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        time.sleep(REST)
        begin.record()
        call.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return times


def measure_loss(torch: Any, cell: LossCell, rounds: int, chosen_alone: bool, most: int, tools: Any) -> dict[str, Any]:
    started = time.monotonic()
    functional = torch.nn.functional

    def theirs(x: Any, weight: Any, target: Any) -> Any:
        return functional.cross_entropy((x @ weight.mT).float(), target)

    def of(loss: Callable[..., Any]) -> Callable[..., Any]:
        def call(x: Any, weight: Any, target: Any) -> Any:
            if not cell.gradient:
                with torch.no_grad():
                    return (loss(x, weight, target),)
            found = loss(x, weight, target)
            return found.detach(), *torch.autograd.grad(found, (x, weight))

        return call

    sets = []
    for _ in range(2):
        x = torch.randn(cell.rows, cell.k, device="cuda", dtype=torch.bfloat16)
        weight = torch.randn(cell.classes, cell.k, device="cuda", dtype=torch.bfloat16) * cell.k**-0.5
        target = torch.randint(0, cell.classes, (cell.rows,), device="cuda")
        sets.append((x.requires_grad_(), weight.requires_grad_(), target))
    torch._dynamo.reset()
    peers = {"torch": of(theirs), "compile": of(torch.compile(theirs, mode="max-autotune-no-cudagraphs", dynamic=False))}
    own = of(lambda x, w, t: kernels.linear_cross_entropy(x, w, t, chunk=cell.chunk))
    products = 3 if cell.gradient else 1
    report: dict[str, Any] = {
        "cell": str(cell), **cell._asdict(), "chosen": cell.operation,
        "bytes": 2 * products * (cell.rows + cell.classes) * cell.k, "FLOP": 2 * products * cell.rows * cell.k * cell.classes,
    }  # fmt: skip
    expected, found = peers["torch"](*sets[0]), own(*sets[0])
    worst = max(float((a.float() - b.float()).abs().max() / b.float().abs().max()) for a, b in zip(found, expected, strict=True))
    report["error"] = worst
    del expected, found
    if not worst < tools.TOLERANCE[cell.dtype]:
        print(f"  WRONG: error {worst:.1e}", flush=True)
        return report
    calls = {cell.operation: _Call(own, sets)} | {name: _Call(call, sets) for name, call in peers.items()}
    for call in calls.values():
        call.replay()
    torch.cuda.synchronize()
    tools.report_race(torch, report, calls, peers, len(sets), rounds)
    report["alone_us"] = round(statistics.median(_with_rests(torch, _Call(own, sets[:1]), rounds)), 1)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    own(*sets[0])
    report["peak_MiB"] = (torch.cuda.max_memory_allocated() - before) >> 20
    print(f"    by itself {report['alone_us']:,} us; at most {report['peak_MiB']:,} MiB beside the arguments", flush=True)
    report["seconds"] = round(time.monotonic() - started, 1)
    return report
