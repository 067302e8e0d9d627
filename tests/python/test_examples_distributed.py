"""The examples on several devices, here two of the CPU: by JAX in one process and by torch in two."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from examples.distributed import devices, gemm_tensor_parallel, rms_norm_data_parallel  # noqa: E402


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT / "python")}
    program = ROOT / "examples" / "distributed" / f"{name}.py"
    return subprocess.run(
        [sys.executable, program, *arguments], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("name", "results"), [("rms_norm_data_parallel", ["y", "dw"]), ("gemm_tensor_parallel", ["C"])])
def test_a_program_runs_on_two_devices(name, results):
    done = run(name, "--devices", "2")
    assert done.returncode == 0, done.stderr
    head, *lines = done.stdout.splitlines()
    assert head.startswith(name) and [line.split()[0] for line in lines] == ["jax", "torch"]
    for line in lines:
        errors = re.findall(r"(\w+) (\d\.\d+e-\d+)", line)
        assert [what for what, _ in errors] == results
        assert all(float(error) < 1e-5 for _, error in errors)
        assert "2 x executor" in line and "us" not in line


def test_a_wrong_result_does_not_pass():
    x, w, dy = rms_norm_data_parallel.problem(4, 32)
    y = rms_norm_data_parallel.reference(x, w)
    dw = (dy * rms_norm_data_parallel.reference(x, np.ones(32))).sum(0)
    assert max(rms_norm_data_parallel.errors_of(y[:2], dw, x, w, dy, slice(0, 2))) < 1e-12
    for wrong_y, wrong_dw in ((y[2:], dw), (y[:2], dw / 2)):
        with pytest.raises(AssertionError, match="error"):
            rms_norm_data_parallel.errors_of(wrong_y, wrong_dw, x, w, dy, slice(0, 2))
    a, b = gemm_tensor_parallel.problem(4, 32, 16, gemm_tensor_parallel.gemm_by_fma)
    c = gemm_tensor_parallel.gemm_by_fma(a, b)
    assert gemm_tensor_parallel.error(c, a, b, 1) < 1e-5
    with pytest.raises(AssertionError, match=r"C: error .* more than"):
        gemm_tensor_parallel.error(gemm_tensor_parallel.gemm_by_fma(a[:, :8].copy(), b[:, :8].copy()), a, b, 1)


def test_what_cannot_be_split_says_so():
    with pytest.raises(ValueError, match="10 rows are not split evenly over 4 devices"):
        rms_norm_data_parallel.rows_of_each(10, 4)
    with pytest.raises(ValueError, match="K is 24; it is split over 2 devices in multiples of 8"):
        gemm_tensor_parallel.part_of_each(24, 2)
    import jax

    jax.devices("cpu")  # JAX has started: the number of its CPU devices stands
    with pytest.raises(ValueError, match=r"1000 devices were asked for; JAX sees \d+ of kind"):
        devices.jax_devices(1000, "sm_90a")
