#!/usr/bin/env python3
"""The documentation as a site in build/site, to be opened from disk: the guide, the instruction table, the APIs of both
languages, and the pages of docs/.

./dev docs builds it, with tools/dev/requirements-docs.txt; tools/check_links.py looks at its links.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import cpp_api
import python_api
from contents import BACKGROUND, GUIDE, REFERENCE

ROOT = Path(__file__).resolve().parents[2]
SOURCE, OUTPUT = ROOT / "build" / "site-source", ROOT / "build" / "site"

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


if __name__ == "__main__":
    sys.exit(build())
