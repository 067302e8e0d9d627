"""The Python API as Markdown, read from the package as it is imported: signatures and docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

MODULES = {
    "pyptx": "what most programs import",
    "pyptx.ptx": "instructions and helpers; `ptx.inst` is in the instruction table",
    "pyptx.reg": "registers",
    "pyptx.smem": "shared memory",
    "pyptx.types": "element types",
    "pyptx.specs": "tensors at the boundary",
    "pyptx.kernel": "kernels",
    "pyptx.errors": "errors and warnings",
    "pyptx.executor": "kernels and PTX texts on the CPU, and what is wrong with them",
    "pyptx.gradients": "kernels with gradients",
    "pyptx.wgmma_layout": "layouts of tiles",
    "pyptx.parser": "PTX text to objects",
    "pyptx.emitter": "objects to PTX text",
    "pyptx.ir": "the objects",
    "pyptx.spec": "what the table says of an instruction",
    "pyptx.jax_support": "the JAX side by itself",
    "pyptx.torch_support": "the torch side by itself",
    "pyptx.cache": "a cache of texts and machine code",
}


def public_names(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            name
            for name, held in vars(module).items()
            if not name.startswith("_")
            and not isinstance(held, ModuleType)
            and getattr(held, "__module__", module.__name__).startswith("pyptx")
        ]
    return sorted(names, key=lambda name: (not name[0].isupper(), name))


def signatures(name: str, held: Any) -> list[str]:
    """As a call is written, one line for each way to call it."""
    written = getattr(held, "__nb_signature__", None)
    if written:
        return [re.sub(r"^def \w+", name, each[0]) for each in written]
    try:
        return [f"{name}{inspect.signature(held)}"]
    except (TypeError, ValueError):
        return [name]


def docs_of(held: Any) -> str:
    written = getattr(held, "__nb_signature__", None)
    if written:
        return "\n\n".join(dict.fromkeys(each[1] for each in written if each[1]))
    text = vars(held).get("__doc__") if isinstance(held, type) else getattr(held, "__doc__", None)
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def entry(depth: int, name: str, lines: list[str], text: str) -> Iterator[str]:
    yield f"{'#' * depth} {name}\n"
    yield "```text\n" + "\n".join(re.sub(r"\s+", " ", line) for line in lines) + "\n```\n"
    if text:
        yield text.replace("``", "`") + "\n"


def members(held: type) -> Iterator[tuple[str, Any]]:
    for name, member in sorted(vars(held).items()):
        if name.startswith("_") or isinstance(member, type):
            continue
        yield name, member.__func__ if isinstance(member, (staticmethod, classmethod)) else member


def describe(name: str, held: Any, depth: int) -> Iterator[str]:
    if isinstance(held, type):
        constructor = vars(held).get("__init__")
        made = getattr(constructor, "__nb_signature__", None)
        lines = [re.sub(r"^def __init__\(self(, )?", f"{name}(", each[0]) for each in made] if made else signatures(name, held)
        yield from entry(depth, name, [re.sub(r" -> None$", "", line) for line in lines], docs_of(held))
        for member_name, member in members(held):
            if callable(member):
                yield from entry(depth + 1, f"{name}.{member_name}", signatures(member_name, member), docs_of(member))
            elif isinstance(getattr(member, "__doc__", None), str) and type(member).__name__ in ("property", "nb_property"):
                yield from entry(depth + 1, f"{name}.{member_name}", [member_name], inspect.cleandoc(member.__doc__))
    elif callable(held):
        yield from entry(depth, name, signatures(name, held), docs_of(held))
    else:
        text = docs_of(type(held)) if type(held).__module__.startswith("pyptx") else ""
        yield from entry(depth, name, [f"{name}: {type(held).__name__}"], text)


def page(module_name: str) -> str:
    module = importlib.import_module(module_name)
    if module_name == "pyptx.kernel":  # the decorator hides the module of the same name
        import sys

        module = sys.modules[module_name]
    parts = [f"# {module_name}\n", inspect.cleandoc(module.__doc__ or "").replace("``", "`") + "\n"]
    for name in public_names(module):
        if name == "inst" or (module_name == "pyptx.types" and len(name) < 7):
            continue
        held = getattr(module, name)
        if isinstance(held, ModuleType):
            parts.append(f"## {name}\n\nThe module [pyptx.{name}](pyptx.{name}.md).\n")
        else:
            parts.extend(describe(name, held, 2))
    if module_name == "pyptx.types":
        types = ", ".join(f"`{name}`" for name in sorted(vars(module)) if type(vars(module)[name]).__name__ == "PtxType")
        parts.insert(2, f"The types: {types}.\n")
    return "\n".join(parts)


def pages() -> dict[str, str]:
    contents = ["# Python API\n", "| module | |", "|---|---|"]
    contents += [f"| [{name}]({name}.md) | {what} |" for name, what in MODULES.items()]
    return {"index": "\n".join(contents) + "\n", **{name: page(name) for name in MODULES}}
