"""Calls of kernels on the executor that are looked at: once, by steps, and in many orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, NamedTuple

from . import _findings
from ._arguments import fail, is_int, short
from ._findings import Findings, Sweep
from ._session import Session
from ._settings import Approximations, Checks, Completion, Numerics, Schedule, checking, settings
from ._timeline import Profile, observing


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
        settings(numerics=numerics, approx=approx, schedule=schedule, completion=completion, seed=seed),
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
    def as_told() -> Iterator[None]:
        with settings(numerics=numerics, schedule=schedule, completion=completion, seed=seed), checking(checks):
            yield

    return Session(call, arrays, kwargs, as_told)


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
