"""What this machine has and lacks: system packages, the virtual environment, its Python packages."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from console import Console, Failed

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ROOT / "tools" / "dev"
OLDEST_CLANG = 16
left_out: list[str] = []  # what was not installed, and what therefore does not run


def environment(**more: str) -> Mapping[str, str]:
    """The environment of every command: the virtual environment's programs first, its CUDA tools last."""
    tools = [str(folder) for folder in VENV.glob("lib/python*/site-packages/nvidia/cu*/bin")]
    path = [str(VENV / "bin"), *os.environ["PATH"].split(os.pathsep), *tools]
    return {**compiler_cache(), **os.environ, "PATH": os.pathsep.join(path), "PYTHONPATH": str(ROOT / "python"), **more}


def compiler_cache() -> dict[str, str]:
    """ccache where it is installed: a second checkout, or a switch of branches, then compiles only what differs."""
    if not shutil.which("ccache"):
        return {}
    # Paths below the checkout are hashed as relative ones, so that all checkouts share what they compiled.
    # Precompiled headers are nearly everywhere, and ccache passes by what uses them unless it is told that it may keep it.
    sloppiness = {"CCACHE_SLOPPINESS": "pch_defines,time_macros"}
    return {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1", **sloppiness}


def find(program: str) -> str | None:
    return shutil.which(program, path=environment()["PATH"])


def version_of(program: str) -> tuple[int, ...]:
    """(3, 25) for a program that prints 3.25.1 in the first line of --version; () when there is none."""
    if not (path := find(program)):
        return ()
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    # Some say which it is; of the others, as g++, the last number is the program's and not its package's.
    numbers = re.findall(r"version (\d+\.\d+)", said) or re.findall(r"\d+\.\d+(?:\.\d+)?", said)
    return tuple(int(part) for part in numbers[-1].split(".")[:2]) if numbers else ()


def header(name: str) -> bool:
    return any((Path(folder) / name).exists() for folder in ("/usr/include", "/usr/local/include"))


def missing_packages(*, tests: bool, benchmarks: bool, fuzzers: bool) -> dict[str, str]:
    """Debian's name of each system package that is needed and absent, and why it is needed."""
    missing = {}
    if not find(os.environ.get("CXX", "c++")):
        missing["g++"] = "a C++20 compiler"
    if not find("cmake"):
        missing["cmake"] = "cmake"
    if not find("ninja"):
        missing["ninja-build"] = "ninja"
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        missing["python3-dev"] = "Python's headers"
    if subprocess.run([sys.executable, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode:
        missing["python3-venv"] = "Python's venv"
    if tests and not header("gtest/gtest.h"):
        missing["libgtest-dev"] = "GoogleTest"
    if benchmarks and not header("benchmark/benchmark.h"):
        missing["libbenchmark-dev"] = "Google Benchmark"
    if fuzzers and not clang_with_fuzzer():
        version = newest_clang_on_offer()
        missing |= {f"clang-{version}": "clang", f"libclang-rt-{version}-dev": "clang's libFuzzer"}
    return missing


def clang() -> str | None:
    """The newest clang++ here, of 16 or newer; cmake/clang.cmake is told of it."""
    names = ["clang++"]
    for folder in environment()["PATH"].split(os.pathsep):
        names += [path.name for path in Path(folder).glob("clang++-*") if re.fullmatch(r"clang\+\+-\d+", path.name)]
    newest = max(names, key=version_of)
    return find(newest) if version_of(newest) >= (OLDEST_CLANG,) else None


def clang_with_fuzzer() -> bool:
    """Whether that clang has the runtime of libFuzzer."""
    if not (path := clang()):
        return False
    ask = [path, "-print-file-name=libclang_rt.fuzzer-x86_64.a"], [path, "-print-resource-dir"]
    file, folder = (subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() for words in ask)
    return Path(file).is_file() or any(Path(folder).rglob("libclang_rt.fuzzer*.a"))


def newest_clang_on_offer() -> int:
    """The newest version among apt's packages clang-16, clang-17, …: what a system calls its clang differs."""
    if not shutil.which("apt-cache"):
        return OLDEST_CLANG
    said = subprocess.run(["apt-cache", "search", "--names-only", "^clang-[0-9]+$"], capture_output=True, text=True, check=False)
    return max([OLDEST_CLANG, *map(int, re.findall(r"^clang-(\d+) ", said.stdout, re.MULTILINE))])


def sudo_works() -> bool:
    return bool(shutil.which("sudo")) and not subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode


def system_packages(console: Console, *, tests: bool = False, benchmarks: bool = False, fuzzers: bool = False) -> None:
    """Installs what is missing with apt-get, as root or through sudo; says what to install where that cannot be."""
    wanted = missing_packages(tests=tests, benchmarks=benchmarks, fuzzers=fuzzers)
    if wanted:
        advice = f"missing: {', '.join(wanted.values())}. Install: apt-get install {' '.join(wanted)} (or your system's like)"
        root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        if not shutil.which("apt-get") or (root and not sudo_works()):
            raise Failed(advice)
        apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
        console.step("apt-get update", [*apt, "update"], env=environment())
        wanted = missing_packages(tests=tests, benchmarks=benchmarks, fuzzers=fuzzers)  # names that only fresh lists tell
        install = [*apt, "install", "-y", "--no-install-recommends", *wanted]
        console.step(f"system packages: {' '.join(wanted)}", install, env=environment())
        if still := missing_packages(tests=tests, benchmarks=benchmarks, fuzzers=fuzzers):
            raise Failed(f"installed, and still not found: {', '.join(still.values())}")
    compiler = os.environ.get("CXX", "c++")
    if compiler == "c++" and "g++" in Path(find("c++") or "").resolve().name and (0,) < version_of("c++") < (12,):
        raise Failed(f"the C++ compiler is g++ {version_of('c++')[0]}; 12 or newer is needed (set CXX to choose another)")


def virtual_environment(console: Console) -> None:
    """Makes .venv with what the build needs, cmake included where the system's is too old."""
    if not PYTHON.exists():
        console.step("virtual environment .venv", [sys.executable, "-m", "venv", VENV], env=environment())
    show_checkout(VENV)
    python_packages(console, "build")
    if version_of("cmake") < (3, 25):
        console.step("cmake (the system's is older than 3.25)", pip("cmake>=3.25"), env=environment())


def show_checkout(venv: Path) -> None:
    """The environment's Python imports this checkout's pyptx, from whatever folder it is started in."""
    for packages in venv.glob("lib/python*/site-packages"):
        path, line = packages / "pyptx-checkout.pth", f"{ROOT / 'python'}\n"
        if not path.exists() or path.read_text() != line:
            path.write_text(line)


def pip(*arguments: str | Path, python: Path = PYTHON) -> list[str | Path]:
    return [python, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", *arguments]


def python_packages(console: Console, group: str) -> None:
    """Installs tools/dev/requirements-<group>.txt into .venv, once for each content of that file."""
    requirements = REQUIREMENTS / f"requirements-{group}.txt"
    stamp = VENV / "installed" / group
    content = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == content:
        return
    stamp.parent.mkdir(exist_ok=True)
    if group == "torch" and not torch_is_cpu_build(console, requirements):
        return
    names = [line.partition("==")[0] for line in requirements.read_text().split()]
    console.step(f"Python packages: {' '.join(names)}"[:58], pip("-r", requirements, *torch_index(group)), env=environment())
    stamp.write_text(content)


def torch_index(group: str) -> list[str]:
    index = os.environ.get("PTX_TORCH_INDEX") if group == "torch" else None
    return ["--index-url", index] if index else []


def torch_is_cpu_build(console: Console, requirements: Path) -> bool:
    """Says so, and what to do, where torch would bring CUDA packages that the owner has not asked for."""
    if cuda := cuda_packages_of_torch(console, requirements, VENV / "installed" / "torch-offer.json"):
        console.line(
            f"  – torch is left out: here it would bring {len(cuda)} CUDA packages, gigabytes ({', '.join(cuda[:3])}, …).\n"
            "    PTX_TORCH_INDEX=<the index of CPU builds> takes a CPU build, PTX_TORCH=cuda takes these."
        )
        left_out.append("torch was left out (PTX_TORCH_INDEX or PTX_TORCH=cuda takes it): no test or lint of PyTorch ran")
        return False
    return True


def cuda_packages_of_torch(console: Console, requirements: Path, report: Path, *, python: Path = PYTHON) -> list[str]:
    """Asks pip, once, what torch would bring. Gigabytes of CUDA libraries are the owner's choice, never ours: none is named where
    they were chosen."""
    if os.environ.get("PTX_TORCH") == "cuda":
        return []
    if not report.exists() or "PTX_TORCH_INDEX" in os.environ:
        ask = pip("--dry-run", "--ignore-installed", "--report", report, "-r", requirements, *torch_index("torch"), python=python)
        console.step("which torch is on offer", ask, env=environment())
    names = [item["metadata"]["name"] for item in json.loads(report.read_text())["install"]]
    return [name for name in names if re.match(r"nvidia-|cuda-|triton$", name)]


def cuda_tools(console: Console) -> None:
    """ptxas (the verdict) and a disassembler (.sass()), from wheels where the machine has none."""
    if not find("ptxas"):
        python_packages(console, "ptxas")
    if not find("nvdisasm") and not find("cuobjdump"):
        python_packages(console, "disassembler")
