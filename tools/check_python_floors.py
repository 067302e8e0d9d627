"""Floors of python/pyptx: no module imports one that imports it, straight or by others, at its top or inside a function.

Whatever a module imports lies below it. What stands under `if TYPE_CHECKING:` is for mypy alone, and may point upward.
An import from outside of a package runs the package's `__init__.py` too, so that counts as imported; from inside it does not. C++
calls a few modules by their names (`pyptx.errors`, `pyptx.torch_support`, …): that is not seen here.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

BINARY = {"_ptx"}  # modules of the package without a source of Python


def modules_of(package: Path) -> dict[str, Path]:
    """The sources below a package's folder by their modules' names."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def is_for_types_alone(node: ast.AST) -> bool:
    """Whether it is `if TYPE_CHECKING:`."""
    test = node.test if isinstance(node, ast.If) else None
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def running(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below, without those that are for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_for_types_alone(child):
            for other in child.orelse:
                yield other
                yield from running(other)
        else:
            yield child
            yield from running(child)


def named(node: ast.AST, package: str) -> list[tuple[str, list[str]]]:
    """What a node imports: a module, and names that are taken from it. `package` is where relative names begin."""
    if isinstance(node, ast.Import):
        return [(alias.name, []) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        return [(".".join([*above, *([node.module] if node.module else [])]), [alias.name for alias in node.names])]
    if isinstance(node, ast.Call) and node.args:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if called in ("import_module", "__import__") and isinstance(name, str):
            return [(package + name if name.startswith(".") else name, [])]
    return []


def imports_of(module: str, path: Path, modules: dict[str, Path]) -> dict[str, int]:
    """The modules that one imports, each with the first line that does."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    around = {module.rsplit(".", depth)[0] for depth in range(module.count(".") + 1)}  # the module and its packages
    found: dict[str, int] = {}
    for node in running(ast.parse(path.read_text())):
        for source, names in named(node, package):
            if source not in modules:
                continue
            below = {f"{source}.{name}" for name in names if f"{source}.{name}" in modules}
            taken = [name for name in names if f"{source}.{name}" not in below and name not in BINARY]
            wanted = {*below, *([source] if taken or not names else [])}
            for each in list(wanted):  # the packages on the way there, whose `__init__.py` runs first
                wanted |= {each.rsplit(".", depth)[0] for depth in range(1, each.count(".") + 1)} - around
            for each in wanted:
                found.setdefault(each, getattr(node, "lineno", 0))
    return found


def way(start: str, end: str, imports: dict[str, dict[str, int]]) -> list[str]:
    """A shortest way from one module to another by what each imports; empty when there is none."""
    came_from = {start: ""}
    queue = [start]
    for module in queue:
        if module == end:
            back = [module]
            while came_from[back[-1]]:
                back.append(came_from[back[-1]])
            return back[::-1]
        for other in sorted(imports[module]):
            if other not in came_from:
                came_from[other] = module
                queue.append(other)
    return []


def violations(package: Path) -> list[str]:
    """A line for each import that is part of a circle."""
    modules = modules_of(package)
    imports = {module: imports_of(module, path, modules) for module, path in modules.items()}
    found = []
    for module, path in modules.items():
        for other, line in sorted(imports[module].items(), key=lambda item: item[1]):
            if circle := way(other, module, imports):
                back = "".join(f", which imports {each}" for each in circle[1:])
                found.append(f"{path}:{line}: {module} imports {other}{back}")
    return found


def self_test() -> None:
    """A package with planted circles: each must be found, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "pyptx"
        sources = {
            "__init__.py": "from . import a, _ptx\nfrom .sub import one\n",
            "a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import B\nfrom . import _ptx\n",
            "b.py": "from .a import A\n\ndef late():\n    from . import c\n",  # a circle with c, inside a function
            "c.py": "import os\n\nclass C:\n    def late(self):\n        from .b import B\n",
            "d.py": "from pyptx.sub.two import name\n",  # the package that it enters imports it
            "top.py": "from . import kernel\n",  # a name that only the package's own file has
            "text.py": 'from importlib import import_module\nimport_module("pyptx.text")\n',
            "sub/__init__.py": "from .. import d\nfrom .one import x\nfrom .two import y\n",
            "sub/one.py": "from . import two\nfrom .two import y\n",  # from inside: the package is on the way in
            "sub/two.py": "import json\nfrom .. import a, _ptx\n",
        }
        sources["__init__.py"] += "from .top import kernel\n"
        for name, content in sources.items():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            (package / name).write_text(content)
        found = sorted(fault.removeprefix(f"{package}/") for fault in violations(package))
    expected = [
        "__init__.py:3: pyptx imports pyptx.top, which imports pyptx",
        "b.py:4: pyptx.b imports pyptx.c, which imports pyptx.b",
        "c.py:5: pyptx.c imports pyptx.b, which imports pyptx.c",
        "d.py:1: pyptx.d imports pyptx.sub, which imports pyptx.d",
        "sub/__init__.py:1: pyptx.sub imports pyptx.d, which imports pyptx.sub",
        "text.py:2: pyptx.text imports pyptx.text",
        "top.py:1: pyptx.top imports pyptx, which imports pyptx.top",
    ]
    if found != expected:
        sys.exit(f"check_python_floors: the self-test's planted circles were not found as expected: {found}")


if __name__ == "__main__":
    self_test()
    faults = violations(Path(__file__).resolve().parents[1] / "python" / "pyptx")
    print(*faults, sep="\n")
    sys.exit(f"python floors: {len(faults)} imports in circles" if faults else None)
