"""Softmax of each row for Blackwell (B200): the kernel of examples/hopper/softmax.py with `arch="sm_100a"`.

Memory bounds it: nothing new in Blackwell would help. ``python examples/blackwell/softmax.py`` runs it where this machine can.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyptx import Kernel
from pyptx.types import PtxType, f32

if not __package__:  # run as a program
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples.hopper import softmax as hopper
from examples.running import Result

reference_softmax = hopper.reference_softmax


def build_softmax(B: int, N: int, arch: str = "sm_100a", dtype: PtxType = f32) -> Kernel:
    """As the Hopper builder."""
    return hopper.build_softmax(B, N, arch, dtype)


def check(B: int, N: int, arch: str = "sm_100a", dtype: PtxType = f32) -> Result:
    """As the Hopper check."""
    return hopper.check(B, N, arch, dtype)


def main() -> None:
    hopper.main("sm_100a")


if __name__ == "__main__":
    main()
