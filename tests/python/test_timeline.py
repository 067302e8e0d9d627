"""Timelines: a trace is sound, its bytes add up, its arrows meet, and counts are those worked out by hand."""

import itertools
import json
import math
import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest

from pyptx import PtxError, _ptx, cli, executor, kernel, ptx, reg, smem
from pyptx.specs import Tile
from pyptx.types import f32, u32

TILE = 32


def check_sound(trace):
    """Slices of a row do not overlap; each arrow begins and ends in a slice, and goes forward."""
    rows, arrows = defaultdict(list), defaultdict(list)
    names = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            assert event["dur"] > 0 and event["ts"] >= 0
            rows[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event))
        elif event["ph"] in "sf":
            arrows[event["id"]].append(event)
        else:
            assert event["ph"] == "M"
            if event["name"] == "thread_name":
                names[event["pid"], event["tid"]] = event["args"]["name"]
    for row in rows.values():
        row.sort(key=lambda slice_: slice_[:2])
        for (_, end, _), (start, _, event) in itertools.pairwise(row):
            assert end <= start, event
    assert rows.keys() <= names.keys()
    for ends in arrows.values():
        assert [event["ph"] for event in ends] == ["s", "f"]
        assert ends[0]["ts"] <= ends[1]["ts"]
        for event in ends:
            assert any(start <= event["ts"] < end for start, end, _ in rows[event["pid"], event["tid"]])
    return {names[key]: row for key, row in rows.items() if key[0] == 1}


def transpose(pitch: int):
    """A tile goes into shared memory by rows and comes out by columns."""

    @kernel(
        in_specs=(Tile(TILE, TILE, f32),), out_specs=(Tile(TILE, TILE, f32),), grid=(1, 1, 1), block=(TILE, TILE, 1), arch="sm_80"
    )
    def transposed(x, out):
        tile = smem.alloc(f32, (TILE, pitch))
        px, pout = ptx.global_ptrs(x, out)
        column, row = reg.scalar(u32), reg.scalar(u32)
        ptx.inst.mov.u32(column, ptx.special.tid.x())
        ptx.inst.mov.u32(row, ptx.special.tid.y())
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(px + (row * TILE + column) * 4))
        tile[row, column] = value
        ptx.bar.sync(0)
        turned = tile[column, row]
        ptx.inst.st.global_.f32(ptx.addr(pout + (row * TILE + column) * 4), turned)
        ptx.ret()

    return transposed


STRIDED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 apart)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f;
  ld.param.u64 %d0, [x]; ld.param.u32 %r0, [apart]; mov.u32 %r1, %tid.x; mul.lo.u32 %r1, %r1, %r0;
  cvt.u64.u32 %d1, %r1; add.u64 %d0, %d0, %d1;
  ld.global.f32 %f, [%d0];
  st.global.f32 [%d0], %f;
  ret;
}
"""


@pytest.mark.parametrize("apart", [4, 8, 32, 128])
def test_sectors_of_strides(apart, tmp_path) -> None:
    x = np.ones(32 * 128 // 4, np.float32)
    program = executor.Program(STRIDED, "k.ptx")
    with executor.timeline() as seen:
        program.run("k", [x, apart], block=32)
    of = {row.instruction: row for row in seen.profile.instructions}
    touched = len({lane * apart // 32 for lane in range(32)})
    for instruction in ("ld.global.f32", "st.global.f32"):
        assert (of[instruction].sectors, of[instruction].needed_sectors) == (touched, 4)
        assert of[instruction].executions == 1 and of[instruction].lanes == 32
        assert of[instruction].spare_sectors == touched - 4 and of[instruction].bank_conflicts == 0
    assert of["ld.global.f32"].where == ("k.ptx", 10)


def test_program_run_writes_a_trace(tmp_path) -> None:
    x = np.ones(32, np.float32)
    file = tmp_path / "out.json"
    report = executor.Program(STRIDED, "k.ptx").run("k", [x, 4], grid=3, block=32, trace=file)
    assert report.blocks == 3
    trace = json.loads(file.read_text())
    check_sound(trace)
    assert len({event["pid"] for event in trace["traceEvents"]}) == 3
    assert trace["otherData"]["assumes"] and trace["otherData"]["slices_left_out"] == 0
    # nobody observes what runs behind it
    executor.Program(STRIDED, "k.ptx").run("k", [x, 4], block=32)


def test_a_trace_is_written_where_the_run_fails(tmp_path) -> None:
    file = tmp_path / "out.json"
    with pytest.raises(PtxError, match=r"ld\.global"):
        executor.Program(STRIDED, "k.ptx").run("k", [np.ones(4, np.float32), 4], block=32, trace=file)
    check_sound(json.loads(file.read_text()))


@pytest.mark.parametrize(("pitch", "wavefronts"), [(32, 32), (33, 1), (36, 4)])
def test_a_column_of_a_tile(pitch, wavefronts) -> None:
    x = np.arange(TILE * TILE, dtype=np.float32).reshape(TILE, TILE)
    done = transpose(pitch).simulate(x, profile=True)
    np.testing.assert_array_equal(done.outputs, x.T)
    assert not done.findings and len(done) == 2
    of = {row.instruction: row for row in done.profile.instructions}
    assert (of["st.shared.f32"].wavefronts, of["st.shared.f32"].needed_wavefronts) == (TILE, TILE)
    assert (of["ld.shared.f32"].wavefronts, of["ld.shared.f32"].needed_wavefronts) == (TILE * wavefronts, TILE)
    assert all(row.where is not None and row.where[0].endswith("test_timeline.py") for row in done.profile.lines)
    assert transpose(pitch).simulate(x).profile is None


def test_a_profile_is_a_table(capsys) -> None:
    rich = pytest.importorskip("rich.console")
    x = np.zeros((TILE, TILE), np.float32)
    profile = transpose(32).simulate(x, profile=True).profile
    console = rich.Console(width=160, record=True)
    console.print(profile)
    text = console.export_text()
    assert "1,024 of 32" in text and "claims order, not speed" in text
    assert "1,024 of 32" in str(profile)
    assert profile.lines[0].cycles + profile.lines[0].stalls == max(row.cycles + row.stalls for row in profile.lines)


def test_the_hopper_gemm(tmp_path) -> None:
    """Copies bring as many bytes as its tiles have, products take as many cycles as they need, and waits have their arrows."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    from examples.hopper.gemm_highperf_hopper import BK, BM, BN, gemm_warp_specialized

    m, n, k = 256, 256, 512
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (n, k)))
    file = tmp_path / "gemm.json"
    done = gemm_warp_specialized.simulate(a, b, checks="off", trace=file)
    trace = json.loads(file.read_text())
    rows = check_sound(trace)
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    loads = [event for event in slices if event["cat"] == "copy" and "shared::cluster.global" in event["name"]]
    tiles = (m // BM) * math.ceil(n / BN)
    assert sum(event["args"]["bytes"] for event in loads) == tiles * (k // BK) * (BM + BN) * BK * 2
    stores = [event for event in slices if event["cat"] == "copy" and "global.shared::cta" in event["name"]]
    assert sum(event["args"]["bytes"] for event in stores) == m * n * 2
    products = sum(event["dur"] for event in slices if event["cat"] == "product")
    assert products == m * n * k // 512
    assert {"TMA", "tensor core 0", "warp 0", "warp 11"} <= rows.keys()
    starts = [event for event in trace["traceEvents"] if event["ph"] == "f"]
    waits = [event for event in slices if event["cat"] == "wait" and "phase" in event["name"]]
    ends = {(event["pid"], event["tid"], event["ts"]) for event in starts}
    assert waits and all((w["pid"], w["tid"], w["ts"] + w["dur"] - 1) in ends for w in waits)
    assert done.profile.cycles == trace["otherData"]["cycles"]
    # the same again, whatever ran before
    again = gemm_warp_specialized.simulate(a, b, checks="off", profile=True)
    assert again.profile.cycles == done.profile.cycles


ENGINES = {
    "ampere.gemm": {"cp.async", "tensor core 0"},
    "hopper.gemm": {"TMA", "tensor core 3"},
    "hopper.attention": {"TMA", "tensor core 0"},
    "blackwell.gemm": {"TMA", "tcgen05"},
}


@pytest.mark.parametrize("name", ENGINES)
def test_examples(name, tmp_path) -> None:
    """They have no bank conflicts and touch no sector in vain, as their swizzles and layouts mean it; their traces are sound."""
    from test_races import EXAMPLES, arrays_of

    example = EXAMPLES[name]
    file = tmp_path / "trace.json"
    done = example.kernel().simulate(*arrays_of(example)[0], checks="off", trace=file)
    trace = json.loads(file.read_text())
    rows = check_sound(trace)
    assert ENGINES[name] <= rows.keys()
    assert trace["otherData"]["slices_left_out"] == 0
    copied = sum(event["args"]["bytes"] for event in trace["traceEvents"] if event.get("cat") == "copy")
    assert copied == sum(row.copied_bytes for row in done.profile.instructions) > 0
    assert [(row.place, row.bank_conflicts, row.spare_sectors) for row in done.profile.instructions
            if row.bank_conflicts or row.spare_sectors] == []  # fmt: skip
    assert all(row.lanes <= 32 * row.executions for row in done.profile.instructions)


def test_only_so_many_slices_are_kept() -> None:
    with executor.timeline(most_slices=3) as seen:
        executor.Program(STRIDED, "k.ptx").run("k", [np.ones(32, np.float32), 4], grid=4, block=32)
    other = json.loads(seen.trace)["otherData"]
    assert other["slices"] == 3 and other["slices_left_out"] > 0


def test_odd_names_in_a_trace() -> None:
    text = STRIDED.replace("ret;", "ret; // ä")
    with executor.timeline() as seen:
        executor.Program(text, 'a "k"\\.ptx').run("k", [np.ones(32, np.float32), 4], block=32)
    assert 'a "k"' in json.dumps(json.loads(seen.trace), ensure_ascii=False).replace('\\"', '"')


def test_pyptx_run_traces(tmp_path, capfdbinary) -> None:
    file, out = tmp_path / "k.ptx", tmp_path / "out.json"
    file.write_text(STRIDED)
    assert (
        cli.main(["run", str(file), "--arg", "f32[1024]=1", "--arg", "128", "--block", "32", "--trace", str(out), "--profile"])
        == 0
    )
    said = capfdbinary.readouterr().out.decode()
    assert "32 of 4" in said
    check_sound(json.loads(out.read_text()))


def test_importing_pyptx_imports_no_rich() -> None:
    code = "import sys, pyptx.executor; sys.exit('rich' in sys.modules or 'jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert _ptx.Timeline is not None
