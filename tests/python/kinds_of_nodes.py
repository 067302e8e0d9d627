"""Gradients of the kernel library are tested with autograd nodes in Python and in C++, under the executor's checks."""

from collections.abc import Iterator

import pytest

from pyptx import executor
from pyptx.kernels import _tuned
from pyptx.torch_support import nodes


@pytest.fixture(autouse=True, params=["nodes in Python", "nodes in C++"])
def checked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Imported by a module, it is around each of its tests, which begins with no call known."""
    if request.param == "nodes in C++":
        nodes.build()
        assert nodes.module() is not None
    else:
        monkeypatch.setattr(nodes, "module", lambda: None)
    _tuned.forget_plans()
    with executor.checking() as findings:
        yield
    _tuned.forget_plans()
    assert not findings
