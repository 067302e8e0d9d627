"""PTX text on the executor: any kernel of any text, on a CPU, with the parameters that it declares.

    program = executor.Program(text)
    program.run("add", [x, y, out, n], grid=4, block=128)

Grid, block, shared memory and parameters are a launch's own: a text is read once, and each of its kernels decoded once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

from . import _ptx
from ._arguments import fail, is_int, short
from ._findings import Findings, Rule, Sweep, SweepRun, explain, rules
from ._regions import Region, Regions, memory_at
from ._session import Session
from ._settings import (
    Approximations,
    Checks,
    Completion,
    Numerics,
    Schedule,
    arithmetic,
    checking,
    completing,
    record,
    scheduling,
)
from ._simulation import Simulation, debug, simulate, sweep
from ._timeline import Profile, ProfileRow, Timeline, observing, timeline
from .errors import PtxError

__all__ = [
    "Fidelity", "Findings", "Parameter", "Profile", "ProfileRow", "Program", "Region", "Report", "Rule", "Session", "Simulation",
    "Sweep", "SweepRun", "Timeline", "arithmetic", "checking", "completing", "debug", "explain", "rules", "scheduling",
    "simulate", "sweep", "timeline",
]  # fmt: skip


class Parameter(NamedTuple):
    """A parameter of a kernel, as its text declares it."""

    name: str
    type: str
    """Its PTX type: ``u64``, ``f32``; of an array that of an element."""
    bytes: int
    """Its size, of an array that of all elements."""
    is_array: bool
    """An array of bytes, such as a TMA descriptor by value, takes `bytes` alone."""


class _Counts(NamedTuple):
    blocks: int
    """Blocks that ran."""
    warp_instructions: int
    """Instructions, each counted once for a warp."""


class Report(_Counts):
    """What a run did. Both numbers are the same every time."""

    findings: Findings
    """What `checks` found, errors and warnings (`severity`)."""

    def __new__(
        cls,
        blocks: int,
        warp_instructions: int,
        findings: Sequence[PtxError] = (),
        suppressed: int = 0,
        left_out: int = 0,
        unused_suppressions: Sequence[str] = (),
    ) -> Report:
        report = super().__new__(cls, blocks, warp_instructions)
        report.findings = Findings.of(findings, suppressed, left_out, unused_suppressions)
        return report

    def to_json(self) -> str:
        """One object: both numbers, and what `Findings.to_json` has."""
        import json

        return json.dumps({**self._asdict(), **json.loads(self.findings.to_json())})


class Fidelity(NamedTuple):
    """An instruction whose results are not known to be a GPU's, bit for bit."""

    fidelity: str
    """``within a bound``, or ``unverified``: as the manual says, no GPU was asked."""
    instruction: str
    """Opcode and modifiers."""
    why: str


def _count(value: Any, what: str) -> int:
    if not is_int(value) or not 0 <= value < 1 << 31:
        fail("launch_config", f"`{what}` is `{short(value)}`; what fits is a number, 0 at least")
    return int(value)


def _sizes(value: int | Sequence[int], what: str) -> tuple[int, int, int]:
    given: tuple[Any, ...] = (value,) if is_int(value) else tuple(value) if isinstance(value, Sequence) else ()
    if not 1 <= len(given) <= 3 or not all(is_int(size) and 0 <= size < 1 << 32 for size in given):
        fail("launch_config", f"`{what}` is `{short(value)}`; what fits is a number, or one to three of them")
    x, y, z = (*(int(size) for size in given), 1, 1)[:3]
    return x, y, z


class Program:
    """A PTX text, read and checked. Its kernels run on the CPU, each decoded when it runs first.

    Raises the first error of a text that is not PTX, or that breaks a rule of it: `where` is its line, and `file` what it is
    called there.
    """

    def __init__(self, ptx: str, file: str = "<ptx>"):
        self._module = _ptx.ExecutorModule.read(ptx, file)
        self._parameters: dict[str, tuple[Parameter, ...]] = {}

    @property
    def ptx(self) -> str:
        """The text."""
        return self._module.ptx

    @property
    def target(self) -> str:
        """What it is for: ``sm_90a``."""
        return self._module.target

    @property
    def entries(self) -> tuple[str, ...]:
        """The kernels' names, in the order of the text."""
        return tuple(self._module.entries)

    def parameters(self, entry: str) -> tuple[Parameter, ...]:
        """The parameters of a kernel, in its order."""
        if entry not in self._parameters:
            self._parameters[entry] = tuple(Parameter(*each) for each in self._module.parameters(entry))
        return self._parameters[entry]

    def unsupported(self, entry: str | None = None) -> list[PtxError]:
        """All instructions that the executor does not run, as the errors that a launch raises of the first: `ptx_line`,
        `instruction`, `message`. Of one kernel, or of all. Nothing runs."""
        names = self.entries if entry is None else (entry,)
        return [error for name in names for error in self._module.unsupported(name) if isinstance(error, PtxError)]

    def fidelity(self, entry: str, *, numerics: Numerics | None = None, approx: Approximations | None = None) -> list[Fidelity]:
        """What of a kernel's results is not known to be a GPU's, bit for bit. Nothing runs."""
        return [Fidelity(*note) for note in self._module.fidelity(entry, record(numerics, approx))]

    def variable(self, name: str) -> memoryview:
        """The bytes of a ``.global`` or ``.const`` variable, to be read and written while no launch runs. Launches leave there
        what they store."""
        import ctypes

        address, size = self._module.variable(name)
        array = (ctypes.c_ubyte * size).from_address(address)
        vars(array)["program"] = self  # keeps the memory
        return memoryview(array).cast("B")

    def run(
        self,
        entry: str,
        parameters: Sequence[Any] | Mapping[str, Any] = (),
        *,
        grid: int | Sequence[int] = 1,
        block: int | Sequence[int] = 1,
        cluster: int | Sequence[int] = 1,
        shared_memory: int = 0,
        regions: Iterable[Any] = (),
        workers: int = 0,
        max_instructions: int = 0,
        check_initialised: bool = True,
        numerics: Numerics | None = None,
        approx: Approximations | None = None,
        schedule: Schedule | None = None,
        completion: Completion | None = None,
        checks: Checks | None = None,
        seed: int | None = None,
        suppress: Sequence[str] | None = None,
        limit: int | None = None,
        stop: bool | None = None,
        print: Callable[[str], object] | None = None,
        trace: str | PathLike[str] | None = None,
    ) -> Report:
        """Runs a kernel to its end.

        `parameters` are values in the kernel's order, or by name. Each is one of

        * a tensor or an array in host memory, a view too: its address. The kernel may use its whole storage, which reads count
          as written; with a region of `regions` there, what that says;
        * a `Region`: its address, a multimem address of one with `replicas`;
        * a number: of the parameter's type, which it has to fit; None is 0;
        * `bytes`, as many as the parameter has: a structure, or a TMA descriptor (`TensorMap.words`). A parameter of 8 bytes
          (``.b8 p[8]``) takes what a pointer takes, too.

        `grid`, `block` and `cluster` are one to three numbers: blocks, threads of a block, blocks of a cluster. `shared_memory`
        is dynamic shared memory, bytes. `regions` is further memory, for addresses that the kernel finds in memory: tensors or
        `Region` objects. `workers` are threads of the host (0: one for each of its processors); `max_instructions` ends a run
        that goes on for more warp instructions (0: no limit; each block has one of 2**30). Without `check_initialised` nobody
        asks whether what a kernel reads was written. `numerics`, `approx` and `seed` are those of `arithmetic`, `schedule` and
        `completion` those of `scheduling` and `completing`; with `checks="full"` the report has what `checking` looks for, as
        `suppress`, `limit` and `stop` of `checking` say. `print` takes what the kernel prints (vprintf); None is `sys.stdout`.
        `trace` is a file for the run's timeline (`timeline`).

        Raises what the run finds: `kind` is a word such as ``out_of_bounds``, ``uninitialised``, ``misaligned``, ``deadlock``,
        ``trapped``, ``not_executed``; `ptx_line`, `thread`, `block`, `address` and `region` say where, and `places` are the lines
        of the source that ``.loc`` names, the innermost first. ValueError or TypeError for parameters that do not fit.
        """
        memory = Regions(regions)
        values = self._values(entry, parameters, memory)
        with observing(trace, False):
            done = self._module.run(
                entry,
                self._module.parameter_block(entry, values),
                memory.all(),
                _sizes(grid, "grid"),
                _sizes(block, "block"),
                _sizes(cluster, "cluster"),
                _count(shared_memory, "shared_memory"),
                _count(workers, "workers"),
                _count(max_instructions, "max_instructions"),
                bool(check_initialised),
                record(numerics, approx, schedule, completion, checks, seed, suppress, limit, stop),
                sys.stdout.write if print is None else print,
            )
        return Report(*done)

    def _values(self, entry: str, given: Sequence[Any] | Mapping[str, Any], memory: Regions) -> list[bytes]:
        declared = self.parameters(entry)
        if isinstance(given, Mapping):
            names = [parameter.name for parameter in declared]
            missing, unknown = [name for name in names if name not in given], [name for name in given if name not in names]
            if missing or unknown:
                wrong = f"has no value of `{missing[0]}`" if missing else f"has no parameter `{unknown[0]}`"
                fail("argument_count", f"the launch of kernel `{entry}` {wrong}; what fits are values of {', '.join(names)}")
            given = [given[name] for name in names]
        if len(given) != len(declared):
            fail("argument_count", f"kernel `{entry}` takes {len(declared)} parameters; {len(given)} were given")
        return [self._value(entry, *each, memory) for each in zip(declared, given, strict=True)]

    @staticmethod
    def _value(entry: str, parameter: Parameter, value: Any, memory: Regions) -> bytes:
        what = f"parameter `{parameter.name}` of kernel `{entry}`"
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)  # the core compares sizes
        if isinstance(value, Region):
            if parameter.bytes != 8:
                fail("argument_kind", f"{what} is a `.{parameter.type}`, which cannot hold the address of a region")
            memory.fixed.append(memory.fixed_of(value, what))
            return value.address.to_bytes(8, "little")
        tensor = None if value is None or is_int(value) or isinstance(value, float) else memory_at(value, what)
        if parameter.is_array and (tensor is None or parameter.bytes != 8):
            an_address = ", or a tensor for its address" if parameter.bytes == 8 else ""
            fail("argument_kind", f"{what} is an array of {parameter.bytes} bytes; what fits are that many `bytes`{an_address}")
        if tensor is not None and getattr(value, "ndim", 1) == 0 and parameter.bytes < 8:
            tensor, value = None, value.item()  # a number in a tensor
        if tensor is None:
            scalar = 0 if value is None else value
            bits = _ptx.pack_scalars(entry, [(parameter.type, parameter.name)], {parameter.name: scalar})[0]
            return int(bits or 0).to_bytes(max(parameter.bytes, 8), "little")[: parameter.bytes]
        if parameter.bytes != 8:
            fail("argument_kind", f"{what} is a `.{parameter.type}`, which cannot hold the address of a tensor")
        memory.add(tensor, parameter.name)
        return tensor.address.to_bytes(8, "little")
