"""What `bench/kernels.py --json FILE` measured, kept and shown: bench/history/, docs/performance.md and its pictures.

python bench/kernel_figures.py [FILE] [--keep]

Prints each family's geometric mean, the cells that lose, and those that fell by more than 2 % below the best that the history has
of them on such a device. With --keep the run goes into bench/history/<date>-<commit>.json (what was chosen and its peers, not the
recipes that were tried), and the page and the pictures are made anew of the newest run. Without FILE it shows the newest
run. tests/python/test_kernel_figures.py holds the page to the history.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HISTORY = ROOT / "bench" / "history"
PAGE = ROOT / "docs" / "performance.md"
PICTURES = ROOT / "docs" / "performance"
BEGIN, END = "<!-- kernels: made by bench/kernel_figures.py -->", "<!-- kernels: end -->"
FELL = 0.98  # of the best ratio that was seen
FAMILIES = {
    "rms_norm": "RMS norm", "layer_norm": "layer norm", "softmax": "softmax", "log_softmax": "log softmax", "swiglu": "SwiGLU",
    "geglu": "GeGLU", "rms_norm_backward": "RMS norm, backward", "layer_norm_backward": "layer norm, backward",
    "swiglu_backward": "SwiGLU, backward", "softmax_backward": "softmax, backward", "cross_entropy": "cross-entropy",
    "gemm": "product", "grouped": "groups",
}  # fmt: skip
SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3"}
# What the manufacturer states, dense: bytes/s of the memory, FLOP/s of bf16 (NVIDIA H200 and H100 SXM data sheets).
PEAKS = {"H200": (4.8e12, 989e12), "H100": (3.35e12, 989e12)}

PEERS = ("torch", "compile", "bmm")

Run = dict[str, Any]
CellOfRun = dict[str, Any]


def command_output(*words: str) -> str:
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip().split("\n")[0] if done.returncode == 0 else ""


def kept(run: Run, commit: str) -> Run:
    """A run as the history has it: of each cell what was chosen and the peers, of the run when and on what."""
    cells = []
    for cell in run["cells"]:
        own = own_arm(cell)
        if own is None:
            continue
        peers = {name: arm for name, arm in cell["arms"].items() if name in PEERS}
        others = {key: value for key, value in cell.items() if key not in ("arms", "recipes", "seconds")}
        cells.append({**others, "arms": {own: cell["arms"][own], **peers}})
    about = {key: value for key, value in run.items() if key != "cells"}
    when = datetime.now().isoformat(" ", "minutes")
    return {"date": when, "commit": commit, **about, "cells": cells}


def own_arm(cell: CellOfRun) -> str | None:
    """The name of the arm that a user gets: the chosen recipe, or the call itself where the library does more than one launch."""
    names = [cell["chosen"], *(name for name in cell["arms"] if name not in PEERS)]
    return next((name for name in names if name in cell["arms"]), None)


def ratio(cell: CellOfRun) -> float:
    return float(cell["arms"][own_arm(cell)]["ratio"])


def day(run: Run) -> str:
    return str(run["date"]).partition(" ")[0]


def geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))


def history() -> list[Run]:
    """All runs that are kept, the oldest first."""
    return sorted((json.loads(path.read_text()) for path in HISTORY.glob("*.json")), key=lambda run: run["date"])


def fallen(run: Run, before: Sequence[Run]) -> list[tuple[str, float, float]]:
    """Cells that lost more than 2 % of the best ratio of earlier runs on such a device: name, ratio now, the best."""
    best: dict[str, float] = {}
    for earlier in before:
        if earlier["device"] == run["device"]:
            for cell in earlier["cells"]:
                best[cell["cell"]] = max(ratio(cell), best.get(cell["cell"], 0.0))
    found = ((cell["cell"], ratio(cell), best.get(cell["cell"], 0.0)) for cell in run["cells"])
    return [entry for entry in found if entry[1] < FELL * entry[2]]


# -- the page


def seen(cell: CellOfRun) -> str:
    arm = cell["arms"][own_arm(cell)]
    rate = f"{arm['TFLOP/s']:.0f} TFLOP/s" if "TFLOP/s" in arm and arm["TFLOP/s"] >= 100 else f"{arm['TB/s']:.2f} TB/s"
    long = f"; long {arm['long']['ratio']:.2f}" if "long" in arm else ""
    return f"{arm['ratio']:.2f} ({arm['from']:.2f} to {arm['to']:.2f}), {rate}{long}"


def shape(cell: CellOfRun) -> str:
    if "groups" in cell:
        return f"{cell['groups']} of {cell['rows']} rows{'' if cell['equal'] else ' on average'}, {cell['n']}x{cell['k']}"
    if "classes" in cell:  # a linear layer and the cross-entropy behind it
        passes = "forward and backward" if cell["gradient"] else "forward"
        chunk = f", {cell['chunk']} rows at a time" if cell["chunk"] else ""
        return f"{cell['rows']}x{cell['k']}x{cell['classes']} {passes}{chunk}"
    if "rows" in cell:
        return " ".join([f"{cell['rows']}x{cell['columns']}", *(word for word in cell["has"] if word not in ("weight", "bias"))])
    return " ".join([f"{cell['m']}x{cell['n']}x{cell['k']}", cell["layout"], *cell["has"]])


def table(cells: Sequence[CellOfRun]) -> list[str]:
    """One line a shape, one column a data type, in the order of the run."""
    types = list(dict.fromkeys(cell["dtype"] for cell in cells))
    lines: dict[str, dict[str, str]] = {}
    for cell in cells:
        name = f"{FAMILIES.get(cell['operation'], cell['operation'])} {shape(cell)}"
        lines.setdefault(name, {})[cell["dtype"]] = seen(cell)
    head = ["", *(SHORT.get(name, name) for name in types)]
    rows = [[name, *(columns.get(kind, "") for kind in types)] for name, columns in lines.items()]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def summary(name: str, cells: Sequence[CellOfRun]) -> str:
    least = min(cells, key=ratio)
    return (
        f"{name}: {len(cells)} shapes, geometric mean **{geometric_mean(map(ratio, cells)):.3f}**, "
        f"least {ratio(least):.3f} ({shape(least)} {SHORT.get(least['dtype'], least['dtype'])})"
    )


def groups_of(run: Run) -> dict[str, list[CellOfRun]]:
    """Rows, backwards, losses, products: what the page and the pictures tell apart."""
    found: dict[str, list[CellOfRun]] = {}
    for cell in run["cells"]:
        operation = cell["operation"]
        title = (
            "Losses" if "entropy" in operation
            else "Backward" if operation.endswith("_backward")
            else "Groups of rows" if "groups" in cell
            else "Rows" if "rows" in cell
            else "Products of 8 bits" if "float8" in cell["dtype"]
            else "Products of few rows" if cell["m"] <= 128
            else "Products with epilogues" if cell["has"]
            else "Products"
        )  # fmt: skip
        found.setdefault(title, []).append(cell)
    return found


def page_of(run: Run) -> str:
    """The section of docs/performance.md, from BEGIN to END."""
    software = ", ".join(
        filter(None, [f"torch {run['torch']}", f"CUDA {run['cuda']}", run.get("driver") and f"driver {run['driver']}"])
    )
    lines = [
        BEGIN,
        f"## The kernel library ({day(run)}, commit {run['commit']}, one {run['device']}, {software})",
        "",
        f"`./dev bench kernels`, or `{run['command']}`, one run: what `pyptx.kernels` takes, beside torch and torch.compile "
        "(max-autotune), whichever is faster; random inputs rotated past the L2 cache, outputs that lie apart, arms taking turns "
        "in CUDA graphs; median ratio of the rounds, the range of 10 to 90 % of them, and the library's rate; above 1 the "
        "library is the faster one. Products: `nt` is `x @ weight.mT`."
        + (
            " Long: the ratio in rounds of 50 ms without a rest."
            if any("long" in c["arms"][own_arm(c)] for c in run["cells"])
            else ""
        ),
        "",
    ]
    for title, cells in groups_of(run).items():
        lines += [f"**{title}.** {summary('Beside the faster peer', cells)}.", "", *table(cells), ""]
    pictures = {
        "ratios": "ratios",
        "roofline": "roofline of the products",
        "history": "geometric means of the runs that are kept",
    }
    lines += [f"![{title}](performance/{name}.svg)\n" for name, title in pictures.items() if (PICTURES / f"{name}.svg").exists()]
    return "\n".join([*lines, END])


def with_section(page: str, section: str) -> str:
    before, _, rest = page.partition(BEGIN)
    return before + section + rest.partition(END)[2]


# -- the pictures


def draw(run: Run, runs: Sequence[Run]) -> None:
    try:
        import matplotlib
    except ImportError:
        print("kernel_figures: matplotlib is not installed; the pictures stay as they are")
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams |= {"svg.hashsalt": "pyptx", "font.size": 8, "svg.fonttype": "none"}
    PICTURES.mkdir(exist_ok=True)
    for name, figure in (("ratios", bars(pyplot, run)), ("roofline", roofline(pyplot, run)), ("history", lines(pyplot, runs))):
        if figure is not None:
            figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
            pyplot.close(figure)


def bars(pyplot: Any, run: Run) -> Any:
    """The ratio of each shape, with the range of the rounds."""
    groups = groups_of(run)
    cells = [cell for group in groups.values() for cell in group]
    figure, axes = pyplot.subplots(figsize=(8, 0.16 * len(cells) + 1))
    place, places, names = 0.0, [], []
    for number, (title, group) in enumerate(groups.items()):
        begin = place
        for cell in group:
            arm = cell["arms"][own_arm(cell)]
            error = [[max(0.0, arm["ratio"] - arm["from"])], [max(0.0, arm["to"] - arm["ratio"])]]
            axes.barh(place, arm["ratio"] - 1, left=1, xerr=error, color=f"C{number}", height=0.75, error_kw={"linewidth": 0.6})
            places.append(place)
            kind = SHORT.get(cell["dtype"], cell["dtype"])
            names.append(f"{FAMILIES.get(cell['operation'], cell['operation'])} {shape(cell)} {kind}")
            place += 1
        axes.text(axes.get_xlim()[1], (begin + place - 1) / 2, f" {title}", color=f"C{number}", va="center")
        place += 0.8
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(places, names, fontsize=6)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlabel(f"times as fast as the faster of torch and torch.compile, {run['device']}")
    return figure


def roofline(pyplot: Any, run: Run) -> Any:
    """Products: what is reached of what memory and tensor cores allow, the library's and the peer's."""
    cells = [cell for cell in run["cells"] if "FLOP" in cell and "float8" not in cell["dtype"]]
    peaks = next((peaks for name, peaks in PEAKS.items() if name in run["device"]), None)
    if not cells or peaks is None:
        return None
    bytes_a_second, operations_a_second = peaks
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    intensities = [cell["FLOP"] / cell["bytes"] for cell in cells]
    span = [min(intensities) / 1.5, max(intensities) * 1.5]
    knee = operations_a_second / bytes_a_second
    axes.plot(
        [span[0], knee, span[1]], [span[0] * bytes_a_second / 1e12, *[operations_a_second / 1e12] * 2], color="grey", linewidth=1
    )
    for label, marker, arm_of in (
        ("pyptx.kernels", "o", own_arm),
        ("the faster of torch and torch.compile", "x", lambda cell: cell["best_peer"]),
    ):
        rates = [cell["arms"][arm_of(cell)]["TFLOP/s"] for cell in cells]
        axes.scatter(intensities, rates, marker=marker, s=14, label=label, linewidths=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("FLOP a byte of operands and results")
    axes.set_ylabel("TFLOP/s")
    axes.set_title(
        f"products, {run['device']}: {bytes_a_second / 1e12:g} TB/s and {operations_a_second / 1e12:g} TFLOP/s as stated",
        fontsize=8,
    )
    axes.legend()
    return figure


def lines(pyplot: Any, runs: Sequence[Run]) -> Any:
    """Each group's geometric mean over the runs that are kept."""
    if len(runs) < 2:
        return None
    figure, axes = pyplot.subplots(figsize=(7, 3))
    means: dict[str, list[tuple[int, float]]] = {}
    for number, run in enumerate(runs):
        for title, cells in groups_of(run).items():
            means.setdefault(title, []).append((number, geometric_mean(map(ratio, cells))))
    for title, points in means.items():
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=title)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(runs)), [f"{day(run)}\n{run['commit']}" for run in runs])
    axes.set_ylabel("geometric mean of the ratios")
    axes.legend(fontsize=6)
    return figure


def tell(run: Run, before: Sequence[Run]) -> None:
    for title, cells in groups_of(run).items():
        print(f"{summary(title, cells)}")
        for cell in sorted(cells, key=ratio):
            if ratio(cell) < 1:
                print(f"  loses: {cell['cell']}: {ratio(cell):.3f}")
    red, plain = ("\033[31m", "\033[0m") if sys.stdout.isatty() else ("", "")
    for name, now, best in fallen(run, before):
        print(f"{red}fell: {name}: {now:.3f}, was {best:.3f}{plain}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "file", nargs="?", type=Path, help="what bench/kernels.py --json wrote (default: the newest run of the history)"
    )
    parser.add_argument("--keep", action="store_true", help="keep the run, and make the page and the pictures anew")
    parser.add_argument("--commit", help="the commit that was measured (default: the checkout's)")
    options = parser.parse_args()
    before = history()
    if options.file is None:
        if not before:
            parser.error("bench/history holds no run yet: name a file")
        run = before.pop()
    else:
        commit = options.commit or command_output("git", "rev-parse", "--short", "HEAD") or "unknown"
        run = kept(json.loads(options.file.read_text()), commit)
    if not run["cells"]:
        print("kernel_figures: the run measured nothing")
        return 1
    tell(run, before)
    if options.keep:
        if options.file is not None:
            HISTORY.mkdir(exist_ok=True)
            (HISTORY / f"{day(run)}-{run['commit']}.json").write_text(json.dumps(run, indent=1) + "\n")
        draw(run, history())
        PAGE.write_text(with_section(PAGE.read_text(), page_of(run)))
        print(f"kept: bench/history, {PAGE.relative_to(ROOT)}, {PICTURES.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
