"""`tune`, `explain` and `tuned` of `pyptx.kernels`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _ptx
from . import _tuned
from ._tuned import Entry, Problem

if TYPE_CHECKING:
    from rich.table import Table

ROTATED = 256 << 20  # bytes of the inputs together at least: several times the L2 cache
MOST_SETS = 64
QUICK, BEST = 3, 4  # rounds of a recipe's first measurement; how many of them are measured again
TOLERANCE = {2: 2e-2, 4: 1e-3}  # of the largest result, by an element's bytes; of 1 byte: 0.13
# What is stated of them: bytes/s of the memory, FLOP/s of f16 and bf16, dense (NVIDIA's data sheets).
PEAKS = {"H200": (4.8e12, 989e12), "H100": (3.35e12, 989e12)}


def words_of(problem: Problem) -> str:
    """ "rms_norm 4096x8192 bfloat16 weight", "product 4096x4096x4096 bfloat16 b_transposed"."""
    if problem[0] == "rows":
        _, operation, dtype, rows, columns, _, has = problem
        return " ".join([operation, f"{rows}x{columns}", dtype, *has])
    _, dtype, out, (m, n, k, batch), has = problem
    sizes = f"{m}x{n}x{k}" if batch == 1 else f"{batch} of {m}x{n}x{k}"
    return " ".join(["product", sizes, dtype, *([f"to {out}"] if out != dtype else []), *has])


class Tried(NamedTuple):
    """What `tune` found for one problem: microseconds a call with each recipe that was measured to the end, the fastest first."""

    problem: Problem
    recipe: str  # what calls take now
    default: str  # what the library chose
    ratio: float  # of their medians; 1 where the default stays
    us: dict[str, float]
    refused: dict[str, str]  # recipes that failed, or whose results were others, and why

    def __repr__(self) -> str:
        found = f"{words_of(self.problem)}: {self.recipe}, {self.us.get(self.recipe, 0.0):.2f} us"
        more = "the library's choice" if self.recipe == self.default else f"{self.ratio:.3f} times as fast as {self.default}"
        return f"{found}: {more}; {len(self.us)} measured, {len(self.refused)} refused"


class Explanation(NamedTuple):
    """Why a call takes the kernel that it takes."""

    problem: Problem
    recipe: str
    why: str
    bytes: int  # moved at least
    operations: int
    floor_us: float | None  # what memory and tensor cores need at their stated rates; None on another device
    recipes: int  # that there are

    def __repr__(self) -> str:
        floor = "" if self.floor_us is None else f", at least {self.floor_us:.2f} us"
        return (
            f"{words_of(self.problem)}: {self.recipe}, {self.why}; 1 of {self.recipes} recipes; "
            f"{self.bytes:,} bytes, {self.operations:,} operations{floor}"
        )


class TunedTable(Sequence[Entry]):
    """The recipes that were measured on this machine and are taken before the library's choice."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(entries)

    def __getitem__(self, index: Any) -> Any:
        return self._entries[index]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __repr__(self) -> str:
        lines = [f"{words_of(e.problem)}: {e.recipe}, {e.us:.2f} us, {e.ratio:.3f} times as fast as {e.default}" for e in self]
        return "\n".join(lines) or "nothing is tuned on this machine: pyptx.kernels.tune(function, *tensors)"

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table("problem", "recipe", "us", "times as fast as", "the library's choice")
        for e in self:
            table.add_row(words_of(e.problem), e.recipe, f"{e.us:.2f}", f"{e.ratio:.3f}", e.default)
        return table

    def export(self, path: str | Path) -> None:
        """Writes them as JSON, a list of objects: rows for a table, or for another machine of the kind (`import_from`)."""
        Path(path).write_text(json.dumps([e._asdict() for e in self], indent=1) + "\n")

    def import_from(self, path: str | Path) -> TunedTable:
        """Keeps the exported entries that are of this device and version, and returns what holds then. ValueError for a file that
        has none, or something else."""
        try:
            found = [_tuned._read(dict(each)) for each in json.loads(Path(path).read_bytes())]
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{path} is no export of tuned recipes: {error}") from None
        ours = [e for e in found if e.device == _tuned.device() and e.version == _ptx.version]
        if found and not ours:
            there = sorted({f"{e.device}, version {e.version}" for e in found})
            raise ValueError(f"{path} has recipes of {'; '.join(there)}; this is {_tuned.device()}, version {_ptx.version}")
        for e in ours:
            _tuned.keep(e)
        return tuned()


def tuned() -> TunedTable:
    """The recipes that `tune` found on this machine, of its device and of this version."""
    return TunedTable(_tuned.entries().values())


def explain(function: Callable[..., Any], *args: Any, **named: Any) -> list[Explanation]:
    """Which kernels of the library ``function(*args)`` takes, and why. It is called once."""
    with _tuned.asking() as asked:
        function(*args, **named)
    peaks = next((peaks for name, peaks in PEAKS.items() if name in (_tuned.device() or "")), None)
    found = []
    for problem in asked:
        recipe, entry = _tuned.recipe_for(problem), _tuned.entries().get(_tuned.bucket(problem))
        moved, operations = _tuned.cost_of(problem)
        floor = None
        if peaks is not None:
            floor = 1e6 * max(moved / peaks[0], operations / peaks[1] if problem[0] == "product" else 0.0)
        is_tuned = entry is not None and entry.recipe == recipe
        why = (
            f"tuned here, {entry.ratio:.3f} times as fast as the library's choice"
            if entry and is_tuned
            else "the library's choice"
        )
        found.append(Explanation(problem, recipe, why, moved, operations, floor, len(_tuned.recipes_of(problem))))
    return found


def tune(
    function: Callable[..., Any], *args: Any, recipes: int = 24, rounds: int = 5, progress: bool = True, **named: Any
) -> list[Tried]:
    """Measures the recipes of each kernel that ``function(*args)`` takes, on this GPU, and keeps the fastest for later calls.

    ``function`` is one of `pyptx.kernels`, or calls them; ``args`` are torch tensors on a GPU, or hold none. Of each kernel up to
    ``recipes`` recipes are held to the library's choice: one whose results differ is refused, the others take turns, over copies
    of the tensors that together exceed the L2 cache, in CUDA graphs. What wins is kept if its slowest rounds are faster than the
    default's fastest (10 and 90 % of ``rounds``), in the disk cache beside machine code; later processes take it. Calls that
    torch.compile has compiled stay as they are. Ctrl-C ends it: the kernels that were done are kept.

    RuntimeError without a GPU or torch; ValueError for a function that takes no kernel of the library.
    """
    torch = _torch_with_gpu(args, named)
    with _tuned.asking() as asked:
        function(*args, **named)
    if not asked:
        raise ValueError("`tune`: the function called no kernel of pyptx.kernels that has several recipes")
    found = []
    for problem in asked:
        _tuned.drop(problem)
        candidates = _tuned.recipes_of(problem, recipes)
        with _Progress(words_of(problem), len(candidates), progress) as step:
            found.append(_tune_one(torch, function, args, named, problem, candidates, rounds, step))
    return found


def _torch_with_gpu(args: Sequence[Any], named: dict[str, Any]) -> Any:
    try:
        import torch
    except ImportError:
        raise RuntimeError("`tune` measures with torch, which is not installed") from None
    tensors = [x for x in (*args, *named.values()) if isinstance(x, torch.Tensor)]
    if not tensors or not all(x.is_cuda for x in tensors):
        where = sorted({str(x.device) for x in tensors}) or "no tensor"
        raise RuntimeError(f"`tune` measures on a GPU; the arguments hold {where}: what fits are torch tensors on a CUDA device")
    return torch


class _Progress:
    """A bar on a terminal, where rich is installed; nothing else."""

    def __init__(self, title: str, steps: int, wanted: bool) -> None:
        self._title, self._steps, self._bar, self._task = title, steps, None, None
        if wanted:
            try:
                import rich.progress
            except ImportError:
                return
            bar: Any = rich.progress.Progress(transient=True)
            if bar.console.is_terminal:
                self._bar = bar

    def __enter__(self) -> Callable[[], None]:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._steps)
        return self._advance

    def _advance(self) -> None:
        if self._bar is not None:
            self._bar.advance(self._task)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _tune_one(
    torch: Any,
    function: Callable[..., Any],
    args: Sequence[Any],
    named: dict[str, Any],
    problem: Problem,
    candidates: Sequence[str],
    rounds: int,
    step: Callable[[], None],
) -> Tried:
    default = candidates[0]
    sets = _sets_of(torch, args, named)
    with _tuned.trying(problem, default):
        expected = _tensors_of(torch, function(*args, **named))
    graphs: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for name in candidates:
        with _tuned.trying(problem, name):
            try:
                why = _difference(torch, expected, _tensors_of(torch, function(*args, **named)))
                if why is None:
                    graphs[name] = _graph_of(torch, function, sets)
            except (RuntimeError, ValueError) as error:
                why = str(error).split("\n")[0]
        if why is not None:
            refused[name] = why
        step()
    if default not in graphs:
        raise RuntimeError(f"`tune`: the library's choice for {words_of(problem)} failed: {refused.get(default)}")
    if len(graphs) > BEST + 1:
        quick = {name: statistics.median(took) for name, took in take_turns(torch, graphs, len(sets), QUICK).items()}
        best = sorted(quick, key=quick.__getitem__)[:BEST]
        graphs = {name: graphs[name] for name in dict.fromkeys([default, *best])}
    times = {name: sorted(took) for name, took in take_turns(torch, graphs, len(sets), rounds).items()}
    medians = {name: statistics.median(times[name]) for name in sorted(times, key=lambda name: statistics.median(times[name]))}
    winner, margin = next(iter(medians)), len(times[default]) // 10
    ratio = medians[default] / medians[winner]
    if winner == default or times[winner][-1 - margin] >= times[default][margin]:
        return Tried(problem, default, default, 1.0, medians, refused)
    device = _tuned.device()
    assert device is not None  # the tensors are on it
    kept = problem if problem[0] == "product" else _tuned.bucket(problem)
    _tuned.keep(Entry(kept, winner, default, round(ratio, 4), round(medians[winner], 3), device, _ptx.version))
    return Tried(problem, winner, default, ratio, medians, refused)


def _sets_of(torch: Any, args: Sequence[Any], named: dict[str, Any]) -> list[tuple[list[Any], dict[str, Any]]]:
    """The arguments, and copies of them, so that together they are no longer in the L2 cache when their turn comes again."""
    size = sum(x.numel() * x.element_size() for x in (*args, *named.values()) if isinstance(x, torch.Tensor))
    count = min(MOST_SETS, max(2, -(-ROTATED // max(size, 1))))

    def copy(x: Any) -> Any:
        return torch.empty_like(x).copy_(x) if isinstance(x, torch.Tensor) else x

    copies = (([copy(x) for x in args], {name: copy(x) for name, x in named.items()}) for _ in range(count - 1))
    return [(list(args), named), *copies]


def _tensors_of(torch: Any, result: Any) -> list[Any]:
    return [x for x in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(x, torch.Tensor)]


def _difference(torch: Any, expected: Sequence[Any], found: Sequence[Any]) -> str | None:
    """What is wrong with a recipe's results, beside the default's: NaN elsewhere, or more than rounding puts between them."""
    for one, other in zip(expected, found, strict=True):
        a, b = one.float(), other.float()
        if not torch.equal(a.isnan(), b.isnan()):
            return "NaN in other places"
        largest = float(a.nan_to_num(0.0, 0.0, 0.0).abs().max()) if a.numel() else 0.0
        error = float((a - b).nan_to_num(0.0).abs().max()) if a.numel() else 0.0
        if error > TOLERANCE.get(one.element_size(), 0.13) * max(largest, 1e-30):
            return f"results differ by {error:.3g}, of at most {largest:.3g}"
    return None


def _graph_of(torch: Any, function: Callable[..., Any], sets: Sequence[tuple[list[Any], dict[str, Any]]]) -> Any:
    for args, named in sets[:2]:
        function(*args, **named)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [function(*args, **named) for args, named in sets]  # outputs lie apart
    del kept
    return graph


def take_turns(torch: Any, graphs: dict[str, Any], calls: int, rounds: int) -> dict[str, list[float]]:
    """Microseconds a call, round by round; each round another recipe begins."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times: dict[str, list[float]] = {name: [] for name in graphs}
    names = list(graphs)
    for turn in range(rounds + 2):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            begin.record()
            graphs[name].replay()
            end.record()
            end.synchronize()
            if turn >= 2:  # clocks and caches have settled
                times[name].append(begin.elapsed_time(end) * 1e3 / calls)
    return times
