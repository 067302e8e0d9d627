"""When asynchronous copies are performed: the examples wait for what they read, and one that does not is found out."""

from __future__ import annotations

import importlib
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.hopper import gemm_highperf_hopper
from examples.running import random_array

import pyptx
from pyptx import executor
from pyptx.types import bf16

EXAMPLES: dict[str, tuple[Any, ...]] = {
    "ampere.gemm": (256, 128, 64),
    "hopper.gemm_highperf_hopper": (256, 256, 256),
    "hopper.experimental.flash_attention_hopper": (1, 1, 256, 64),
    "blackwell.gemm_highperf_blackwell": (256, 256, 128),
}


def check_of(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = importlib.import_module(f"examples.{name}").check
    return found


@pytest.mark.parametrize(("completion", "seed"), [("lazy", 0), ("random", 0), ("random", 1)])
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_wait_for_what_they_read(name: str, completion: executor.Completion, seed: int) -> None:
    with executor.completing(completion, seed):
        result = check_of(name)(*EXAMPLES[name])
    assert result.where == "executor" and result.error is not None


def changed_gemm(name: str, old: str, new: str) -> pyptx.Kernel:
    """The Hopper matrix product, some of its source replaced."""
    file = gemm_highperf_hopper.__file__
    assert file is not None
    source = Path(file).read_text(encoding="utf-8")
    assert old in source
    source = source.replace(old, new).replace("def gemm_warp_specialized(", f"def {name}(")
    path = f"<{name}>"
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    scope: dict[str, Any] = {"__name__": name, "__file__": path, "__package__": "examples.hopper"}
    exec(compile(source, path, "exec"), scope)
    kernel: pyptx.Kernel = scope[name]
    return kernel


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("reads_without_waiting", "                full.at(stage).wait(phase)\n", ""),
        ("waits_for_the_wrong_phase", "full.at(stage).wait(phase)\n", "full.at(stage).wait(phase ^ 1)\n"),
    ],
)
def test_a_product_that_does_not_wait(name: str, old: str, new: str) -> None:
    kernel = changed_gemm(name, old, new)
    a, b = (random_array((256, 256), bf16, seed=seed) for seed in (0, 1))
    with pytest.raises(pyptx.PtxError) as raised, executor.completing("lazy"):
        kernel(a, b)
    assert raised.value.kind in ("uninitialised", "deadlock", "livelock"), raised.value


TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{
  .shared .align 16 .b8 tile[16];
  .reg .b32 %r<5>;
  .reg .b64 %d<3>;
  ld.param.u64 %d0, [from];
  ld.param.u64 %d1, [to];
  mov.u32 %r0, tile;
  cp.async.ca.shared.global [%r0], [%d0], 16;
  cp.async.commit_group;
  // wait
  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r0];
  st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
  ret;
}
"""


def test_the_keyword_of_a_run() -> None:
    source, result = np.arange(4, dtype=np.uint32), np.zeros(4, np.uint32)
    right, wrong = executor.Program(TEXT.replace("// wait", "cp.async.wait_group 0;")), executor.Program(TEXT)
    for completion in ("eager", "lazy", "random"):
        result[:] = 9
        right.run("copy", [source, result], completion=completion, seed=3)  # type: ignore[arg-type]
        assert np.array_equal(result, source), completion
    wrong.run("copy", [source, result])
    with pytest.raises(pyptx.PtxError) as raised:
        wrong.run("copy", [source, result], completion="lazy")
    assert raised.value.kind == "uninitialised"
    with executor.completing("lazy"):
        with pytest.raises(pyptx.PtxError):
            wrong.run("copy", [source, result])
        wrong.run("copy", [source, result], completion="eager")
    wrong.run("copy", [source, result])


def test_a_time_that_there_is_not() -> None:
    words = "`completion` is `soon`; what fits is `eager`, `lazy` or `random`"
    with pytest.raises(pyptx.PtxError, match=words), executor.completing("soon"):  # type: ignore[arg-type]
        pass
