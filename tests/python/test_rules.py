"""Each rule's example: the kernel that breaks it breaks just that, the mended one nothing; and the pages made of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rule_pages import DOCS

import pyptx
from pyptx import _ptx, executor

ROOT = Path(__file__).parents[2]
RULES = {rule.id: rule for rule in executor.rules()}


def found(text: str, words: str) -> tuple[int, list[dict[str, Any]], str]:
    status, out, err = DOCS.run(text, words, "--format", "json")
    return status, json.loads(out)["findings"] if out else [], err


def test_every_rule_has_an_example() -> None:
    assert [rule for rule in RULES if not _ptx.executor_rule_example(rule)[0]] == []


@pytest.mark.parametrize("rule", RULES)
def test_the_mistake_breaks_just_that_rule(rule: str) -> None:
    mistaken, _, words, _ = _ptx.executor_rule_example(rule)
    status, findings, err = found(mistaken, words)
    assert {finding["rule"] for finding in findings} == {rule}, err
    assert (findings[0]["kind"], findings[0]["severity"]) == (RULES[rule].kind, RULES[rule].severity)
    assert status == (1 if RULES[rule].severity == "error" else 0)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("completion", ["eager", "lazy"])
def test_the_mended_kernel_breaks_none(rule: str, completion: str) -> None:
    _, mended, words, _ = _ptx.executor_rule_example(rule)
    status, findings, err = found(mended, f"{words} --completion {completion}")
    assert (status, findings) == (0, []), err


@pytest.mark.parametrize("rule", RULES)
def test_the_kernels_are_ptx_that_the_checker_takes(rule: str) -> None:
    for text in _ptx.executor_rule_example(rule)[:2]:
        executor.Program(text)


def test_ids_and_severities_are_unique_and_known() -> None:
    assert len(RULES) == len(executor.rules()) > 40
    assert {rule.severity for rule in RULES.values()} == {"error", "warning"}


def test_a_rule_is_explained() -> None:
    said = pyptx.explain("p-01")
    assert said.startswith("P-01 (error, kind missing_proxy_fence): an asynchronous access")
    assert "+  fence.proxy.async.shared::cta;" in said and "manual: Proxies" in said
    with pytest.raises(pyptx.PtxError, match="there is no rule `P-99`; what fits is"):
        pyptx.explain("P-99")


def test_the_command_line_explains() -> None:
    def explain(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pyptx", "explain", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert explain("R-wr").stdout == pyptx.explain("R-wr").replace("ptxkit", "pyptx")
    assert [line.split()[0] for line in explain().stdout.splitlines() if line[0] != " "] == list(RULES)
    assert explain("R-wr", "--kernel").stdout == _ptx.executor_rule_example("R-wr")[0]
    assert explain("R-wr", "--mended").stdout == _ptx.executor_rule_example("R-wr")[1]
    assert "did you mean `R-ww`" in explain("R-w").stderr and explain("R-w").returncode == 2


def test_the_pages_are_what_is_made_now() -> None:
    folder = ROOT / "docs" / "rules"
    pages = DOCS.pages()
    if os.environ.get("PTX_BLESS"):
        folder.mkdir(exist_ok=True)
        for name, text in pages.items():
            (folder / name).write_text(text)
    assert {path.name for path in folder.glob("*.md")} == set(pages)
    for name, text in pages.items():
        assert (folder / name).read_text() == text, f"docs/rules/{name} differs; ./dev bless rewrites it"
