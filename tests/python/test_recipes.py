"""CONTRIBUTING.md's recipes for an instruction and for a helper, followed to the letter on a copy of the sources: what they say
to write is what makes the build, and what they say of mistakes is what the compiler, the linker and the coverage say. Only the
names are others, which PTX does not have."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE, MADE_UP = "popc", "tally"
HELPER, MADE_UP_HELPER = "shift", "drift"
GROUP = Path("ptx/write/door/tcgen05.hpp")
HELPERS = Path("ptx/write/door/tcgen05_helpers.hpp")
TABLE = Path("ptx/isa/table/integer.hpp")
FUNCTIONS = Path("ptx/vgpu/ops/integer.cpp")
TESTS = Path("ptx/vgpu/ops/integer_test.cpp")


def recipe(of: str) -> str:
    return (ROOT / "CONTRIBUTING.md").read_text().split(f"## Add a {of}")[1].split("\n## ")[0]


def blocks(of: str, name: str, made_up: str) -> list[str]:
    """A recipe's code blocks, of the made-up name."""
    return [re.sub(rf"\b{name}\b", made_up, block) for block in re.findall(r"```(?:cpp)?\n(.*?)```", recipe(of), re.DOTALL)]


@dataclass
class Copy:
    """The C++ core; of the tests of the executor those of one family."""

    folder: Path

    def build(self, target: str, *, fails: bool = False) -> str:
        command = ["ninja", "-C", str(self.folder / "build"), target]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert (done.returncode != 0) == fails, done.stdout[-4000:] + done.stderr[-2000:]
        return done.stdout + done.stderr

    def put(self, file: Path, text: str, *, before: str) -> int:
        """Writes a block in front of a line; returns the line it begins at."""
        lines = (self.folder / file).read_text().splitlines()
        at = lines.index(before)
        lines[at:at] = text.rstrip("\n").splitlines()
        (self.folder / file).write_text("\n".join(lines) + "\n")
        return at + 1

    def replace(self, file: Path, old: str, new: str) -> None:
        text = (self.folder / file).read_text()
        assert text.count(old) == 1
        (self.folder / file).write_text(text.replace(old, new))

    def coverage(self) -> str:
        """What tools/check_rows.py says after the tests of the family."""
        rows = self.folder / "rows"
        shutil.rmtree(rows, ignore_errors=True)
        rows.mkdir()
        tests = self.folder / "build" / "ptx" / "vgpu" / "ptx_vgpu_test"
        subprocess.run([tests], cwd=self.folder, check=True, capture_output=True, env={**os.environ, "PTX_ROWS_RUN": str(rows)})
        check = [sys.executable, str(self.folder / "tools" / "check_rows.py"), str(rows)]
        return subprocess.run(check, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    if not shutil.which("cmake") or not shutil.which("ninja") or not shutil.which("g++") or not (ROOT / ".git").exists():
        pytest.skip("needs a checkout, cmake, ninja and g++")
    folder = tmp_path_factory.mktemp("recipe") / "ptx"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.split("\0"):
        wanted = name.startswith(("ptx/", "cmake/", "tools/", "tests/")) or name in ("CMakeLists.txt", "VERSION", "LICENSE")
        another_test = name.startswith("ptx/vgpu/") and name.endswith("_test.cpp") and Path(name) != TESTS
        if not wanted or another_test or not (ROOT / name).exists():
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DPTX_TESTS=ON"]
    configure = ["cmake", "-S", str(folder), "-B", str(folder / "build"), "-G", "Ninja", *options]
    done = subprocess.run(configure, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Copy(folder)


def test_an_instruction_in_three_places(copy: Copy) -> None:
    row, slip, unresolved, function, coverage, test = blocks("PTX instruction", RECIPE, MADE_UP)

    # 1. The row. A slip in it is an error there.
    place = copy.put(TABLE, row.replace(".type = {", ".typ = {"), before="};")
    said = copy.build("ptx_isa", fails=True)
    reported = re.search(rf"{TABLE}:(\d+):", said)
    assert reported is not None
    assert place <= int(reported[1]) <= place + row.count("\n"), said
    reason = re.search(r'slip\("([^"]+)"\)', slip)
    assert reason is not None
    assert reason[1] in said
    copy.replace(TABLE, ".typ = {", ".type = {")

    # 2. The executor lacks the function that the row promised.
    said = copy.build("ptx_vgpu_test", fails=True)
    promised = unresolved.split("undefined reference to ")[1].strip()
    assert promised.strip("`'") in said, said[-3000:]
    copy.put(FUNCTIONS, function, before="}  // namespace op")
    copy.build("ptx_vgpu_test")

    # 3. No test has run it, until one does.
    missing = coverage.split(", ", 1)[1].strip()
    assert missing in copy.coverage()
    copy.put(TESTS, test, before="}  // namespace")
    copy.build("ptx_vgpu_test")
    assert f"`{MADE_UP}." not in copy.coverage()


SHOWS_SIGNATURE = f"""
#include <cstdio>
#include "{HELPERS}"
int main() {{
  using namespace ptx::write::declare;
  const auto show = [](const auto& row) {{ std::puts(signature_of(row).python(row.name, false).c_str()); }};
  std::apply([&](const auto&... row) {{ (show(row), ...); }}, tcgen05_helpers);
}}
"""


def test_a_helper_in_two_places(copy: Copy) -> None:
    function, row = blocks("helper", HELPER, MADE_UP_HELPER)
    copy.build("ptx_generated_cpp-dots")
    copy.build("ptx_base")
    program, made = copy.folder / "signatures.cpp", copy.folder / "signatures"
    program.write_text(SHOWS_SIGNATURE)
    sources = [str(program), str(copy.folder / "ptx/write/door/declare.cpp"), str(copy.folder / "build/ptx/base/libptx_base.a")]
    folders = [f"-I{copy.folder}", f"-I{copy.folder / 'build' / 'generated'}"]

    def compiled() -> str:
        command = ["g++", "-std=c++20", "-O0", *folders, *sources, "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stderr

    lines = (copy.folder / GROUP).read_text().splitlines()
    copy.put(GROUP, function, before=next(line for line in lines if f"void {HELPER}(" in line))

    # A row of another number of parameters does not compile.
    lines = (copy.folder / HELPERS).read_text().splitlines()
    wrong = row.replace('"taddr|tmem_addr"', '"taddr|tmem_addr, size"')
    place = copy.put(HELPERS, wrong, before=next(line for line in lines if f"helper<&Tcgen05::{HELPER}>" in line))
    said = compiled()
    assert f"{HELPERS.name}:{place}" in said and "names_other_parameters" in said, said[-3000:]

    # With the right one Python has what the recipe says.
    copy.replace(HELPERS, wrong, row)
    assert compiled() == ""
    signatures = subprocess.run([made], check=True, capture_output=True, text=True).stdout.splitlines()
    signature = next(line for line in signatures if line.startswith(f"def ptx.tcgen05.{MADE_UP_HELPER}("))
    bare = re.sub(r": [^=,)]+?(?: = ([^,)]+))?(?=[,)])", lambda m: f"={m[1]}" if m[1] else "", signature.split(" -> ")[0])
    promised = re.search(rf"Python has `(ptx\.tcgen05\.{HELPER}\(.*?\))`", recipe("helper"))
    assert promised is not None
    assert bare == "def " + promised[1].replace(HELPER, MADE_UP_HELPER)
