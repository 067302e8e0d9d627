#!/usr/bin/env python3
"""The C++ blocks of the guide as one program, and a run of it.

cpp_program.py write FILE    writes the program: a page is a namespace, each `int main()` of its blocks is called in turn
cpp_program.py run PROGRAM   runs it, and holds what each main prints to the block of text behind it
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import ROOT, Block, pages, read, shown

MARK = "==== "


def cpp_blocks() -> list[list[Block]]:
    """Of each page with C++ in it."""
    of_pages = ([block for block in read(page) if block.language == "cpp"] for page in pages())
    return [blocks for blocks in of_pages if blocks]


def is_main(block: Block) -> bool:
    return "int main()" in block.text


def program() -> str:
    includes: list[str] = []
    parts: list[str] = []
    calls: list[str] = []
    for blocks in cpp_blocks():
        parts.append(f"namespace page_{blocks[0].page} {{")
        for block in blocks:
            lines = []
            for line in block.text.splitlines():
                if line.startswith("#include"):
                    includes.append(line)
                lines.append("" if line.startswith("#include") else line)
            name = f"main_{block.line}"
            text = re.sub(
                r"^int main\(\)(.*?)^}", rf"int {name}()\1  return 0;\n}}", "\n".join(lines), flags=re.DOTALL | re.MULTILINE
            )
            parts.append(f'#line {block.line} "{ROOT / "docs" / "guide" / block.page}.md"\n{text}')
            if is_main(block):
                run = f"failed |= page_{block.page}::{name}() != 0;"
                if "gpu" in block.flags:
                    run = f"if (ptx::cuda::device(0)) {run}"
                calls.append(f'  std::printf("{MARK}{block.place}\\n");\n  {run}\n  std::fflush(stdout);')
        parts.append(f"}}  // namespace page_{blocks[0].page}")
    head = "\n".join(sorted({*includes, "#include <cstdio>"}))
    body = "\n".join(calls)
    return (
        f"// Written by tools/docs/cpp_program.py from docs/guide.\n{head}\n\n"
        + "\n".join(parts)
        + f'\n#line 1 "guide_main.cpp"\nint main() {{\n  bool failed = false;\n{body}\n  return failed ? 1 : 0;\n}}\n'
    )


def write(path: Path) -> int:
    text = program()
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return 0


def run(executable: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:  # programs save kernels
        done = subprocess.run([executable], cwd=folder, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr)
    printed = {}
    for part in done.stdout.split(MARK)[1:]:
        place, _, text = part.partition("\n")
        printed[place] = text
    blocks = {block.place: block for of_page in cpp_blocks() for block in of_page if is_main(block)}
    wrong = [f"{place} did not run: the guide has changed since the build" for place in sorted(blocks.keys() ^ printed.keys())]
    for place in blocks.keys() & printed.keys():
        expected = [shown(output.text) for output in blocks[place].shown]
        if "gpu" in blocks[place].flags and not printed[place]:
            continue  # no GPU here
        if expected and shown(printed[place]) != expected[0]:
            wrong.append(f"{place} prints\n{printed[place]}")
    print("\n".join(wrong) or f"{len(printed)} C++ programs of the guide ran")
    return 1 if wrong or done.returncode or not blocks else 0


if __name__ == "__main__":
    sys.exit({"write": write, "run": run}[sys.argv[1]](Path(sys.argv[2])))
