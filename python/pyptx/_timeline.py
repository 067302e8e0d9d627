"""Timelines of runs on the executor: a trace for ui.perfetto.dev, and what each line cost in its model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _ptx

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Profile", "ProfileRow", "Timeline", "timeline"]

LANES = 32


class ProfileRow(NamedTuple):
    """What an instruction did in all warps, or what all of a line did."""

    kernel: str
    instruction: str
    """``ld.shared.f32``; of a line with several how many."""
    ptx_line: int
    """0: not known."""
    where: tuple[str, int] | None
    """The author's file and line."""
    executions: int
    """By warps. A loop that polls executes as often as the schedule has it ask."""
    lanes: int
    """Active in all executions together."""
    cycles: int
    """Of issuing it, in the model: an order, no time."""
    stalls: int
    """Cycles that its warps waited for registers that it reads, or for others."""
    wavefronts: int
    """Of shared memory: a cycle of its 32 banks each."""
    needed_wavefronts: int
    """The least for as many bytes: without bank conflicts."""
    sectors: int
    """Of 32 bytes of global memory that were touched."""
    needed_sectors: int
    """As many as the different bytes would fill."""
    copied_bytes: int

    @property
    def bank_conflicts(self) -> int:
        """Wavefronts beyond the least."""
        return self.wavefronts - self.needed_wavefronts

    @property
    def spare_sectors(self) -> int:
        """Sectors beyond the least: accesses that are not coalesced."""
        return self.sectors - self.needed_sectors

    @property
    def place(self) -> str:
        """``gemm.py:141``, or the line of the PTX."""
        if self.where is not None:
            return f"{Path(self.where[0]).name}:{self.where[1]}"
        return f"line {self.ptx_line}" if self.ptx_line else self.kernel


@dataclass(frozen=True)
class Profile:
    """What a run's instructions and lines cost in the model of `Timeline`. In a terminal with rich it is a table."""

    instructions: Sequence[ProfileRow]
    """Those that ran, in the order of the text."""
    lines: Sequence[ProfileRow]
    """The author's lines, those that cost most first."""
    cycles: int
    """Of the model, from the first instruction to the last."""
    _table: str = field(repr=False)

    def __str__(self) -> str:
        return self._table

    def table(self, most: int = 10) -> Table:
        """The dearest lines as a table of rich."""
        from rich.table import Table

        table = Table(caption=f"{self.cycles:,} cycles of a model that claims order, not speed", caption_justify="left")
        table.add_column("line", overflow="fold")
        for head in ("cycles", "waited", "executed", "lanes", "wavefronts", "sectors"):
            table.add_column(head, justify="right")
        table.add_column("instruction", overflow="ellipsis", no_wrap=True)
        for row in self.lines[:most]:
            lanes = row.lanes / row.executions if row.executions else 0.0
            table.add_row(
                row.place, f"{row.cycles:,}", f"{row.stalls:,}", f"{row.executions:,}",
                str(LANES) if lanes == LANES else f"{lanes:.1f}",
                _beside(row.wavefronts, row.needed_wavefronts), _beside(row.sectors, row.needed_sectors), row.instruction,
            )  # fmt: skip
        return table

    def __rich__(self) -> Table:
        return self.table()


def _beside(taken: int, needed: int) -> str:
    if not taken:
        return ""
    return f"{taken:,}" if taken == needed else f"[bold red]{taken:,}[/] of {needed:,}"


class Timeline:
    """What runs on the executor do, in the time of a model: see `timeline`, which makes one."""

    def __init__(self, most_slices: int = 200_000):
        self._timeline = _ptx.Timeline.make(most_slices)

    @property
    def trace(self) -> str:
        """JSON of Chrome's trace events."""
        return self._timeline.trace()

    def write(self, path: str | PathLike[str]) -> None:
        """The trace, to a file that ui.perfetto.dev and chrome://tracing open."""
        Path(path).write_text(self.trace, encoding="utf-8", errors="replace")

    @property
    def profile(self) -> Profile:
        """Of everything until now."""
        of = self._timeline
        rows = [ProfileRow(*row) for row in of.rows(False)]
        return Profile(rows, [ProfileRow(*row) for row in of.rows(True)], of.cycles(), of.table(10))


@contextmanager
def timeline(path: str | PathLike[str] | None = None, *, most_slices: int = 200_000) -> Iterator[Timeline]:
    """Within it, runs on the executor are observed: every launch on CPU tensors, one thread of the host each.

        with executor.timeline("gemm.json") as seen:
            gemm(a, b)
        print(seen.profile)

    The trace has a process for each block, with a row for each warp and for each engine of it (TMA, cp.async, tensor cores,
    tcgen05): instructions by line, copies with their bytes, products with their shape, waits at barriers and mbarriers, with
    arrows from what ended them. Time is that of a simple model, whose assumptions stand in the trace (`otherData`): it claims
    order, not speed. `path` is written when the block ends, also by an error: where everybody stood then. Of slices so many are
    kept. The choice is the whole process's.
    """
    seen = Timeline(most_slices)
    target = None if path is None else fspath(path)
    seen._timeline.observe(True)
    try:
        yield seen
    finally:
        seen._timeline.observe(False)
        if target is not None:
            seen.write(target)


def observing(path: Any, profile: bool) -> Any:
    """`timeline`, where something was asked for; else nothing."""
    from contextlib import nullcontext

    return timeline(path) if path is not None or profile else nullcontext()
