"""./dev wheel: an sdist, and a wheel for each Python here, checked, and tested as a user has them: installed."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import installed
import machine
from console import Console, Failed, output
from machine import PYTHON, REQUIREMENTS, ROOT, environment, python_packages

FOLDER = ROOT / "build" / "wheel"
DIST = ROOT / "dist"
GLIBC = (2, 17)  # the oldest that a wheel is for; pip knows it of itself by the wheel's tag
PLATFORM = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{platform.machine()}"
EXPORTS = ["PyInit__ptx", "PyptxLaunch"]  # Python's door into the module, and XLA's
STUBS = ("libm.so.6", "libpthread.so.0", "libdl.so.2", "libld.so.2", "libc.so.6")
BACKEND = (
    "import json, sys; from scikit_build_core import build; getattr(build, sys.argv[1])(sys.argv[2], json.loads(sys.argv[3]))"
)
# What a wheel must hold, besides what the tests import: a build step that fails in silence leaves some of these out.
HOLDS = (
    "pyptx/_ptx.pyi", "pyptx/inst.pyi", "pyptx/py.typed", "pyptx/lib/libptx.a", "pyptx/lib/cmake/ptx/ptxConfig.cmake",
    "pyptx/lib/cmake/ptx/ptxTargets.cmake", "pyptx/include/ptx/version.hpp", "pyptx/include/ptx/ptx.hpp",
    "pyptx/torch_support/cpp/nodes.cpp", "pyptx/torch_support/cpp/table.hpp",
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    pythons: tuple[str, ...] = ()  # all that are here when none is named
    twice: bool = False
    tests: bool = True

    @staticmethod
    def read(words: Sequence[str]) -> Options:
        pythons: list[str] = []
        flags = {"--twice": False, "--no-tests": False}
        takes_versions = False
        for word in words:
            if takes_versions and re.fullmatch(r"3\.\d+", word):
                pythons.append(word)
            elif word == "--python":
                takes_versions = True
            elif word in flags:
                flags[word], takes_versions = True, False
            else:
                raise Failed(f"what is {word}? There are --python 3.N …, --twice and --no-tests")
        if "--python" in words and not pythons:
            raise Failed("--python wants versions: --python 3.11 3.13")
        return Options(tuple(pythons), flags["--twice"], not flags["--no-tests"])


def make(console: Console, check: Callable[[str, Callable[[], str | None]], bool], options: Options, jobs: str) -> None:
    """Makes and tests them all; `check` runs a named piece of work, and keeps what it says or how it failed."""
    found = pythons(options.pythons)
    maker = Maker(console, jobs)
    sdist = maker.sdist()
    for version, python in found.items():
        made: list[Path] = []

        def build(version: str = version, python: Path = python, made: list[Path] = made) -> str:
            made.append(maker.wheel(version, python, sdist, twice=options.twice))
            return inspect(made[0], PYTHON)

        if not check(f"wheel {version}", build):
            continue
        user = installed.Installed(console, version, python, made[0], FOLDER / f"installed-{version}")
        if check(f"install {version}", user.first_kernel):
            check(f"C++ {version}", user.cpp)
            if options.tests:
                check(f"pytest {version}", partial(user.tests, sdist, jobs))
    absent = [f"3.{minor}" for minor in range(11, 15) if f"3.{minor}" not in found]
    if absent:
        machine.left_out.append(f"a wheel for Python {', '.join(absent)}: {'not asked for' if options.pythons else 'not here'}")
    if not options.tests:
        machine.left_out.append("the Python tests of the wheels (--no-tests)")
    if not options.twice:
        machine.left_out.append("whether a second build gives the same bytes (--twice builds everything again)")


def pythons(wanted: Sequence[str]) -> dict[str, Path]:
    """The Pythons of 3.11 or newer that can build here, by version: those on PATH, then pyenv's. Only the wanted, if any."""
    folders = [*os.environ["PATH"].split(os.pathsep), *map(str, sorted(Path.home().glob(".pyenv/versions/*/bin")))]
    found: dict[str, Path] = {}
    for minor in range(11, 20):
        version = f"3.{minor}"
        for folder in folders:
            path = Path(folder) / f"python{version}"
            if version not in found and path.exists() and can_build(path):
                found[version] = path
    if unknown := [version for version in wanted if version not in found]:
        raise Failed(f"no Python {', '.join(unknown)} here that can build; there are: {', '.join(found) or 'none'}")
    return {version: path for version, path in found.items() if not wanted or version in wanted}


def can_build(python: Path) -> bool:
    """Whether it runs at all (pyenv has programs that only say what to install), makes environments and has its headers."""
    ask = "import ensurepip, os, sysconfig, venv; assert os.path.exists(sysconfig.get_path('include') + '/Python.h')"
    return subprocess.run([str(python), "-c", ask], capture_output=True, check=False).returncode == 0


class Maker:
    """Makes distributions of the tracked files. Each place builds the core once, for all Pythons: their extensions follow one
    another in the same build tree, and an object is compiled again only when what it is made of changes."""

    def __init__(self, console: Console, jobs: str) -> None:
        self.console, self.jobs = console, jobs
        python_packages(console, "wheel")
        self.epoch = output("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
        self.first, self.second = FOLDER / "first", FOLDER / "second"
        shutil.rmtree(DIST, ignore_errors=True)

    def sdist(self) -> Path:
        """Made twice, in two folders."""
        tracked = output("git", "ls-files", "-z", "--recurse-submodules", cwd=ROOT).split("\0")
        made = []
        for place in (self.first, self.second):
            tree = fresh(place / "checkout")
            for name in filter(None, tracked):
                if (ROOT / name).is_file():
                    (tree / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / name, tree / name)
            made.append(self._backend(PYTHON, "build_sdist", place, tree, {}, f"sdist, {place.name} time"))
        return same(*made)

    def wheel(self, version: str, python: Path, sdist: Path, *, twice: bool) -> Path:
        """From the sdist, with a virtual environment of its own that holds what the build needs."""
        venv = FOLDER / f"build-{version}"
        own = venv / "bin" / "python"
        if not own.exists():
            self.console.step(f"environment to build for Python {version}", [python, "-m", "venv", venv])
        requirements = REQUIREMENTS / "requirements-build.txt"
        packages = machine.pip("-r", requirements, python=own)
        self.console.step(f"packages to build for Python {version}", packages, env=environment())
        tag = f"cp{version.replace('.', '')}"
        made = []
        for place in (self.first, self.second) if twice else (self.first,):
            source = place / "source"
            unpack(sdist, source)
            settings = {
                "build-dir": str(place / "build"),
                "wheel.tags": f"{tag}-{tag}-{PLATFORM}",
                "cmake.args": "-GNinja",
                "cmake.define.PTX_GLIBC_STUBS": str(self.stubs()),
                # No file tells where it was built. The flags are the same for every Python: the core is compiled once.
                "cmake.define.CMAKE_CXX_FLAGS": f"-ffile-prefix-map={FOLDER}=. -ffile-prefix-map={place}=.",
            }
            title = f"wheel for Python {version}, {place.name} time"
            made.append(self._backend(own, "build_wheel", place, source, settings, title))
        return same(*made)

    def stubs(self) -> Path:
        """glibc's names as an older version had them: zig makes libraries of them when it links. Nothing of them is shipped."""
        folder = FOLDER / f"glibc-{GLIBC[0]}.{GLIBC[1]}"
        if all((folder / name).exists() for name in STUBS):
            return folder
        cache = fresh(FOLDER / "zig")
        (cache / "empty.c").write_text("int ptx_nothing;\n")
        target = f"{platform.machine()}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        link: list[str | Path] = [
            PYTHON,
            "-m",
            "ziglang",
            "cc",
            "-target",
            target,
            "-shared",
            cache / "empty.c",
            "-o",
            cache / "empty.so",
        ]
        caches = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
        self.console.step(f"stubs of glibc {GLIBC[0]}.{GLIBC[1]}", link, env=environment(**caches))
        folder.mkdir(parents=True, exist_ok=True)
        for name in STUBS:
            found = sorted(cache.glob(f"o/*/{name}"))
            if not found:
                raise Failed(f"zig left no {name} in {cache}")
            shutil.copy(found[0], folder)
        shutil.rmtree(cache)
        return folder

    def _backend(self, python: Path, hook: str, place: Path, tree: Path, settings: Mapping[str, str], title: str) -> Path:
        """Calls the build backend as pip would, in the tree."""
        out = fresh(place / "made")
        program = f"import os; os.chdir({str(tree)!r}); {BACKEND}"
        self.console.step(title, [python, "-c", program, hook, out, json.dumps(settings)], env=self._environment(place))
        (made,) = out.iterdir()
        kept = place / made.name
        shutil.move(made, kept)
        return kept

    def _environment(self, place: Path) -> Mapping[str, str]:
        own = {name: value for name, value in environment(SOURCE_DATE_EPOCH=self.epoch).items() if name != "PYTHONPATH"}
        own.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", self.jobs)
        if place == self.second:  # it proves nothing to take the first time's objects
            own["CCACHE_DISABLE"] = "1"
        return own


def unpack(archive: Path, tree: Path) -> None:
    """Makes the tree what the archive holds. A file that has not changed keeps its time: what was made of it is made still."""
    new = fresh(tree.parent / "unpacked")
    with tarfile.open(archive) as tar:
        tar.extractall(new, filter="data")
    (inner,) = new.iterdir()
    wanted = {path.relative_to(inner): path for path in inner.rglob("*") if path.is_file()}
    for path in list(tree.rglob("*")):
        if path.is_file() and path.relative_to(tree) not in wanted:
            path.unlink()
    for name, path in wanted.items():
        if not (tree / name).exists() or (tree / name).read_bytes() != path.read_bytes():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, tree / name)  # its time is now
            shutil.copymode(path, tree / name)
    shutil.rmtree(new)


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def same(*made: Path) -> Path:
    """The distribution in dist/, when all that were made of the same files are the same bytes."""
    if len({hashlib.sha256(path.read_bytes()).hexdigest() for path in made}) != 1:
        raise Failed(f"made twice, {made[0].name} differs: {', '.join(map(str, made))}")
    DIST.mkdir(exist_ok=True)
    return Path(shutil.copy(made[0], DIST))


def inspect(wheel: Path, python: Path) -> str:
    """Holds a wheel to what its name promises, and to what it must hold."""
    said = output(python, "-m", "auditwheel", "-v", "show", wheel, env=environment())  # -v: which names stand in the way
    needed = glibc_of(said)
    if needed is None or needed > GLIBC:
        raise Failed(f"{wheel.name} promises glibc {GLIBC}, and auditwheel says:\n{said}")
    with zipfile.ZipFile(wheel) as archive:
        if wrong := misplaced(archive.namelist()):
            raise Failed(f"{wheel.name} {'; '.join(wrong)}")
        module = next(name for name in archive.namelist() if re.fullmatch(r"pyptx/_ptx\..*so", name))
        extracted = Path(archive.extract(module, fresh(FOLDER / "extracted")))
        places = [name for name in archive.namelist() if str(ROOT).encode() in archive.read(name)]
    if places:
        raise Failed(f"{wheel.name} names the folder it was built in: {', '.join(places)}")
    if (exported := names_of(output("nm", "-D", "--defined-only", extracted))) != EXPORTS:
        raise Failed(f"the module exports {', '.join(exported)}; it should export {', '.join(EXPORTS)}")
    if unknown := unversioned(output("nm", "-D", "--undefined-only", extracted)):
        raise Failed(f"names that glibc {GLIBC} does not have: {', '.join(unknown)}; add them to cmake/older_glibc.cpp")
    size = wheel.stat().st_size / 1e6
    return f"1 passed: {wheel.name}, {size:.1f} MB, needs glibc {'.'.join(map(str, needed))}"


def glibc_of(said: str) -> tuple[int, ...] | None:
    """The oldest glibc that auditwheel says a wheel runs with."""
    tag = re.search(r'consistent with the following platform tag:\s*"manylinux_(\d+)_(\d+)_', " ".join(said.split()))
    return tuple(map(int, tag.groups())) if tag else None


def misplaced(names: Sequence[str]) -> list[str]:
    """What is wrong with the list of a wheel's files."""
    absent = [name for name in HOLDS if name not in names]
    papers = [
        name for name in ("METADATA", "licenses/LICENSE", "entry_points.txt") if not any(n.endswith(f"/{name}") for n in names)
    ]
    stray = [name for name in names if not re.match(r"pyptx/|pyptx-[\d.]+\.dist-info/", name) or "__pycache__" in name]
    wrong = {"lacks": [*absent, *papers], "holds what is not its own:": stray}
    return [f"{what} {', '.join(which)}" for what, which in wrong.items() if which]


def names_of(listing: str) -> list[str]:
    return sorted(line.split()[-1] for line in listing.splitlines() if line.strip())


def unversioned(listing: str) -> list[str]:
    """Of the names that a module leaves open (nm -D): those that no version of glibc is asked for, and that are not Python's."""
    open_names = [line.split() for line in listing.splitlines() if line.strip()]
    return [name for kind, name in open_names if kind == "U" and "@" not in name and not re.match(r"_?Py", name)]
