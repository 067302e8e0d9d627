#!/usr/bin/env python3
"""Compiles sources/*.cu with nvcc, runs them on the stand-in runtime, and packs what they did: recorded.tar.xz.

    python3 tests/producers/record.py [--build build/fast] [PROGRAM…]

The first lines of a source name its targets and flags: `// targets: sm_75; sm_90a; sm_80 -G`; `// include: NAME=FOLDER` asks
for a folder of headers, given as `--include NAME=…`. With names of programs the others' recordings stay as they are. Compilers
run in a folder of their own (`--scratch`), so that debug sections say nothing of a machine.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARCHIVE = HERE / "recorded.tar.xz"
ROOMS = ("vgpu", "check", "text", "flow", "ir", "num", "layout", "isa", "base")


def variants(source: Path) -> list[list[str]]:
    """[["sm_80", "-G"], …] of a source."""
    line = re.search(r"^// targets: (.*)$", source.read_text(), re.MULTILINE)
    if line is None:
        raise SystemExit(f"{source} names no targets")
    return [words.split() for words in line[1].split(";")]


def run(*command: str | Path, **more: object) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def record(source: Path, words: list[str], build: Path, scratch: Path, folder: Path, includes: dict[str, Path]) -> str:
    target, *flags = words
    name = f"{source.stem}.{target}{''.join(flags).replace('=', '').replace(',', '')}"
    asked = re.findall(r"^// include: (\S+)=(\S+)$", source.read_text(), re.MULTILINE)
    missing = [key for key, _ in asked if key not in includes]
    if missing:
        return f"{name}: not recorded, it needs --include {missing[0]}=FOLDER"
    virtual = target.replace("sm_", "compute_")
    nvcc: list[str | Path] = [
        "nvcc",
        *([] if any(flag.startswith("-std=") for flag in flags) else ["-std=c++17"]),
        "-gencode",
        f"arch={virtual},code={virtual}",
        "--compress-mode=none",
        "-cudart",
        "none",
    ]
    nvcc += [
        "--expt-relaxed-constexpr",
        "-diag-suppress",
        "177,20054,550,186",
        *flags,
        *(f"-I{includes[key] / path}" for key, path in asked),
    ]
    made = scratch / f"{name}.o"
    if not made.exists() or made.stat().st_mtime < max(file.stat().st_mtime for file in (source, HERE / "sources/program.cuh")):
        run(*nvcc, "-c", source.name, "-o", made.name, cwd=scratch)  # minutes, of CUTLASS
    rooms = [build / "ptx" / room / f"libptx_{room}.a" for room in ROOMS]
    ours = [build / "tests/producers" / f"libptx_producers{end}.a" for end in ("_runtime", "")]
    program: list[str | Path] = [*ours, "-Wl,--start-group", *rooms, "-Wl,--end-group", "-lpthread"]
    run("g++", f"{name}.o", "-o", f"{name}.exe", *program, cwd=scratch)
    run(scratch / f"{name}.exe", cwd=scratch, env={**os.environ, "PTX_RECORDING": str(folder / name)})
    return name


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("programs", nargs="*")
    words.add_argument("--build", type=Path, default=Path("build/release"), help="a build folder with ptx_producers_runtime")
    words.add_argument("--scratch", type=Path, default=Path("/src"))
    words.add_argument("--include", action="append", default=[], help="NAME=FOLDER")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    given = words.parse_args()
    includes = {name: Path(path).resolve() for name, path in (one.split("=", 1) for one in given.include)}
    sources = [path for path in sorted((HERE / "sources").glob("*.cu")) if not given.programs or path.stem in given.programs]
    shutil.copytree(HERE / "sources", given.scratch, dirs_exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if ARCHIVE.exists():
            with tarfile.open(ARCHIVE) as archive:
                archive.extractall(folder, filter="data")
        stems = {path.stem for path in (HERE / "sources").glob("*.cu")}
        again = {path.stem for path in sources}
        for old in folder.iterdir():
            if (stem := old.name.split(".")[0]) in again or stem not in stems:
                old.unlink()
        jobs = [(path, variant) for path in sources for variant in variants(path)]
        with ThreadPoolExecutor(given.jobs) as pool:
            build = given.build.resolve()
            for done in pool.map(lambda job: record(job[0], job[1], build, given.scratch, folder, includes), jobs):
                print(done)
        with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
            for path in sorted(folder.iterdir()):
                entry = archive.gettarinfo(path, path.name)
                entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.mode = 0, 0, 0, "", "", 0o644
                with path.open("rb") as content:
                    archive.addfile(entry, content)
    print(f"{ARCHIVE.name}: {ARCHIVE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
