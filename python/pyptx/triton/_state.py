"""What is active."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..executor import Report

_current: Activation | None = None


class Activation:
    """What `activate` set up: how kernels run, until `deactivate`, or the end of a `with`."""

    target: str
    """What kernels are compiled for: ``sm_90a``."""
    workers: int
    """Threads of the host that run a kernel's blocks; 0: one for each processor."""
    max_instructions: int
    """Warp instructions after which a launch is stopped; 0: no limit."""
    check_initialised: bool
    """Whether reads of what nobody wrote are errors: shared memory, local memory, registers."""
    print: Callable[[str], object] | None
    """Takes what kernels print (`tl.device_print`); None: `sys.stdout`."""
    last_report: Report | None
    """What the last launch did: its blocks and warp instructions."""

    def __init__(
        self,
        target: str,
        workers: int,
        max_instructions: int,
        check_initialised: bool,
        print: Callable[[str], object] | None,
        redirect_cuda: bool | None,
    ):
        self.target, self.workers, self.max_instructions = target, workers, max_instructions
        self.check_initialised, self.print, self.last_report = check_initialised, print, None
        self._redirect_cuda = redirect_cuda
        self._memory: list[Any] = []
        self._undo: list[Callable[[], None]] = []
        self._before: Activation | None = None

    def add_memory(self, *tensors: Any) -> None:
        """Lets kernels use these tensors' storages too, wherever they have the addresses from. Tensors that are arguments need
        it not, nor those whose addresses stand in an argument of 64-bit integers."""
        self._memory.extend(tensors)

    def __enter__(self) -> Activation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if _current is self:
            deactivate()

    def __repr__(self) -> str:
        return f"<pyptx.triton, {self.target}{'' if _current is self else ', no longer active'}>"


def begin(made: Activation) -> Activation:
    """Makes it the one that is active."""
    global _current
    made._before, _current = _current, made
    return made


def deactivate() -> None:
    """Ends the last activation: Triton is as it was before it. Nothing happens when there is none."""
    global _current
    if _current is None:
        return
    ended, _current = _current, _current._before
    for undo in reversed(ended._undo):
        undo()


def active() -> Activation | None:
    """The activation under which kernels run now, or None."""
    return _current
