"""What several test files need."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from pyptx import _ptx

pytest_plugins = ["pyptx.testing", "pytester"]

# Tests assert no times: a first example may have to read a file of stubs, or run beside a build.
hypothesis.settings.register_profile("pyptx", deadline=None)
hypothesis.settings.load_profile("pyptx")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # shells have what they run in the background not hear of Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
def ptxas_path() -> str:
    """Where ptxas is; skips where there is none."""
    tool = shutil.which(os.environ.get("PYPTX_PTXAS", "ptxas"))
    if tool is None:
        pytest.skip("no ptxas on PATH")
    return tool


@pytest.fixture
def ptxas(tmp_path: Path, ptxas_path: str) -> Callable[..., str]:
    """Assembles a text into `tmp_path / "kernel.cubin"`, and gives back what ptxas says; skips where there is no ptxas."""

    def assemble(text: str, arch: str = "sm_90a", *options: str) -> str:
        source = tmp_path / "kernel.ptx"
        source.write_text(text)
        command = [ptxas_path, f"-arch={arch}", *options, "-o", tmp_path / "kernel.cubin", source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = done.stdout + done.stderr
        assert done.returncode == 0, log
        return log

    return assemble


@pytest.fixture
def calls_go_to():
    """Puts another function in the place of `Kernel.__call__`, until the test ends or what is given back is called."""
    undone = []

    def put(kernels, function):
        own = kernels.__call__
        kernels.__call__ = function

        def undo():
            if undo in undone:
                return
            undone.append(undo)
            kernels.__call__ = own
            _ptx.call_through_plan(kernels)  # which Python ends wherever `__call__` is defined

        pending.append(undo)
        return undo

    pending = []
    yield put
    for undo in pending:
        undo()
