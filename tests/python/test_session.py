"""Stepping a kernel: where it stops, what is seen there, and that going back is exact."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pyptx
from pyptx import PtxError, executor, kernel, ptx, reg
from pyptx.specs import Tile
from pyptx.types import f32, u32

TEXT = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .pred %p;
  .shared .align 8 .b64 full;
  ld.param.u64 %d0, [x];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d0, %d0, %d1;
  mov.u32 %r1, full;
  setp.ne.u32 %p, %r0, 0;
  @!%p mbarrier.init.shared.b64 [%r1], 2;
  bar.sync 0;
  ld.global.f32 %f0, [%d0];
  add.f32 %f1, %f0, %f0;
  st.global.f32 [%d0], %f1;
  @!%p mbarrier.arrive.shared.b64 %d3, [%r1];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p, [%r1], 0;
  @!%p bra WAIT;
  ret;
}
"""


def stuck():
    program = executor.Program(TEXT, "k.ptx")
    return executor.debug(lambda x: program.run("k", [x], block=64), np.arange(64, dtype=np.float32))


def test_a_deadlock_as_it_stands() -> None:
    with stuck() as session:
        stop = session.run()
        assert stop.why == "fault" and stop.error.kind == "deadlock"
        (barrier,) = session.mbarriers
        assert (barrier.name, barrier.phase, barrier.expected, barrier.pending) == ("full", 0, 2, 1)
        assert len(barrier.waiting) == 2
        assert {row.state for row in session.warps} == {"asks"}
        assert "full" in str(session.warps) and "1 of 2" in str(session.mbarriers)
        values = session.registers(warp=1)["%f1"].values
        np.testing.assert_array_equal(values, 2 * np.arange(32, 64))
        assert str(session.register("f1")).startswith("0: 64")
        assert session.run().why == "fault"
    assert session.error is None or session.error.kind == "deadlock"


def test_registers_by_lane_and_what_is_undefined() -> None:
    with stuck() as session:
        session.break_at(ptx_line=17, warp=0)
        stop = session.run()
        assert stop.why == "breakpoint" and stop.breakpoint == 1 and "ld.global" in stop.instruction
        assert "k.ptx:17" in str(stop)
        registers = session.registers()
        assert registers["%f0"].undefined == 0xFFFFFFFF and registers["%f0"].values.mask.all()
        assert registers["%p"].values.tolist() == [False] + [True] * 31
        np.testing.assert_array_equal(registers["%r0"].values, np.arange(32))
        assert str(registers["%p"]) == "0: False  1-31: True"
        session.step()
        np.testing.assert_array_equal(session.register("%f0").values, np.arange(32))
        assert session.back().instruction == stop.instruction
        assert session.registers()["%f0"].values.mask.all()


def test_back_equals_forward_at_random_steps() -> None:
    random = np.random.default_rng(1)

    def state(session):
        values = {name: (register.raw, register.undefined) for name, register in session.registers().items()}
        return session.where()[2:10], [row[:5] for row in session.warps], values

    with stuck() as session:
        positions = sorted({int(p) for p in random.integers(0, 40, 12)})
        forward = {position: state(session) for position in positions if session.go_to(position)}
        for position in random.permutation(positions):
            session.go_to(int(position))
            assert state(session) == forward[position]


def test_shared_memory_and_its_variables() -> None:
    with stuck() as session:
        session.break_at(17)
        session.run()
        assert session.shared_variables["full"] == (1024, 8)
        assert int(session.shared("full", "u64")[0]) != 0
        for wrong, message in [
            (lambda: session.shared("none"), "no variable `none` in shared memory; it has full"),
            (lambda: session.shared("full", "u64", 2000), "lie outside"),
            (lambda: session.shared("full", swizzle="7B"), "`swizzle` is `7B`"),
            (lambda: session.register("%zz"), "no register `%zz`"),
            (lambda: session.focus(7), "has no warp 7"),
            (lambda: session.break_at(), "takes a line"),
            (lambda: session.break_at("file.py:x"), "`line` is"),
            (lambda: session.remove(9), "no breakpoint 9"),
            (lambda: session.step(0), "1 at least"),
        ]:
            with pytest.raises(Exception, match=message):
                wrong()


def doubled():
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=(1, 1, 1), block=(32, 1, 1), arch="sm_80")
    def twice(x, out):
        px, pout = ptx.global_ptrs(x, out)
        lane, value = reg.scalar(u32), reg.scalar(f32)
        ptx.inst.mov.u32(lane, ptx.special.tid.x())
        ptx.inst.ld.global_.f32(value, ptx.addr(px + lane * 4))
        ptx.inst.add.f32(value, value, value)  # here
        ptx.inst.st.global_.f32(ptx.addr(pout + lane * 4), value)
        ptx.ret()

    return twice


LINE = next(number for number, line in enumerate(Path(__file__).read_text().splitlines(), 1) if line.endswith("# here"))


def test_a_kernel_at_its_authors_line() -> None:
    x = np.arange(32, dtype=np.float32)
    with doubled().debug(x) as session:
        session.break_at(f"test_session.py:{LINE}")
        stop = session.run()
        assert stop.why == "breakpoint" and stop.where == (__file__, LINE)
        values = [register.values for register in session.registers().values() if register.type == "f32"]
        assert any((value == x).all() for value in values)
        session.step()
        assert session.run().why == "ended"
        np.testing.assert_array_equal(session.outputs, 2 * x)
        assert session.registers() == {} and session.warps == [] and session.mbarriers == []
        session.restart()
        assert session.run().why == "breakpoint"
        assert session.step_block().position == session.where().position
    np.testing.assert_array_equal(doubled()(x), 2 * x)  # nothing of the session is left


def test_torch_and_its_tensors_stay_as_they_are() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(32, dtype=torch.float32)
    with doubled().debug(x) as session:
        session.break_at(LINE)
        assert session.run().why == "breakpoint"
        session.remove(1)
        assert session.run().why == "ended"
        assert (session.outputs == 2 * x).all()


def test_what_a_call_raises_is_told() -> None:
    with doubled().debug(np.arange(32)) as session:  # integers
        with pytest.raises(TypeError, match="float32"):
            session.run()
        assert session.error is not None and session.outputs is None
    with pytest.raises(Exception, match="the session is closed"):
        session.run()


def test_sessions_side_by_side() -> None:
    x = np.arange(32, dtype=np.float32)
    with doubled().debug(x) as one, doubled().debug(x) as other:
        for session in (one, other):
            session.break_at(LINE)
            assert session.run().why == "breakpoint"
        assert one.step().position == other.step().position > 0
        assert other.run().why == "ended" and one.back().why == "step"
        assert one.run().why == "ended"
        for session in (one, other):
            np.testing.assert_array_equal(session.outputs, 2 * x)


def test_places_that_there_cannot_be_are_refused() -> None:
    with doubled().debug(np.arange(32, dtype=np.float32)) as session:
        for call, said in (
            (lambda: session.break_at(-1), "`line` is -1; what fits is a number, 1 or more"),
            (lambda: session.break_at(LINE, warp=-1), "`warp` is -1; what fits is a number, 0 or more"),
            (lambda: session.watch("tile", -4), "`offset` is `-4`"),
            (lambda: session.break_on_findings(rule="Z-9"), "there is no rule `Z-9`"),
        ):
            with pytest.raises(PtxError, match=re.escape(said)):
                call()


def test_a_session_that_is_left_alone_ends_with_the_process() -> None:
    code = "import numpy as np\nfrom tests.python.test_session import stuck\nsession = stuck()\nsession.go_to(3)\nprint('here')\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stdout == "here\n", done.stderr


ENDLESS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
  .reg .b32 %r;
  mov.u32 %r, 0;
L:
  add.u32 %r, %r, 1;
  bra L;
}
"""


def test_ctrl_c_stops_where_it_is() -> None:
    program = executor.Program(ENDLESS)
    with executor.debug(lambda: program.run("k")) as session:
        # from outside, as a terminal does: a thread of this process would have to wait for the interpreter
        with subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -INT {os.getpid()}"]):
            stop = session.run()
        assert stop.why == "interrupted", stop
        before = session.register("%r").raw[0]
        session.step(2)
        assert session.register("%r").raw[0] == before + 1
        time.sleep(0)


def test_findings_stop_the_run() -> None:
    text = TEXT.replace("[%d0], %f1", "[%d2], %f1").replace("mov.u32 %r1, full;", "mov.u32 %r1, full; ld.param.u64 %d2, [x];")
    text = text.replace(".shared.b64 [%r1], 2", ".shared.b64 [%r1], 1")
    program = executor.Program(text, "k.ptx")
    call = lambda x: program.run("k", [x], block=64)  # noqa: E731
    with executor.debug(call, np.arange(64, dtype=np.float32), checks="full") as session:
        stop = session.run()
        assert stop.why == "finding" and stop.error.kind.startswith("race") and "global" in stop.instruction
    with executor.debug(call, np.arange(64, dtype=np.float32), checks="full") as session:
        session.break_on_findings(False)
        assert session.run().why == "ended"


def test_a_condition_stops_the_run() -> None:
    line = next(number for number, text in enumerate(TEXT.splitlines(), 1) if "add.f32" in text)
    with stuck() as session:
        session.break_at(ptx_line=line, when="%f0 == 40")
        stop = session.run()
        assert (stop.why, stop.warp) == ("breakpoint", 1) and session.register("%f0").values[8] == 40
        with pytest.raises(pyptx.PtxError, match="condition `%f0 = 40` has no operator"):
            session.break_at(ptx_line=line, when="%f0 = 40")


def test_a_watch_stops_the_run() -> None:
    with stuck() as session:
        session.restart()
        number = session.watch("full", bytes=8)
        stop = session.run()
        assert (stop.why, stop.breakpoint) == ("watch", number) and "mbarrier.init" in stop.instruction
        assert stop.changed.startswith("full: 0000000000000000 -> ") and "watch 1, full: " in str(stop)
        session.remove(number)
        session.watch("x", 4 * 40, tensor=True)
        stop = session.run()
        assert stop.why == "watch" and stop.warp == 1 and stop.changed == "x + 0xa0: 00002042 -> 0000a042"
        with pytest.raises(pyptx.PtxError, match="the block has no variable `empty` in shared memory; it has full"):
            session.watch("empty")


def test_pyptx_debug(tmp_path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(TEXT)
    command = [sys.executable, "-m", "pyptx", "debug", str(file), "--arg", "f32[64]=iota", "--block", "64"]
    done = subprocess.run(
        command, input="break 18 warp 1\nrun\nprint f0\nbarriers\nquit\n", capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "line 18: add.f32 %f1, %f0, %f0;" in done.stdout and "%f0  f32  0: 32  1: 33" in done.stdout
    assert "mbarrier full  phase 0  lacks 2 of 2 arrivals" in done.stdout or "lacks 1 of 2 arrivals" in done.stdout


def test_ctrl_c_in_a_terminal_stops_what_runs(tmp_path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(ENDLESS)
    command = [sys.executable, "-m", "pyptx", "debug", str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as prompt:
        assert prompt.stdin is not None and prompt.stdout is not None
        prompt.stdin.write("run\n")
        prompt.stdin.flush()
        while "line 8" not in (line := prompt.stdout.readline()):  # where it stands at first
            assert line
        time.sleep(0.5)
        prompt.send_signal(signal.SIGINT)
        said, wrong = prompt.communicate("print r\nback\nquit\n", timeout=60)
    assert prompt.returncode == 0, wrong
    assert "stopped" in said and "%r  b32  0: 0x" in said and "add.u32 %r, %r, 1" in said
