"""SwiGLU for Ampere and later: the kernel of examples/hopper/swiglu.py with `arch="sm_80"`.

It uses nothing that Ampere lacks. ``python examples/ampere/swiglu.py`` runs it where this machine can.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyptx import Kernel
from pyptx.types import PtxType, f32

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.hopper import swiglu as hopper
from examples.running import Result

reference_swiglu = hopper.reference_swiglu


def build_swiglu(B: int, N: int, arch: str = "sm_80", dtype: PtxType = f32) -> Kernel:
    """As the Hopper builder."""
    return hopper.build_swiglu(B, N, arch, dtype)


def check(B: int, N: int, arch: str = "sm_80", dtype: PtxType = f32) -> Result:
    """As the Hopper check."""
    return hopper.check(B, N, arch, dtype)


def main() -> None:
    hopper.main("sm_80")


if __name__ == "__main__":
    main()
