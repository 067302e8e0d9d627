"""Stepping a kernel on the executor: breakpoints, registers, shared memory, mbarriers, and back."""

from __future__ import annotations

import atexit
import copy
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _ptx
from ._arguments import fail, short

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Mbarrier", "Register", "Session", "Stop", "WarpState"]

LANES = 32
Block = tuple[int, int, int]


def _place(where: tuple[str, int] | None) -> str:
    return f"{Path(where[0]).name}:{where[1]}" if where else ""


def _lanes(mask: int) -> str:
    """``0-15, 20``"""
    parts: list[str] = []
    lane = 0
    while lane < LANES:
        end = lane
        while end < LANES and mask >> end & 1:
            end += 1
        if end > lane:
            parts.append(str(lane) if end == lane + 1 else f"{lane}-{end - 1}")
        lane = max(end, lane) + 1
    return ", ".join(parts)


class Stop(NamedTuple):
    """Where a run has stopped: before `instruction`, behind it where checks have found something."""

    why: str
    """``step``, ``breakpoint``, ``watch``, ``finding``, ``fault``, ``ended`` or ``interrupted``."""
    breakpoint: int
    """Its number, from 1."""
    position: int
    """Instructions of all warps that have run."""
    kernel: str
    block: Block
    warp: int
    lanes: int
    """A bit for each that runs the instruction."""
    ptx_line: int
    instruction: str
    where: tuple[str, int] | None
    """The author's file and line."""
    error: Any
    """Of a finding and a fault: what a run raises."""
    changed: str = ""
    """Of a watch: what it looks at, and its bytes before and behind: ``tile + 0x10: 00000000 -> 07000000``."""

    def __str__(self) -> str:
        if self.why == "ended":
            return "the run has ended"
        watched = f" {self.breakpoint}, {self.changed}" if self.changed else ""
        who = f"block {self.block} warp {self.warp}, lanes {_lanes(self.lanes)}"
        said = f"{self.why}{watched}: {who}, instruction {self.position}"
        place = _place(self.where)
        text = f"{said}{', ' if place else ''}{place}\n  {self.instruction}"
        return f"{text}\n{self.error}" if self.error is not None else text


class WarpState(NamedTuple):
    """Lanes of a warp that are at the same place."""

    block: Block
    warp: int
    lanes: int
    state: str
    """``runs``; ``ready``; ``asks`` an mbarrier for a phase; ``waits`` at a barrier or for lanes; ``ended``."""
    waits: str
    """For what."""
    ptx_line: int
    instruction: str
    where: tuple[str, int] | None
    focused: bool


class Register(NamedTuple):
    """A register of a warp."""

    name: str
    type: str
    bits: int
    raw: Sequence[int]
    """The bits, lane by lane."""
    undefined: int
    """A bit for each lane in which nothing has written it, or an undefined value."""

    @property
    def values(self) -> Any:
        """numpy's masked array of the lanes: undefined ones are masked."""
        import numpy as np

        mask = [bool(self.undefined >> lane & 1) for lane in range(LANES)]
        if self.bits == 1:
            return np.ma.MaskedArray(np.array(self.raw, dtype=bool), mask)
        if self.bits == 128:
            return np.ma.MaskedArray(np.array(self.raw, dtype=object), mask)
        kind = {"f": "f", "s": "i"}.get(self.type[0], "u")
        unsigned = np.array(self.raw, dtype=np.uint64).astype(f"u{self.bits // 8}")
        whole = self.type[1:].isdigit() and (kind != "f" or self.bits >= 16)
        return np.ma.MaskedArray(unsigned.view(f"{kind}{self.bits // 8}") if whole else unsigned, mask)

    def __str__(self) -> str:
        parts: list[str] = []
        shown = [str(value) if value is not None else "?" for value in self.values.tolist()]
        first = 0
        for lane in range(1, LANES + 1):
            if lane == LANES or shown[lane] != shown[first]:
                if first == 0 and lane == LANES:
                    return shown[0]
                parts.append(f"{first if lane == first + 1 else f'{first}-{lane - 1}'}: {shown[first]}")
                first = lane
        return "  ".join(parts)


class Mbarrier(NamedTuple):
    """An mbarrier of a block that runs."""

    block: Block
    name: str
    """The variable in which it lies: ``full + 0x8``."""
    address: int
    phase: int
    """The number of the one that is not complete."""
    expected: int
    """Arrivals of a phase."""
    pending: int
    """Arrivals that this phase lacks."""
    bytes: int
    """That it lacks."""
    waiting: Sequence[str]


class _Rows(list[Any]):
    """A list that rich shows as a table."""

    def __init__(self, rows: Sequence[Any], heads: Sequence[str], cells: Callable[[Any], Sequence[str]]):
        super().__init__(rows)
        self._heads, self._cells = heads, cells

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table()
        for head in self._heads:
            table.add_column(head, overflow="fold")
        for row in self:
            table.add_row(*self._cells(row))
        return table

    def __str__(self) -> str:
        cells = [tuple(self._heads), *(tuple(self._cells(row)) for row in self)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self._heads))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)


_BITS_OF_BF16 = 16
_NUMPY = {"f16": "f2", "f32": "f4", "f64": "f8", "pred": "u1"}


def _close(session: weakref.ref[Session]) -> None:
    if (alive := session()) is not None:
        alive.close()


class Session:
    """A call of a kernel that is stepped: `Kernel.debug` and `pyptx.executor.debug` make it.

    The call runs on a thread of its own, on copies of its arrays; going back repeats it from its start, which is exact: it has
    one worker, and one order for each seed.
    """

    def __init__(self, call: Callable[..., Any], arrays: Sequence[Any], kwargs: dict[str, Any], settings: Callable[[], Any]):
        self._outputs: Any = None
        self._error: BaseException | None = None
        kept = [_copied(array) for array in arrays]

        def run() -> None:
            self._outputs, self._error = None, None
            try:
                with settings():
                    self._outputs = call(*[_copied(array) for array in kept], **kwargs)
            except BaseException as error:  # of another thread: told by `error`
                self._error = error

        self._session = _ptx.Session.make(run)
        self._last: Stop | None = None
        atexit.register(_close, weakref.ref(self))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the run."""
        self._session.close()

    # -- where to stop

    def break_at(
        self, line: int | str | None = None, *, ptx_line: int = 0, file: str = "", block: Block | None = None,
        warp: int | None = None, when: str | None = None,
    ) -> int:  # fmt: skip
        """Stops where a line of the author's is about to run, ``141`` or ``"gemm.py:141"``, or a line of the PTX: in every warp,
        or in some. With `when`, ``"%r5 >= 32"``, only where a register has such a value in a lane that runs the line (``==``,
        ``!=``, ``<``, ``<=``, ``>``, ``>=``; a predicate is ``true`` or ``false``). Gives the breakpoint's number."""
        if isinstance(line, str):
            name, _, number = line.rpartition(":")
            if not number.isdigit():
                fail("argument_kind", f"`line` is `{short(line)}`; what fits is a number, or `file.py:12`")
            file, line = name or file, int(number)
        for what, value, least in (("line", line, 1), ("ptx_line", ptx_line or None, 1), ("warp", warp, 0)):
            if value is not None and (not isinstance(value, int) or value < least):
                fail("argument_kind", f"`{what}` is {short(value)}; what fits is a number, {least} or more")
        if not line and not ptx_line:
            fail("argument_kind", "`break_at` takes a line: `break_at(141)`, `break_at('gemm.py:141')`, `break_at(ptx_line=12)`")
        return self._session.break_at(file, line or 0, ptx_line, block, warp, when)

    def watch(self, name: str | int, offset: int = 0, *, bytes: int = 4, block: Block | None = None, tensor: bool = False) -> int:
        """Stops behind whatever changes these bytes, `offset` behind a variable of shared memory, or from an address there on, of
        the focused block or another one; with `tensor` behind the first element of a tensor of the call, by the name that reports
        have for it. Gives the watch's number, which `remove` takes."""
        where = block if block is not None else self._last.block if self._last else (0, 0, 0)
        for what, value, least in (("bytes", bytes, 1), ("offset", offset, 0)):
            if not isinstance(value, int) or value < least:
                fail("argument_kind", f"`{what}` is `{short(value)}`; what fits is a number, {least} or more")
        known = self.shared_variables
        if isinstance(name, str) and not tensor and known and name not in known:
            names = ", ".join(each for each in known if each) or "none"
            fail("argument_kind", f"the block has no variable `{name}` in shared memory; it has {names}")
        address, word = (name + offset, "") if isinstance(name, int) else (offset, name)
        return self._session.watch(not tensor, word, address, bytes, where)

    def remove(self, number: int) -> None:
        """Removes a breakpoint or a watch."""
        if not self._session.remove(number):
            fail("argument_kind", f"there is no breakpoint {number}")

    def break_on_findings(self, stops: bool = True, *, rule: str = "") -> None:
        """Whether what checks find stops the run; it does without this. With `rule`, ``"P-01"``, what breaks that one alone."""
        self._session.break_on_findings(stops, rule)

    # -- going on

    def _stopped(self, stop: tuple[Any, ...]) -> Stop:
        self._last = Stop(*stop)
        if self._last.why == "ended" and self._error is not None and self._last.position == 0:
            raise self._error  # nothing has run: the call was wrong
        return self._last

    def run(self) -> Stop:
        """On to a breakpoint, a finding, a fault or the end. Ctrl-C stops it where it is."""
        return self._stopped(self._session.run())

    def step(self, instructions: int = 1) -> Stop:
        """The focused warp runs so many instructions; others meanwhile run as the schedule has it."""
        return self._stopped(self._session.step(_positive(instructions)))

    def step_block(self) -> Stop:
        """Any warp of the focused block runs one instruction; the focus goes to it."""
        return self._stopped(self._session.step_block())

    def back(self, instructions: int = 1) -> Stop:
        """To before the focused warp's last instruction, or its last few."""
        return self._stopped(self._session.back(_positive(instructions)))

    def back_to_event(self) -> Stop:
        """To before the last instruction that completed a barrier, a phase of an mbarrier or an asynchronous operation."""
        return self._stopped(self._session.back_to_event())

    def go_to(self, position: int) -> Stop:
        """To before an instruction of the run, by its number from 0: `Stop.position`."""
        return self._stopped(self._session.go_to(position))

    def restart(self) -> Stop:
        """To before the first instruction."""
        return self.go_to(0)

    def where(self) -> Stop | None:
        """The last stop; None before the first."""
        return self._last

    @property
    def outputs(self) -> Any:
        """What the call gave, once it has ended."""
        return self._outputs

    @property
    def error(self) -> BaseException | None:
        """What the call raised, once it has ended."""
        return self._error

    # -- looking

    def focus(self, warp: int, block: Block | None = None) -> None:
        """Look at, and step, another warp."""
        chosen = block if block is not None else self._last.block if self._last else (0, 0, 0)
        if not self._session.focus(chosen, warp):
            fail("argument_kind", f"block {chosen} is not running, or has no warp {warp}")

    @property
    def warps(self) -> list[WarpState]:
        """Every warp of the blocks that run: what it does, or waits for."""
        rows = [WarpState(*row) for row in self._session.warps()]

        def cells(row: WarpState) -> Sequence[str]:
            return (
                "*" if row.focused else "", str(row.block), str(row.warp), _lanes(row.lanes), row.state, row.waits,
                row.instruction, _place(row.where),
            )  # fmt: skip

        return _Rows(rows, ("", "block", "warp", "lanes", "state", "for", "instruction", "line"), cells)

    def registers(self, warp: int | None = None, block: Block | None = None) -> dict[str, Register]:
        """The registers of the focused warp, or of another one, which then is the focus: by their names in PTX."""
        if warp is not None:
            self.focus(warp, block)
        return {row[0]: Register(*row) for row in self._session.registers()}

    def register(self, name: str) -> Register:
        """One register of the focused warp."""
        known = self.registers()
        found = known.get(name) or known.get(f"%{name}")
        if found is None:
            fail("argument_kind", f"the warp has no register `{name}`; it has {', '.join(known) or 'none: nothing runs'}")
        return found

    @property
    def shared_variables(self) -> dict[str, tuple[int, int]]:
        """Address and bytes of the focused block's variables in shared memory; all of it is called ``""``."""
        return {name: (address, size) for name, address, size in self._session.shared_variables()}

    def shared(
        self, name: str | int = "", dtype: Any = "u32", shape: int | Sequence[int] | None = None, *, offset: int = 0,
        swizzle: str = "NONE",
    ) -> Any:  # fmt: skip
        """A tile of the focused block's shared memory as numpy's masked array, what nothing has written masked: of a variable, or
        from an address on. `dtype` is a type of PTX or numpy (bf16 gives f32), `swizzle` that of the tile's tensor map: it is
        taken off, so that the tile is as its author sees it."""
        import numpy as np

        variables = self.shared_variables
        if not variables:
            fail("argument_kind", "nothing runs: there is no shared memory to look at")
        if isinstance(name, str) and name not in variables:
            known = ", ".join(each for each in variables if each)
            fail("argument_kind", f"the block has no variable `{name}` in shared memory; it has {known or 'none'}")
        address, room = variables[name] if isinstance(name, str) else (name, variables[""][0] + variables[""][1] - name)
        word = str(getattr(dtype, "name", dtype))
        is_bf16 = word in ("bf16", "bfloat16")
        numpy_type = np.dtype("u2" if is_bf16 else _numpy_type(word, dtype))
        count = shape if shape is not None else max(0, room - offset) // numpy_type.itemsize
        sizes = (count,) if isinstance(count, int) else tuple(count)
        size = int(np.prod(sizes)) * numpy_type.itemsize
        read = self._session.shared(address + offset, size, swizzle)
        if read is None:
            fail("argument_kind", f"{size} bytes from 0x{address + offset:x} on lie outside of the block's shared memory")
        data, written = read
        values = np.frombuffer(data, numpy_type)
        if is_bf16:
            values = (values.astype(np.uint32) << _BITS_OF_BF16).view(np.float32)
        marks = np.frombuffer(written, bool).reshape(-1, numpy_type.itemsize).all(axis=1)
        return np.ma.MaskedArray(values.reshape(sizes), ~marks.reshape(sizes))

    @property
    def mbarriers(self) -> list[Mbarrier]:
        """Of all blocks that run: phase, what it lacks, who waits."""

        def cells(row: Mbarrier) -> Sequence[str]:
            lacks = f"{row.pending} of {row.expected} arrivals" + (f", {row.bytes} bytes" if row.bytes else "")
            return str(row.block), row.name, str(row.phase), lacks, ", ".join(row.waiting)

        rows = [Mbarrier(*row) for row in self._session.mbarriers()]
        return _Rows(rows, ("block", "mbarrier", "phase", "lacks", "waiting"), cells)

    def tensor_memory(self, first: int = 0, columns: int = 32) -> Any:
        """Words of the focused block's tensor memory, (128 lanes, columns); no columns where nothing is allocated."""
        import numpy as np

        return np.frombuffer(self._session.tensor_memory(first, columns), np.uint32).reshape(-1, 128).T


def _positive(count: int) -> int:
    if not isinstance(count, int) or count < 1:
        fail("argument_kind", f"{short(count)} instructions; what fits is a number, 1 at least")
    return count


def _numpy_type(word: str, dtype: Any) -> Any:
    if word in _NUMPY:
        return _NUMPY[word]
    if word[:1] in "bus" and word[1:].isdigit() and int(word[1:]) in (8, 16, 32, 64):
        return f"{'i' if word[0] == 's' else 'u'}{int(word[1:]) // 8}"
    return dtype


def _copied(value: Any) -> Any:
    """An array that nobody else has; anything else as it is."""
    clone = getattr(value, "clone", None)
    if clone is not None and hasattr(value, "untyped_storage"):
        return clone()
    if hasattr(value, "__array_interface__"):
        return copy.copy(value)
    return value
