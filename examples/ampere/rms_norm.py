"""RMS norm for Ampere and later: the kernel of examples/hopper/rms_norm.py with `arch="sm_80"`.

It uses nothing that Ampere lacks. ``python examples/ampere/rms_norm.py`` runs it where this machine can.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyptx import Kernel
from pyptx.types import PtxType, f32

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.hopper import rms_norm as hopper
from examples.running import Result

reference_rms_norm = hopper.reference_rms_norm


def build_rms_norm(B: int, N: int, eps: float = 1e-6, arch: str = "sm_80", dtype: PtxType = f32) -> Kernel:
    """As the Hopper builder."""
    return hopper.build_rms_norm(B, N, eps, arch, dtype)


def check(B: int, N: int, eps: float = 1e-6, arch: str = "sm_80", dtype: PtxType = f32) -> Result:
    """As the Hopper check."""
    return hopper.check(B, N, eps, arch, dtype)


def main() -> None:
    hopper.main("sm_80")


if __name__ == "__main__":
    main()
