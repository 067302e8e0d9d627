"""The kernel library beside torch: every recipe of every shape, or the chosen one alone, in one run.

python bench/kernels.py [--only rms_norm gemm …] [--chosen] [--rounds N] [--long] [--json FILE]

Arms: torch's own function, the same under torch.compile (max-autotune), the library's recipes. Inputs are random; an arm's
launches go over several sets of them, more than the L2 cache holds, in one CUDA graph, and write outputs that lie apart; the arms
take turns, in another order each round, so that a change of the clocks hits them all. A round's ratio is the best peer's time
over the arm's: above 1 the arm is the faster one. Medians, and the range in which 10 to 90 % of the rounds lie. Every
arm's result is held to torch's first. Recipes are measured in a few rounds, and the best of them and the chosen one again beside
the peers. A round of an arm is one replay of its graph, a burst that power does not bound. With --long each arm has 50 ms a round
too, behind half a second of the same without a rest, as in training: ratios of what clocks a GPU can keep up.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kernel_figures import command_output

from pyptx import _ptx
from pyptx.kernels._library import kernel_of, sizes_of
from pyptx.kernels._tune import take_turns

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.losses import LossCell, loss_cells, measure_loss
from bench.products import GroupedCell, ProductCell, grouped_cells, measure_grouped, measure_product, product_cells

ROTATED = 256 << 20  # bytes of the sets together at least: several times the L2 cache
LONG_MS = 50.0
QUICK, BEST = 7, 3  # rounds of a recipe's first measurement; how many of them are measured again
TOLERANCE = {"float32": 2e-4, "float16": 8e-3, "bfloat16": 4e-2}


class Cell(NamedTuple):
    operation: str
    dtype: str
    rows: int
    columns: int
    has: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.operation} {self.rows}x{self.columns} {self.dtype} {' '.join(self.has)}".strip()


def cells() -> list[Cell]:
    """The rows of the acceptance table, and the shapes that earlier figures are of."""
    f32, bf16 = "float32", "bfloat16"
    found = [
        Cell("swiglu", bf16, 64, 14336), Cell("swiglu", bf16, 4096, 2048, ("packed",)), Cell("swiglu", bf16, 16384, 14336),
        Cell("rms_norm", bf16, 64, 8192, ("weight", "residual")), Cell("rms_norm", bf16, 16384, 4096, ("weight",)),
        Cell("rms_norm", bf16, 16384, 7168, ("weight",)), Cell("rms_norm", bf16, 131072, 128, ("weight",)),
        Cell("layer_norm", f32, 25216, 768, ("weight", "bias")), Cell("layer_norm", bf16, 4608, 3072, ("weight", "bias")),
        Cell("softmax", f32, 4096, 128256), Cell("softmax", bf16, 512, 262144),
        Cell("rms_norm_backward", bf16, 16384, 4096, ("weight",)), Cell("rms_norm_backward", bf16, 16384, 7168, ("weight",)),
        Cell("layer_norm_backward", f32, 25216, 768, ("weight", "bias")),
        Cell("swiglu_backward", bf16, 16384, 14336), Cell("softmax_backward", bf16, 16384, 4096),
        Cell("cross_entropy", bf16, 8192, 128256), Cell("cross_entropy", bf16, 8192, 128256, ("gradient",)),
        Cell("cross_entropy", bf16, 8192, 201088, ("gradient",)),
    ]  # fmt: skip
    for operation, has in (("rms_norm", ("weight",)), ("layer_norm", ("weight", "bias")), ("softmax", ()), ("swiglu", ())):
        for dtype in (f32, bf16):
            for rows, columns in ((256, 1024), (256, 4096), (2048, 8192), (16384, 8192), (1024, 65536)):
                found.append(Cell(operation, dtype, rows, columns, has))
    return found


# -- what is computed


def peer_of(torch: Any, cell: Cell) -> Callable[..., Any]:
    """The same in torch's words, of the tensors of `inputs_of`."""
    functional, n = torch.nn.functional, (cell.columns,)

    def swiglu(*x: Any) -> Any:
        gate, up = (x[0][:, 0], x[0][:, 1]) if "packed" in cell.has else x
        return functional.silu(gate) * up

    def rms_norm(x: Any, *more: Any) -> Any:
        if "residual" not in cell.has:
            return functional.rms_norm(x, n, more[0], 1e-6)
        total = x + more[0]
        return functional.rms_norm(total, n, more[1], 1e-6), total

    def rms_norm_backward(dy: Any, x: Any, w: Any) -> Any:
        x32, dy32 = x.float(), dy.float()
        rstd = torch.rsqrt(x32.square().mean(-1, keepdim=True) + 1e-6)
        xhat, g = x32 * rstd, dy32 * w.float()
        dx = rstd * (g - xhat * (g * xhat).mean(-1, keepdim=True))
        return dx.to(x.dtype), (dy32 * xhat).sum(0)

    def layer_norm_backward(dy: Any, x: Any, w: Any) -> Any:
        centred = x.float() - x.float().mean(-1, keepdim=True)
        rstd = torch.rsqrt(centred.square().mean(-1, keepdim=True) + 1e-5)
        xhat, g = centred * rstd, dy.float() * w.float()
        dx = rstd * (g - g.mean(-1, keepdim=True) - xhat * (g * xhat).mean(-1, keepdim=True))
        return dx.to(x.dtype), (dy.float() * xhat).sum(0), dy.float().sum(0)

    def swiglu_backward(dy: Any, gate: Any, up: Any) -> Any:
        g, d = gate.float(), dy.float()
        s = torch.sigmoid(g)
        return (d * up.float() * (s + g * s * (1 - s))).to(dy.dtype), (d * g * s).to(dy.dtype)

    def softmax_backward(dy: Any, y: Any) -> Any:
        d, r = dy.float(), y.float()
        return (r * (d - (d * r).sum(-1, keepdim=True))).to(dy.dtype)

    def cross_entropy(x: Any, target: Any, *scale: Any) -> Any:
        if not scale:
            return functional.cross_entropy(x.float(), target, reduction="none")
        x32 = x.float()
        lse = torch.logsumexp(x32, -1, keepdim=True)
        hit = torch.arange(cell.columns, device=x.device)[None, :] == target[:, None]
        loss = (lse - x32.gather(1, target[:, None])).squeeze(1)
        return loss, ((torch.exp(x32 - lse) - hit.float()) * scale[0][:, None]).to(x.dtype)

    found: dict[str, Callable[..., Any]] = {
        "swiglu": swiglu, "rms_norm": rms_norm, "rms_norm_backward": rms_norm_backward,
        "layer_norm_backward": layer_norm_backward, "swiglu_backward": swiglu_backward, "softmax_backward": softmax_backward,
        "cross_entropy": cross_entropy,
        "layer_norm": lambda x, w, b: functional.layer_norm(x, n, w, b, 1e-5), "softmax": lambda x: torch.softmax(x, -1),
    }  # fmt: skip
    return found[cell.operation]


def eager_of(torch: Any, cell: Cell) -> Callable[..., Any] | None:
    """torch's own function without torch.compile; None where only the formula is there, which is many kernels."""
    if cell.operation == "rms_norm_backward":
        return None
    return peer_of(torch, cell)


def inputs_of(torch: Any, cell: Cell) -> list[Any]:
    inputs, *_ = _ptx.kernel_boundary(_ptx.kernel_recipes(*cell[:4], 16, cell.has)[0])
    sizes = {"M": cell.rows, "N": cell.columns}
    made = []
    for name, tile in inputs:
        shape = [sizes.get(dim, dim) for dim in tile.shape]
        if name == "TARGET":
            made.append(torch.randint(0, cell.columns, shape, device="cuda"))
        elif name == "SCALE":
            made.append(torch.full(shape, 1.0 / cell.rows, device="cuda"))
        elif name == "Y":
            made.append(torch.softmax(torch.randn(shape, device="cuda"), -1).to(getattr(torch, cell.dtype)))
        else:
            made.append(torch.randn(shape, device="cuda", dtype=getattr(torch, cell.dtype)))
    return made


def vectors_of(cell: Cell) -> tuple[str, ...]:
    """Of a norm."""
    return tuple(word for word in cell.has if word in ("weight", "bias"))


def arm_of(torch: Any, cell: Cell, recipe: str) -> Callable[..., Any]:
    """A call of a recipe's kernel; of a backward with the sum of its partial sums."""
    kernel = kernel_of(recipe)
    scalars = {"eps": 1e-5 if "layer" in cell.operation else 1e-6, "offset": 0.0, "ignore_index": -100, "smoothing": 0.0,
               "z_loss": 0.0}  # fmt: skip
    names = [name for _, name in kernel._declared.raw_params]
    plan, packed = kernel._bind({**{k: v for k, v in scalars.items() if k in names}, **sizes_of(kernel, cell.rows)})
    if "norm_backward" not in cell.operation:
        return lambda *x: plan(*x, scalars=packed)

    partial_rows = sizes_of(kernel, cell.rows)["P"]
    sums = kernel_of(_ptx.choose_kernel("column_sums", "float32", partial_rows, cell.columns, 16, vectors_of(cell)))
    sum_plan, _ = sums._bind({})

    def with_sums(*x: Any) -> Any:
        dx, *partial = plan(*x, scalars=packed)
        found = sum_plan(*partial)
        return dx, *(found if isinstance(found, (list, tuple)) else (found,))

    return with_sums


# -- how it is measured


def tensors_of(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def error_of(torch: Any, cell: Cell, call: Callable[..., Any], expected: Sequence[Any], inputs: Sequence[Any]) -> float:
    worst = 0.0
    for result, wanted in zip(tensors_of(call(*inputs)), expected, strict=True):
        for begin in range(0, wanted.shape[0], 2048):
            own, other = result[begin : begin + 2048].float(), wanted[begin : begin + 2048].float()
            scale = max(float(other.abs().max()), 1e-30)
            worst = max(worst, float((own - other).abs().max()) / scale)
    return worst


_long = False  # whether arms are measured in long rounds too
_pool: Any = None  # of a cell's graphs: torch ends the process's captures over a pool whose graphs are all gone


def graph_of(torch: Any, call: Callable[..., Any], sets: Sequence[Any], launches: int) -> Any:
    global _pool
    _pool = _pool or torch.cuda.graph_pool_handle()  # one graph's outputs lie where those of another did
    for inputs in sets[:2]:
        call(*inputs)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=_pool):
        kept = [call(*sets[i % len(sets)]) for i in range(launches)]  # outputs lie apart
    del kept
    return graph


def peers_of(torch: Any, cell: Cell) -> dict[str, Callable[..., Any]]:
    torch._dynamo.reset()
    compiled = torch.compile(peer_of(torch, cell), mode="max-autotune-no-cudagraphs", dynamic=False)
    peers = {"compile": compiled}
    if (eager := eager_of(torch, cell)) is not None and "gradient" not in cell.has and "backward" not in cell.operation:
        peers["torch"] = eager
    return peers


def race(
    torch: Any,
    report: dict[str, Any],
    graphs: dict[str, Any],
    peers: dict[str, Callable[..., Any]],
    sets: Sequence[Any],
    launches: int,
    rounds: int,
) -> None:
    """The best of the arms and the chosen one beside the peers, in turns; writes what comes out into the report."""
    chosen = report["chosen"]
    if len(graphs) > 1:
        quick = {name: statistics.median(took) for name, took in take_turns(torch, graphs, launches, QUICK).items()}
        report["recipes"] = {name: round(took, 3) for name, took in sorted(quick.items(), key=lambda pair: pair[1])}
        keep = dict.fromkeys([*list(report["recipes"])[:BEST], chosen])
        graphs = {name: graphs[name] for name in keep if name in graphs}
    graphs |= {name: graph_of(torch, call, sets, launches) for name, call in peers.items()}
    report_race(torch, report, graphs, peers, launches, rounds)


def in_long_rounds(torch: Any, graphs: dict[str, Any], launches: int, rounds: int = 10) -> dict[str, list[float]]:
    """Microseconds a call, round by round, of 50 ms for each arm, all on the GPU's queue at once."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    replays = {}
    for name, graph in graphs.items():
        graph.replay()
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        replays[name] = max(1, round(LONG_MS / begin.elapsed_time(end)))
    names, marks = list(graphs), []
    for turn in range(-(-10 // len(names)) + rounds):  # the first ones make half a second
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            marks.append((name, torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)))
            marks[-1][1].record()
            for _ in range(replays[name]):
                graphs[name].replay()
            marks[-1][2].record()
    torch.cuda.synchronize()
    times: dict[str, list[float]] = {name: [] for name in names}
    for name, start, stop in marks[-rounds * len(names) :]:
        times[name].append(start.elapsed_time(stop) * 1e3 / launches / replays[name])
    return times


def report_race(
    torch: Any, report: dict[str, Any], graphs: dict[str, Any], peers: dict[str, Callable[..., Any]], launches: int, rounds: int
) -> None:
    """The arms and their peers in turns."""
    moved, operations, chosen = report["bytes"], report.get("FLOP"), report["chosen"]
    times = take_turns(torch, graphs, launches, rounds)
    medians = {name: statistics.median(took) for name, took in times.items()}
    best_peer = min(peers, key=lambda name: medians[name])
    report["arms"], report["best_peer"] = {}, best_peer
    for name, took in sorted(times.items(), key=lambda pair: medians[pair[0]]):
        ratios = sorted(peer / own for peer, own in zip(times[best_peer], took, strict=True))
        row = {
            "us": round(medians[name], 3),
            "ratio": round(statistics.median(ratios), 4),
            "from": round(ratios[len(ratios) // 10], 4),
            "to": round(ratios[len(ratios) * 9 // 10], 4),
            **({} if operations is None else {"TFLOP/s": round(operations / medians[name] / 1e6, 1)}),
            "TB/s": round(moved / medians[name] / 1e6, 3),
        }
        report["arms"][name] = row
        mark, rate = "*" if name == chosen else " ", "" if operations is None else f"{row['TFLOP/s']:7.1f} TFLOP/s "
        print(
            f"  {mark} {name:64} {row['us']:10.2f} us {rate}{row['TB/s']:5.2f} TB/s  "
            f"{row['ratio']:6.3f} ({row['from']:.3f} to {row['to']:.3f})",
            flush=True,
        )
    if not _long:
        return
    times = in_long_rounds(torch, graphs, launches)
    best_peer = min(peers, key=lambda name: statistics.median(times[name]))
    for name, took in times.items():
        ratios = sorted(peer / own for peer, own in zip(times[best_peer], took, strict=True))
        report["arms"][name]["long"] = {
            "us": round(statistics.median(took), 3), "ratio": round(statistics.median(ratios), 4),
            "from": round(ratios[len(ratios) // 10], 4), "to": round(ratios[len(ratios) * 9 // 10], 4),
        }  # fmt: skip
    print("    long: ", {name: (row["long"]["us"], row["long"]["ratio"]) for name, row in report["arms"].items()}, flush=True)


def measure(torch: Any, cell: Cell, rounds: int, chosen_alone: bool) -> dict[str, Any]:
    started = time.monotonic()
    moved = _ptx.kernel_cost(*cell[:4], 16, cell.has)[0]
    count = max(2, -(-ROTATED // moved))
    sets = [inputs_of(torch, cell) for _ in range(count)]
    launches = max(4, count)
    chosen = _ptx.choose_kernel(*cell[:4], 16, cell.has)
    recipes = [chosen] if chosen_alone else list(dict.fromkeys([chosen, *_ptx.kernel_recipes(*cell[:4], 16, cell.has)]))
    peers = peers_of(torch, cell)
    expected = tensors_of(peers["compile"](*sets[0]))
    report: dict[str, Any] = {"cell": str(cell), **cell._asdict(), "bytes": moved, "chosen": chosen, "recipes": {}}
    arms, graphs = {name: arm_of(torch, cell, name) for name in recipes}, {}
    for name, call in arms.items():
        error = error_of(torch, cell, call, expected, sets[0])
        if not error < TOLERANCE[cell.dtype]:
            print(f"  WRONG {name}: error {error:.1e}")
            report.setdefault("wrong", {})[name] = error
            continue
        graphs[name] = graph_of(torch, call, sets, launches)
    race(torch, report, graphs, peers, sets, launches, rounds)
    report["seconds"] = round(time.monotonic() - started, 1)
    return report


def without_file(words: Sequence[str]) -> list[str]:
    """A command line's words without where its figures go."""
    place = words.index("--json") if "--json" in words else len(words)
    return [*words[:place], *words[place + 2 :]]


def forget_pool() -> None:
    global _pool
    _pool = None


def main() -> int:
    global _long
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="operations (default: all)")
    parser.add_argument("--chosen", action="store_true", help="measure the chosen recipe alone, not all of them")
    parser.add_argument("--rounds", type=int, default=21, help="(default %(default)s)")
    parser.add_argument("--cells", type=int, nargs="*", help="shapes by number (default: all)")
    parser.add_argument("--first", type=int, default=0, help="the number of the shape to begin with (default %(default)s)")
    parser.add_argument("--most", type=int, default=24, help="recipes of a product that are tried (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no shape after so many")
    parser.add_argument("--long", action="store_true", help="measure in rounds of 50 ms too")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("kernels: torch is not installed; nothing measured")
        return 0
    if not torch.cuda.is_available():
        print("kernels: there is no GPU; nothing measured")
        return 0
    _long = options.long
    started = time.monotonic()
    machine = {
        "device": torch.cuda.get_device_name(),
        "driver": command_output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "command": " ".join(["python bench/kernels.py", *without_file(sys.argv[1:])]),
    }
    print(machine)
    reports = []
    for number, cell in enumerate([*cells(), *product_cells(), *grouped_cells(), *loss_cells()]):
        wanted = number >= options.first and (not options.cells or number in options.cells)
        if not wanted or (options.only and cell.operation not in options.only) or time.monotonic() - started > options.seconds:
            continue
        print(f"{number}: {cell}", flush=True)
        forget_pool()
        try:
            if isinstance(cell, Cell):
                reports.append(measure(torch, cell, options.rounds, options.chosen))
            else:
                measured = {ProductCell: measure_product, GroupedCell: measure_grouped, LossCell: measure_loss}[type(cell)]
                reports.append(measured(torch, cell, options.rounds, options.chosen, options.most, sys.modules[__name__]))
        except Exception as error:  # one shape that fails leaves the others
            print(f"  FAILED: {type(error).__name__}: {str(error)[:500]}", flush=True)
        torch.cuda.empty_cache()
        if options.json:
            options.json.write_text(json.dumps({**machine, "cells": reports}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
