"""Programs of JAX that go from one process to another, and programs on several devices: jax_processes.py, each in its own
process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytest.importorskip("flatbuffers", reason="jax.export writes with it")

HERE = Path(__file__).parent


def run(name: str, folder: Path, **environment: str) -> None:
    path = os.pathsep.join([str(HERE.parents[1] / "python"), str(HERE), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": path, **environment}
    done = subprocess.run(
        [sys.executable, HERE / "jax_processes.py", name, folder], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_cache_and_serialised_programs_mean_the_same_in_another_process(tmp_path):
    cache = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
    }
    run("first", tmp_path, **cache)
    assert len(list((tmp_path / "cache").iterdir())) > 2
    run("second", tmp_path, **cache)


def test_several_devices(tmp_path):
    run("several_devices", tmp_path, XLA_FLAGS="--xla_force_host_platform_device_count=4")
