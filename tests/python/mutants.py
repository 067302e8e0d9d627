"""Kernels with one synchronisation less: what the tests of races expect to be found out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# An instruction that orders something: a barrier, a fence, a wait, what closes a group.
ORDERS = re.compile(
    r"\s*(@!?%\w+ )?(bar\.|barrier\.|mbarrier\.(?!init)|fence|membar|cp\.async\.(bulk\.)?(commit|wait|mbarrier)"
    r"|wgmma\.(fence|commit|wait)|tcgen05\.(wait|commit|fence))"
)


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """The text with one such instruction less, each in turn; a wait that is a poll finds its phase complete."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if not ORDERS.match(line):
            continue
        poll = re.match(r"\s*mbarrier\.(?:try|test)_wait\S* (%\w+),", line)
        instead = f"setp.eq.u32 {poll[1]}, 0, 0;" if poll else ""
        yield line.strip(), "\n".join([*lines[:i], instead, *lines[i + 1 :]])


def found_by_the_checker(texts: list[str], folder: Path) -> set[int]:
    """Which of them the checker says something of, without running them."""
    for i, text in enumerate(texts):
        (folder / f"{i:04}.ptx").write_text(text)
    command = [sys.executable, "-m", "pyptx", "check", "--format", "json", str(folder)]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return {int(Path(finding["file"]).stem) for finding in said["findings"]}
