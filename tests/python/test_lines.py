"""Where instructions were written: `.ptx(lineinfo=True)`."""

import inspect
import re
import shutil
import subprocess

import pytest

from pyptx import intrinsic, kernel, ptx, reg
from pyptx.types import u32


def _line(function, text: str) -> int:
    """The line on which `text` stands in a function of this file."""
    lines, first = inspect.getsourcelines(function)
    (found,) = [i for i, line in enumerate(lines) if text in line]
    return first + found


def add_one(r):
    ptx.inst.add.u32(r, r, 1)  # in the helper
    return r


@intrinsic
def marked(r):
    ptx.inst.add.u32(r, r, 2)  # in the marked helper


def body():
    r = reg.from_(ptx.special.tid.x(), u32)  # the first
    add_one(r)  # the call
    add_one(r)  # the second call
    marked(r)  # the marked call
    ptx.ret()


def test_each_instruction_has_its_line() -> None:
    text = kernel(body).ptx(lineinfo=True)
    assert f'.file 1 "{__file__}"' in text
    first, call, second = _line(body, "# the first"), _line(body, "# the call"), _line(body, "# the second call")
    inside = _line(add_one, "# in the helper")
    locs = [line.strip() for line in text.splitlines() if ".loc" in line]
    assert locs[:5] == [
        f".loc 1 {first} 0",
        f".loc 1 {call} 0",
        f".loc 1 {inside} 0, function_name $L__info_string0, inlined_at 1 {call} 0",
        f".loc 1 {second} 0",
        f".loc 1 {inside} 0, function_name $L__info_string0, inlined_at 1 {second} 0",
    ]
    marked_call, marked_line = _line(body, "# the marked call"), _line(marked, "# in the marked")
    assert locs[6] == f".loc 1 {marked_line} 0, function_name $L__info_string1, inlined_at 1 {marked_call} 0"


def test_without_it_no_line_is_said() -> None:
    made = kernel(body)
    assert ".loc" not in made.ptx() and ".file" not in made.ptx()
    kept = [line for line in made.ptx(lineinfo=True).split("\n\n.file")[0].splitlines() if ".loc" not in line]
    assert kept == made.ptx().splitlines()


def test_lines_are_no_part_of_the_text(tmp_path) -> None:
    """The same kernel in another file, on other lines, is the same kernel."""
    source = "from pyptx import kernel, ptx\n\n@kernel\ndef same():\n    ptx.bar.sync()\n    ptx.ret()\n"
    texts, lined = set(), set()
    for name, blank in (("one.py", 0), ("two.py", 7)):
        path = tmp_path / name
        path.write_text("\n" * blank + source)
        scope: dict = {}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        texts.add(scope["same"].ptx())
        lined.add(scope["same"].ptx(lineinfo=True))
    assert len(texts) == 1 and len(lined) == 2


def test_ptxas_keeps_the_lines(tmp_path) -> None:
    ptxas, cuobjdump = shutil.which("ptxas"), shutil.which("nvdisasm")
    if ptxas is None:
        pytest.skip("no ptxas on PATH")
    source, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"

    @kernel(in_specs=None, raw_params=[("u64", "out")])
    def writes():
        r = reg.from_(ptx.special.tid.x(), u32)
        add_one(r)
        ptx.inst.st.global_.u32(ptx.addr(ptx.param(_u64(), "out")), r)  # the store
        ptx.ret()

    source.write_text(writes.ptx(lineinfo=True))
    done = subprocess.run([ptxas, "-arch=sm_90a", "-lineinfo", "-o", cubin, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    if cuobjdump is None:
        return
    shown = subprocess.run([cuobjdump, "-gi", cubin], capture_output=True, text=True, check=True).stdout
    store = _line(test_ptxas_keeps_the_lines, "# the store")
    assert re.search(rf'File "{re.escape(__file__)}", line {store}\b', shown)
    inside = _line(add_one, "# in the helper")
    assert re.search(rf'line {inside} inlined at "{re.escape(__file__)}"', shown), shown[:4000]


def _u64():
    from pyptx.types import u64

    return u64
