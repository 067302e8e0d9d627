"""Patterns of synchronisation (tests/patterns), each with the mistakes that are made of it: each mistake is told of, and nothing
of the right kernel, whenever what is asynchronous happens and whoever has the next turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mutants import found_by_the_checker
from rule_pages import DOCS

FOLDER = Path(__file__).parents[1] / "patterns"
PATTERNS = sorted(path.stem for path in FOLDER.glob("*.ptx"))
MARK = "//~ "


class Pattern(NamedTuple):
    run: str
    text: str
    mistakes: dict[str, str]
    """By what is wrong: the text."""


def read(path: Path) -> Pattern:
    """A line `//~ what is wrong: another line` stands behind the line that the other one replaces."""
    lines: list[str] = []
    others: dict[str, dict[int, str]] = {}
    run = ""
    for line in path.read_text().splitlines():
        stripped = line.strip()
        if stripped.startswith("// run:"):
            run = stripped.removeprefix("// run:").strip()
        if not stripped.startswith(MARK):
            lines.append(line)
            continue
        what, _, instead = stripped.removeprefix(MARK).partition(":")
        others.setdefault(what, {})[len(lines) - 1] = instead.strip()
    mistakes = {what: "\n".join(at.get(i, line) for i, line in enumerate(lines)) for what, at in others.items()}
    return Pattern(run, "\n".join(lines), mistakes)


def told(text: str, words: str) -> list[dict[str, Any]]:
    _, out, err = DOCS.run(text, words, "--format", "json")
    assert out, err
    found: list[dict[str, Any]] = json.loads(out)["findings"]
    return found


def rules_told(text: str, words: str) -> set[str]:
    return {finding["rule"] or finding["kind"] for finding in told(text, words)}


def all_mistakes() -> Iterator[tuple[str, str]]:
    for name in PATTERNS:
        for what in read(FOLDER / f"{name}.ptx").mistakes:
            yield name, what


@pytest.mark.parametrize("schedule", ["--schedule eager", "--schedule lazy", "--seeds 16"])
@pytest.mark.parametrize("name", PATTERNS)
def test_the_right_kernel_is_clean(name: str, schedule: str) -> None:
    pattern = read(FOLDER / f"{name}.ptx")
    assert rules_told(pattern.text, f"{pattern.run} {schedule}") == set()


@pytest.mark.parametrize(("name", "mistake"), list(all_mistakes()))
def test_a_mistake_is_told_of(name: str, mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPTX_MAX_INSTRUCTIONS", "1000000")
    pattern = read(FOLDER / f"{name}.ptx")
    text = pattern.mistakes[mistake]
    if rules_told(text, f"{pattern.run} --schedule eager") or found_by_the_checker([text], tmp_path):
        return
    assert rules_told(text, f"{pattern.run} --seeds 32")  # only some orders have it


def test_there_are_five_mistakes_of_each() -> None:
    assert len(PATTERNS) >= 18
    for name in PATTERNS:
        assert len(read(FOLDER / f"{name}.ptx").mistakes) >= 5


def test_a_load_whose_registers_are_used_is_waited_for() -> None:
    """ptxas has the first use of its registers wait for a tcgen05.ld, so the missing wait is a warning there."""
    pattern = read(FOLDER / "product_in_tensor_memory.ptx")
    text = pattern.mistakes["the loads are not waited for"]
    unused = "\n".join(line for line in text.splitlines() if "st.global" not in line)
    for kernel, severity in ((text, "warning"), (unused, "error")):
        found = told(kernel, pattern.run)
        assert {(finding["rule"], finding["severity"]) for finding in found} == {("K-07", severity)}


def test_a_block_outlives_the_product_that_reads_its_memory() -> None:
    pattern = read(FOLDER / "product_of_a_pair.ptx")
    text = pattern.mistakes["the other block gives back and ends before the product is done"]
    assert rules_told(text, pattern.run) == {"C-03", "K-07"}
