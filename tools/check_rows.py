#!/usr/bin/env python3
"""Every row of the instruction table that the executor runs is in a test of the executor: coverage that only grows."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def spelled(form: str) -> str:
    """The opcode and the modifiers that every instruction of the row has: `mad.wide` of `mad.wide.type d, a, b, c`."""
    slots = set(re.findall(r"\.([\w:]+)\s*=\s*{", form))
    head = form.split()[0]
    words = [re.match(r"\w+", head).group()]  # type: ignore[union-attr]
    for optional, word in re.findall(r"({?)\.([\w:]+)", head):
        if word in slots or optional:
            break
        words.append(word)
    return ".".join(words)


def main() -> int:
    rows = []
    for header in sorted((ROOT / "ptx/isa/table").glob("*.hpp")):
        for row in re.split(r"^\s*row\(", header.read_text(), flags=re.MULTILINE)[1:]:
            form = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', row.split("since(")[0]))
            if re.search(r"\bexec\(", row):
                rows.append((header.name, form))
    places = ("ptx/vgpu/**/*_test.cpp", "tests/**/*.py", "tests/golden/**/*.golden")
    tests = "\n".join(path.read_text() for place in places for path in ROOT.glob(place))
    missing = [(family, form) for family, form in rows if not re.search(re.escape(spelled(form)) + r"\b", tests)]
    for family, form in missing:
        print(f"coverage: row `{form.split(';')[0].strip()}` of {family} is in no test of the executor")
    print(f"{len(rows) - len(missing)} of {len(rows)} executed rows are in a test of the executor")
    return 1 if missing or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
