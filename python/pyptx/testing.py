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

import contextlib
import warnings
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

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


class _Checked:
    """The checks that look at one test, and how they are told of."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        from . import executor

        schedule, seed = getattr(request, "param", _EAGER)
        suppress = [rule for marker in request.node.iter_markers("ptx_suppress") for rule in marker.args]
        self._node = request.node.nodeid
        self._how = f"schedule={schedule!r}" + (f", seed={seed}" if schedule == "random" else "")
        with contextlib.ExitStack() as entered:
            entered.enter_context(executor.scheduling(schedule, seed))
            self.findings = entered.enter_context(executor.checking("full", suppress=suppress))
            self._entered = entered.pop_all()

    def end(self) -> str:
        """Looks no more. What was found, and how to see it again; empty where nothing was, and when it is asked again."""
        from .errors import PtxWarning

        if self._ended:
            return ""
        self._ended = True
        self._entered.close()
        for unused in self.findings.unused_suppressions:
            warnings.warn(f"ptx_suppress({unused!r}) fits no finding of {self._node}", PtxWarning, stacklevel=1)
        return f"{self.findings}\n\nwith {self._how}" if self.findings else ""

    _ended = False


_CHECKED = pytest.StashKey[_Checked]()


@pytest.fixture
def ptx_checks(request: pytest.FixtureRequest) -> Iterator[Findings]:
    """Looks at every kernel that the test runs on the executor; fails it with what was found when it ends. What was found is in
    the list then, not before."""
    from .errors import PtxError

    try:
        checked = _Checked(request)
    except PtxError as error:  # a suppression that is none
        pytest.fail(f"{request.node.nodeid}: {error}", pytrace=False)
    request.node.stash[_CHECKED] = checked
    yield checked.findings
    if told := checked.end():  # of a test that pytest does not call itself, as one of unittest's
        pytest.fail(told, pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
    """What is found is a failure of the test itself, so that `xfail` and `--last-failed` take it for one."""
    outcome = yield
    checked = pyfuncitem.stash.get(_CHECKED, None)
    told = "" if checked is None else checked.end()
    if not told:
        return
    if outcome.excinfo is not None:
        pyfuncitem.add_report_section("call", "what kernels did", told)
        return
    try:
        pytest.fail(told, pytrace=False)
    except pytest.fail.Exception as failure:
        outcome.force_exception(failure)
