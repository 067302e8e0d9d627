"""`pyptx.kernels.tune` on a GPU: what it finds is right, no slower, and known to a later process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyptx import _ptx, kernels
from pyptx.cache import CubinCache, get_global_cache, set_global_cache
from pyptx.kernels import _tuned

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path) -> Iterator[Path]:
    before = get_global_cache()
    set_global_cache(CubinCache(tmp_path))
    _tuned.reread()
    yield tmp_path
    set_global_cache(before)
    _tuned.reread()


def cases() -> dict[str, tuple[Any, list[Any]]]:
    def random(*shape: int) -> Any:
        return torch.randn(*shape, device="cuda").bfloat16()

    return {
        "softmax": (kernels.softmax, [random(300, 3000)]),
        "rms_norm": (kernels.rms_norm, [random(300, 4096), random(4096)]),
        "matmul": (lambda a, b: kernels.matmul(a, b.mT), [random(384, 512), random(768, 512)]),
    }


@pytest.mark.parametrize("name", ["softmax", "rms_norm", "matmul"])
def test_what_wins_is_right_and_kept(name: str) -> None:
    function, arguments = cases()[name]
    if name == "matmul" and torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("products are for Hopper")
    before = function(*arguments)
    (tried,) = kernels.tune(function, *arguments, recipes=8, rounds=5)
    assert len(tried.us) >= 2 and not tried.refused, tried
    assert tried.ratio >= 1
    torch.testing.assert_close(function(*arguments), before, rtol=2e-2, atol=2e-2)
    (explained,) = kernels.explain(function, *arguments)
    assert explained.recipe == tried.recipe
    assert [entry.recipe for entry in kernels.tuned()] == ([tried.recipe] if tried.recipe != tried.default else [])


def test_another_process_takes_what_was_tuned(cache: Path) -> None:
    x = torch.randn(300, 3000, device="cuda")
    (explained,) = kernels.explain(kernels.softmax, x)
    default, other = _tuned.recipes_of(explained.problem)[:2]
    device = _tuned.device()
    assert device is not None
    _tuned.keep(_tuned.Entry(explained.problem, other, default, 1.1, 1.0, device, _ptx.version))
    code = (
        "import torch; from pyptx import kernels; x = torch.randn(300, 3000, device='cuda'); "
        "print(kernels.explain(kernels.softmax, x)[0].recipe)"
    )
    root = Path(__file__).parents[2]
    environment = {"PYPTX_CACHE_DIR": str(cache), "PYTHONPATH": f"{root / 'python'}"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == other


def test_calls_tune_themselves_where_the_environment_says_so(cache: Path) -> None:
    code = (
        "import torch; from pyptx import kernels; from pyptx.kernels import _tuning; x = torch.randn(300, 3000, device='cuda'); "
        "y = kernels.softmax(x); assert torch.equal(y, kernels.softmax(x)); print(len(_tuning._measured))"
    )
    environment = {"PYPTX_CACHE_DIR": str(cache), "PYTHONPATH": f"{Path(__file__).parents[2] / 'python'}", "PYPTX_TUNE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"
