"""Kernels with a mistake and its mend in one file: lines marked `// mistake` are the one, those marked `// mend` the other.
`// run:` says how it is launched and `// finds:` which rules it may break."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from rule_pages import DOCS

MARKS = re.compile(r"  // (mend|mistake)$")


class MarkedKernel(NamedTuple):
    lines: list[str]
    words: str
    rules: set[str]

    def text(self, which: str) -> str:
        """The kernel with the lines of `mistake`, or with those of `mend`."""
        marked = ((line, MARKS.search(line)) for line in self.lines)
        return "".join(line + "\n" for line, mark in marked if mark is None or mark[1] == which)

    def rules_found(self, which: str, words: str) -> set[str]:
        _, out, err = DOCS.run(self.text(which), f"{self.words} {words}", "--format", "json")
        assert out, err
        return {finding["rule"] for finding in json.loads(out)["findings"]}


def read(path: Path) -> MarkedKernel:
    text = path.read_text()

    def told(what: str) -> str:
        found = re.search(rf"^// {what}:(.*)$", text, re.MULTILINE)
        assert found is not None, f"{path.name} lacks its line `// {what}: `"
        return found[1].strip()

    return MarkedKernel(text.splitlines(), told("run"), set(told("finds").split()))
