"""Bugs of published kernels (tests/public_bugs): the mistake is found whatever order a run takes, the mended kernel is clean."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from rule_pages import DOCS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "public_bugs"
MARKS = re.compile(r"  // (mend|mistake)$")


class Bug(NamedTuple):
    lines: list[str]
    words: str
    rules: set[str]

    def text(self, which: str) -> str:
        """The kernel with the lines of `mistake`, or with those of `mend`."""
        marked = ((line, MARKS.search(line)) for line in self.lines)
        return "".join(line + "\n" for line, mark in marked if mark is None or mark[1] == which)


def read(name: str) -> Bug:
    text = (FOLDER / f"{name}.ptx").read_text()

    def told(what: str) -> str:
        found = re.search(rf"^// {what}:(.*)$", text, re.MULTILINE)
        assert found is not None, f"{name}.ptx lacks its line `// {what}: `"
        return found[1].strip()

    return Bug(text.splitlines(), told("run"), set(told("finds").split()))


BUGS = sorted(path.stem for path in FOLDER.glob("*.ptx"))


def rules_in(text: str, words: str) -> set[str]:
    _, out, err = DOCS.run(text, words, "--format", "json")
    assert out, err
    return {finding["rule"] for finding in json.loads(out)["findings"]}


def test_each_is_in_the_list() -> None:
    listed = re.findall(r"^\| \[(\w+)\]\(\1\.ptx\)", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == BUGS and len(BUGS) >= 20


@pytest.mark.parametrize("name", BUGS)
@pytest.mark.parametrize("schedule", ["eager", "lazy", "random"])
def test_the_mistake_is_found_in_one_run(name: str, schedule: str) -> None:
    bug = read(name)
    found = rules_in(bug.text("mistake"), f"{bug.words} --schedule {schedule}")
    assert found and found <= bug.rules


@pytest.mark.parametrize("name", BUGS)
def test_the_mended_kernel_is_clean(name: str) -> None:
    bug = read(name)
    assert rules_in(bug.text("mend"), f"{bug.words} --seeds 32") == set()
