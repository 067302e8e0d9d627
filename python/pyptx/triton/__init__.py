"""Triton's kernels on CPU tensors, through the executor.

    import pyptx.triton
    pyptx.triton.activate("sm_80")        # or: with pyptx.triton.activate("sm_90a"): …
    add_kernel[(4,)](x, y, out, n, BLOCK=1024)    # x, y, out: torch tensors on the CPU

Triton compiles as it does for a GPU of that target, up to PTX; there its way ends, and the executor runs the text and checks it.
What a kernel does wrong is an error at its line of Python. Neither a GPU nor the CUDA driver is asked for.

Triton is imported when `activate` is called first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._arguments import fail, is_int, short
from . import _state
from ._state import Activation, active, deactivate

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Activation", "activate", "active", "deactivate"]

VERSIONS = ("3.6",)
"""The versions of Triton that this package fits, without their last number."""

_TARGETS = (70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121)


def _target(given: Any) -> tuple[str, int]:
    """The target as Triton compiles for it, and its number."""
    text = f"sm_{given}" if is_int(given) else given
    number = text.removeprefix("sm_").removesuffix("a") if isinstance(text, str) else ""
    if not number.isdigit() or int(number) not in _TARGETS:
        fits = ", ".join(f"sm_{known}{'a' if known >= 90 else ''}" for known in _TARGETS)
        fail("unknown_target", f"`target` is `{short(given)}`; what fits is one of {fits}")
    return f"sm_{number}{'a' if int(number) >= 90 else ''}", int(number)


def _require_triton() -> None:
    try:
        import triton
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise
        raise ModuleNotFoundError(
            f"pyptx.triton needs Triton, which is not installed here: `pip install triton=={VERSIONS[-1]}.0` (Linux)",
            name="triton",
        ) from None
    version = getattr(triton, "__version__", "without a number")
    if ".".join(version.split(".")[:2]) not in VERSIONS:
        fits = ", ".join(f"{known}.x" for known in VERSIONS)
        fail("bad_setting", f"Triton {version} is installed; pyptx.triton knows the launches of {fits}")
    if triton.knobs.runtime.interpret:
        fail("bad_setting", "TRITON_INTERPRET is set, so kernels never become PTX", "unset it before kernels are defined")


def activate(
    target: str | int = "sm_80",
    *,
    workers: int = 0,
    max_instructions: int = 0,
    check_initialised: bool = True,
    print: Callable[[str], object] | None = None,
    redirect_cuda: bool | None = None,
) -> Activation:
    """Runs `@triton.jit` kernels on CPU tensors from now on, compiled for `target`: "sm_80", "sm_90a", "sm_100a" …

    `workers` are threads of the host (0: one for each processor). `max_instructions` stops launches that go on for more warp
    instructions (0: no limit). `check_initialised=False` stops asking whether what a kernel reads was written. `print` takes
    what kernels print; None is `sys.stdout`.

    Programs written for a GPU ask torch for it. With `redirect_cuda`, while this is active, `device="cuda"` means the CPU, and
    `torch.cuda` answers for a GPU of the target what kernels' callers ask: its capability, its properties, `synchronize`. None:
    where this machine's torch sees no GPU.

    The result undoes all of it at the end of a `with`; so does `deactivate`. A second activation replaces the first until it is
    undone. ModuleNotFoundError without Triton, ValueError for a version or a target that does not fit.
    """
    name, number = _target(target)
    for what, value in (("workers", workers), ("max_instructions", max_instructions)):
        if not is_int(value) or value < 0:
            fail("bad_setting", f"`{what}` is `{short(value)}`; what fits is a number, 0 at least")
    _require_triton()
    from . import _driver

    made = Activation(name, int(workers), int(max_instructions), bool(check_initialised), print, redirect_cuda)
    _driver.enter(made, number)
    return _state.begin(made)
