#!/usr/bin/env python3
"""The documentation as a site in build/site, to be opened from disk: the guide, the instruction table, the APIs of both
languages, and the pages of docs/.

build_site.py             builds it (needs tools/docs/requirements.txt)
build_site.py links       only looks whether the links of docs/ and README lead somewhere
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import cpp_api
import python_api

ROOT = Path(__file__).resolve().parents[2]
SOURCE, OUTPUT = ROOT / "build" / "site-source", ROOT / "build" / "site"

GUIDE = [
    "first_kernel", "indexing", "shared_memory", "warps", "atomics", "async_copies", "tma", "wgmma", "testing", "declaring",
    "launching", "shipping", "from_triton", "from_cuda", "from_pyptx",
]  # fmt: skip
REFERENCE = ["isa/README", "api/python/index", "api/cpp/index", "failures"]
BACKGROUND = ["performance", "facts", "ARCHITECTURE", "CONTRIBUTING"]

_LINK = re.compile(r"(?<!\!)\[([^\]]*)\]\(([^)\s]+)\)")


def contents() -> str:
    def tree(caption: str, entries: list[str]) -> str:
        return f"```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n\n" + "\n".join(entries) + "\n```\n"

    decisions = sorted(f"decisions/{path.stem}" for path in (ROOT / "docs" / "decisions").glob("*.md"))
    parts = [
        "# pyptx\n",
        "Write GPU kernels as real PTX, from Python and C++. Check them, run them on a CPU, launch them from numpy, torch, JAX "
        "and C++.\n",
        "Begin with [a first kernel](guide/first_kernel.md); [the guide's contents](guide/README.md) say what each runs on.\n",
        tree("Guide", ["guide/README", *(f"guide/{name}" for name in GUIDE)]),
        tree("Reference", REFERENCE),
        tree("Background", [*BACKGROUND, *decisions]),
    ]
    return "\n".join(parts)


def outside(target: str, page: Path) -> bool:
    """Whether a link of the page leads to a file of the repository that is no page of the site."""
    if re.match(r"[a-z]+:|#", target):
        return False
    path = (page.parent / target.partition("#")[0]).resolve()
    return not (path.suffix == ".md" and path.is_relative_to(ROOT / "docs")) and path.suffix != ".svg"


def site_text(path: Path) -> str:
    """The page for Sphinx: fences without our flags, links to the repository's files as plain text."""
    text = path.read_text()
    text = re.sub(r"^```(\w+) [\w ]+$", r"```\1", text, flags=re.MULTILINE)
    text = re.sub(r"^```ptx$", "```text", text, flags=re.MULTILINE)
    return _LINK.sub(lambda link: f"`{link[1].strip('`')}`" if outside(link[2], path) else link[0], text)


def write_source() -> None:
    if SOURCE.exists():
        shutil.rmtree(SOURCE)
    pages = {path.relative_to(ROOT / "docs"): path for path in (ROOT / "docs").rglob("*.md")}
    pages |= {Path(name): ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md")}
    texts = {str(name): site_text(path) for name, path in pages.items()}
    texts["index.md"] = contents()
    for language, api in (("python", python_api), ("cpp", cpp_api)):
        made = api.pages()
        names = [name for name in made if name != "index"]
        made["index"] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
        texts |= {f"api/{language}/{name}.md": text for name, text in made.items()}
    for name, text in texts.items():
        path = SOURCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copytree(ROOT / "docs" / "guide" / "pictures", SOURCE / "guide" / "pictures")


def loaded_from_elsewhere() -> list[str]:
    """What pages would fetch from the network: nothing, so that the site works from disk."""
    loads = re.compile(
        r"""<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//|<link[^>]*\shref="(?:https?:)?//|@import|url\(["']?https?:"""
    )
    files = [path for kind in ("*.html", "*.css") for path in OUTPUT.rglob(kind)]
    return [str(path.relative_to(OUTPUT)) for path in files if loads.search(path.read_text())]


def build() -> int:
    write_source()
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-j", "2"]
    doctrees = ROOT / "build" / "site-doctrees"
    done = subprocess.run([*command, "-c", Path(__file__).parent, "-d", doctrees, SOURCE, OUTPUT], check=False)
    if done.returncode == 0 and (loading := loaded_from_elsewhere()):
        print("these pages load something from the network:", *loading, sep="\n")
        return 1
    if done.returncode == 0:
        print(f"{OUTPUT / 'index.html'}")
    return done.returncode


def links() -> int:
    """Links that lead nowhere: files that are not there, and anchors that no heading has."""
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
        f"tools/docs/build_site.py does not list docs/{name}.md, or lists what is not there" for name in sorted(listed ^ there)
    ]
    print("\n".join(wrong) or f"{count} links of docs lead somewhere")
    return 1 if wrong or not count else 0


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


if __name__ == "__main__":
    sys.exit(links() if sys.argv[1:] == ["links"] else build())
