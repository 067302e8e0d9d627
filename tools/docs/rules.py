"""docs/rules: a page for each rule of the executor, made of the list of rules, its example and what a run of that says. The
pages are committed; tests/python/test_rules.py holds them to what is made now, and with PTX_BLESS=1 writes them."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from pyptx import _ptx, executor


def level(rule: executor.Rule) -> str:
    """How closely a run has to be looked at for the rule."""
    return {"full": '`checks="full"`', "cheap": 'every run but with `checks="off"`', "off": "every run"}[rule.checks]


def run(text: str, words: str, *more: str) -> tuple[int, str, str]:
    """What `pyptx run` makes of a kernel: status, output, and what it says."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.ptx"
        file.write_text(text)
        given = ["run", str(file), *words.split(), "--checks", "full", *more]
        status, out, err = _ptx.run_tool([os.fsencode(word) for word in given], False, False, "ptxkit")
        return status, out.decode().replace(folder + os.sep, ""), err.decode().replace(folder + os.sep, "")


def page(rule: executor.Rule) -> str:
    """The page of a rule."""
    mistaken, _, words, explained = _ptx.executor_rule_example(rule.id)
    lines = [
        f"# {rule.id}: {rule.summary}",
        "",
        f"*{rule.severity.capitalize()}, kind `{rule.kind}`; looked for in {level(rule)}. Manual: {rule.section}.*",
        "",
    ]
    said = re.sub(r"0x[0-9a-f]{8,}", "0x…", run(mistaken, words)[2]).strip()
    difference = explained.split("\n\n", 1)[1].split("\nrun it: ", 1)[0].rstrip("\n")
    command = f"ptxkit run kernel.ptx {words}".rstrip() + " --checks full"
    lines += [
        "```ptx", mistaken.rstrip(), "```", "",
        f"`{command}` says", "",
        "```text", said, "```", "",
        f"To mend it: {rule.mend}.", "",
        "```diff", difference, "```", "",
        f"The mended kernel (`ptxkit explain {rule.id} --mended`) runs without a finding.", "",
    ]  # fmt: skip
    return "\n".join(lines)


def index() -> str:
    """The table of all rules."""
    lines = [
        "# Rules",
        "",
        "What the executor holds a kernel to. A fault ends the run; findings are collected. Each names its rule, which "
        "`ptxkit explain RULE`, `pyptx explain RULE` and `pyptx.explain(rule)` tell of, as its page does: the smallest kernel "
        "that breaks it, what is said of it, and the mend. Each page's kernel is a test (`tests/python/test_rules.py`). How to "
        "ask, and how to suppress a finding: [testing](../guide/testing.md#races).",
        "",
        "| rule | | what goes wrong | looked for in |",
        "|---|---|---|---|",
    ]
    lines += [f"| [{r.id}]({r.id}.md) | {r.severity} | {r.summary} | {level(r)} |" for r in executor.rules()]
    return "\n".join([*lines, ""])


def pages() -> dict[str, str]:
    """All pages, by the names of their files."""
    return {"README.md": index(), **{f"{rule.id}.md": page(rule) for rule in executor.rules()}}
