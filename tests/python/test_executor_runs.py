"""Runs on the executor that take long: Ctrl-C ends them, a limit does, a terminal shows how far they are."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

KERNEL = """
import signal, sys
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as shells start what they run in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import pred, u32, u64

@kernel(in_specs=[Tile(32, u32)], out_specs=[Tile(32, u32)], grid=8, block=32, arch="sm_90a")
def endless(X, Y):
    x, y = ptx.global_ptrs(X, Y)
    value, time, late = reg.scalar(u32), reg.scalar(u64), reg.scalar(pred)
    ptx.inst.ld.global_.u32(value, ptx.addr(x))
    ptx.label("again")
    ptx.inst.mov.u64(time, ptx.special.clock64())
    ptx.inst.setp.gt.u64(late, time, 1 << 60)
    ptx.bra("again", pred=~late)
    ptx.inst.st.global_.u32(ptx.addr(y), value)
    ptx.ret()

x = np.zeros(32, np.uint32)
def wait():
    print("running", flush=True)
"""

CALLS = {
    "numpy": "wait(); endless(x)",
    "torch": "import torch; t = torch.zeros(32, dtype=torch.int32).view(torch.uint32); wait(); endless(t)",
    "torch operator": "import torch; t = torch.zeros(32, dtype=torch.int32).view(torch.uint32); "
    "from torch.utils._python_dispatch import TorchDispatchMode\n"
    "class Seen(TorchDispatchMode):\n"
    "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):\n"
    "        return func(*args, **(kwargs or {}))\n"
    "with Seen():\n"
    "    wait(); endless(t)\n",
    "jit": "import jax; f = jax.jit(endless); a = jax.numpy.asarray(x); wait(); np.asarray(f(a))",
    "jit, waited for": "import jax; f = jax.jit(endless); a = jax.numpy.asarray(x); wait(); f(a).block_until_ready()",
}


def start(code: str, **kwargs: object) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, **kwargs)  # type: ignore[call-overload]


def interrupt(process: "subprocess.Popen[str]") -> None:
    """Ctrl-C once it runs. It says so before the call; the run itself begins a little later."""
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_a_run(call: str) -> None:
    if call != "numpy":
        pytest.importorskip("jax" if call.startswith("jit") else "torch")
    lines = "\n".join("    " + line for line in CALLS[call].splitlines())
    code = f"{KERNEL}\ntry:\n{lines}\nexcept BaseException as error:\n    print(repr(error))\n"
    process = start(code, stderr=subprocess.PIPE)
    interrupt(process)
    out, err = process.communicate(timeout=120)
    assert out == "KeyboardInterrupt()\n", err


def test_ctrl_c_ends_a_run_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "endless.ptx").write_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry endless()\n{\n.reg .b64 %t;\n.reg .pred %p;\n"
        "AGAIN:\nmov.u64 %t, %clock64;\nsetp.lt.u64 %p, %t, 0x1000000000000000;\n@%p bra AGAIN;\nret;\n}\n"
    )
    code = (
        "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom pyptx import cli\n"
        f"sys.argv = ['pyptx', 'run', {str(tmp_path / 'endless.ptx')!r}]\nprint('running', flush=True)\ncli.entry_point()\n"
    )
    process = start(code, stderr=subprocess.PIPE)
    interrupt(process)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "[interrupted]" in err and "Traceback" not in err


def test_ctrl_c_ends_a_sweep_of_the_command_line_with_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "short.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry short() { ret; }\n")
    code = (
        "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom pyptx import cli\n"
        f"sys.argv = ['pyptx', 'run', {str(tmp_path / 'short.ptx')!r}, '--seeds', '100000000']\n"
        "print('running', flush=True)\ncli.entry_point()\n"
    )
    process = start(code, stderr=subprocess.PIPE)
    interrupt(process)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "stopped before all runs were done" in out and "Traceback" not in err


def test_a_handler_that_goes_on_is_heard() -> None:
    code = KERNEL + (
        "import signal\n"
        "seen = []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(1) or (len(seen) == 2 and sys.exit(f'after {len(seen)}')))\n"
        "wait(); endless(x)"
    )
    process = start(code, stderr=subprocess.PIPE)
    interrupt(process)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert err == "after 2\n"


def test_the_signal_is_pythons_again_after_a_run() -> None:
    code = KERNEL.replace("1 << 60", "1000") + (
        "import os, signal\nendless(x)\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    import time; time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('heard')\n"
    )
    process = start(code)
    assert process.communicate(timeout=120)[0] == "heard\n"


def test_a_run_has_a_limit() -> None:
    code = KERNEL + (
        "import os\nfrom pyptx import PtxError\n"
        "for limit in ('20000', 'many', '0', '-5'):\n"
        "    os.environ['PYPTX_MAX_INSTRUCTIONS'] = limit\n"
        "    try:\n        endless(x)\n    except PtxError as error:\n        print(error.kind)\n"
    )
    process = start(code)
    assert process.communicate(timeout=120)[0].split() == ["step_limit", "bad_setting", "bad_setting", "bad_setting"]


def test_a_terminal_shows_how_far_a_run_is() -> None:
    ours, theirs = pty.openpty()
    process = start(KERNEL + "wait(); endless(x)", stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"% of 8 blocks" not in shown and select.select([ours], [], [], 60)[0]:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:  # the terminal's other end is closed
        pass
    process.communicate(timeout=120)
    text = shown.decode()
    assert "kernel `endless` on the CPU: 0.0 % of 8 blocks" in text
    assert "\r\x1b[K" in text and text.index("\r\x1b[K") < text.index("Traceback")
    os.close(ours)


def test_nothing_is_shown_where_no_terminal_is() -> None:
    process = start(KERNEL + "wait(); endless(x)", stderr=subprocess.PIPE)
    interrupt(process)
    _, err = process.communicate(timeout=120)
    assert "blocks" not in err and err.rstrip().endswith("KeyboardInterrupt")
