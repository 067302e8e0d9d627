"""What README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyptx import PtxError, Tile, kernel, ptx, reg, types

README = (Path(__file__).parents[2] / "README.md").read_text()


def block(containing: str) -> str:
    return next(text for text in re.findall(r"^```\w*\n(.*?)^```", README, re.MULTILINE | re.DOTALL) if containing in text)


def shown(text: str) -> list[str]:
    """The lines of an error that do not depend on where it happened."""
    lines = (re.sub(r"0x[0-9a-f]+", "0x…", line) for line in text.splitlines())
    return [line for line in lines if not line.startswith((">>>", "  -->", "  = replay"))]


def test_the_first_kernel_runs() -> None:
    code = block("def add(A, B, C)").split("add(np_a, np_b)")[0]
    scope: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), scope)
    a, b = np.random.default_rng(0).standard_normal((2, 1024), dtype=np.float32)
    np.testing.assert_array_equal(scope["add"](a, b), a + b)
    assert ".visible .entry add(" in scope["add"].ptx(N=1024)


def test_the_missing_rounding_mode_is_refused_as_shown() -> None:
    @kernel(arch="sm_90a")
    def unrounded():
        x = reg.scalar(types.f32)
        ptx.inst.fma.f32(x, x, x, x)

    with pytest.raises(PtxError) as error:
        unrounded.ptx()
    assert shown(str(error.value)) == shown(block("[unknown_modifier]"))


def test_the_access_past_the_end_is_reported_as_shown() -> None:
    @kernel(in_specs=(Tile("N", types.f32),), out_specs=(Tile("N", types.f32),), grid=1, block=64, arch="sm_90a")
    def oob(A, C):
        a, c = ptx.global_ptrs(A, C)
        i = reg.from_(ptx.special.tid.x(), types.u32)
        x = reg.scalar(types.f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(a + i * 8))
        ptx.inst.st.global_.f32(ptx.addr(c + i * 4), x)
        ptx.ret()

    with pytest.raises(PtxError) as error:
        oob(np.ones(64, np.float32))
    assert shown(str(error.value)) == shown(block("[out_of_bounds]"))
