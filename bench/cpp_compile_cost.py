"""What a C++ file costs to compile that writes a kernel of thirty instruction forms, beyond an empty file: g++ and clang.

python bench/cpp_compile_cost.py [--build build/release] [--runs 5] [--json FILE]

Seconds of processor time (user and system) of `-fsyntax-only -O0`, the least of the runs: on a machine that does other work the
clock says more than the compiler takes.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMPILERS = {"g++": [], "clang++-16": ["-fconstexpr-steps=100000000"], "clang++": ["-fconstexpr-steps=100000000"]}


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(command: list[str], runs: int) -> float:
    """The least processor time of some runs of a command."""
    times = []
    for _ in range(runs):
        before = spent()
        subprocess.run(command, check=True, capture_output=True)
        times.append(spent() - before)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        sources = {"empty": Path(folder) / "empty.cpp", "kernel.hpp alone": Path(folder) / "kernel.cpp"}
        sources["empty"].write_text("int main() {}\n")
        sources["kernel.hpp alone"].write_text("#include <ptx/kernel.hpp>\nint main() {}\n")
        sources["thirty forms"] = ROOT / "bench/thirty_forms.cpp"
        for compiler, options in COMPILERS.items():
            if shutil.which(compiler) is None or (compiler == "clang++" and "clang++-16" in found):
                continue
            flags = ["-std=c++20", "-O0", "-fsyntax-only", *options, "-I", str(ROOT), "-I", str(args.build / "generated")]
            costs = {name: seconds([compiler, *flags, str(source)], args.runs) for name, source in sources.items()}
            found[compiler] = {name: round(cost - costs["empty"], 2) for name, cost in costs.items() if name != "empty"}
            print(f"{compiler}: " + ", ".join(f"{name} {cost} s" for name, cost in found[compiler].items()))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
