"""What is told of findings, and how it is asked: both accesses, suppressions, limits, stopping, JSON, SARIF, sweeps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyptx
from pyptx import _ptx, executor, kernel, ptx, reg, smem
from pyptx.types import f32, u32

HERE = Path(__file__).name
# Three races of one kernel: each thread of the second warp loads what the first warp has stored, by three instructions.
THREE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry three(.param .u64 x)
{
  .shared .align 4 .b32 tile[64];
  .reg .b32 %r, %at, %v;
  .reg .b64 %a, %o;
  .reg .pred %second;
  mov.u32 %r, %tid.x;
  setp.ge.u32 %second, %r, 32;
  mov.u32 %at, tile;
  mad.lo.u32 %at, %r, 4, %at;
  ld.param.u64 %a, [x];
  mul.wide.u32 %o, %r, 4;
  add.u64 %a, %a, %o;
  st.shared.u32 [%at], %r;
  st.global.u32 [%a], %r;
  @%second ld.shared.u32 %v, [%at + -128];
  @%second ld.shared.u32 %v, [%at + -128];
  @%second ld.global.u32 %v, [%a + -128];
  ret;
}
"""
STORE, LOAD, LOAD_AGAIN, GLOBAL_STORE, GLOBAL_LOAD = 17, 19, 20, 18, 21


def three(**options: Any) -> executor.Report:
    return executor.Program(THREE, "three.ptx").run(
        "three", [np.full((4, 16), 99, np.uint32)], block=64, checks="full", **options
    )


def test_both_accesses_are_told() -> None:
    shared, _, far = three().findings
    assert (shared.rule, shared.kind, shared.times) == ("R-wr", "race", 32)
    now, before = shared.accesses
    assert (now.stores, now.instruction, now.ptx_line, now.proxy) == (False, "ld.shared.u32", LOAD, "generic")
    assert (now.warp, now.lane, now.thread, now.block, now.rank) == (1, 0, (32, 0, 0), (0, 0, 0), None)
    assert (now.space, now.element, now.bytes) == ("shared", "tile", 4)
    assert (before.stores, before.instruction, before.ptx_line) == (True, "st.shared.u32", STORE)
    assert (before.warp, before.lane, before.thread) == (0, 0, (0, 0, 0))
    assert before.where == ("three.ptx", STORE)
    assert far.accesses[0].element == "x[0, 0]" == far.accesses[1].element
    assert "loads `x[0, 0]`" in far.message
    assert "order: none: no barrier and no wait leads from the first access to the second" in shared.notes
    assert any(note.startswith("replay: kernel `three`") and note.endswith(", checks full") for note in shared.notes)


def test_a_fault_has_its_rule() -> None:
    program = executor.Program(THREE)
    with pytest.raises(pyptx.PtxError) as caught:
        program.run("three", [np.zeros(3, np.uint32)], block=64)
    assert (caught.value.rule, caught.value.kind) == ("A-01", "out_of_bounds")
    assert caught.value.accesses[0].stores and caught.value.accesses[0].ptx_line == GLOBAL_STORE


@pytest.mark.parametrize(
    ("suppress", "left", "unused"),
    [
        (["R-wr"], [], []),
        (["R-*"], [], []),
        (["*"], [], []),
        (["*@three"], [], []),
        (["r-wr@three.ptx"], [], []),
        ([f"R-wr@three.ptx:{LOAD}"], [LOAD_AGAIN, GLOBAL_LOAD], []),
        ([f"R-wr@ptx:{LOAD}"], [LOAD_AGAIN, GLOBAL_LOAD], []),
        ([f"R-wr@three.ptx:{STORE}"], [GLOBAL_LOAD], []),
        ([f"R-wr@three.ptx:{STORE}+three.ptx:{LOAD}"], [LOAD_AGAIN, GLOBAL_LOAD], []),
        ([f"R-wr@three.ptx:{LOAD}+three.ptx:{LOAD_AGAIN}"], [LOAD, LOAD_AGAIN, GLOBAL_LOAD], ["R-wr@three.ptx:19+three.ptx:20"]),
        (["P-01", "R-wr@other.ptx", "R-ww@three"], [LOAD, LOAD_AGAIN, GLOBAL_LOAD], ["P-01", "R-wr@other.ptx", "R-ww@three"]),
        (["R-wr@hree.ptx"], [LOAD, LOAD_AGAIN, GLOBAL_LOAD], ["R-wr@hree.ptx"]),
    ],
)
def test_suppressions(suppress: list[str], left: list[int], unused: list[str]) -> None:
    findings = three(suppress=suppress).findings
    assert [finding.ptx_line for finding in findings] == left
    assert findings.suppressed == 3 - len(left)
    assert findings.unused_suppressions == unused


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("R-xx", "names a rule that there is not"),
        ("", "names no rule"),
        ("@three", "names no rule"),
        ("Q-*", "names no rule"),
        ("R-wr@", "names no place behind `@`"),
        ("R-wr@a+", "names no place behind `@`"),
    ],
)
def test_wrong_suppressions(wrong: str, why: str) -> None:
    with pytest.raises(pyptx.PtxError, match=why) as caught:
        three(suppress=[wrong])
    assert caught.value.kind == "bad_setting"
    with pytest.raises(pyptx.PtxError, match=why), executor.checking(suppress=[wrong]):
        pass
    assert _ptx.executor_settings()["checks"] == "environment"  # as it was


def test_a_limit() -> None:
    findings = three(limit=2).findings
    assert [finding.ptx_line for finding in findings] == [LOAD, LOAD_AGAIN] and findings.left_out == 1
    assert "1 more beyond the limit" in findings.summary()
    assert len(three(limit=0).findings) == 3


def test_stopping_at_the_first() -> None:
    with pytest.raises(pyptx.PtxError) as caught:
        three(stop=True)
    assert (caught.value.rule, caught.value.ptx_line) == ("R-wr", LOAD)
    left = three(stop=True, suppress=["R-wr"]).findings
    assert left == [] and left.suppressed == 3


def test_levels() -> None:
    unwritten = THREE.replace("st.shared.u32 [%at], %r;", "").replace("%v, [%a + -128]", "%v, [%a]")
    unwritten = unwritten.replace("  ret;", "  @%second st.global.u32 [%a], %v;\n  ret;")
    unwritten = unwritten.replace("  @%second ld.global.u32 %v, [%a];\n", "")
    run = executor.Program(unwritten).run
    out = np.full(64, 99, np.uint32)
    run("three", [out], block=64, checks="off")
    for checks in (None, "cheap", "full"):
        with pytest.raises(pyptx.PtxError) as caught:
            run("three", [out], block=64, checks=checks)  # type: ignore[arg-type]
        assert caught.value.rule == "U-01"
    assert executor.Program(THREE).run("three", [out], block=64, checks="cheap").findings == []


def test_json_and_sarif() -> None:
    report = three(suppress=["P-01"], limit=2)
    said = json.loads(report.to_json())
    assert said["blocks"] == 1 and said["left_out"] == 1 and said["unused_suppressions"] == ["P-01"]
    first = said["findings"][0]
    assert (first["rule"], first["kind"], first["severity"], first["line"], first["times"]) == ("R-wr", "race", "error", LOAD, 32)
    assert [access["ptx_line"] for access in first["accesses"]] == [LOAD, STORE]
    sarif = json.loads(report.findings.to_sarif())
    (run,) = sarif["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["R-wr"]
    assert [result["ruleId"] for result in run["results"]] == ["R-wr", "R-wr"]
    where = run["results"][0]["locations"][0]["physicalLocation"]
    assert where == {"artifactLocation": {"uri": "three.ptx"}, "region": {"startLine": LOAD}}


def command_line(tmp_path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "three.ptx"
    file.write_text(THREE)
    command = [sys.executable, "-m", "pyptx", "run", str(file), "--block", "64", "--arg", "u32[64]=0", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def test_the_command_line_has_the_same_json(tmp_path: Path) -> None:
    done = command_line(tmp_path, "--checks", "full", "--format", "json", "--max", "2", "--suppress", "P-01")
    assert done.returncode == 1, done.stderr
    said, ours = json.loads(done.stdout), json.loads(three(limit=2, suppress=["P-01"]).to_json())
    assert set(ours) - {"blocks", "warp_instructions"} <= set(said)
    for theirs, mine in zip(said["findings"], ours["findings"], strict=True):
        assert set(theirs) == set(mine)
        assert [set(access) for access in theirs["accesses"]] == [set(access) for access in mine["accesses"]]
        same = ("rule", "kind", "severity", "message", "kernel", "ptx_line", "line", "times")
        assert [theirs[key] for key in same] == [mine[key] for key in same]
    assert (said["left_out"], said["suppressed"], said["unused_suppressions"]) == (1, 0, ["P-01"])


def test_the_command_line_replays(tmp_path: Path) -> None:
    done = command_line(tmp_path, "--checks", "full", "--completion", "random", "--seed", "7", "--format", "json")
    (line,) = {note for finding in json.loads(done.stdout)["findings"] for note in finding["notes"] if note.startswith("replay")}
    assert line.startswith("replay: pyptx run ") and line.endswith("--checks full --completion random --seed 7")
    assert "--arg 'u32[64]=0'" in line


def test_sarif_of_the_command_line(tmp_path: Path) -> None:
    done = command_line(tmp_path, "--checks", "full", "--format", "sarif")
    (run,) = json.loads(done.stdout)["runs"]
    assert done.returncode == 1 and [result["ruleId"] for result in run["results"]] == ["R-wr"] * 3
    assert run["results"][0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == STORE


def test_suppressions_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text(f"# known races\n\nR-wr@three.ptx:{STORE}  # by design\nP-02\n")
    done = command_line(tmp_path, "--checks", "full", "--suppressions", str(file))
    assert done.returncode == 1 and "1 error; 2 suppressed; suppressions that fit nothing: P-02" in done.stdout
    file.write_text("R-wr\nnonsense\n")
    wrong = command_line(tmp_path, "--checks", "full", "--suppressions", str(file))
    assert wrong.returncode == 2 and "known.txt, line 2: suppression `nonsense` names a rule that there is not" in wrong.stderr
    assert "cannot" in command_line(tmp_path, "--suppressions", str(tmp_path / "none")).stderr


def test_suppressions_of_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    code = (
        "import numpy, sys\nfrom pyptx import executor, PtxError\n"
        "program, out = executor.Program(sys.stdin.read(), 'three.ptx'), numpy.zeros(64, numpy.uint32)\n"
        "try:\n    program.run('three', [out], block=64)\nexcept PtxError as error:\n    print(error.kind, error.ptx_line)\n"
        "else:\n    print('none')\n"
    )
    for text, said in ((f"R-wr@three.ptx:{STORE}", f"race {GLOBAL_LOAD}"), ("R-wr # all", "none"), ("R-", "bad_setting None")):
        file.write_text(text)
        environment = {**os.environ, "PYPTX_RUN_CHECKS": "full", "PYPTX_RUN_SUPPRESS": str(file)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, input=THREE, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == said


# ---- kernels


@kernel(in_specs=[pyptx.Tile(8, 8, f32)], out_specs=[pyptx.Tile(8, 8, f32)], grid=1, block=64, arch="sm_80")
def no_barrier(X, Y):  # type: ignore[no-untyped-def]
    px, py = ptx.global_ptrs(X, Y)
    t = reg.from_(ptx.special.tid.x(), u32)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(px + t * 4))
    ptx.inst.st.global_.f32(ptx.addr(py + t * 4), value)
    with ptx.if_(t >= 32):
        ptx.inst.ld.global_.f32(value, ptx.addr(py + t * 4 - 128))
    ptx.ret()


X = np.arange(64, dtype=np.float32).reshape(8, 8)


def test_findings_of_a_kernel_name_the_element() -> None:
    outputs, findings = no_barrier.simulate(X)
    assert np.array_equal(outputs, X)
    (race,) = findings
    assert [access.element for access in race.accesses] == ["Y[0, 0]", "Y[0, 0]"]
    assert race.notes[-1] == "replay: no_barrier.simulate(...)" and "replay: no_barrier.simulate(...)" in str(race)
    (race,) = no_barrier.simulate(X, completion="random", seed=3).findings
    assert race.notes[-1] == "replay: no_barrier.simulate(..., completion='random', seed=3)"
    line = race.where[1] if race.where else 0
    assert no_barrier.simulate(X, suppress=[f"R-wr@{HERE}:{line}"]).findings == []
    unused = no_barrier.simulate(X, suppress=["P-01"]).findings
    assert len(unused) == 1 and unused.unused_suppressions == ["P-01"]
    with pytest.raises(pyptx.PtxError, match="nothing orders"):
        no_barrier.simulate(X, stop=True)


def test_findings_print() -> None:
    simulation = no_barrier.simulate(X)
    assert "[race]" in str(simulation.findings) and str(simulation.findings).endswith("1 error")
    assert "<table>" in simulation.findings._repr_html_()
    from rich.console import Console

    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(simulation)
    assert "R-wr" in console.export_text()


def test_a_sweep() -> None:
    before = X.copy()
    swept = no_barrier.sweep(X, seeds=3)
    assert [run.how for run in swept.runs] == [
        'schedule="eager"', 'schedule="lazy"', *(f'schedule="random", seed={seed}' for seed in range(3)),
    ]  # fmt: skip
    assert np.array_equal(X, before) and not swept.outputs_differ and not swept.interrupted
    race = swept.findings[0]
    assert race.notes[-1].startswith('first shown by: schedule="eager"; seen in ')
    assert [race.rule for race in swept.findings] == ["R-wr"]  # whichever of the two accesses comes first
    assert "eager" in str(swept) and "the same" in str(swept)
    said = json.loads(swept.to_json())
    assert len(said["runs"]) == 5 and len(said["findings"]) == len(swept.findings) and said["outputs_differ"] is False
    with pytest.raises(pyptx.PtxError, match="`seeds` is `-1`"):
        no_barrier.sweep(X, seeds=-1)


@kernel(in_specs=[pyptx.Tile(32, f32)], out_specs=[pyptx.Tile(32, f32)], grid=1, block=32, arch="sm_80")
def no_wait(X, Y):  # type: ignore[no-untyped-def]
    px, py = ptx.global_ptrs(X, Y)
    t = reg.from_(ptx.special.tid.x(), u32)
    tile = smem.alloc(f32, 32)
    value = reg.scalar(f32)
    at = reg.from_(smem.base(tile), u32) + t * 4
    ptx.inst.st.shared.f32(ptx.addr(at), 1.0)
    ptx.inst.cp.async_.ca.shared.global_(ptx.addr(at), ptx.addr(px + t * 4), 4)
    ptx.inst.ld.shared.f32(value, ptx.addr(at))
    ptx.inst.st.global_.f32(ptx.addr(py + t * 4), value)
    ptx.ret()


@kernel(in_specs=[pyptx.Tile(4, 64, f32)], out_specs=[pyptx.Tile(4, 64, f32)], grid=1, block=64, arch="sm_80")
def unrolled(X, Y):  # type: ignore[no-untyped-def]
    px, py = ptx.global_ptrs(X, Y)
    t = reg.from_(ptx.special.tid.x(), u32)
    tile = smem.alloc(f32, (4, 64))
    here = reg.from_(smem.base(tile), u32)
    values = [reg.scalar(f32) for _ in range(4)]
    for i, value in enumerate(values):
        ptx.inst.ld.global_.f32(value, ptx.addr(px + (t + i * 64) * 4))
        ptx.inst.st.shared.f32(ptx.addr(here + (t + i * 64) * 4), 0.0)
    ptx.bar.sync(0)
    for i, value in enumerate(values):
        ptx.inst.st.shared.f32(ptx.addr(here + (t + i * 64) * 4), value)
    for i, value in enumerate(values):
        ptx.inst.ld.shared.f32(value, ptx.addr(here + ((t ^ 32) + i * 64) * 4))
        ptx.inst.st.global_.f32(ptx.addr(py + (t + i * 64) * 4), value)
    ptx.ret()


def test_an_unrolled_line_is_one_finding() -> None:
    findings = unrolled.simulate(np.arange(1, 257, dtype=np.float32).reshape(4, 64)).findings
    assert {finding.rule for finding in findings} == {"R-rw", "R-wr"} and len(findings) == 2
    for finding in findings:
        assert finding.pairs == 4 and finding.times == 32
        (more,) = [
            note for note in finding.notes if note.startswith("and 3 more pairs of instructions of these lines, at lines ")
        ]
        assert more.endswith(" of the PTX text") and str(finding.ptx_line) not in more.split()
    assert [finding["pairs"] for finding in json.loads(findings.to_json())["findings"]] == [4, 4]


def test_an_unrolled_line_is_one_finding_of_many_runs() -> None:
    swept = unrolled.sweep(np.arange(1, 257, dtype=np.float32).reshape(4, 64), seeds=8)
    (race,) = swept.findings
    assert race.pairs > 1 and any(note.startswith("in the other order, too: R-") for note in race.notes)


def test_a_sweep_says_that_outputs_differ() -> None:
    swept = no_wait.sweep(np.zeros(32, np.float32), seeds=0)
    assert [run.outputs_differ for run in swept.runs] == [False, True] and "differ" in str(swept)


def test_a_race_in_both_orders_is_told_once() -> None:
    swept = no_barrier.sweep(X, seeds=24)
    (race,) = swept.findings
    other = [note for note in race.notes if note.startswith("in the other order, too: R-rw, by schedule=")]
    assert len(other) == 1 and race.rule == "R-wr"


@kernel(in_specs=[pyptx.Tile(2, u32)], out_specs=[pyptx.Tile(2, u32)], grid=1, block=64, arch="sm_80")
def store_buffering(X, Y):  # type: ignore[no-untyped-def]
    _, py = ptx.global_ptrs(X, Y)
    t = reg.from_(ptx.special.tid.x(), u32)
    flags = smem.alloc(u32, 2)
    base = reg.from_(smem.base(flags), u32)
    flags[t & 1] = reg.scalar(u32, init=0)
    ptx.bar.sync(0)
    seen = reg.scalar(u32)
    with ptx.if_((t & 31) == 0):
        mine = t >> 5
        ptx.inst.st.relaxed.cta.shared.u32(ptx.addr(base + mine * 4), 1)
        ptx.inst.ld.relaxed.cta.shared.u32(seen, ptx.addr(base + (mine ^ 1) * 4))
        ptx.inst.st.global_.u32(ptx.addr(py + mine * 4), seen)
    ptx.ret()


def test_a_systematic_sweep_has_all_orders() -> None:
    outcomes = set()

    def call(x: Any) -> Any:
        y = store_buffering(x)
        outcomes.add(tuple(int(value) for value in y))
        return y

    swept = executor.sweep(call, np.zeros(2, np.uint32), systematic=True)
    assert outcomes == {(0, 1), (1, 0), (1, 1)}
    assert swept.exhausted and len(swept.runs) - swept.redundant == 3 and swept.findings == []
    assert swept.outputs_differ and "these are all orders" in str(swept) and "outputs differ" in str(swept)
    assert json.loads(swept.to_json())["exhausted"] is True
    few = executor.sweep(call, np.zeros(2, np.uint32), systematic=True, runs=2)
    assert not few.exhausted and len(few.runs) == 2 and few.runs[1].how == "systematic=True, runs=2"


def test_what_a_systematic_sweep_refuses() -> None:
    with pytest.raises(pyptx.PtxError, match="`seeds` has orders at random"):
        no_barrier.sweep(X, seeds=2, systematic=True)
    with pytest.raises(pyptx.PtxError, match="`runs` says how many runs a systematic sweep makes"):
        executor.sweep(no_barrier, X, runs=3)
    with pytest.raises(pyptx.PtxError, match="`runs` is `-1`"):
        executor.sweep(no_barrier, X, systematic=True, runs=-1)


def test_a_systematic_sweep_of_the_command_line(tmp_path: Path) -> None:
    done = command_line(tmp_path, "--systematic")
    assert done.returncode == 1 and "these are all orders\nin " in done.stdout and "something is found" in done.stdout
    said = json.loads(command_line(tmp_path, "--systematic", "--runs", "5", "--format", "json").stdout)
    assert said["exhausted"] is True and said["runs"][0]["schedule"] == "systematic"
    assert "one of the two" in command_line(tmp_path, "--systematic", "--seeds", "2").stderr
    assert "which is not given" in command_line(tmp_path, "--runs", "2").stderr


def test_findings_lead_to_their_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    findings = no_barrier.simulate(X).findings
    assert "rule: R-wr (docs/rules/R-wr.md)" in findings[0].notes
    assert json.loads(findings.to_json())["findings"][0]["page"] == "docs/rules/R-wr.md"
    assert "page: docs/rules/R-wr.md" in executor.explain("R-wr")

    def rules_of(sarif: str) -> list[Any]:
        return json.loads(sarif)["runs"][0]["tool"]["driver"]["rules"]

    assert "helpUri" not in rules_of(findings.to_sarif())[0]
    monkeypatch.setenv("PYPTX_DOCS", "https://docs.example.org/pyptx/")
    assert rules_of(findings.to_sarif())[0]["helpUri"] == "https://docs.example.org/pyptx/rules/R-wr.html"
    told = rules_of(command_line(tmp_path, "--checks", "full", "--format", "sarif").stdout)[0]
    assert told["helpUri"].startswith("https://docs.example.org/pyptx/rules/") and "manual:" in told["help"]["text"]


def test_ctrl_c_ends_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def call(x: Any) -> Any:
        calls.append(x)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return no_barrier(x)

    swept = executor.sweep(call, X, seeds=8)
    assert swept.interrupted and len(swept.runs) == 2 and len(swept.findings) == 1


def test_a_sweep_of_the_command_line(tmp_path: Path) -> None:
    done = command_line(tmp_path, "--seeds", "4")
    assert done.returncode == 1 and done.stdout.count("the same") == 6
    assert done.stderr.count("first shown by: --schedule eager; seen in ") == 3
    said = json.loads(command_line(tmp_path, "--seeds", "4", "--format", "json").stdout)
    assert [run["schedule"] for run in said["runs"]] == ["eager", "lazy", *["random"] * 4]
    assert said["outputs_differ"] is False
    assert {finding["rule"] for finding in said["findings"]} <= {"R-wr", "R-rw"}


def test_stop_of_the_command_line(tmp_path: Path) -> None:
    done = command_line(tmp_path, "--checks", "full", "--stop", "--format", "json")
    said = json.loads(done.stdout)
    assert done.returncode == 1 and said["fault"] == "race" and [f["rule"] for f in said["findings"]] == ["R-wr"]


@kernel(in_specs=[pyptx.Tile(64, f32)], out_specs=[pyptx.Tile(64, f32)], grid=1, block=64, arch="sm_80")
def racing(X, Y):
    """The second warp loads what the first one has stored, with no barrier in between."""
    px, py = ptx.global_ptrs(X, Y)
    t, tile, value = reg.from_(ptx.special.tid.x(), u32), smem.alloc(f32, 64), reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(px + t * 4))
    tile[t] = value
    with ptx.if_(t >= 32):
        ptx.inst.mov.f32(value, tile[t - 32])
    ptx.inst.st.global_.f32(ptx.addr(py + t * 4), value)
    ptx.ret()


def test_blocks_of_checking_and_timelines_stand_inside_each_other(tmp_path: Path) -> None:
    x = np.zeros(64, np.float32)
    with executor.timeline(tmp_path / "outer.json"), executor.checking() as outer:
        racing(x)
        with executor.timeline(tmp_path / "inner.json"), executor.checking() as inner:
            pass
        racing(x)  # told by the outer block, once
        with executor.checking() as innermost:
            racing(x)
        assert racing.simulate(x, trace=tmp_path / "simulated.json").findings
        racing(x)
    assert (len(outer), len(inner), len(innermost)) == (1, 0, 1)
    launches = {name: len(json.loads((tmp_path / f"{name}.json").read_text())["traceEvents"]) for name in ("outer", "simulated")}
    assert launches["outer"] == 4 * launches["simulated"] > 0
