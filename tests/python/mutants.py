"""Kernels with one synchronisation less, or another one: what the tests of races expect to be found out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pyptx import PtxError, _ptx

# An instruction that orders something: a barrier, a fence, a wait, what closes a group.
ORDERS = re.compile(
    r"\s*(@!?%\w+ )?(bar\.|barrier\.|mbarrier\.(?!init)|fence|membar|cp\.async\.(bulk\.)?(commit|wait|mbarrier)"
    r"|wgmma\.(fence|commit|wait)|tcgen05\.(wait|commit|fence))"
)


# What may be wrong about one that stands where it should.
ALTERED = [
    ("a group more is left", r"(.*wait_group\S* )(\d+);", r"\g<1>1\g<2>;"),
    ("fewer bytes are expected", r"(.*mbarrier\.(?:arrive\.)?expect_tx\S* .*), \d+;", r"\g<1>, 16;"),
    ("more arrivals are counted", r"(.*mbarrier\.init\S* .*), (\d+);", r"\g<1>, 1\g<2>;"),
    ("always parity 0", r"(.*mbarrier\.try_wait\.parity\S* .*), %\w+;", r"\g<1>, 0;"),
    ("always parity 1", r"(.*mbarrier\.try_wait\.parity\S* .*), %\w+;", r"\g<1>, 1;"),
    ("32 threads are enough", r"(.*bar\.(?:sync|arrive) .*), \d+;", r"\g<1>, 32;"),
    ("another barrier", r"(.*bar\.(?:sync|arrive) )[^,]+(, \d+;)", r"\g<1>15\g<2>"),
]


def altered(text: str) -> Iterator[tuple[str, str]]:
    """The text with one such instruction altered, each in turn: what is wrong about which, and the text."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        for what, of, instead in ALTERED:
            if re.fullmatch(of, line) and (mutant := re.sub(of, instead, line)) != line:
                yield f"{what}: {line.strip()}", "\n".join([*lines[:i], mutant, *lines[i + 1 :]])


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


def overlooked(changed: Sequence[tuple[str, str]], meta: bytes, folder: Path, is_noticed: Callable[[Any], bool]) -> list[str]:
    """Which of the mutants of a kernel's text neither the checker nor `is_noticed`, which runs an image, says anything of. A run
    that ends by a fault says enough."""
    said = found_by_the_checker([text for _, text in changed], folder)
    found = []
    for i, (instruction, text) in enumerate(changed):
        if i in said:
            continue
        try:
            if is_noticed(_ptx.Image.from_record(text, meta)):
                continue
        except PtxError:
            continue
        found.append(instruction)
    return found
