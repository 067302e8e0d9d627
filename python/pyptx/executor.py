"""PTX text on the executor: any kernel of any text, on a CPU, with the parameters that it declares.

    program = executor.Program(text)
    program.run("add", [x, y, out, n], grid=4, block=128)

Grid, block, shared memory and parameters are a launch's own: a text is read once, and each of its kernels decoded once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, NamedTuple

from . import _findings, _ptx
from ._arguments import fail, is_int, short
from ._findings import Findings, Rule, Sweep, SweepRun, explain, rules
from ._session import Session
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


Numerics = Literal["exact", "fast"]
Approximations = Literal["hardware", "rounded", "perturb"]
Completion = Literal["eager", "lazy", "random"]
Schedule = Literal["eager", "lazy", "random"]
Checks = Literal["off", "cheap", "full"]


@contextmanager
def _settings(
    *,
    numerics: Numerics | None = None,
    approx: Approximations | None = None,
    schedule: Schedule | None = None,
    completion: Completion | None = None,
    checks: Checks | None = None,
    seed: int | None = None,
) -> Iterator[None]:
    """What runs are like within it, where they are not told; None leaves a choice as it is."""
    before = _ptx.executor_settings()
    _ptx.set_executor_settings(_record(numerics, approx, schedule, completion, checks, seed))
    try:
        yield
    finally:
        _ptx.set_executor_settings(before)


def _record(
    numerics: Numerics | None = None,
    approx: Approximations | None = None,
    schedule: Schedule | None = None,
    completion: Completion | None = None,
    checks: Checks | None = None,
    seed: int | None = None,
    suppress: Iterable[str] | None = None,
    limit: int | None = None,
    stop: bool | None = None,
) -> dict[str, Any]:
    """The settings as the core has them: a schedule says when copies happen and whose turn it is."""
    threads = None if schedule is None else "random" if schedule == "random" else "in_turn"
    return {
        "numerics": numerics, "approx": approx, "completion": completion or schedule, "threads": threads, "checks": checks,
        "seed": seed, "suppress": None if suppress is None else list(suppress), "limit": limit, "stop": stop,
    }  # fmt: skip


@contextmanager
def arithmetic(numerics: Numerics | None = None, approx: Approximations | None = None, seed: int | None = None) -> Iterator[None]:
    """Within it, kernels on the executor compute that way: every launch on CPU tensors, from numpy, torch, JAX and Triton.

        with executor.arithmetic(numerics="fast"):
            gemm(a, b)

    `numerics` says how tensor cores add up products of floating-point numbers: ``exact``, as the kernel's target does, bit for
    bit where that is known; or ``fast``, a chain of f32 fused multiply-adds, several times as fast. `approx` says what the
    approximations of f32 give (``rcp``, ``rsqrt``, ``sqrt``, ``ex2``, ``lg2``, ``sin``, ``cos``, ``tanh``, and ``div``, with
    ``.approx`` or ``.full``): ``hardware``, the bits of an H200; ``rounded``, the function's value; or ``perturb``, a value
    within the manual's bound, another one for each `seed`: what other GPUs may give. None leaves a choice as it is. The
    choices are the whole process's.
    """
    with _settings(numerics=numerics, approx=approx, seed=seed):
        yield


@contextmanager
def completing(completion: Completion, seed: int | None = None) -> Iterator[None]:
    """Within it, kernels on the executor perform what is asynchronous at that time: every launch on CPU tensors.

        with executor.completing("lazy"):
            gemm(a, b)

    A GPU performs a copy of ``cp.async``, ``cp.async.bulk``, of a tensor, a reduction or a store that is asynchronous at any time
    from its beginning until a thread has to see it complete. ``eager`` is its beginning, which is fast and hides who forgets to
    wait; ``lazy`` is as late as a wait for it allows: who forgets to wait reads what was there before, an error where nobody has
    written it (kind ``uninitialised``); ``random`` is some time in between, another one for each `seed`. A kernel that is right
    gives the same results each time. What wgmma and tcgen05 do happens when they begin. The choice is the whole process's.
    """
    with _settings(completion=completion, seed=seed):
        yield


@contextmanager
def scheduling(schedule: Schedule, seed: int | None = None) -> Iterator[None]:
    """Within it, kernels on the executor run in that order: every launch on CPU tensors.

        with executor.scheduling("random", seed=7):
            gemm(a, b)

    ``eager`` and ``lazy`` are those of `completing`, with threads that take turns; with ``random`` threads go on in an order that
    nobody can count on as well, warps of a block and threads of a warp that have parted, another one for each `seed`. The choice
    is the whole process's.
    """
    with _settings(schedule=schedule, seed=seed):
        yield


@contextmanager
def checking(
    checks: Checks = "full", *, suppress: Sequence[str] = (), limit: int | None = None, stop: bool | None = None
) -> Iterator[Findings]:
    """Within it, kernels on the executor are looked at for accesses that nothing orders: every launch on CPU tensors.

        with executor.checking() as findings:
            gemm(a, b)
        assert not findings

    The list has what was found when the block ends: each pair of instructions once, an error or a warning (`severity`), with
    the `rule` that is broken, and a `kind`:

    * ``race``: two accesses to the same bytes, one of them a store, that no barrier, mbarrier, wait, or release and acquire
      orders;
    * ``race_of_lanes``: the same by threads of one warp, which ``bar.warp.sync`` would order;
    * ``missing_proxy_fence``: an access of TMA, wgmma or tcgen05 to what was stored (a warning: loaded) in the ordinary way, with
      no ``fence.proxy.async`` in between;
    * ``missing_tensor_map_fence``: a copy by a tensor map that was stored without the fences of its proxy in between;
    * ``unordered_tensor_memory``: an access of tensor memory that nothing says is behind another one's end;
    * ``missing_tensor_fence``, a warning: the same, complete, without the fences of tcgen05 around what orders the threads;
    * ``unordered_mbarrier``: an mbarrier used by a thread that nothing orders behind its initialisation;
    * ``unfinished_copy``, a warning: a bulk copy of shared memory that nobody waits for before its block ends.

    `checks` is ``off`` (what a run cannot go on behind: accesses outside of memory, misused barriers, deadlocks), ``cheap`` (and
    values that nobody has written: what runs do that are not told otherwise) or ``full``. `suppress` has rules that are not to
    be told, and where: ``P-02`` everywhere, ``P-01@gemm.py:133`` at a line of the author's source of one of both accesses,
    ``R-rw@gemm`` in a kernel, ``*@gemm.py`` in a file; what fits nothing is in `Findings.unused_suppressions`. `limit` is how
    many different findings a run keeps (100; 0: all). With `stop` the first finding that is an error ends its launch, which
    raises it.

    Who knows of what is followed, so a finding needs no unlucky order of the threads. The choice is the whole process's; such
    runs use one thread of the host. The environment's ``PYPTX_RUN_CHECKS=full`` does it for a whole program: the first error
    then is an error of the launch; ``PYPTX_RUN_SUPPRESS`` names a file of suppressions, one a line, ``#`` before a comment.
    """
    before = _ptx.executor_settings()
    _ptx.executor_findings()
    findings = Findings()
    try:
        _ptx.set_executor_settings(_record(checks=checks, suppress=suppress, limit=limit, stop=stop))
        _ptx.collect_executor_findings(True)
        yield findings
    finally:
        _ptx.collect_executor_findings(False)
        _ptx.set_executor_settings(before)
        found, _, suppressed, left_out, unused = _ptx.executor_findings()
        findings.extend(found)
        findings._take(suppressed, left_out, unused)


class _Results(NamedTuple):
    outputs: Any
    """What the call gives: an array, or a tuple of them."""
    findings: Findings
    """As `checking` gives them."""

    def __str__(self) -> str:
        return str(self.findings)

    def __rich__(self) -> Any:
        return self.findings.__rich__()


def _refuse_gpu(arrays: Iterable[Any], what: str) -> None:
    for array in arrays:
        if getattr(getattr(array, "device", None), "type", "cpu") == "cuda":
            fail("launch_config", f"`{what}` runs on the executor, and a tensor is on a GPU; what fits are arrays in host memory")


class Simulation(_Results):
    """A call of a kernel on the executor."""

    profile: Profile | None
    """What each line cost in the timeline's model, where `trace` or `profile` was given."""

    def __new__(cls, outputs: Any, findings: Findings, profile: Profile | None = None) -> Simulation:
        made = super().__new__(cls, outputs, findings)
        made.profile = profile
        return made


def simulate(
    call: Callable[..., Any],
    *arrays: Any,
    checks: Checks = "full",
    schedule: Schedule | None = None,
    completion: Completion | None = None,
    numerics: Numerics | None = None,
    approx: Approximations | None = None,
    seed: int | None = None,
    suppress: Sequence[str] = (),
    limit: int | None = None,
    stop: bool | None = None,
    trace: str | PathLike[str] | None = None,
    profile: bool = False,
    **kwargs: Any,
) -> Simulation:
    """Calls `call`, a kernel or a function that calls kernels, and gives its outputs with what `checking` finds meanwhile.
    `schedule`, `completion`, `numerics`, `approx` and `seed` are those of `scheduling`, `completing` and `arithmetic`;
    `suppress`, `limit` and `stop` those of `checking`. `trace` is a file for the timeline of `timeline`; with it, or with
    `profile`, the result has what each line cost. Tensors on a GPU are refused."""
    _refuse_gpu(arrays, "simulate")
    with (
        _settings(numerics=numerics, approx=approx, schedule=schedule, completion=completion, seed=seed),
        checking(checks, suppress=suppress, limit=limit, stop=stop) as findings,
        observing(trace, profile) as seen,
    ):
        outputs = call(*arrays, **kwargs)
    given = {"schedule": schedule, "completion": completion, "seed": seed}
    how = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    name = getattr(call, "__name__", "call")
    again = f"{name}.simulate(...{how})" if hasattr(call, "simulate") else f"executor.simulate({name}, ...{how})"
    for finding in findings:
        _findings.add_note(finding, f"replay: {again}")
    return Simulation(outputs, findings, seen.profile if seen is not None else None)


def debug(
    call: Callable[..., Any],
    *arrays: Any,
    checks: Checks = "cheap",
    schedule: Schedule | None = None,
    completion: Completion | None = None,
    numerics: Numerics | None = None,
    seed: int | None = None,
    **kwargs: Any,
) -> Session:
    """A session that steps `call`, a kernel or a function that calls kernels, on copies of `arrays`:

        with executor.debug(gemm, a, b) as session:
            session.break_at("gemm.py:141")
            print(session.run())
            print(session.registers()["%f1"])

    With `checks="full"` what they find stops the run, too. The other keywords are those of `simulate`.
    """
    _refuse_gpu(arrays, "debug")

    @contextmanager
    def settings() -> Iterator[None]:
        with _settings(numerics=numerics, schedule=schedule, completion=completion, seed=seed), checking(checks):
            yield

    return Session(call, arrays, kwargs, settings)


def sweep(
    call: Callable[..., Any],
    *arrays: Any,
    seeds: int | None = None,
    systematic: bool = False,
    runs: int | None = None,
    checks: Checks = "full",
    numerics: Numerics | None = None,
    approx: Approximations | None = None,
    suppress: Sequence[str] = (),
    limit: int | None = None,
    **kwargs: Any,
) -> Sweep:
    """Calls `call` with asynchronous operations performed as early as can be, as late as can be, and at random times with each
    of so many seeds: 2 + `seeds` runs, each on fresh copies of the arrays. Printed, the answer is a table of the runs, whether
    their outputs are the same bit for bit, and what they found, each finding once with the run that showed it first.

        print(executor.sweep(gemm, a, b, seeds=32))

    `seeds` is 32 without it. With `systematic` runs take every order in which threads and asynchronous copies can go on that
    makes a difference to what they can see of each other through strong accesses and mbarriers, `runs` of them at most (10000
    without it; 0: all); `Sweep.exhausted` says whether those were all. That is for kernels of a few warps that meet a few
    times: orders are many. Threads of one warp that have parted keep the executor's order, and blocks that are in no cluster
    together are explored one after the other.

        assert executor.sweep(handshake, a, systematic=True).exhausted

    Findings do not need unlucky times; the sweep is for paths that only some of them take. A fault ends its run and counts as a
    finding. Ctrl-C ends the sweep, whose answer then has the runs so far (`interrupted`). A terminal shows how far it is.
    """
    for name, value in (("seeds", seeds), ("runs", runs)):
        if value is not None and (not is_int(value) or value < 0):
            fail("bad_setting", f"`{name}` is `{short(value)}`; what fits is a number, 0 at least")
    if systematic and seeds is not None:
        fail("bad_setting", "`seeds` has orders at random and `systematic` all of them; what fits is one of the two")
    if not systematic and runs is not None:
        fail("bad_setting", "`runs` says how many runs a systematic sweep makes; what fits is `systematic=True` beside it")
    _refuse_gpu(arrays, "sweep")
    copies: list[Any] = []

    def run(schedule: Any, seed: int) -> tuple[Any, Findings]:
        copies[:] = [_findings.fresh(array) for array in arrays]
        chosen = {} if systematic else {"schedule": schedule, "seed": seed}
        return simulate(
            call, *copies, checks=checks, numerics=numerics, approx=approx, suppress=suppress, limit=limit, **chosen, **kwargs
        )

    def inputs_after() -> list[bytes]:
        return _findings.bits_of([copy for copy in copies if hasattr(copy, "shape")])

    if systematic:
        return _findings.run_orders(run, 10_000 if runs is None else int(runs), inputs_after)
    return _findings.run_all(run, 32 if seeds is None else int(seeds), inputs_after)


@dataclass(frozen=True)
class Region:
    """Memory that a kernel may use: accesses outside of every region are errors.

    Of a tensor the region is its whole storage, views included; with `bytes`, as many from the tensor's first element.
    """

    memory: Any
    """A tensor or array in host memory, or an address (with `bytes`)."""
    name: str = ""
    """What messages call it."""
    bytes: int | None = None
    """Its size, bytes; None: the tensor's storage."""
    writable: bool = True
    """Whether the kernel may store there. Memory that may not be written at all is never writable."""
    initialised: bool = True
    """Whether it holds values: of memory that counts as not written, loads before the first store are errors."""
    replicas: Sequence[Any] | None = None
    """Not None: a multicast region. Its addresses are for ``multimem.*`` alone, which reaches `memory` and each of these tensors:
    the memory of so many devices. What else may use them is said by other parameters and regions."""

    @property
    def address(self) -> int:
        """Where a kernel finds the first element: what a parameter takes that is given the region."""
        memory = _Regions.memory_of(self, "the region")
        return _ptx.multimem_address(memory.address) if self.replicas is not None else memory.address


_Shape = tuple[list[int], int]
_RegionTuple = tuple[int, int, str, bool, bool, "list[int] | None", "_Shape | None"]


class _Memory(NamedTuple):
    address: int  # of the first element
    start: int  # of its storage
    bytes: int  # of its storage
    writable: bool
    shape: _Shape | None = None  # of a tensor that fills its storage, row by row: sizes, and bits of an element


def _memory_of_array(array: Any) -> _Memory:
    owner = array
    while type(owner.base) is type(array):
        owner = owner.base
    writable = bool(array.flags.writeable)
    if owner.flags.c_contiguous or owner.flags.f_contiguous:
        whole = array.flags.c_contiguous and array.nbytes == owner.nbytes and array.ndim > 0
        shape = (list(array.shape), 8 * array.itemsize) if whole else None
        return _Memory(array.ctypes.data, owner.ctypes.data, owner.nbytes, writable, shape)
    spans = [(size - 1) * stride for size, stride in zip(owner.shape, owner.strides, strict=True)]
    start = owner.ctypes.data + sum(span for span in spans if span < 0)
    return _Memory(array.ctypes.data, start, sum(abs(span) for span in spans) + owner.itemsize, writable)


def _memory(value: Any, what: str) -> _Memory | None:
    """Where a tensor lies; None of anything that is none. `what` is for the error of a tensor that is not in host memory."""
    storage_of = getattr(value, "untyped_storage", None)
    if storage_of is not None:  # torch's
        if value.device.type != "cpu":
            fail("argument_device", f"{what} is on `{value.device}`; the executor takes tensors in host memory")
        storage = storage_of()
        whole = value.is_contiguous() and value.dim() > 0 and value.data_ptr() == storage.data_ptr()
        shape = (list(value.shape), 8 * value.element_size()) if whole else None
        return _Memory(value.data_ptr(), storage.data_ptr(), storage.nbytes(), True, shape)
    if hasattr(value, "__array_interface__") and hasattr(value, "ctypes"):
        return _memory_of_array(value)
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        import numpy as np

        array = np.asarray(value) if hasattr(value, "__array_interface__") else np.from_dlpack(value)
        return _memory_of_array(array)
    return None


class _Regions:
    """The memory of a launch: pieces that share an allocation are one."""

    def __init__(self, given: Iterable[Any]):
        self.fixed: list[_RegionTuple] = []
        self.found: dict[int, tuple[int, list[str], bool, _Shape | None]] = {}
        for number, region in enumerate(given):
            self.fixed.append(self._fixed(region if isinstance(region, Region) else Region(region), f"region {number}"))

    @staticmethod
    def memory_of(region: Region, what: str) -> _Memory:
        size = region.bytes
        if size is not None and (not is_int(size) or size < 0):
            fail("argument_kind", f"`bytes` of {what} is `{short(size)}`; what fits is a number of bytes")
        # (a tensor of one integer may stand for a number, too)
        if is_int(region.memory) and not hasattr(region.memory, "untyped_storage") and getattr(region.memory, "ndim", 0) == 0:
            if size is None:
                fail("argument_kind", f"{what} is an address alone; what fits is one with its size, `Region(address, bytes=…)`")
            return _Memory(int(region.memory), int(region.memory), int(size), region.writable)
        memory = _memory(region.memory, what)
        if memory is None:
            fail("argument_kind", f"{what} is {short(region.memory)}; what fits is a tensor, or an address with its size")
        most = memory.start + memory.bytes - memory.address
        if size is not None and size > most:
            fail("argument_memory", f"{what} is said to have {size} bytes; its tensor's storage has {most} from there")
        if size is None and region.replicas is None:
            return memory._replace(writable=region.writable and memory.writable)
        return _Memory(memory.address, memory.address, most if size is None else int(size), region.writable and memory.writable)

    @classmethod
    def _fixed(cls, region: Region, what: str) -> _RegionTuple:
        memory = cls.memory_of(region, what)
        writable, replicas = memory.writable, None
        if region.replicas is not None:
            replicas = []
            for number, other in enumerate(region.replicas):
                replica = cls.memory_of(
                    Region(other, bytes=memory.bytes, writable=region.writable), f"replica {number} of {what}"
                )
                writable = writable and replica.writable
                replicas.append(replica.address)
        return memory.start, memory.bytes, region.name, writable, region.initialised, replicas, memory.shape

    def add(self, memory: _Memory, name: str) -> None:
        ordinary = [(start, size) for start, size, *_, replicas, _ in self.fixed if replicas is None]
        if memory.bytes == 0 or any(start <= memory.address < start + size for start, size in ordinary):
            return
        size, names, writable, shape = self.found.get(memory.start, (0, [], False, memory.shape))
        same = memory.shape if shape == memory.shape else None
        self.found[memory.start] = (max(size, memory.bytes), [*names, name], writable or memory.writable, same)

    def all(self) -> list[_RegionTuple]:
        found = self.found.items()
        shared = [(at, size, " and ".join(names), writable, True, None, shape) for at, (size, names, writable, shape) in found]
        return [*self.fixed, *shared]


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
        return [Fidelity(*note) for note in self._module.fidelity(entry, _record(numerics, approx))]

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
        * `bytes`, as many as the parameter has: a structure, or a TMA descriptor (`TensorMap.words`).

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
        memory = _Regions(regions)
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
                _record(numerics, approx, schedule, completion, checks, seed, suppress, limit, stop),
                sys.stdout.write if print is None else print,
            )
        return Report(*done)

    def _values(self, entry: str, given: Sequence[Any] | Mapping[str, Any], memory: _Regions) -> list[bytes]:
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
    def _value(entry: str, parameter: Parameter, value: Any, memory: _Regions) -> bytes:
        what = f"parameter `{parameter.name}` of kernel `{entry}`"
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)  # the core compares sizes
        if isinstance(value, Region):
            if parameter.bytes != 8:
                fail("argument_kind", f"{what} is a `.{parameter.type}`, which cannot hold the address of a region")
            memory.fixed.append(memory._fixed(value, what))
            return value.address.to_bytes(8, "little")
        if parameter.is_array:
            fail("argument_kind", f"{what} is an array of {parameter.bytes} bytes; what fits are that many `bytes`")
        tensor = None if value is None or is_int(value) or isinstance(value, float) else _memory(value, what)
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
