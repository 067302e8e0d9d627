"""The C++ API as Markdown, read from the doc comments of the public headers: `///` before a declaration, `///<` behind one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

LAUNCHING = ("run", "options", "memory", "place", "warnings", "inspect", "archive")
HEADERS = {
    "errors": ("errors and values", ["base/expected.hpp", "base/diagnostic.hpp"]),
    "kernel": ("writing a kernel", ["write/kernel.hpp", "write/registers.hpp", "write/instruction.hpp", "write/door/scalar.hpp"]),
    "shared_memory": ("shared memory and barriers", ["write/door/smem.hpp", "write/door/sync.hpp"]),
    "copies": ("asynchronous copies", ["write/door/copies.hpp"]),
    "matrices": ("tensor cores", ["write/door/matrix.hpp", "write/door/wgmma.hpp", "write/door/tcgen05.hpp"]),
    "tensors": ("tensors at the boundary", ["tile/tile.hpp", "tile/size.hpp", "layout/layout.hpp"]),
    "compiling": ("from a kernel to a run", ["author/compile.hpp", "author/specialise.hpp", "author/raw.hpp"]),
    "launching": ("compiling and running", [f"launch/{name}.hpp" for name in LAUNCHING]),
    "gpu": ("GPUs, memory and streams", ["cuda/device.hpp", "cuda/memory.hpp"]),
    "executor": ("the executor", ["vgpu/vgpu.hpp"]),
    "text": ("PTX as text", ["text/text.hpp"]),
    "check": ("the checker", ["check/check.hpp"]),
}


@dataclass
class Declaration:
    scope: str  # "ptx::Kernel"
    code: str
    text: str


def _signature(lines: list[str]) -> str:
    """A declaration without its body."""
    code = re.sub(r"///<.*|//.*", "", "\n".join(lines))
    code = re.sub(r"\s+", " ", code).strip()
    depth = 0
    for i, character in enumerate(code):
        depth += character in "(<[" and not code.startswith("operator", max(0, i - 8))
        depth -= character in ")>]" and code[i - 1] not in "-=<>r"
        if (character == "{" and depth <= 0) or (character == ";" and depth <= 0):
            return code[:i].strip()
        if character == ":" and depth <= 0 and code[i - 1] == ")" and code[i + 1] != ":":
            return code[:i].strip()  # a constructor's initialisers
    return code.rstrip("{; ")


def _scopes(line: str, open_scopes: list[tuple[str, int]], depth: int) -> None:
    found = re.match(r"\s*(?:template <.*> )?(namespace|class|struct|enum class)\s+(?:\[\[.*?\]\] )?([\w:]+)[^;]*\{", line)
    if found and "}" not in line.split("{")[-1]:
        open_scopes.append((found[2], depth))


def read(path: Path) -> Iterator[Declaration]:
    """What the header declares with a doc comment, outside its namespaces of details."""
    open_scopes: list[tuple[str, int]] = []
    comment: list[str] = []
    pending: list[str] | None = None
    depth = 0
    for line in path.read_text().splitlines():
        stripped = line.strip()
        scope = "::".join(name for name, _ in open_scopes)
        if stripped.startswith("///") and not stripped.startswith("///<"):
            if pending is None:
                comment.append(stripped[3:].strip())
            continue
        if comment and pending is None and stripped and not stripped.startswith(("//", "#")):
            pending = []
        if pending is not None:
            pending.append(line)
            joined = re.sub(r"//.*", "", "\n".join(pending))
            balanced = joined.count("(") == joined.count(")")
            if balanced and re.search(r"[;{]\s*$|\}\s*;?\s*$", joined) and not stripped.startswith("template"):
                yield Declaration(scope, _signature(pending), " ".join(comment))
                comment, pending = [], None
        elif "///<" in line and ";" in line and open_scopes:
            code, _, text = line.partition("///<")
            yield Declaration(scope, code.strip().rstrip(";"), text.strip())
        _scopes(line, open_scopes, depth)
        plain = re.sub(r"//.*|\"(?:[^\"\\]|\\.)*\"|'.'", "", line)
        depth += plain.count("{") - plain.count("}")
        while open_scopes and depth <= open_scopes[-1][1]:
            open_scopes.pop()


def heading(path: Path) -> str:
    """The comment at the header's start."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    prose = " ".join(line for line in lines if not line.startswith("  "))
    code = "\n".join(line for line in lines if line.startswith("  "))
    return prose + (f"\n\n```text\n{code}\n```" if code else "")


def page(title: str, headers: list[str]) -> str:
    parts = [f"# {title[0].upper()}{title[1:]}\n", "Include `<ptx/ptx.hpp>`; the declarations are in the headers named here.\n"]
    for header in headers:
        path = ROOT / "ptx" / header
        if not path.exists():
            raise FileNotFoundError(f"tools/docs/cpp_api.py names ptx/{header}, which is not there")
        parts.append(f"## ptx/{header}\n\n{heading(path)}\n")
        last = ""
        for declaration in read(path):
            if declaration.scope != last:
                last = declaration.scope
                parts.append(f"### {last}\n")
            parts.append(f"```cpp\n{declaration.code}\n```\n\n{declaration.text}\n")
    return "\n".join(parts)


def pages() -> dict[str, str]:
    contents = [
        "# C++ API\n",
        "`#include <ptx/ptx.hpp>`, `find_package(ptx CONFIG)`, target `ptx::ptx`.\n",
        "| page | |",
        "|---|---|",
    ]
    contents += [f"| [{name}]({name}.md) | {title} |" for name, (title, _) in HEADERS.items()]
    return {"index": "\n".join(contents) + "\n", **{name: page(*made) for name, made in HEADERS.items()}}
