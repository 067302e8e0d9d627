"""How runs on the executor are done where a launch is not told: arithmetic, order and checks, of the whole process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from . import _ptx
from ._arguments import fail
from ._findings import Findings

Numerics = Literal["exact", "fast"]
Approximations = Literal["hardware", "rounded", "perturb"]
Completion = Literal["eager", "lazy", "random"]
Schedule = Literal["eager", "lazy", "random"]
Checks = Literal["off", "cheap", "full"]

_ptx.pass_over(contextlib.__file__)  # of `with executor.scheduling("x"):` the author's line is that of the `with`


@contextmanager
def settings(
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
    _ptx.set_executor_settings(record(numerics, approx, schedule, completion, checks, seed))
    try:
        yield
    finally:
        _ptx.set_executor_settings(before)


def record(
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
    if schedule not in (None, "eager", "lazy", "random"):
        fail("argument_kind", f"`schedule` is {schedule!r}", "what fits is 'eager', 'lazy' or 'random'")
    threads = None if schedule is None else "random" if schedule == "random" else "in_turn"
    if isinstance(suppress, str):  # one rule, not its letters
        suppress = [suppress]
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
    with settings(numerics=numerics, approx=approx, seed=seed):
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
    with settings(completion=completion, seed=seed):
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
    with settings(schedule=schedule, seed=seed):
        yield


_looking: list[Findings] = []  # of the blocks of `checking` that are open, the innermost last


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
    * ``stale_load``: a load by ``ld.global.nc`` of what the kernel itself has stored;
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
    found_before = _ptx.executor_findings()
    if _looking:  # a block around this one has what it found until now
        _looking[-1]._add(*found_before)
    findings = Findings()
    _looking.append(findings)
    try:
        _ptx.set_executor_settings(record(checks=checks, suppress=suppress, limit=limit, stop=stop))
        _ptx.collect_executor_findings(True)
        yield findings
    finally:
        findings._add(*_ptx.executor_findings())
        _looking[:] = [each for each in _looking if each is not findings]
        _ptx.collect_executor_findings(bool(_looking))
        _ptx.set_executor_settings(before)
