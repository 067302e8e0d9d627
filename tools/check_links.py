#!/usr/bin/env python3
"""The links of docs/ and of the pages in the root lead somewhere: to files that are there, and to headings with that anchor. The
site's list of the guide's pages (tools/docs/build_site.py) is the guide's. The files that ARCHITECTURE.md's travellers pass are
there, and no traveller passes one twice."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "docs"))
from contents import GUIDE  # noqa: E402


def main() -> int:
    wrong, count = [], 0
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"))]
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for found in re.finditer(r"\]\(([^)\s]+)\)", text):
            target, _, anchor = found[1].partition("#")
            if re.match(r"[a-z]+:", found[1]):
                continue
            count += 1
            path = (page.parent / target).resolve() if target else page
            if not path.exists():
                wrong.append(f"{page.relative_to(ROOT)}: {found[1]} is not there")
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                wrong.append(f"{page.relative_to(ROOT)}: no heading of {target} has the anchor {anchor}")
    listed = {f"guide/{name}" for name in GUIDE} | {"guide/README"}
    there = {f"guide/{path.stem}" for path in (ROOT / "docs" / "guide").glob("*.md")}
    wrong += [
        f"tools/docs/contents.py does not list docs/{name}.md, or lists what is not there" for name in sorted(listed ^ there)
    ]
    wrong += travels()
    print("\n".join(wrong) or f"{count} links of docs lead somewhere")
    return 1 if wrong or not count else 0


def travels() -> list[str]:
    """What is wrong with the lists of files of ARCHITECTURE.md. A bare file name is in the folder of the path before it."""
    wrong = []
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for traveller in re.findall(r"^\*\*.*?(?=^\*\*|^Why |^## |\Z)", text, re.MULTILINE | re.DOTALL):
        folder, passed = "", list[str]()
        for word in re.findall(r"`([\w/]+\.\w+|[\w/]+/)`", traveller):
            folder = word.rpartition("/")[0] or folder
            passed.append(word if "/" in word else f"{folder}/{word}")
        wrong += [f"ARCHITECTURE.md: {name} is not there" for name in passed if not (ROOT / name).exists()]
        wrong += [
            f"ARCHITECTURE.md: a traveller passes {name} twice" for name in sorted({n for n in passed if passed.count(n) > 1})
        ]
    return wrong


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


if __name__ == "__main__":
    sys.exit(main())
