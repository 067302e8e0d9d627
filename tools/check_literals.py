"""Literals: opcodes and modifiers stand in `ptx/isa/table` and, as data about ptxas, in `ptx/isa/ptxas`; elsewhere a property
of the row is asked (`isa::Trait`, `isa::Effects`, `isa::Word`, a slot, an operand's role).

What counts is a string literal of which every word is an opcode or modifier of the table and one is nothing else besides:
neither the name of an operand or a slot, nor a type, nor a state space. A word that a message is made of (an argument of `cat`,
`note`, …) does not count unless it is compared. Not looked at: the table, what is generated, tests, the functions that run a
row (`vgpu/ops`), what writes instructions for authors (`ptx/write`, `python/binding`), and rooms that cannot see the table:
`cuda` reads what ptxas says.

And each trait, quirk and meaning of a word is asked by somebody: one that nobody asks would be an opcode by another name. So is
each fact of `isa::Effects`, outside `isa`: what only a page shows is believed, not used.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Words that an instruction has, too, and that mean something else here.
OTHER_WORDS = {
    "check/initialisers.cpp": "width height depth channel_data_type channel_order normalized_coords addr_mode_0 addr_mode_1 "
    "addr_mode_2 filter_mode array_size force_unnormalized_coords wrap clamp",  # of the initial values of .texref, .samplerref
    "check/wgmma_hazards.cpp": "read",  # a verb
    "isa/form.cpp": "and or not xor volatile async",  # reserved in C++ or Python
    "launch/sized.cpp": "cluster",  # of a launch
    "num/approx_wide.cpp": "fma",  # of the host
    "num/chain.cpp": "fma",  # of the host
    "num/tiles.cpp": "fma",  # of the host
    "tool/findings.cpp": "warp rank proxy",  # keys of an object
    "vgpu/races/report.cpp": "async gpu cluster cta",  # the proxy's name, and scopes to write
    "text/module.cpp": "alias",  # the directive, as in the next two
    "text/parser.cpp": "alias",
    "text/print.cpp": "alias",
    "tool/debug.cpp": "warp",  # of a breakpoint
    "vgpu/machine/launch.cpp": "cluster",  # of a launch
    "vgpu/machine/machine.cpp": "fma",  # of the host
    "vgpu/decode/program.cpp": "full",  # of checks
    "vgpu/findings/rules.cpp": "full",  # of checks
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
SPACES = {"const", "generic", "global", "local", "param", "reg", "shared", "shared::cluster", "surf", "tensor", "tex", "texture"}
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


def spellings(ptx: Path) -> list[str]:
    """Where opcodes and modifiers stand that should not."""
    words = Words(ptx / "isa/table", ptx / "isa/types.def")
    found = []
    for source in sorted(path for path in ptx.rglob("*") if path.suffix in (".cpp", ".hpp", ".def")):
        name = source.relative_to(ptx).as_posix()
        if NOT_LOOKED_AT.match(name):
            continue
        text = source.read_text()
        for at, literal in literals(text):
            if words.is_spelling(literal) and literal.strip(" .") not in OTHER_WORDS.get(name, "").split():
                found.append(f"ptx/{name}:{text.count(chr(10), 0, at) + 1}: {literal}")
    return found


def unasked(ptx: Path) -> list[str]:
    """Enumerators of Trait, Quirk and Word that stand nowhere but where they are declared, given and tested."""
    declared = {"Trait": ptx / "isa/trait.hpp", "Quirk": ptx / "isa/ptxas/quirk.hpp", "Word": ptx / "isa/word.hpp"}
    given = {ptx / "isa/table/traits.hpp", ptx / "isa/ptxas/quirks.cpp", ptx / "isa/table/words.hpp", *declared.values()}
    asked: set[tuple[str, str]] = set()
    for source in ptx.rglob("*.?pp"):
        if source not in given and not source.stem.endswith("_test"):
            asked |= set(re.findall(r"\b(Trait|Quirk|Word)::(\w+)", source.read_text()))
    missing = []
    for enum, header in declared.items():
        text = re.sub(r"//[^\n]*", "", header.read_text())
        body = text[text.index(f"enum class {enum}") :]
        names = re.findall(r"\w+", body[body.index("{") : body.index("}")])
        missing += [
            f"nobody asks for {enum}::{name}" for name in names if name not in ("last", "other") and (enum, name) not in asked
        ]
    return missing


# Facts of effects that nothing reads but a page, and who will.
NOT_YET = {"signals": "the executor, once it copies asynchronously"}


def unread(ptx: Path, not_yet: dict[str, str]) -> list[str]:
    """Members of Effects that nobody reads, by their own names or those of the functions about them."""
    text = re.sub(r"//[^\n]*", "", (ptx / "isa/effect.hpp").read_text())
    body = text[text.index("struct Effects") :]
    body = re.sub(r"=[^,;]+", "", body[: body.index("[[nodiscard]]")])
    members = re.findall(r"(\w+)\s*[,;]", body)
    asks = {
        "reads": r"reads_at\(",
        "writes": r"writes_at\(",
        "completes": r"is_async\(",
        "scope": r"isa::scope\(",
        "converged": r"converged_by\(",
    }
    sources = [s for s in ptx.rglob("*.?pp") if not s.stem.endswith("_test") and ptx / "isa" not in s.parents]
    everything = "\n".join(source.read_text() for source in sources)
    faults = []
    for member in members:
        read = rf"\b(?:does|effects|effects\(\w+\)|access)\.{member}\b(?! = [^=])" + (
            f"|{asks[member]}" if member in asks else ""
        )
        found = re.search(read, everything) is not None
        if found == (member in not_yet):
            faults.append(
                f"isa::Effects::{member} is read now: take it out of NOT_YET in tools/check_literals.py"
                if found
                else f"nobody reads isa::Effects::{member}"
            )
    return faults


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
            "isa/word.hpp": "enum class Word { other, up, down };",
            "isa/effect.hpp": "struct Effects {\n  string_view reads, writes;  ///< and\n  Event waits = Event::none;\n"
            "  bool control = false, late = false;\n  [[nodiscard]] constexpr bool f() const;\n};",
            "isa/describe.cpp": "does.late",
            "check/three.cpp": "has(isa::Trait::store) && has(Quirk::even), Word::up; does.reads_at(x); effects(i).waits; "
            "others.control = 1;",
            "check/two.cpp": '/* "ld" */ error("ld is wrong"); cat("ld"); "no ld"; "d" "ss";',
        }  # fmt: skip
        for name, content in house.items():
            (ptx / name).parent.mkdir(parents=True, exist_ok=True)
            (ptx / name).write_text(content)
        found, nobody, unused = spellings(ptx), unasked(ptx), unread(ptx, {"waits": "", "late": ""})
    if [one.rpartition(":")[0] for one in found] != [f"ptx/check/one.cpp:{line}" for line in (2, 2, 3, 3, 4)]:
        sys.exit(f"check_literals: the self-test's planted literals were not found as expected: {found}")
    if nobody != ["nobody asks for Trait::load", "nobody asks for Quirk::odd", "nobody asks for Word::down"]:
        sys.exit(f"check_literals: the self-test's traits were not found as expected: {nobody}")
    if [one.split("::")[-1].split()[0] for one in unused] != ["writes", "waits", "control"]:
        sys.exit(f"check_literals: the self-test's effects were not found as expected: {unused}")


if __name__ == "__main__":
    self_test()
    ptx = Path(__file__).resolve().parents[1] / "ptx"
    wrong = [f"{one} is an opcode or a modifier: ask a property of the row in its place" for one in spellings(ptx)]
    wrong += unasked(ptx) + unread(ptx, NOT_YET)
    print(*wrong, sep="\n")
    sys.exit(f"literals: {len(wrong)} faults" if wrong else None)
