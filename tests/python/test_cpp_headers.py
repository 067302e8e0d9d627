"""What a C++ file reads that writes a kernel with <ptx/kernel.hpp> and the headers of its opcodes. bench/cpp_compile_cost.py says
how long that takes; here stands what must not come in: rooms that only a run needs, and heavy headers of the library."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "bench" / "thirty_forms.cpp"
ROOMS = {"base", "inst", "ir", "isa", "layout", "tile", "write"}
HEAVY = {
    "algorithm",
    "charconv",
    "chrono",
    "condition_variable",
    "deque",
    "filesystem",
    "forward_list",
    "fstream",
    "functional",
    "future",
    "iostream",
    "iterator",
    "memory",
    "mutex",
    "ostream",
    "random",
    "ranges",
    "regex",
    "sstream",
    "thread",
    "unordered_map",
}
MOST_LINES = 13_500  # of our own headers: 12,000 when this was written


def generated() -> Path:
    found = [build / "generated" for build in (ROOT / "build" / "gpu", ROOT / "build" / "release")]
    known = [folder for folder in found if (folder / "ptx" / "inst.hpp").exists()]
    if not known or shutil.which("g++") is None:
        pytest.skip("no build of the C++ library here (./dev demo makes one), or no g++")
    return known[0]


def lines_by_file() -> Counter[str]:
    """How many lines of each file the compiler is given: the preprocessor's marks say whose they are."""
    command = ["g++", "-std=c++20", "-E", "-I", str(ROOT), "-I", str(generated()), str(SOURCE)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines: Counter[str] = Counter()
    file = ""
    for line in text.splitlines():
        if mark := re.match(r'# \d+ "([^"]*)"', line):
            file = mark[1]
        elif line.strip():
            lines[file] += 1
    return lines


def test_a_file_of_thirty_forms_reads_what_writing_needs() -> None:
    lines = lines_by_file()
    own = {file: count for file, count in lines.items() if "/ptx/" in file or file.startswith("ptx/")}
    rooms = {re.sub(r".*\bptx/", "", file).split("/")[0] for file in own if re.search(r"\bptx/\w+/", file)}
    assert rooms and rooms <= ROOMS, "a kernel is written without checking, launching or running it"
    assert not HEAVY & {Path(file).name for file in lines}
    assert sum(own.values()) <= MOST_LINES, sorted(own.items(), key=lambda item: -item[1])[:12]


def test_the_public_headers(golden: Callable[[str, str], None]) -> None:
    """What <ptx/ptx.hpp>, <ptx/kernel.hpp> and <ptx/kernels.hpp> lead to is what is installed (cmake/PtxInstall.cmake): a header
    that joins it is one more that a user may include, and that has to stay."""
    waiting, found = ["ptx/ptx.hpp", "ptx/kernel.hpp", "ptx/kernels.hpp"], set[str]()
    while waiting:
        header = waiting.pop()
        if header in found or not (ROOT / header).exists():  # what is generated is not in the source tree
            continue
        found.add(header)
        waiting += re.findall(r'^#include "(ptx/[^"]+)"', (ROOT / header).read_text(), re.MULTILINE)
    golden("public_headers.txt", "\n".join(sorted(found)) + "\n")
