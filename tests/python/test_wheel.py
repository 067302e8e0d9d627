"""What ./dev wheel decides by itself: tools/dev/wheel.py and tools/dev/installed.py. What it makes, it tests itself."""

import contextlib
import io
import json
import os
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "dev"))
    import wheel

    return wheel


@pytest.fixture
def failed(wheel) -> type[Exception]:
    failure: type[Exception] = wheel.Failed
    return failure


def test_what_it_is_asked_for(wheel, failed) -> None:
    read = wheel.Options.read
    assert read([]) == wheel.Options((), twice=False, tests=True)
    assert read(["--python", "3.11", "3.13", "--twice"]) == wheel.Options(("3.11", "3.13"), twice=True, tests=True)
    assert read(["--no-tests", "--python", "3.12"]) == wheel.Options(("3.12",), twice=False, tests=False)
    for words, said in (
        (["--once"], "what is --once"),
        (["3.12"], "what is 3.12"),
        (["--python", "--twice"], "--python wants versions"),
        (["--python", "3.11", "--twice", "3.12"], "what is 3.12"),
    ):
        with pytest.raises(failed, match=said):
            read(words)


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_pythons_that_cannot_build_are_passed_over(wheel, failed, monkeypatch, tmp_path) -> None:
    """A program of pyenv's that only says what to install is none; the home's versions come after PATH."""
    works, says_what_to_install = "#!/bin/sh\nexit 0\n", "#!/bin/sh\necho install it >&2\nexit 127\n"
    shims, home = tmp_path / "shims", tmp_path / "home"
    program(shims / "python3.10", works)
    program(shims / "python3.11", works)
    program(shims / "python3.12", says_what_to_install)
    program(shims / "python3.13", says_what_to_install)
    installed = home / ".pyenv" / "versions" / "3.12.1" / "bin" / "python3.12"
    program(installed, works)
    program(installed.with_name("python3.11"), works)
    monkeypatch.setenv("PATH", str(shims))
    monkeypatch.setenv("HOME", str(home))
    assert wheel.pythons(()) == {"3.11": shims / "python3.11", "3.12": installed}
    assert wheel.pythons(("3.12",)) == {"3.12": installed}
    with pytest.raises(failed, match=r"no Python 3\.13 here that can build; there are: 3\.11, 3\.12"):
        wheel.pythons(("3.11", "3.13"))


def test_a_python_without_headers_cannot_build(wheel, tmp_path) -> None:
    program(
        tmp_path / "python3.11",
        f"#!/bin/sh\nexec {sys.executable} -c \"import sysconfig; sysconfig.get_path = lambda name: '/'; $2\"\n",
    )
    assert not wheel.can_build(tmp_path / "python3.11")


def test_the_glibc_that_auditwheel_names(wheel) -> None:
    said = """
    pyptx-0.1.0-cp311-cp311-manylinux_2_17_x86_64.whl is consistent
    with the following platform tag: "manylinux_2_5_x86_64".

    The wheel references external versioned symbols in these
    system-provided shared libraries: libc.so.6 with versions
    {'GLIBC_2.2.5', 'GLIBC_2.3'}
    """
    assert wheel.glibc_of(said) == (2, 5)
    assert wheel.glibc_of(said.replace("manylinux_2_5_x86_64", "linux_x86_64")) is None
    assert wheel.glibc_of("") is None


def test_the_files_of_a_wheel(wheel) -> None:
    papers = [f"pyptx-0.1.0.dist-info/{name}" for name in ("METADATA", "RECORD", "entry_points.txt", "licenses/LICENSE")]
    whole = [*wheel.HOLDS, "pyptx/_ptx.cpython-311-x86_64-linux-gnu.so", *papers]
    assert wheel.misplaced(whole) == []
    for name in (*wheel.HOLDS, papers[0], papers[2], papers[3]):
        (wrong,) = wheel.misplaced([other for other in whole if other != name])
        assert wrong.startswith("lacks ")
        assert name.endswith(wrong.removeprefix("lacks "))
    for name in ("ptx/ptx.hpp", "lib/libptx.a", "pyptx/__pycache__/cli.cpython-311.pyc", "tests/conftest.py"):
        assert wheel.misplaced([*whole, name]) == [f"holds what is not its own: {name}"]


def test_open_names_without_a_version(wheel) -> None:
    listing = """\
                 U PyErr_Clear
                 U _Py_Dealloc
                 w __gmon_start__
                 U memcpy@GLIBC_2.14
                 U _Unwind_Resume@GCC_3.0
                 U stat
"""
    assert wheel.unversioned(listing) == ["stat"]
    assert wheel.names_of("0000000000051bb0 T PyptxLaunch\n000000000004fbb0 T PyInit__ptx\n") == wheel.EXPORTS


def test_two_that_differ_are_refused(wheel, failed, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(wheel, "DIST", tmp_path / "dist")
    paths = []
    for folder, content in (("first", b"one"), ("second", b"one"), ("third", b"two")):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "pyptx.whl")
        paths[-1].write_bytes(content)
    with pytest.raises(failed, match=r"pyptx\.whl differs"):
        wheel.same(paths[0], paths[2])
    assert not (tmp_path / "dist").exists()
    kept = wheel.same(*paths[:2])
    assert kept == tmp_path / "dist" / "pyptx.whl"
    assert kept.read_bytes() == b"one"


def test_unpacking_touches_only_what_changed(wheel, tmp_path) -> None:
    """Or else the core would be compiled again for every Python."""
    tree = tmp_path / "source"

    def unpack(**contents: str) -> None:
        archive = tmp_path / "sdist.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            for name, text in contents.items():
                member = tarfile.TarInfo(f"pyptx-0.1.0/{name}")
                member.size, member.mtime, member.mode = len(text), 1, 0o755 if text.startswith("#!") else 0o644
                tar.addfile(member, io.BytesIO(text.encode()))
        wheel.unpack(archive, tree)
        for path in tree.iterdir():
            with contextlib.suppress(FileNotFoundError):
                before.setdefault(path.name, path.stat().st_mtime_ns)

    before: dict[str, int] = {}
    unpack(same="a", changed="b", gone="c", dev="#!/bin/sh")
    assert before["same"] > 10**9, "now, not the archive's time: what is changed is newer than what was made of it"
    assert os.access(tree / "dev", os.X_OK)
    os.utime(tree / "same", ns=(5, 5))
    os.utime(tree / "changed", ns=(5, 5))
    unpack(same="a", changed="B", new="d")
    assert {path.name: path.read_text() for path in tree.iterdir()} == {"same": "a", "changed": "B", "new": "d"}
    assert (tree / "same").stat().st_mtime_ns == 5
    assert (tree / "changed").stat().st_mtime_ns > 5


def test_the_first_kernel_is_readmes(wheel) -> None:
    """A program by itself, that says so when the answer is right."""
    code = wheel.installed.first_kernel()
    shown = (ROOT / "README.md").read_text()
    assert code.partition("\nimport numpy")[0].strip() in shown
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "README.md", "exec"), {"__name__": "first"})
    assert said.getvalue() == "right\n"


def test_what_torch_would_bring(wheel, monkeypatch, tmp_path) -> None:
    """Gigabytes of CUDA packages are taken when they are asked for, and named when they are not."""
    report = tmp_path / "offer.json"
    names = ["torch", "nvidia-cublas", "triton", "sympy", "cuda-bindings"]
    report.write_text(json.dumps({"install": [{"metadata": {"name": name}} for name in names]}))
    monkeypatch.delenv("PTX_TORCH_INDEX", raising=False)
    monkeypatch.delenv("PTX_TORCH", raising=False)
    ask = wheel.machine.cuda_packages_of_torch
    assert ask(None, tmp_path / "requirements.txt", report) == ["nvidia-cublas", "triton", "cuda-bindings"]
    monkeypatch.setenv("PTX_TORCH", "cuda")
    assert ask(None, tmp_path / "requirements.txt", report) == []
