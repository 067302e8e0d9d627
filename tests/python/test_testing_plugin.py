"""pyptx.testing, the pytest plugin: tests of tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KERNEL = """
import numpy as np
import pytest
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32


@kernel(in_specs=[Tile(64, f32)], out_specs=[Tile(64, f32)], grid=1, block=64, arch="sm_80")
def racing(X, Y):
    px, py = ptx.global_ptrs(X, Y)
    t = reg.from_(ptx.special.tid.x(), u32)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(px + t * 4))
    ptx.inst.st.global_.f32(ptx.addr(py + t * 4), value)
    with ptx.if_(t >= 32):
        ptx.inst.ld.global_.f32(value, ptx.addr(py + t * 4 - 128))
    ptx.ret()


@kernel(in_specs=[Tile(64, f32)], out_specs=[Tile(64, f32)], grid=1, block=64, arch="sm_80")
def copies(X, Y):
    px, py = ptx.global_ptrs(X, Y)
    t = reg.from_(ptx.special.tid.x(), u32)
    ptx.inst.st.global_.f32(ptx.addr(py + t * 4), ptx.let.ld.global_.f32(ptx.addr(px + t * 4)))
    ptx.ret()


x = np.arange(64, dtype=np.float32)
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("PYTHONPATH", str(HERE.parents[1] / "python"))
    pytester.makeini("[pytest]\naddopts = --strict-markers\n")

    def call(tests: str, *words: str) -> pytest.RunResult:
        pytester.makepyfile(KERNEL + tests)
        return pytester.runpytest_subprocess("-p", "pyptx.testing", *words)

    return call


def test_a_race_fails_the_test(run) -> None:  # type: ignore[no-untyped-def]
    done = run("def test_it(ptx_checks):\n    assert (racing(x) == x).all()\n\ndef test_without():\n    racing(x)\n")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*nothing orders that behind*", "*rule: R-wr*", "*1 error*", "*schedule='eager'*"])


def test_a_race_is_an_expected_failure_and_a_section_of_another_one(run) -> None:  # type: ignore[no-untyped-def]
    run("@pytest.mark.xfail(strict=True)\ndef test_it(ptx_checks):\n    racing(x)\n").assert_outcomes(xfailed=1)
    done = run("def test_it(ptx_checks):\n    racing(x)\n    assert 1 == 2\n")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*assert 1 == 2*", "*what kernels did*", "*rule: R-wr*"])
    of_unittest = "import unittest\n\nclass Tests(unittest.TestCase):\n"
    of_unittest += "    @pytest.fixture(autouse=True)\n    def checks(self, ptx_checks): ...\n\n"
    done = run(f"{of_unittest}    def test_it(self):\n        racing(x)\n")
    done.assert_outcomes(passed=1, errors=1)  # pytest does not call it


def test_a_right_kernel_passes(run) -> None:  # type: ignore[no-untyped-def]
    run("def test_it(ptx_checks):\n    copies(x)\n    assert ptx_checks == []\n").assert_outcomes(passed=1)


def test_seeds(run) -> None:  # type: ignore[no-untyped-def]
    done = run(
        "def test_it(ptx_checks):\n    copies(x)\n\n@pytest.mark.ptx_seeds(1)\ndef test_marked(ptx_checks):\n    copies(x)\n",
        "--ptx-seeds", "2", "-v",
    )  # fmt: skip
    done.assert_outcomes(passed=4 + 3)
    done.stdout.fnmatch_lines(["*test_it?eager? *", "*test_it?lazy? *", "*test_it?random-0? *", "*test_it?random-1? *"])
    done = run("@pytest.mark.ptx_seeds('many')\ndef test_it(ptx_checks): pass\n")
    done.stdout.fnmatch_lines(["*the number of seeds is `many`; what fits is 0 or more*"])


def test_suppressions(run) -> None:  # type: ignore[no-untyped-def]
    done = run("@pytest.mark.ptx_suppress('R-wr@racing')\ndef test_it(ptx_checks):\n    racing(x)\n")
    done.assert_outcomes(passed=1)
    done = run("@pytest.mark.ptx_suppress('P-02@racing', 'R-wr')\ndef test_it(ptx_checks):\n    racing(x)\n")
    done.assert_outcomes(passed=1, warnings=1)
    done.stdout.fnmatch_lines(["*ptx_suppress('P-02@racing') fits no finding of *test_it*"])
    done = run("@pytest.mark.ptx_suppress('P-99')\ndef test_it(ptx_checks):\n    racing(x)\n")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*test_it: error: suppression `P-99` names a rule that there is not*"])


def test_torch_and_jax(run) -> None:  # type: ignore[no-untyped-def]
    if not all(importlib.util.find_spec(library) for library in ("torch", "jax")):
        pytest.skip("torch or JAX is not installed")  # (imported here, pytester would unload them)
    done = run(
        "def test_torch(ptx_checks):\n    import torch\n    racing(torch.from_numpy(x))\n\n"
        "def test_jax(ptx_checks):\n    import jax.numpy as jnp\n    np.asarray(racing(jnp.asarray(x)))\n\n"
        "def test_simulated(ptx_checks):\n    racing.simulate(x)\n"
    )
    done.assert_outcomes(passed=1, failed=2)
