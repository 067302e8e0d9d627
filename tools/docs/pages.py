"""The code blocks of the guide's pages.

A fence says how its block is held to the truth:

    ```python           runs, after the page's earlier Python blocks and in their names
    ```python raises    raises a PtxError
    ```python gpu       runs where there is an NVIDIA GPU; elsewhere it is only compiled
    ```python torch     runs where torch is installed (so do jax, ml_dtypes, triton)
    ```cpp              a part of the page's C++ program (tools/docs/cpp_program.py)
    ```console          each `$ pyptx …` line runs in an empty folder; what follows it is its output
    ```console unrun    shown only
    ```text, ```ptx     behind a block: what it prints, or its error; ```ptx has to be among it, line by line
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"

LANGUAGES = {"python", "cpp", "console", "text", "ptx", "cmake"}
FLAGS = {
    "python": {"raises", "gpu", "torch", "jax", "ml_dtypes", "triton"},
    "cpp": {"gpu"},
    "console": {"unrun"},
    "text": set[str](),
    "ptx": set[str](),
    "cmake": {"unrun"},
}

_FENCE = re.compile(r"^```(\S+)((?: \w+)*)\n(.*?)^```$(\s*)", re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    """One block, and the blocks right behind it that say what it prints."""

    page: str
    line: int  # of its first line of code
    language: str
    flags: set[str]
    text: str
    shown: list[Block] = field(default_factory=list)

    @property
    def place(self) -> str:
        return f"docs/guide/{self.page}.md:{self.line}"


class BadPage(Exception):
    """A fence that nothing runs."""


def read(path: Path) -> list[Block]:
    """The page's blocks in order; those that show output belong to the block before them."""
    text = path.read_text()
    blocks: list[Block] = []
    joined = False  # nothing but empty lines since the block before
    end = 0
    for found in _FENCE.finditer(text):
        joined = bool(blocks) and not text[end : found.start()].strip()
        end = found.end()
        language, flags = found[1], set(found[2].split())
        line = text.count("\n", 0, found.start(3)) + 1
        block = Block(path.stem, line, language, flags, found[3])
        if language not in LANGUAGES or not flags <= FLAGS[language]:
            raise BadPage(f"{block.place}: nothing runs a block ```{language} {' '.join(sorted(flags))}")
        if language in ("text", "ptx"):
            if not joined:
                raise BadPage(f"{block.place}: a block of output has to follow the block that prints it")
            blocks[-1].shown.append(block)
        else:
            blocks.append(block)
    if text.count("\n```") % 2:
        raise BadPage(f"docs/guide/{path.name}: a fence is not closed")
    return blocks


def pages() -> list[Path]:
    """The guide's pages."""
    return sorted(GUIDE.glob("*.md"))


def shown(text: str) -> list[str]:
    """The lines of an output that do not depend on where and how often it runs."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x…", text)
    text = re.sub(r"[\w/.-]+\.(py|md|cpp):\d+", r"….\1", text).replace("….md", "….py")
    lines = (line.rstrip() for line in text.strip("\n").splitlines())
    return [line for line in lines if not line.lstrip().startswith(("-->", "= replay"))]
