"""Where instructions were written: `.ptx(lineinfo=True)`."""

import inspect
import re
import shutil
import subprocess

import pytest

from pyptx import intrinsic, kernel, ptx, reg
from pyptx.types import u32, u64


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


def stores():
    r = reg.from_(ptx.special.tid.x(), u32)
    add_one(r)  # the call before the store
    ptx.inst.st.global_.u32(ptx.addr(ptx.param(u64, "out")), r)  # the store
    ptx.ret()


def test_ptxas_keeps_the_lines(ptxas, tmp_path) -> None:
    ptxas(kernel(raw_params=[("u64", "out")])(stores).ptx(lineinfo=True), "sm_90a", "-lineinfo")
    nvdisasm = shutil.which("nvdisasm")
    if nvdisasm is None:
        pytest.skip("no nvdisasm on PATH: ptxas took the lines; what it kept was not looked at")
    command = [nvdisasm, "-gi", tmp_path / "kernel.cubin"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    file = re.escape(__file__)
    assert re.search(rf'File "{file}", line {_line(stores, "# the store")}\b', shown), shown[:4000]
    inside, call = _line(add_one, "# in the helper"), _line(stores, "# the call before")
    assert re.search(rf'File "{file}", line {inside} inlined at "{file}", line {call}\b', shown), shown[:4000]
