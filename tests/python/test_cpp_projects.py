"""The C++ package as projects of its users meet it: installed and moved, static and shared, with and without exceptions, by
g++ and by clang, or as sources inside another project (tests/projects/). What is installed comes from the build at hand."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = ROOT / "tests" / "projects"
GOLDEN = ROOT / "tests" / "golden" / "cpp_projects" / "user.txt"


@cache
def newest_clang() -> str | None:
    """The one that ./dev takes: of 16 or newer, whatever its package calls it."""
    ask = [sys.executable, "-c", "import machine; print(machine.clang() or '')"]
    done = subprocess.run(ask, cwd=ROOT / "tools" / "dev", capture_output=True, text=True, check=True)
    return done.stdout.strip() or None


def compiler(name: str) -> str:
    """The compiler's path; skips where there is none."""
    found = newest_clang() if name == "clang" else shutil.which("g++")
    if found is None:
        pytest.skip(f"no {name} here")
    return found


def run(*command: str | Path, status: int = 0) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass
class Installed:
    prefix: Path
    build: Path


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Both libraries and the program of the newest build, installed, and then moved elsewhere."""
    builds = [ROOT / "build" / name for name in ("release", "gpu")]
    built = [build for build in builds if (build / "lib" / "libptx.a").exists() and (build / "CMakeCache.txt").exists()]
    if not built or not shutil.which("cmake") or not shutil.which("ninja"):
        pytest.skip("no build of the C++ library here (./dev demo makes one)")
    build = max(built, key=lambda path: (path / "lib" / "libptx.a").stat().st_mtime)
    folder = tmp_path_factory.mktemp("installed")
    first = folder / "first"
    with (build / "projects.lock").open("w") as lock:  # tests run side by side, and ninja is one at a time in a folder
        fcntl.flock(lock, fcntl.LOCK_EX)
        run("cmake", "--build", build, "--target", "ptx", "ptx_shared", "ptx_program")
    run("cmake", "--install", build, "--prefix", first)
    run("cmake", "--install", build, "--prefix", first, "--component", "shared")
    moved = folder / "moved" / "here"
    moved.parent.mkdir()
    first.rename(moved)
    return Installed(moved, build)


def configure(project: str, with_compiler: str, folder: Path, *options: str) -> None:
    language = f"-DCMAKE_CXX_COMPILER={compiler(with_compiler)}"
    run("cmake", "-G", "Ninja", "-S", PROJECTS / project, "-B", folder, language, *options)


# One of each kind in every dimension; the standard and the build type go along.
PACKAGES = {
    "package": ("-DCMAKE_BUILD_TYPE=Release",),
    "shared": ("-DCMAKE_CXX_STANDARD=23",),
    "no_exceptions": ("-DCMAKE_BUILD_TYPE=Debug",),
}


@pytest.mark.parametrize("with_compiler", ["g++", "clang"])
@pytest.mark.parametrize("project", PACKAGES)
def test_a_users_project(project: str, with_compiler: str, installed: Installed, tmp_path: Path) -> None:
    """It builds without a warning and does its work; texts and keys are the same whatever compiled it; a value asked of an error
    says the error and ends."""
    configure(project, with_compiler, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed.prefix}", *PACKAGES[project])
    run("cmake", "--build", tmp_path / "build")
    user = tmp_path / "build" / "user"
    said = run(user, tmp_path / "kernel.ptxk")
    if os.environ.get("PTX_BLESS"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(said)
    assert said == GOLDEN.read_text(), "./dev bless rewrites it"

    error = subprocess.run([user, "--error"], capture_output=True, text=True, check=False)
    assert error.returncode == -signal.SIGABRT
    assert error.stdout == "said before\n"
    assert "no/such/file" in error.stderr
    assert "[" in error.stderr, "the error's kind is named"

    needed = run("ldd", user) if project == "shared" else ""
    assert ("libptx.so" in needed) == (project == "shared")


PUBLIC = {"ptx/ptx.hpp", "ptx/kernel.hpp", "ptx/kernels.hpp"}


@pytest.mark.parametrize("with_compiler", ["g++", "clang"])
def test_each_public_header_stands_alone(with_compiler: str, installed: Installed, tmp_path: Path) -> None:
    """With many warnings, without exceptions, and not as a system's header, whose mistakes compilers overlook."""
    source = tmp_path / "user.cpp"
    source.write_text("".join(f"#include <{name}>\n" for name in sorted(PUBLIC)) + "int main() {}\n")
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow", "-Wold-style-cast"]
    flags = ["-std=c++20", "-fno-exceptions", "-fsyntax-only", *warnings]
    run(compiler(with_compiler), *flags, "-I", installed.prefix / "include", source)


def test_what_is_installed(installed: Installed) -> None:
    """The licence, the program, the headers that the public ones lead to and no others, no path of this machine, no target
    without the package's name."""
    prefix = installed.prefix
    assert list(prefix.rglob("LICENSE"))
    assert os.access(prefix / "bin" / "ptxkit", os.X_OK)
    include = prefix / "include"
    headers = {str(path.relative_to(include)): path.read_text() for path in include.rglob("*") if path.is_file()}
    included = {name for text in headers.values() for name in re.findall(r'^#include "(ptx/[^"]+)"', text, re.MULTILINE)}
    assert included <= headers.keys(), "a public header includes one that is not there"
    assert headers.keys() - included == PUBLIC, "a header is installed that nothing public includes"
    for internal in (
        "text/parser",
        "vgpu/decoder",
        "write/state",
        "tool/tool",
        "isa/row",
        "isa/form",
        "cuda/compile",
        "launch/plan",
    ):
        assert f"ptx/{internal}.hpp" not in headers
    assert not [path for path in prefix.rglob("*") if path.stem.endswith("_test")]

    package = next(prefix.rglob("ptxConfig.cmake")).parent
    for path in package.iterdir():
        text = path.read_text()
        assert str(ROOT) not in text, path
        assert str(installed.build) not in text, path
        assert "installed/first" not in text, path
        assert all(name.startswith("ptx::") for name in re.findall(r"add_library\((\S+)", text))


def test_the_library_can_be_shared(tmp_path: Path) -> None:
    """BUILD_SHARED_LIBS is heard, and the file says which versions fit together."""
    if not shutil.which("cmake") or not shutil.which("ninja"):
        pytest.skip("no cmake here")
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path, "-DBUILD_SHARED_LIBS=ON")
    version = (ROOT / "VERSION").read_text().split()[0]
    outputs = run("ninja", "-C", tmp_path, "-t", "targets", "all")
    assert f"lib/libptx.so.{version}:" in outputs
    assert "lib/libptx.a:" not in outputs


@pytest.mark.parametrize(("project", "with_compiler"), [("subdirectory", "g++"), ("fetch", "clang"), ("fetch", "g++")])
def test_sources_inside_another_project(project: str, with_compiler: str, tmp_path: Path) -> None:
    """Nothing of ours is built that the project does not link, and nothing of ours is installed. With PTX_PROJECTS=full the
    library is built there too, which takes minutes; otherwise only its first room."""
    if not shutil.which("cmake") or not shutil.which("ninja"):
        pytest.skip("no cmake here")
    build = tmp_path / "build"
    configure(project, with_compiler, build, f"-DPTX_SOURCE={ROOT}")
    planned = run("ninja", "-C", build, "-t", "commands", "all")
    assert "user.cpp" in planned
    for uninvited in ("_test.cpp", "ptx/tool/main.cpp", "python/binding", "tests/oracle", "tests/cpp_mistakes"):
        assert uninvited not in planned
    assert not (build / "ptx" / "lib" / "cmake" / "ptx").exists()
    if os.environ.get("PTX_PROJECTS") == "full":
        run("cmake", "--build", build)
        assert run(build / "user", tmp_path / "kernel.ptxk") == GOLDEN.read_text()
    else:
        run("cmake", "--build", build, "--target", "ptx_base")
        shutil.copy(shutil.which("true") or "/bin/true", build / "user")  # in its place
    run("cmake", "--install", build, "--prefix", tmp_path / "prefix")
    assert [str(path.relative_to(tmp_path / "prefix")) for path in (tmp_path / "prefix").rglob("*") if path.is_file()] == [
        "bin/user"
    ]


def test_a_project_may_have_our_targets_names(tmp_path: Path) -> None:
    """Every target that another project gets is called ptx or ptx_…: there may be others of its own called `isagen` or `base`."""
    if not shutil.which("cmake") or not shutil.which("ninja"):
        pytest.skip("no cmake here")
    configure("subdirectory", "g++", tmp_path, f"-DPTX_SOURCE={ROOT}")
    targets = re.findall(r"^(ptx/)?(?:.*/)?([\w-]+): phony$", run("ninja", "-C", tmp_path, "-t", "targets", "all"), re.MULTILINE)
    ours = {name for folder, name in targets if folder} - {
        "all",
        "edit_cache",
        "rebuild_cache",
        "install",
        "test",
        "list_install_components",
        "local",
        "strip",
    }
    assert {name for name in ours if not name.startswith("ptx")} == set()
