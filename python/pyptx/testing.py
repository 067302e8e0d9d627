"""A pytest plugin: kernels that a test calls are looked at for races, missing fences and the like, and what is found fails it.

    def test_gemm(ptx_checks):
        np.testing.assert_array_equal(gemm(a, b), expected)

It is there wherever pyptx is installed; elsewhere ``pytest -p pyptx.testing``, or ``pytest_plugins = ["pyptx.testing"]`` in
``conftest.py``. Looked at are launches on the executor: from numpy, torch and JAX on the CPU, `simulate` and `Program.run`.

* ``--ptx-seeds 4``, or ``@pytest.mark.ptx_seeds(4)``, runs each such test 2 + 4 times: with asynchronous operations performed as
  early as can be, as late as can be, and at random times with seeds 0 to 3.
* ``@pytest.mark.ptx_suppress("P-02@gemm.py:133", ...)`` has rules that are not to be told, and where
  (`pyptx.executor.checking`). One that fits nothing is a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ._findings import Findings
    from ._settings import Completion

__all__ = ["ptx_checks"]

_EAGER: tuple[Completion, int] = ("eager", 0)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("pyptx").addoption(
        "--ptx-seeds",
        type=int,
        default=None,
        metavar="N",
        help="run each test with the fixture ptx_checks 2 + N times: eager, lazy, and random with seeds 0 to N - 1",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "ptx_seeds(n): run 2 + n times: asynchronous operations eager, lazy, and random with n seeds"
    )
    config.addinivalue_line("markers", "ptx_suppress(*rules): do not fail of these findings: 'P-02', 'P-01@file.py:133'")


def _seeds(metafunc: pytest.Metafunc) -> int | None:
    given: int | None = metafunc.config.getoption("--ptx-seeds")
    marker = metafunc.definition.get_closest_marker("ptx_seeds")
    if marker is None:
        seeds = given
    elif len(marker.args) == 1 and not marker.kwargs:
        seeds = marker.args[0]
    else:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: `ptx_seeds` takes one number, such as ptx_seeds(8)")
    if seeds is not None and (not isinstance(seeds, int) or seeds < 0):
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: the number of seeds is `{seeds}`; what fits is 0 or more")
    return seeds


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "ptx_checks" not in metafunc.fixturenames:
        return
    seeds = _seeds(metafunc)
    if seeds is None:
        return
    from ._findings import schedules

    runs = schedules(seeds)
    ids = [f"{schedule}-{seed}" if schedule == "random" else schedule for schedule, seed in runs]
    metafunc.parametrize("ptx_checks", runs, ids=ids, indirect=True)


@pytest.fixture
def ptx_checks(request: pytest.FixtureRequest) -> Iterator[Findings]:
    """Looks at every kernel that the test runs on the executor; fails it with what was found when it ends. What was found is in
    the list then, not before."""
    from . import executor
    from .errors import PtxWarning

    schedule, seed = getattr(request, "param", _EAGER)
    suppress = [str(rule) for marker in request.node.iter_markers("ptx_suppress") for rule in marker.args]
    with executor.scheduling(schedule, seed), executor.checking("full", suppress=suppress) as findings:
        yield findings
    for unused in findings.unused_suppressions:
        warnings.warn(f"ptx_suppress({unused!r}) fits no finding of {request.node.nodeid}", PtxWarning, stacklevel=1)
    if findings:
        how = f"schedule={schedule!r}" + (f", seed={seed}" if schedule == "random" else "")
        pytest.fail(f"{findings}\n\nwith {how}", pytrace=False)
