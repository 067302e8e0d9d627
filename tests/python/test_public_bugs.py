"""Bugs of published kernels (tests/public_bugs): the mistake is found whatever order a run takes, the mended kernel is clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from marked_kernels import read

FOLDER = Path(__file__).parents[1] / "public_bugs"
BUGS = sorted(path.stem for path in FOLDER.glob("*.ptx"))


def test_each_is_in_the_list() -> None:
    listed = re.findall(r"^\| \[(\w+)\]\(\1\.ptx\)", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == BUGS and len(BUGS) >= 20


@pytest.mark.parametrize("name", BUGS)
@pytest.mark.parametrize("schedule", ["eager", "lazy", "random"])
def test_the_mistake_is_found_in_one_run(name: str, schedule: str) -> None:
    bug = read(FOLDER / f"{name}.ptx")
    found = bug.rules_found("mistake", f"--schedule {schedule}")
    assert found and found <= bug.rules


@pytest.mark.parametrize("name", BUGS)
def test_the_mended_kernel_is_clean(name: str) -> None:
    assert read(FOLDER / f"{name}.ptx").rules_found("mend", "--seeds 32") == set()
