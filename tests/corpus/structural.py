"""Does a file mean the same once it has been read and printed? ptxas makes machine code of both; it must be the same code.

    python tests/corpus/structural.py --ptx build/release/bin/ptxkit FILE|FOLDER… [--jobs N] [--sample N]

Every file is printed canonically by `ptxkit print`: comments, spacing, modifier order, literal spelling and register order
are then our own. Both texts are assembled for the file's own target; verdicts must agree and every section of the two cubins
but those that quote the text must be equal. Exit status: 0 all the same, 1 some are not, 77 no ptxas.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from elftools.elf.elffile import ELFFile

# What names lines of the PTX text, or quotes it, and the tables of names: the two texts differ in their lines by design, and the
# order of symbols follows it.
ABOUT_THE_TEXT = (
    *(".nv_debug_ptx_txt", ".nv_debug_line_sass", ".nv_debug_info_reg", ".nv_debug_info_ptx"),
    *(".rel.nv_debug_line_sass", ".rela.nv_debug_line_sass"),
    *(".nv.merc.nv_debug_ptx_txt", ".nv.merc.nv_debug_line_sass", ".nv.merc.rela.nv_debug_line_sass", ".nv.merc.symtab"),
    *(".symtab", ".strtab", ".shstrtab"),
)

# NOBITS, and CUDA's own for .nv.global and .nv.shared in relocatable code.
WITHOUT_BITS = ("SHT_NOBITS", 0x70000007, 0x7000000A)


def sections(cubin: Path) -> dict[str, bytes]:
    with cubin.open("rb") as file:
        # a section without bits in the file has nothing to compare but its size
        return {
            s.name: str(s["sh_size"]).encode() if s["sh_type"] in WITHOUT_BITS else s.data()
            for s in ELFFile(file).iter_sections()
            if not s.name.startswith(ABOUT_THE_TEXT)
        }


def assemble(text: Path, target: str, debug: bool) -> tuple[str, Path]:
    """ptxas's complaint, "" for none, and where the machine code lies."""
    cubin = text.with_suffix(".cubin")
    # from inside its folder: ptxas writes file names and its command line into what it makes
    command = ["ptxas", "-arch", target, "-c", *(["-g"] if debug else []), text.name, "-o", cubin.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=text.parent)
    return ("" if done.returncode == 0 else done.stderr or f"status {done.returncode}"), cubin


def compare(program: Path, file: Path) -> str:
    """What differs, "" when nothing does."""
    source = file.read_bytes()
    words = re.search(rb"^[^/]*\.target\s+([\w, \t]+)", source, re.MULTILINE)
    if not words:
        return "has no .target"
    target, *options = [word.strip() for word in words[1].decode().replace("\r", "").split(",")]
    with tempfile.TemporaryDirectory() as folder:
        as_it_is, printed = Path(folder, "as_it_is", "kernel.ptx"), Path(folder, "printed", "kernel.ptx")
        for text in (as_it_is, printed):
            text.parent.mkdir()
        as_it_is.write_bytes(source)
        done = subprocess.run([program, "print", file, "-o", printed], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"ptxkit print failed: {done.stderr or done.stdout}"
        (refused, cubin), (refused_printed, cubin_printed) = (
            assemble(f, target, "debug" in options) for f in (as_it_is, printed)
        )
        if bool(refused) != bool(refused_printed):
            return f"ptxas says of the file: {refused or 'fine'}; of what we printed: {refused_printed or 'fine'}"
        if refused or cubin.read_bytes() == cubin_printed.read_bytes():
            return ""
        was, now = sections(cubin), sections(cubin_printed)
        return ", ".join(sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name)))


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    arguments.add_argument("paths", nargs="+", type=Path)
    arguments.add_argument("--ptx", type=Path, default=Path("build/release/bin/ptxkit"), help="the command-line program")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--sample", type=int, help="this many files, chosen at random with a printed seed")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    if not shutil.which("ptxas"):
        print("skipped: no ptxas on PATH")
        return 77
    files = sorted(f for path in given.paths for f in (path.rglob("*.ptx") if path.is_dir() else [path]))
    if given.sample and given.sample < len(files):
        files = random.Random(given.seed).sample(files, given.sample)
        print(f"a sample of {len(files)} files, seed {given.seed}")
    differing = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for done, (file, difference) in enumerate(zip(files, pool.map(lambda f: compare(given.ptx, f), files), strict=True), 1):
            if difference:
                differing += 1
                print(f"{file}: {difference}")
            elif done % 50 == 0:
                print(f"  {done} of {len(files)}", flush=True)
    print(f"{len(files) - differing} passed, {differing} failed")
    return 1 if differing or not files else 0


if __name__ == "__main__":
    sys.exit(main())
