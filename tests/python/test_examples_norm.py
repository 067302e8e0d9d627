"""The examples that go row by row: rms_norm, layer_norm, softmax, swiglu, for three generations of GPUs."""

import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from examples import running  # noqa: E402
from examples.rows import LONGEST_ROW, Row  # noqa: E402

from pyptx import PtxError  # noqa: E402
from pyptx.types import bf16, f16, f32  # noqa: E402

NAMES = ["rms_norm", "layer_norm", "softmax", "swiglu"]
FOLDERS = {"hopper": "sm_90a", "ampere": "sm_80", "blackwell": "sm_100a"}
# one load; a part of a warp; less than a load a thread in the last pass; all full; several a thread; longer than registers keep
LENGTHS = [8, 40, 1000, 512, 4096, 20008]


def module(folder: str, name: str):
    return importlib.import_module(f"examples.{folder}.{name}")


def build(folder: str, name: str, *args, **kwargs):
    return getattr(module(folder, name), f"build_{name}")(*args, **kwargs)


@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
@pytest.mark.parametrize("N", LENGTHS)
@pytest.mark.parametrize("name", NAMES)
def test_on_this_machine(name, N, dtype) -> None:
    result = module("hopper", name).check(3, N, dtype=dtype)
    assert result.error is not None and np.isfinite(result.error)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_longer_than_registers_keep(name) -> None:
    N = 40000
    assert not Row(N, f32).is_kept
    assert module("hopper", name).check(1, N).error is not None


@pytest.mark.parametrize("name", ["softmax", "swiglu"])
def test_large_numbers(name) -> None:
    # exponentials of numbers this large overflow, and their reciprocals are 0
    assert module("hopper", name).check(2, 1000, scale=100.0).error is not None


def test_softmax_of_extremes() -> None:
    kernel = build("hopper", "softmax", 3, 8)
    masked = np.finfo(np.float32).min
    x = np.array([[-np.inf, 0, 0, -np.inf, -np.inf, 0, 0, -np.inf], [3e38, -3e38, *[0] * 6], [masked] * 8], np.float32)
    y = running.from_torch(kernel(running.to_torch(x))) if running.torch_with_gpu("sm_90a") else kernel(x)
    np.testing.assert_allclose(y, [[0, 0.25, 0.25, 0, 0, 0.25, 0.25, 0], [1, *[0] * 7], [0.125] * 8], rtol=1e-6)


def test_layer_norm_of_a_large_mean() -> None:
    """mean(x**2) - mean**2 would have lost every digit of the variance."""
    x = (1000 + np.random.default_rng(0).standard_normal((2, 1000))).astype(np.float32)
    ones, zeros = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    expected = module("hopper", "layer_norm").reference_layer_norm(x, ones, zeros)
    y = build("hopper", "layer_norm", 2, 1000)(x, ones, zeros)
    assert running.largest_error(y, expected, floor=1.0) < 1e-3  # of the mean of numbers near 1000, in float32: 6e-5 each


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("ptxas_path")
def test_ptxas_takes_them_without_spills(folder, name) -> None:
    for N, dtype in [(1000, f32), (4096, bf16), (32768, f32), (32768, bf16), (131072, bf16)]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kernel = build(folder, name, 64, N, dtype=dtype)
            resources = kernel.resources()
        assert kernel.arch == FOLDERS[folder] and f".target {FOLDERS[folder]}\n" in kernel.ptx()
        assert resources["spill_stores"] == resources["spill_loads"] == 0, (N, dtype, resources)
        threads = kernel.block[0]
        assert resources["registers"] * threads <= 65536, (N, dtype, resources)


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", NAMES)
def test_the_other_generations_run_the_same_kernel(folder, name) -> None:
    result = module(folder, name).check(2, 1000)
    assert result.error is not None
    kernel = build(folder, name, 2, 1000)
    assert build(folder, name, 2, 1000) is kernel  # cached
    hopper = build("hopper", name, 2, 1000).ptx()
    assert kernel.ptx().partition(".entry")[2] == hopper.partition(".entry")[2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("N", "dtype", "says"),
    [
        (510, f32, "N is 510; a row of f32 is read 16 bytes at a time, so N must be a multiple of 4"),
        (516, bf16, "must be a multiple of 8, from 8 to"),
        (0, f32, "N is 0"),
        (LONGEST_ROW + 8, f32, f"from 4 to {LONGEST_ROW}"),
        (512, f16, "the elements are f16; these kernels take f32 or bf16"),
    ],
)
def test_rows_that_do_not_fit_are_refused(name, N, dtype, says) -> None:
    with pytest.raises(ValueError, match=says):
        build("hopper", name, 4, N, dtype=dtype)


def test_every_element_of_a_row_belongs_to_one_thread_of_one_pass() -> None:
    for dtype in (f32, bf16):
        for N in range(16, 50000, 1016):
            row = Row(N, dtype)
            begins = [i * row.threads + t for i in range(row.passes) for t in range(row.threads)]
            assert [b for b in begins if b < row.loads] == list(range(row.loads))
            assert row.loads * 16 == row.bytes
            assert (row.passes - 1) * row.threads < row.loads  # only the last pass can have threads without elements


@pytest.mark.parametrize(
    ("file", "args", "kwargs"),
    [
        ("rms_norm_16_512_f32.ptx", (16, 512), {}),
        ("rms_norm_3_1000_bf16.ptx", (3, 1000), {"arch": "sm_80", "dtype": bf16}),
        ("rms_norm_2_32776_bf16.ptx", (2, 32776), {"arch": "sm_100a", "dtype": bf16}),
    ],
)
def test_rms_norm_is_its_cpp_twin(file, args, kwargs) -> None:
    """ptx/author/example_test.cpp holds examples/cpp/rms_norm.hpp to the same files, and blesses them."""
    assert build("hopper", "rms_norm", *args, **kwargs).ptx() == (ROOT / "tests" / "golden" / "write" / file).read_text()


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", NAMES)
def test_as_programs(folder, name) -> None:
    """Without torch and JAX, from another folder."""
    program = ROOT / "examples" / folder / f"{name}.py"
    hidden = "import sys, runpy; sys.modules['torch'] = sys.modules['jax'] = None"
    code = f"{hidden}; runpy.run_path({str(program)!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    title, *lines = done.stdout.splitlines()
    assert title == f"{name}, {FOLDERS[folder]}" and len(lines) == 6
    assert all(" error " in line and "executor" in line for line in lines)


# -- what runs them


@pytest.mark.parametrize(
    ("arch", "capability", "fits"),
    [
        ("sm_90a", (9, 0), True),
        ("sm_90a", (10, 0), False),
        ("sm_80", (9, 0), True),
        ("sm_80", (7, 5), False),
        ("sm_100a", (10, 0), True),
        ("sm_100a", (10, 3), False),
        ("sm_100f", (10, 3), True),
        ("sm_100f", (12, 0), False),
    ],
)
def test_which_gpu_runs_what(arch, capability, fits) -> None:
    assert running.fits_gpu(arch, capability) is fits


def test_a_wrong_result_does_not_pass() -> None:
    x = np.ones((2, 8), np.float32)
    kernel = build("hopper", "softmax", 2, 8)
    with pytest.raises(AssertionError, match="error"):
        running.run_and_compare(kernel, "2 x 8", (x,), np.full((2, 8), 0.126), tolerance=1e-5)
    assert running.largest_error(np.array([1.0, np.nan]), np.ones(2)) == np.inf


def test_a_kernel_that_only_a_gpu_runs_is_assembled(monkeypatch, calls_go_to) -> None:
    kernel = build("hopper", "softmax", 2, 8)

    def refuse(*_args):
        error = PtxError("not executed")
        error.kind = "not_executed"
        raise error

    calls_go_to(type(kernel), refuse)
    monkeypatch.setattr(running, "on_gpu", lambda _: False)
    monkeypatch.setattr(running, "torch_with_gpu", lambda _: None)
    monkeypatch.setattr(running, "jax_gpu", lambda _: None)
    result = running.run_and_compare(kernel, "2 x 8", (np.ones((2, 8), np.float32),), np.ones((2, 8)), tolerance=0)
    assert result.error is None
    assert "only" in result.where


def test_readme_names_files_that_are_there() -> None:
    examples = ROOT / "examples"
    table = [line.split("|")[1] for line in (examples / "README.md").read_text().splitlines() if line.startswith("| `")]
    named = {name for cell in table for name in re.findall(r"`([^`]+)`", cell)}
    assert len(named) > 15
    assert [name for name in sorted(named) if not (examples / name).exists()] == []
    ours = {f"{folder}/{name}.py" for folder in FOLDERS for name in NAMES}
    assert ours <= named
