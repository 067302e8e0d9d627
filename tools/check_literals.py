"""Literals: opcodes and modifiers stand in `ptx/isa/table` and, as data about ptxas, in `ptx/isa/ptxas`; elsewhere a property
of the row is asked (`isa::Trait`, `isa::Effect`, a slot, an operand's role).

What counts is a string literal of which every word is an opcode or modifier of the table and one is nothing else besides:
neither the name of an operand or a slot, nor a type, nor a state space. A word that a message is made of (an argument of `cat`,
`note`, …) does not count unless it is compared. Not looked at: the table, what is generated, tests, the functions that run a
row (`vgpu/ops`), what writes instructions for authors (`ptx/write`, `python/binding`), and rooms that cannot see the table:
`cuda` reads what ptxas says.

ALLOWED is a ratchet: what each file still has. It only goes down. And each trait and quirk is asked by somebody: one that nobody
asks would be an opcode by another name.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ALLOWED: dict[str, int] = {
    "check/handles.cpp": 2,
    "check/register_budget.cpp": 1,
    "check/rules.cpp": 6,
    "launch/alignment.cpp": 1,
    "launch/scalars.cpp": 4,
    "vgpu/num/rounding.hpp": 4,
}

# Words that an instruction has, too, and that mean something else here.
OTHER_WORDS = {
    "check/initialisers.cpp": "width height depth channel_data_type channel_order normalized_coords addr_mode_0 addr_mode_1 "
    "addr_mode_2 filter_mode array_size force_unnormalized_coords wrap clamp",  # of the initial values of .texref, .samplerref
    "check/pipeline.cpp": "read",  # a verb
    "isa/form.cpp": "and or not xor volatile async",  # reserved in C++ or Python
    "launch/sized.cpp": "cluster",  # of a launch
    "text/module.cpp": "alias",  # the directive, as in the next two
    "text/parser.cpp": "alias",
    "text/print.cpp": "alias",
    "vgpu/machine.cpp": "fma",  # of the host
}

NOT_LOOKED_AT = re.compile(r"(base|cuda|layout|tile|write)/|isa/(table|gen|ptxas)/|vgpu/ops/|.*/testing/|.*_test\.cpp$")
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?P<string>(?:[^"\\\n]|\\.)*)"'
    r"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'|(?P<include>\#[ \t]*include[^\n]*)|(?P<name>[A-Za-z_]\w*)|[=!]=|\S",
    re.DOTALL,
)
MESSAGES = {
    "cat", "error", "warning", "note", "hint", "form", "manual", "fault", "misuse", "slip", "fail", "unsupported",
    "static_assert",
}  # fmt: skip
SPACES = {"const", "generic", "global", "local", "param", "reg", "shared", "surf", "tensor", "tex", "texture"}
ENGLISH = {"a", "all", "and", "any", "not", "number", "or", "size"}  # among words with spaces between them


class Words:
    """The words of the table's rows, told apart."""

    def __init__(self, table: Path, types: Path) -> None:
        self.opcodes: set[str] = set()
        self.modifiers: set[str] = set()
        self.others = SPACES | {"wide"} | set(re.findall(r"PTX_TYPE\((\w+)", types.read_text()))
        for family in sorted(table.glob("*.hpp")):
            text = re.sub(r"\\\n", "\n", family.read_text())
            # what a macro or a row defines: the names of slots, and the words to choose from
            for slot, choices in re.findall(r"\.(\w+)\s*=\s*\{([^}]*)\}", text):
                self.others.add(slot)
                self.modifiers |= {w for w in re.findall(r"\.([\w:]+)", re.sub(r"@[\w.|]+", "", choices))}
            for form in re.findall(r'\brow\(\s*"([^";]*)', text):
                opcode, slots, operands = re.findall(r"^\s*(\w*)((?:\.[\w:]+|\{\.[\w:]+\})*)(.*)", form, re.DOTALL)[0]
                self.opcodes.add(opcode)
                self.modifiers |= set(re.findall(r"\.([\w:]+)", slots))
                self.others |= set(re.findall(r"(\w+):", operands))
        self.others |= {w for w in self.modifiers if re.fullmatch(r"\w|v\d|x\d+|\d\w+", w)}
        self.others -= self.opcodes - SPACES

    def is_spelling(self, literal: str) -> bool:
        words = [w for w in re.split(r"[ .|;]+", literal) if w]
        known = self.opcodes | self.modifiers
        if " " in literal and all(w in ENGLISH for w in words):
            return False
        return bool(words) and all(w in known for w in words) and not all(w in self.others for w in words)


def literals(text: str) -> Iterator[tuple[int, str]]:
    """Where literals stand that are no part of a message, and what they say."""
    calls: list[str] = []  # what each open parenthesis belongs to
    before = name = ""
    for token in TOKEN.finditer(text):
        what = token[0]
        if what.startswith(("//", "/*")) or token["include"]:
            continue
        if token["string"] is not None:
            compared = before in ("==", "!=")
            if compared or not calls or calls[-1] not in MESSAGES:
                yield token.start(), token["string"]
        elif what in "({[":
            calls.append(name if what == "(" else "")
        elif what in ")}]" and calls:
            calls.pop()
        name = token["name"] or ""
        before = what


def count(ptx: Path, show: bool = False) -> dict[str, int]:
    words = Words(ptx / "isa/table", ptx / "isa/types.def")
    found: dict[str, int] = {}
    for source in sorted(path for path in ptx.rglob("*") if path.suffix in (".cpp", ".hpp", ".def")):
        name = source.relative_to(ptx).as_posix()
        if NOT_LOOKED_AT.match(name):
            continue
        text = source.read_text()
        for at, literal in literals(text):
            if not words.is_spelling(literal) or literal.strip(" .") in OTHER_WORDS.get(name, "").split():
                continue
            found[name] = found.get(name, 0) + 1
            if show:
                print(f"ptx/{name}:{text.count(chr(10), 0, at) + 1}: {literal}")
    return found


def faults(found: dict[str, int], allowed: dict[str, int]) -> list[str]:
    list_of_faults = []
    for name in sorted(found.keys() | allowed.keys()):
        has, may = found.get(name, 0), allowed.get(name, 0)
        if has > may:
            list_of_faults.append(
                f"ptx/{name}: {has} literals are opcodes or modifiers, {may} are allowed: ask a property of the row in "
                "their place (tools/check_literals.py --show lists them)"
            )
        elif has < may:
            list_of_faults.append(f"ptx/{name}: {has} literals are left; lower the {may} of tools/check_literals.py")
    return list_of_faults


def unasked(ptx: Path) -> list[str]:
    """Enumerators of Trait and Quirk that stand nowhere but where they are declared, given and tested."""
    declared = {"Trait": ptx / "isa/trait.hpp", "Quirk": ptx / "isa/ptxas/quirk.hpp"}
    given = {ptx / "isa/table/traits.hpp", ptx / "isa/ptxas/quirks.cpp", *declared.values()}
    asked: set[tuple[str, str]] = set()
    for source in ptx.rglob("*.?pp"):
        if source not in given and not source.stem.endswith("_test"):
            asked |= set(re.findall(r"\b(Trait|Quirk)::(\w+)", source.read_text()))
    missing = []
    for enum, header in declared.items():
        text = re.sub(r"//[^\n]*", "", header.read_text())
        body = text[text.index(f"enum class {enum}") :]
        names = re.findall(r"\w+", body[body.index("{") : body.index("}")])
        missing += [f"nobody asks for {enum}::{name}" for name in names if name != "last" and (enum, name) not in asked]
    return missing


def self_test() -> None:
    """A house with planted literals: each must be counted, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder)
        house = {
            "isa/types.def": "PTX_TYPE(u32, 32, 'u')",
            "isa/table/one.hpp": 'row("ld{.ss}.async.type  d:=.type, [a:.ss] ; .ss = { .global, .shared::cta } '
            '.type = { .u32 }",\nrow("wgmma.fence.sync ;",',
            "isa/ptxas/order.hpp": 'words("ld");',
            "check/one.cpp": '#include "ld"\nif (opcode == "ld" || f("async")) return "a";  // "ld"\n'
            'note(cat("ld", opcode != "wgmma", is("wgmma.fence")));\n  char c = \'"\'; x({" ld wgmma ", "u32", "global"});',
            "check/one_test.cpp": 'f("ld"); Trait::load;',
            "isa/trait.hpp": "enum class Trait : int {\n  load,  ///< store\n  store,\n  last\n};",
            "isa/ptxas/quirk.hpp": "enum class Quirk : int { odd, even, last };",
            "isa/ptxas/quirks.cpp": "Quirk::odd",
            "check/three.cpp": "has(isa::Trait::store) && has(Quirk::even)",
            "check/two.cpp": '/* "ld" */ error("ld is wrong"); cat("ld"); "no ld"; "d" "ss";',
        }  # fmt: skip
        for name, content in house.items():
            (ptx / name).parent.mkdir(parents=True, exist_ok=True)
            (ptx / name).write_text(content)
        found, nobody = count(ptx), unasked(ptx)
    if found != {"check/one.cpp": 5}:
        sys.exit(f"check_literals: the self-test's planted literals were not counted as expected: {found}")
    if nobody != ["nobody asks for Trait::load", "nobody asks for Quirk::odd"]:
        sys.exit(f"check_literals: the self-test's traits were not found as expected: {nobody}")
    if len(faults({"a": 2, "b": 1}, {"b": 2, "c": 1})) != 3 or faults({"a": 1}, {"a": 1}):
        sys.exit("check_literals: the ratchet does not hold")


if __name__ == "__main__":
    self_test()
    ptx = Path(__file__).resolve().parents[1] / "ptx"
    counted = count(ptx, show="--show" in sys.argv)
    print(f"{sum(counted.values())} literals in {len(counted)} files are opcodes or modifiers")
    wrong = faults(counted, ALLOWED) + unasked(ptx)
    print(*wrong, sep="\n")
    sys.exit(f"literals: {len(wrong)} faults" if wrong else None)
