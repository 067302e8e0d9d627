"""What several test files need."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pyptx import _ptx

GOLDEN = Path(__file__).parents[1] / "golden" / "python"


@pytest.fixture
def trace():
    """A trace around the test; `statements(trace)` is what was written."""
    with _ptx.Trace("test") as ctx:
        yield ctx


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with its golden file; PTX_BLESS=1 (./dev bless) writes the file."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("PTX_BLESS"):
            path.write_text(text)
        assert text == path.read_text(), f"{path} differs; ./dev bless rewrites it"

    return compare


@pytest.fixture
def ptxas(tmp_path: Path) -> Callable[[str], None]:
    """Assembles a text; skips where there is no ptxas."""
    tool = shutil.which(os.environ.get("PYPTX_PTXAS", "ptxas"))
    if tool is None:
        pytest.skip("no ptxas on PATH")

    def assemble(text: str, arch: str = "sm_90a") -> None:
        source = tmp_path / "kernel.ptx"
        source.write_text(text)
        done = subprocess.run(
            [tool, f"-arch={arch}", "-o", tmp_path / "kernel.cubin", source], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout

    return assemble
