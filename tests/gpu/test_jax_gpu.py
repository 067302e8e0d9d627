"""JAX on a GPU: command buffers, descriptors, donation, gradients, and programs that go from one process to another. Each in a
process of its own (jax_programs.py, tests/python/jax_processes.py): JAX reads its settings once, and torch has this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyptx import _ptx

pytest.importorskip("jax")
pytestmark = pytest.mark.skipif(_ptx.why_no_gpu() is not None, reason="no NVIDIA GPU here")

HERE = Path(__file__).parent
PROGRAMS = HERE / "jax_programs.py"
PROCESSES = HERE.parent / "python" / "jax_processes.py"
GRAPHS_OF_ONE_CALL = {"XLA_FLAGS": "--xla_gpu_graph_min_graph_size=1"}


def run(program: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    folders = [str(HERE.parents[1] / "python"), str(PROCESSES.parent), os.environ.get("PYTHONPATH", "")]
    settings = {"PYTHONPATH": os.pathsep.join(folders), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return subprocess.run(
        [sys.executable, program, *arguments],
        env={**os.environ, **settings, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def passes(program: Path, *arguments: str | Path, **environment: str) -> None:
    done = run(program, *arguments, **environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def cuda() -> None:
    done = run(PROGRAMS, "has_cuda")
    if done.returncode != 0:
        pytest.skip(f"this JAX has no CUDA: {done.stderr.splitlines()[-1:]}")


@pytest.mark.parametrize("settings", [{}, GRAPHS_OF_ONE_CALL], ids=["as it comes", "graphs of one call"])
@pytest.mark.parametrize("name", ["command_buffers", "tensor_copies"])
def test_buffers_that_change(name, settings) -> None:
    if name == "tensor_copies" and int(_ptx.detect_arch().removeprefix("sm_").rstrip("af")) < 90:
        pytest.skip("no GPU with tensor copies here")
    passes(PROGRAMS, name, **settings)


@pytest.mark.parametrize("name", ["donation", "gradients"])
def test_a_program(name) -> None:
    passes(PROGRAMS, name, **GRAPHS_OF_ONE_CALL)


def test_the_cache_and_serialised_programs_mean_the_same_in_another_process(tmp_path) -> None:
    pytest.importorskip("flatbuffers", reason="jax.export writes with it")
    cache = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
        "CUDA_VISIBLE_DEVICES": "0",  # a serialised executable is loaded for all devices that there are
    }
    passes(PROCESSES, "first", tmp_path, **cache)
    passes(PROCESSES, "second", tmp_path, **cache)


def test_a_program_exported_where_there_is_no_gpu(tmp_path) -> None:
    pytest.importorskip("flatbuffers", reason="jax.export writes with it")
    passes(PROCESSES, "first", tmp_path, JAX_PLATFORMS="cpu")
    passes(PROCESSES, "from_export", tmp_path)
