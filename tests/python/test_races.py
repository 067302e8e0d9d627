"""Accesses that nothing orders: the examples have none, and one synchronisation less in them is found out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from examples.ampere import gemm as ampere_gemm
from examples.blackwell import gemm_highperf_blackwell as blackwell_gemm
from examples.hopper import gemm_highperf_hopper as hopper_gemm
from examples.hopper.experimental import flash_attention_hopper as hopper_attention
from examples.running import numpy_type, random_array
from mutants import altered, mutants, overlooked

import pyptx
from pyptx import executor
from pyptx.types import bf16, f32

NUMPY_BF16 = numpy_type(bf16)


class Example(NamedTuple):
    kernel: Callable[[], pyptx.Kernel]
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    dtype: Any
    harmless: dict[str, str]
    """Of what may be left out: the instruction, and why."""
    harmless_altered: dict[str, str] = {}  # noqa: RUF012
    """Of what may be altered: how and which, and why."""


INITIALISATION = "the threads meet behind it by a barrier that releases the initialisation, too"
ONE_TILE = "each block has but one tile, so the buffer is not used a second time"
DRAIN = (
    "products complete in order and the epilogue has waited for the last: what the copies' thread waits for at its end is over"
)
FIRST_PHASE = "a wait before the loop, whose phase is always the first"
MET = "its warps have met before, when they waited for the last products"
SYNCHRONOUS = "what it stands beside takes or gives back tensor memory, and is synchronous"
REGISTERS = "a load's registers are waited for by themselves; the last of these waits tells of all loads"
EXAMPLES = {
    "ampere.gemm": Example(lambda: ampere_gemm.build_gemm(128, 128, 512), ((128, 512), (512, 128)), (128, 128), np.float32, {}),
    "hopper.gemm": Example(
        lambda: hopper_gemm.gemm_warp_specialized,
        ((256, 1024), (512, 1024)),
        (256, 512),
        NUMPY_BF16,
        {
            "fence.mbarrier_init.release.cluster;": INITIALISATION,
            "cp.async.bulk.wait_group.read 1;": ONE_TILE,
            "bar.warp.sync 4294967295;": ONE_TILE,
        },
        {"a group more is left: cp.async.bulk.wait_group.read 1;": ONE_TILE},
    ),
    "hopper.attention": Example(
        lambda: hopper_attention.build_flash_attention(1, 1, 1024, 64),
        ((1, 1, 1024, 64),) * 3,
        (1, 1, 1024, 64),
        NUMPY_BF16,
        {
            "fence.proxy.async.shared::cta;": INITIALISATION,
            "bar.sync %r4, 128;": MET,
        },
        {
            "always parity 0: mbarrier.try_wait.parity.shared.b64 %p9, [%r48], %r41;": FIRST_PHASE,
            "always parity 0: mbarrier.try_wait.parity.shared.b64 %p16, [%r65], %r43;": FIRST_PHASE,
            "32 threads are enough: bar.sync %r4, 128;": MET,
            "another barrier: bar.sync %r4, 128;": MET,
        },
    ),
    "blackwell.gemm": Example(
        lambda: blackwell_gemm.build_gemm(256, 256, 1024),
        ((256, 1024), (256, 1024)),
        (256, 256),
        NUMPY_BF16,
        {
            "fence.mbarrier_init.release.cluster;": INITIALISATION,
            "tcgen05.fence::before_thread_sync;": SYNCHRONOUS,
            "tcgen05.fence::after_thread_sync;": SYNCHRONOUS,
            "tcgen05.wait::ld.sync.aligned;": REGISTERS,
            "cp.async.bulk.wait_group.read 1;": ONE_TILE,
            "bar.warp.sync 4294967295;": ONE_TILE,
            "mbarrier.try_wait.parity.shared.b64 %p8, [%r30], %r31;": DRAIN,
            "mbarrier.try_wait.parity.shared.b64 %p10, [%r35], %r36;": DRAIN,
            "mbarrier.try_wait.parity.shared.b64 %p12, [%r40], %r41;": DRAIN,
            "mbarrier.try_wait.parity.shared.b64 %p14, [%r45], %r46;": DRAIN,
        },
        {
            "a group more is left: cp.async.bulk.wait_group.read 1;": ONE_TILE,
            "always parity 0: mbarrier.try_wait.parity.shared.b64 %p8, [%r30], %r31;": DRAIN,
            "always parity 1: mbarrier.try_wait.parity.shared.b64 %p8, [%r30], %r31;": DRAIN,
            "always parity 1: mbarrier.try_wait.parity.shared.b64 %p10, [%r35], %r36;": DRAIN,
            "always parity 1: mbarrier.try_wait.parity.shared.b64 %p12, [%r40], %r41;": DRAIN,
            "always parity 1: mbarrier.try_wait.parity.shared.b64 %p14, [%r45], %r46;": DRAIN,
        },
    ),
}


def arrays_of(example: Example) -> tuple[list[Any], Any]:
    return [random_array(shape, bf16, seed=i) for i, shape in enumerate(example.inputs)], np.zeros(example.output, example.dtype)


def run(image: Any, example: Example, schedule: executor.Schedule, seed: int = 0) -> list[pyptx.PtxError]:
    inputs, output = arrays_of(example)
    with executor.scheduling(schedule, seed), executor.checking() as findings:
        image.launch(inputs, [output])
    return findings


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_no_races(name: str) -> None:
    example = EXAMPLES[name]
    image = example.kernel()._image_for(arrays_of(example)[0], {})
    assert run(image, example, "eager") == [] == run(image, example, "lazy")
    for seed in range(4):
        assert run(image, example, "random", seed) == []


def overlooked_of(example: Example, image: Any, changed: list[tuple[str, str]], folder: Path) -> list[str]:
    """Which of the mutants neither the checker nor a run, early or late, says anything of."""
    return overlooked(
        changed, image.meta, folder, lambda mutant: bool(run(mutant, example, "eager") or run(mutant, example, "lazy"))
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_one_synchronisation_less_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPTX_MAX_INSTRUCTIONS", "20000000")
    example = EXAMPLES[name]
    image = example.kernel()._image_for(arrays_of(example)[0], {})
    changed = list(mutants(image.ptx))
    assert len(changed) >= 6
    assert set(overlooked_of(example, image, changed, tmp_path)) == set(example.harmless)


@pytest.mark.parametrize("name", EXAMPLES)
def test_one_synchronisation_altered_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPTX_MAX_INSTRUCTIONS", "20000000")
    example = EXAMPLES[name]
    image = example.kernel()._image_for(arrays_of(example)[0], {})
    changed = list(altered(image.ptx))
    if not changed:
        assert name == "ampere.gemm"  # which has barriers of the whole block alone
    assert set(overlooked_of(example, image, changed, tmp_path)) == set(example.harmless_altered)


# ---- the ways to ask

RACE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry turn(.param .u64 out)
.reqntid 64
{
  .shared .align 4 .b8 tile[256];
  .reg .b32 %r<7>;
  .reg .b64 %d<3>;
  .reg .pred %p;
  mov.u32 %r0, %tid.x;
  shl.b32 %r1, %r0, 2;
  mov.u32 %r2, tile;
  add.u32 %r3, %r2, %r1;
  xor.b32 %r4, %r1, 128;
  add.u32 %r4, %r2, %r4;
  setp.lt.u32 %p, %r0, 32;
  add.u32 %r5, %r0, 1;
  @%p st.shared.u32 [%r3], %r5;
  // barrier
  @!%p ld.shared.u32 %r6, [%r4];
  ld.param.u64 %d0, [out];
  cvt.u64.u32 %d1, %r1;
  add.u64 %d1, %d0, %d1;
  @!%p st.global.u32 [%d1], %r6;
  ret;
}
"""


def test_a_run_reports_what_it_finds() -> None:
    out = np.zeros(64, np.uint32)
    report = executor.Program(RACE).run("turn", [out], block=64, checks="full")
    assert out[32:].tolist() == list(range(1, 33))  # in the executor's order the result is right
    (race,) = report.findings
    assert (race.kind, race.rule, race.severity, race.ptx_line) == ("race", "R-wr", "error", 21)
    assert race.thread == (32, 0, 0) and race.region == "shared memory"
    assert ("first", "<ptx>", 19) in race.places
    assert race.hints == ["bar.sync, or an arrival and a wait at an mbarrier, between the two"]
    assert "lane 0 of warp 0 stores there by `st.shared.u32`" in race.message
    right = executor.Program(RACE.replace("// barrier", "bar.sync 0;"))
    assert right.run("turn", [out], block=64, checks="full").findings == []
    assert executor.Program(RACE).run("turn", [out], block=64).findings == []
    with pytest.raises(pyptx.PtxError, match="`checks` is `some`; what fits is `off`, `cheap` or `full`"):
        right.run("turn", [out], block=64, checks="some")  # type: ignore[arg-type]


def test_what_is_collected_is_no_error() -> None:
    program, out = executor.Program(RACE), np.zeros(64, np.uint32)
    with executor.checking() as findings:
        program.run("turn", [out], block=64)
        program.run("turn", [out], block=64)
        assert findings == []  # until the block ends
    assert [finding.kind for finding in findings] == ["race", "race"]
    with executor.checking("off") as findings:
        program.run("turn", [out], block=64)
    assert findings == []


@pyptx.kernel(in_specs=[pyptx.Tile(64, f32)], out_specs=[pyptx.Tile(64, f32)], grid=1, block=64, arch="sm_80")
def reversed_without_a_barrier(X, Y):  # type: ignore[no-untyped-def]
    from pyptx import ptx, reg, smem
    from pyptx.types import u32

    px, py = ptx.global_ptrs(X, Y)
    t = reg.from_(ptx.special.tid.x(), u32)
    tile = smem.alloc(f32, 64)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(px + t * 4))
    tile[t] = value
    with ptx.if_(t >= 32):
        ptx.inst.mov.f32(value, tile[t - 32])
    ptx.inst.st.global_.f32(ptx.addr(py + t * 4), value)
    ptx.ret()


def test_a_kernel_is_simulated() -> None:
    x = np.arange(64, dtype=np.float32) + 1
    outputs, findings = reversed_without_a_barrier.simulate(x, completion="lazy")
    assert outputs[32:].tolist() == x[:32].tolist()
    (race,) = findings
    assert race.kind == "race" and race.where is not None and race.where[0] == __file__
    assert reversed_without_a_barrier.simulate(x, checks="off").findings == []


def test_the_environment_makes_it_an_error() -> None:
    code = (
        "import numpy, sys\nfrom pyptx import executor, PtxError\n"
        "program, out = executor.Program(sys.stdin.read()), numpy.zeros(64, numpy.uint32)\n"
        "try:\n    program.run('turn', [out], block=64)\nexcept PtxError as error:\n    print(error.kind)\n"
        "else:\n    print('none')\n"
    )
    command = [sys.executable, "-c", code]
    for setting, said in (("full", "race"), ("off", "none"), ("most", "bad_setting")):
        environment = {**os.environ, "PYPTX_RUN_CHECKS": setting}
        done = subprocess.run(command, input=RACE, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [said], done.stderr


def test_the_command_line_says_it(tmp_path: Path) -> None:
    file = tmp_path / "turn.ptx"
    file.write_text(RACE)
    command = [sys.executable, "-m", "pyptx", "run", str(file), "--arg", "u32[64]=0"]
    done = subprocess.run([*command, "--checks", "full"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "[race]" in done.stderr and "rule: R-wr" in done.stderr
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0
