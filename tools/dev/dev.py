"""The work behind ./dev. Each command sets up what it needs by itself, and is quick when nothing is to do."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import machine
import wheel
from console import Console, Failed, paint
from machine import (
    PYTHON,
    ROOT,
    cuda_tools,
    environment,
    python_packages,
    system_packages,
    virtual_environment,
)

Word = str | Path  # of a command line
BUILD = ROOT / "build"
ROWS_CHECK = ROOT / "tools" / "check_rows.py"  # reads what the tests left: not a lint
JOBS = str(os.process_cpu_count() if hasattr(os, "process_cpu_count") else len(os.sched_getaffinity(0)))
CPP_FOLDERS = ("ptx", "python/binding", "kernels", "examples", "bench", "tests")
PY_FOLDERS = ("python", "tools", "examples", "bench", "tests")

console = Console(BUILD / "log")


def files(folders: tuple[str, ...], *suffixes: str) -> list[Path]:
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return sorted(path.relative_to(ROOT) for path in found)


def setup(*, tests: bool = False, with_library: Callable[[], object] | None = None) -> None:
    """Everything that is downloaded, while the release build compiles; `with_library` begins when the C++ library stands, and the
    Python extension does not yet."""
    system_packages(console, tests=tests)
    virtual_environment(console)

    def packages() -> None:
        for group in ("test", "run", "torch") if tests else ("run", "torch"):
            python_packages(console, group)
        cuda_tools(console)

    def compiled() -> None:
        if with_library is None:
            build("release")
        else:
            build("release", target="ptx")
            console.together(with_library, lambda: build("release"))

    console.together(packages, compiled)


def build(
    preset: str,
    *,
    folder: str | None = None,
    python: Path | str = PYTHON,
    options: tuple[str, ...] = (),
    target: str | None = None,
) -> None:
    """Configures and builds a preset of CMakePresets.json in build/<folder>, or one target of it."""
    tree = BUILD / (folder or preset)
    configure: list[Word] = ["cmake", "--preset", preset, "-B", tree, f"-DPython_EXECUTABLE={python}", *options]
    targets = ["--target", target] if target else []
    title = f"C++ build: {folder or preset}{f', {target}' if target else ''}"
    console.step(title, configure, ["cmake", "--build", tree, "-j", JOBS, *targets], env=environment())


def example(folder: str, *names: str) -> Path:
    """The C++ examples, or some, as their user builds them: against the CMake package of the build tree. Returns rms_norm."""
    tree = BUILD / f"{folder}-examples"
    configure: list[Word] = [
        "cmake",
        "-S",
        "examples/cpp",
        "-B",
        tree,
        "-G",
        "Ninja",
        f"-Dptx_DIR={BUILD / folder}/lib/cmake/ptx",
    ]
    targets = ["--target", *names] if names else []
    title = f"C++ example{'' if names else 's'} with find_package(ptx): {folder}"
    console.step(title, configure, ["cmake", "--build", tree, *targets], env=environment())
    return tree / "rms_norm"


def show(*command: Word) -> int:
    """Runs a command in the foreground, its output for the reader."""
    return subprocess.run([str(word) for word in command], env=environment(), check=False).returncode


def demo() -> int:
    """set up, build, and run the RMS norm from numpy, JAX, PyTorch and C++"""
    programs: list[Path] = []
    setup(with_library=lambda: programs.append(example("release", "rms_norm")))
    return show(PYTHON, "examples/demo.py", "--cpp", *programs)


class Checks:
    """Runs every check, even when one fails. At the end: what the runners say, what did not run, where the time went."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.failed: list[str] = []
        self.absent: list[str] = []

    def run(self, name: str, work: Callable[[], str | None]) -> bool:
        return self._note(name, *self._try(work))

    def together(self, checks: Mapping[str, Callable[[], str | None]]) -> None:
        """Checks that keep one core busy each, side by side."""
        with ThreadPoolExecutor(int(JOBS)) as pool:
            tried = {name: pool.submit(self._try, work) for name, work in checks.items()}
        for name, future in tried.items():
            self._note(name, *future.result())

    @staticmethod
    def _try(work: Callable[[], str | None]) -> tuple[str, bool]:
        try:
            return work() or "", True
        except Failed as failure:
            console.line(str(failure))
            return str(failure), False

    def _note(self, name: str, said: str, worked: bool) -> bool:
        if not worked:
            self.failed.append(name)
        lines = closing_lines(said)
        self.lines += [f"  {name:<14} {line}" for line in lines]
        self.absent += [f"{name}: {line}" for line in lines if NOT_RUN.match(line)]
        return worked

    def report(self) -> int:
        print(*["", *self.lines, "", *console.table(), ""], sep="\n")
        absent = [*machine.left_out, *self.absent]
        if absent:
            print(paint("33", "did not run:"), *(f"  {line}" for line in absent), "", sep="\n")
        if self.failed:
            print(paint("31", f"failed: {', '.join(self.failed)}"))
        else:
            print(paint("33", "all that ran passed; what did not run stands above") if absent else paint("32", "all passed"))
        return 1 if self.failed else 0


NOT_RUN = re.compile(r"SKIPPED \[|.*\((?:Skipped|Disabled|Not Run)\)")


def closing_lines(output: str) -> list[str]:
    """What ctest and pytest say at the end, and each test that did not run."""
    patterns = (
        r"^ *\d+% tests passed.*",
        r"^ *\t? *\d+ - .*\((?:Skipped|Disabled|Not Run)\).*",
        r"^ *SKIPPED \[.*",
        r"^ *=+ .*\b(?:passed|failed|skipped|error).* =+$",
        r"^\d+ passed: .*",
    )
    return [line.strip() for line in output.splitlines() if any(re.match(pattern, line) for pattern in patterns)]


def ctest(preset: str, *options: str, **more: str) -> str:
    command = ["ctest", "--preset", preset, "-j", JOBS, *options]
    return console.step(f"C++ tests: {preset}", command, env=environment(**more))


def pytest(*arguments: str, python: Path | str = PYTHON, **more: str) -> str:
    title = f"Python tests: {arguments[0] if arguments else 'tests/python'}"
    return console.step(title, [python, "-m", "pytest", *arguments], env=environment(**more))


TARGETS = {"tsan": "threaded_tests"}  # of a preset that does not build everything
SIDE_BY_SIDE = ("tests/python", "-n", JOBS, "--dist", "worksteal")  # of pytest-xdist


def test() -> int:
    """set up, build and run every test: C++ under sanitizers, Python, floors, format and lints"""
    checks = Checks()
    setup(tests=True)
    rows = BUILD / "rows"  # what ran in the executor: tools/check_rows.py
    shutil.rmtree(rows, ignore_errors=True)
    rows.mkdir(parents=True)
    noting = {"PTX_ROWS_RUN": str(rows)}
    for preset in ("debug", "tsan"):
        if checks.run(f"{preset} build", partial(build, preset, target=TARGETS.get(preset))):
            checks.run(f"ctest {preset}", partial(ctest, preset, **noting))
    checks.run("pytest", partial(pytest, *SIDE_BY_SIDE, **noting))
    checks.run("rows", partial(console.step, "rows", [PYTHON, ROWS_CHECK, rows], env=environment()))
    lints(checks, {"C++ example": lambda: console.step("C++ example runs", [example("release")], env=environment())})
    return checks.report()


def has_gpu() -> bool:
    try:
        return bool(ctypes.CDLL("libcuda.so.1").cuInit(0) == 0)
    except OSError:
        return False


def python_with(command: str, *needed: str) -> str:
    """The machine's own Python, on a machine with a GPU where nothing is to be installed."""
    python = shutil.which("python3") or sys.executable
    probe = "import importlib.util, sys; print(*[name for name in sys.argv[1:] if not importlib.util.find_spec(name)])"
    absent = subprocess.run([python, "-c", probe, *needed], capture_output=True, text=True, check=True).stdout.split()
    if absent:
        raise Failed(f"{command} installs nothing, and {python} lacks: {', '.join(absent)}")
    if not has_gpu():
        raise Failed(f"{command} needs an NVIDIA GPU; there is none here (./dev test needs none)")
    return python


def gpu() -> int:
    """on a machine with an NVIDIA GPU and no network: build, run the GPU tests, the C++ tests and the demo; installs nothing"""
    python = python_with("./dev gpu", "nanobind", "numpy", "pytest", "torch", "jax")
    checks = Checks()
    build("gpu", python=python)
    checks.run("pytest gpu", lambda: pytest("tests/gpu", python=python))
    checks.run("ctest", lambda: ctest("gpu"))
    checks.run("demo", lambda: None if show(python, "examples/demo.py", "--cpp", example("gpu")) == 0 else fail("the demo"))
    return checks.report()


def fail(what: str) -> None:
    raise Failed(f"{what} failed")


def bless(*names: str) -> int:
    """rewrite the golden files of the tests whose names match (all without a name); read the diff"""
    setup(tests=True)
    build("debug")
    select = (["-R", "|".join(names)], ["-k", " or ".join(names)]) if names else ([], [])
    ctest("debug", "--no-tests=ignore", *select[0], PTX_BLESS="1")
    blessing = environment(PTX_BLESS="1")
    console.step("Python tests", [PYTHON, "-m", "pytest", *select[1]], env=blessing, fine=(0, 5))  # 5: none selected
    return show("git", "status", "--short", "--", "tests", "docs/rules")


def tools() -> None:
    """The formatters and linters, without a build."""
    system_packages(console)
    virtual_environment(console)
    python_packages(console, "test")


def fmt() -> int:
    """format C++ and Python"""
    tools()
    console.step("clang-format", ["clang-format", "-i", *files(CPP_FOLDERS, ".cpp", ".hpp")], env=environment())
    fix = ["ruff", "check", "--quiet", "--fix-only", *PY_FOLDERS]
    console.step("ruff format", fix, ["ruff", "format", "--quiet", *PY_FOLDERS], env=environment())
    return 0


def lint() -> int:
    """check format, floors, Python lints and types, clang-tidy"""
    setup(tests=True)
    checks = Checks()
    lints(checks)
    return checks.report()


def lints(checks: Checks, more: Mapping[str, Callable[[], str | None]] | None = None) -> None:
    """Clang-tidy, then those that use one core, and what is given besides, side by side."""
    compiled = f"^{ROOT}/(ptx|python/binding)/.*"
    tidy: list[Word] = [
        "run-clang-tidy.py",
        "-quiet",
        "-p",
        BUILD / "release",
        "-j",
        JOBS,
        "-extra-arg=-Wno-unknown-warning-option",
        "-extra-arg=-fconstexpr-steps=100000000",  # the table's rows are read while compiling
    ]
    steps: dict[str, list[Word]] = {
        **{
            path.stem.removeprefix("check_"): [PYTHON, path]
            for path in sorted(ROOT.glob("tools/check_*.py"))
            if path != ROWS_CHECK
        },
        "clang-format": ["clang-format", "--dry-run", "-Werror", *files(CPP_FOLDERS, ".cpp", ".hpp")],
        "ruff format": ["ruff", "format", "--check", *PY_FOLDERS],
        "ruff": ["ruff", "check", *PY_FOLDERS],
        "mypy": ["mypy"],
    }
    step = partial(console.step, env=environment())
    checks.run("clang-tidy", partial(step, "clang-tidy", [*tidy, compiled]))
    checks.together({**(more or {}), **{name: partial(step, name, command) for name, command in steps.items()}})


BENCH_TOOLS = ("kernel_figures", "products")  # of bench/: they measure nothing by themselves


def bench(*names: str) -> int:
    """build and run the benchmarks (of these names); JSON in build/bench. `kernels` needs a GPU and installs nothing"""
    found = {path.stem: path for path in files(("bench",), ".cpp", ".py") if path.stem not in BENCH_TOOLS}
    if unknown := [name for name in names if name not in found]:
        raise Failed(f"no benchmark {', '.join(unknown)}; there are: {', '.join(found)}")
    if names == ("kernels",):
        return bench_kernels()
    setup()
    system_packages(console, benchmarks=True)
    build("release", folder="bench", options=("-DPTX_BENCH=ON", "-DPTX_PYTHON=OFF"))
    failed = 0
    for name in names or found:
        json = BUILD / "bench" / f"{name}.json"
        program: list[Word] = [BUILD / "bench" / "bench" / f"bench_{name}", f"--benchmark_out={json}"]
        failed |= show(*(program if found[name].suffix == ".cpp" else [PYTHON, found[name], "--json", json]))
    return failed


def bench_kernels() -> int:
    """The kernel library's whole table beside its peers, and what it says; `bench/kernel_figures.py FILE --keep` keeps it."""
    python = python_with("./dev bench kernels", "nanobind", "numpy", "torch")
    build("release", python=python)
    json = BUILD / "kernels.json"
    measured = show(python, "bench/kernels.py", "--chosen", "--rounds", "9", "--json", json)
    return measured or show(python, "bench/kernel_figures.py", json)


def oracle(*options: str) -> int:
    """ask ptxas about every row of the table, then about 200,000 random instructions (--random N --seed S: these alone;
    --second N --seed S: mutated statements of real programs)"""
    setup(tests=True)
    build("release", folder="oracle", options=("-DPTX_TESTS=ON", "-DPTX_PYTHON=OFF"))
    program, known = BUILD / "oracle" / "ptx_oracle", "tests/oracle/disagreements.txt"
    if "--second" in options:
        folders = (
            BUILD / "oracle" / "unpacked_corpus",
            ROOT / "tests" / "corpus" / "hand",
            ROOT / "tests" / "golden" / "write",
        )
        corpus = [word for folder in folders for word in ("--corpus", folder)]
        counted = ["--count" if word == "--second" else word for word in options]
        return show(BUILD / "oracle" / "ptx_second_hand", *corpus, *counted, "tests/oracle/second_hand.txt")
    if "--random" in options:
        return show(program, *options, known)
    return show(program, *options, known) | show(program, "--random", "200000", *options, known)


def fuzz(*options: str) -> int:
    """run the fuzzers (of these names) for --seconds S each, 60 if not told; what they find lies in build/fuzz/found"""
    system_packages(console, fuzzers=True)
    build("fuzz", options=(f"-DPTX_CLANG={machine.clang()}",))
    words = list(options)
    seconds = 60
    if "--seconds" in words:
        at = words.index("--seconds")
        seconds = int(words[at + 1])
        del words[at : at + 2]
    programs = {path.name.removeprefix("fuzz_"): path for path in sorted((BUILD / "fuzz" / "tests" / "fuzz").glob("fuzz_*"))}
    if unknown := [word for word in words if word not in programs]:
        raise Failed(f"no fuzzer {', '.join(unknown)}; there are: {', '.join(programs)}")
    checks = Checks()
    chosen = words or list(programs)
    with ThreadPoolExecutor(int(JOBS)) as pool:  # each keeps one core busy
        done = [pool.submit(run_fuzzer, name, programs[name], seconds) for name in chosen]
    for name, future in zip(chosen, done, strict=True):
        checks.run(f"fuzz {name}", future.result)
    return checks.report()


def run_fuzzer(name: str, program: Path, seconds: int) -> str:
    """Grows its corpus in build/fuzz/corpus/<name> from the hand-written files; fails with the input that breaks it."""
    corpus, found = BUILD / "fuzz" / "corpus" / name, BUILD / "fuzz" / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    # A variable of many gigabytes is zeros that nobody touches: no limit on what is asked for, one on what is used.
    memory = ["-rss_limit_mb=4096", "-malloc_limit_mb=1048576"]
    limits = [f"-max_total_time={seconds}", "-timeout=20", *memory, "-print_final_stats=1"]
    seeds = [ROOT / "tests" / "corpus" / folder for folder in ("hand", "run")]
    command = [program, corpus, *seeds, f"-artifact_prefix={found}/{name}-", *limits]
    said = subprocess.run([str(word) for word in command], env=environment(), capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise Failed(f"fuzz_{name} found something; the input is in {found}\n{said.stderr[-6000:]}")
    runs = re.findall(r"stat::number_of_executed_units: *(\d+)", said.stderr)
    return f"1 passed: fuzz {name}, {runs[0] if runs else '?'} inputs in {seconds} s"


def wheels(*options: str) -> int:
    """make an sdist and a wheel for each Python here (--python 3.N …: for these) in dist/; check, install and test them
    (--twice: everything is built again and compared; --no-tests: the Python tests are left out)"""
    chosen = wheel.Options.read(options)
    system_packages(console)
    virtual_environment(console)
    checks = Checks()
    wheel.make(console, checks.run, chosen, JOBS)
    return checks.report()


def docs() -> int:
    """write docs/isa from the instruction table, the guide's pictures, and the site build/site"""
    setup()
    python_packages(console, "docs")
    console.step("docs/isa", [BUILD / "release" / "isagen", "docs", "docs/isa"], env=environment())
    console.step("the guide's launch attributes", [PYTHON, ROOT / "tools/docs/launch_attributes.py"], env=environment())
    console.step("the guide's pictures", [PYTHON, ROOT / "tools/docs/pictures.py"], env=environment())
    console.step("build/site", [PYTHON, ROOT / "tools/docs/build_site.py"], env=environment())
    print(BUILD / "site" / "index.html")
    return show("git", "status", "--short", "--", "docs")


def clean(*options: str) -> int:
    """remove what was built (--all: and the virtual environment)"""
    for path in (BUILD, *ROOT.glob("python/pyptx/_ptx.*"), *([ROOT / ".venv"] if "--all" in options else [])):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "demo": demo, "test": test, "gpu": gpu, "bless": bless, "fmt": fmt, "lint": lint, "oracle": oracle,
    "fuzz": fuzz, "bench": bench, "docs": docs, "wheel": wheels, "clean": clean,
}  # fmt: skip


def main(name: str = "help", *arguments: str) -> int:
    if name not in COMMANDS:
        print("usage: ./dev <command>\n")
        print(*(f"  {command:<8} {work.__doc__}" for command, work in COMMANDS.items()), sep="\n")
        return 0 if name in ("help", "-h", "--help") else 2
    os.chdir(ROOT)
    try:
        return COMMANDS[name](*arguments)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
