"""Floors: a room includes only the rooms its CMakeLists.txt names, and only through their front door <room>/<room>.hpp
or, what is compiled often, the brief one, <room>/brief.hpp. (<room>/<name>.inc is a table of the room's for who asks.)

The Python binding has rooms too (BINDING below), whose headers may be read by those who stand above them.

The truth is each `ptx_room(<name> NEEDS … TESTS_NEED …)`; MUST_NEVER_SEE holds those lists to the architecture, transitively.
"""

import re
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<](ptx/[^">]+)[">]', re.MULTILINE)
ROOM = re.compile(r"ptx_room\((\w+)\s*(?:NEEDS([\w\s]*?))?(?:TESTS_NEED([\w\s]*?))?\s*(?:OWN_FLAGS\s*)?(?:SELDOM [\w\s./*]*)?\)")
MUST_NEVER_SEE = {
    "isa": "ir cuda", "layout": "ir cuda", "num": "ir isa cuda", "tile": "ir", "ir": "text check write",
    "flow": "text check write vgpu", "text": "check write",
    "check": "text write vgpu", "write": "text check cuda", "vgpu": "text cuda", "cuda": "isa ir text check write",
}  # fmt: skip

BINDING_INCLUDE = re.compile(r'^#include "python/binding/(?:(\w+)/)?', re.MULTILINE)
BINDING = {  # a room of python/binding, and those whose headers it may read
    "base": set(), "torch": set(), "authoring": {"base"}, "text": {"base"},
    "launch": {"base", "authoring", "torch"}, "run": {"base", "authoring", "launch"},
}  # fmt: skip


def binding_violations(binding: Path) -> list[str]:
    found = []
    for source in sorted(path for path in binding.glob("*/*") if path.suffix in (".cpp", ".hpp")):
        room, text = source.parent.name, source.read_text()
        for include in BINDING_INCLUDE.finditer(text):
            if include[1] and include[1] not in BINDING.get(room, set()) | {room}:
                place = f"{source}:{text.count(chr(10), 0, include.start()) + 1}"
                found.append(f"{place}: {room} of the binding may not include {include[1]} (BINDING in tools/check_floors.py)")
    return found


def violations(ptx: Path) -> list[str]:
    found, needs, tests_need = [], {}, {}
    for lists in ptx.glob("*/CMakeLists.txt"):
        match = ROOM.search(lists.read_text())
        if not match or match[1] != lists.parent.name:
            found.append(f"{lists}: not a `ptx_room({lists.parent.name} …)`")
            continue
        needs[match[1]] = set((match[2] or "").split())
        tests_need[match[1]] = set((match[3] or "").split())

    def reach(room: str, seen: frozenset[str] = frozenset()) -> set[str]:
        below = needs.get(room, set()) - seen
        return below.union(*(reach(other, seen | below | {room}) for other in below))

    for room in needs:
        found += [
            f"{ptx}/{room}/CMakeLists.txt: {room} needs {other}, which needs {room}"
            for other in needs[room]
            if room in reach(other)
        ]
        wrong = sorted(reach(room) & set(MUST_NEVER_SEE.get(room, "").split()))
        found += [f"{ptx}/{room}/CMakeLists.txt: {room} must never see {other}, and reaches it" for other in wrong]
    for source in sorted(path for path in ptx.glob("*/**/*") if path.suffix in (".cpp", ".hpp", ".def", ".inc")):
        room, text = source.relative_to(ptx).parts[0], source.read_text()
        is_test = source.stem.endswith("_test") or source.parent.name == "testing"
        allowed = {room} | needs.get(room, set()) | (tests_need.get(room, set()) if is_test else set())
        for include in INCLUDE.finditer(text):
            other, *rest = include[1].split("/")[1:]
            place = f"{source}:{text.count(chr(10), 0, include.start()) + 1}"
            if not rest:
                if other != "version.hpp":
                    found.append(f"{place}: {include[1]} is for users of the library, not for its rooms")
            elif other not in allowed:
                found.append(f"{place}: {room} may not include {other} (its CMakeLists.txt does not name it)")
            elif other != room and rest not in ([f"{other}.hpp"], ["brief.hpp"]) and not rest[0].endswith(".inc"):
                found.append(f"{place}: enter {other} through ptx/{other}/{other}.hpp, not {include[1]}")
    return found


def self_test() -> None:
    """A house with four planted faults: each must be found, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder) / "ptx"
        house = {
            "base/CMakeLists.txt": "ptx_room(base)", "base/base.hpp": "",
            "ir/CMakeLists.txt": "ptx_room(ir NEEDS base TESTS_NEED text)", "ir/ir.hpp": '#include "ptx/base/base.hpp"',
            "ir/ir.cpp": '#include "ptx/ir/ir.hpp"\n#include "ptx/base/ids.hpp"',
            "ir/ir_test.cpp": '#include "ptx/text/text.hpp"',
            "text/CMakeLists.txt": "ptx_room(text NEEDS ir base SELDOM a.cpp)", "text/text.hpp": '#include "ptx/check/check.hpp"',
            "text/lexer.cpp": "#include <ptx/ptx.hpp>",
            "vgpu/CMakeLists.txt": "ptx_room(vgpu NEEDS text)", "vgpu/vgpu.hpp": "",
        }  # fmt: skip
        for name, content in house.items():
            (ptx / name).parent.mkdir(parents=True, exist_ok=True)
            (ptx / name).write_text(content)
        found = [fault.removeprefix(f"{ptx}/") for fault in violations(ptx)]
    expected = [
        "vgpu/CMakeLists.txt: vgpu must never see text",
        "ir/ir.cpp:2: enter base",
        "text/lexer.cpp:1:",
        "text/text.hpp:1: text may not",
    ]
    if len(found) != len(expected) or not all(any(fault.startswith(start) for fault in found) for start in expected):
        sys.exit(f"check_floors: the self-test's planted faults were not found as expected: {found}")
    with tempfile.TemporaryDirectory() as folder:
        for name, includes in {"base/a.hpp": "bindings.hpp", "launch/b.cpp": "base/a.hpp", "torch/c.cpp": "base/a.hpp"}.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(f'#include "python/binding/{includes}"\n')
        found = [fault.removeprefix(f"{folder}/") for fault in binding_violations(Path(folder))]
    if len(found) != 1 or not found[0].startswith("torch/c.cpp:1: torch"):
        sys.exit(f"check_floors: the self-test's planted fault in the binding was not found as expected: {found}")


if __name__ == "__main__":
    self_test()
    root = Path(__file__).resolve().parents[1]
    faults = violations(root / "ptx") + binding_violations(root / "python/binding")
    print(*faults, sep="\n")
    sys.exit(f"floors: {len(faults)} violations" if faults else None)
