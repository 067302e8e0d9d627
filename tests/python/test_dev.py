"""What ./dev sets up: tools/dev/machine.py."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "dev"))
    import machine

    return machine


def test_the_environment_imports_the_checkout_from_any_folder(machine, tmp_path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    (tmp_path / "elsewhere").mkdir()
    find = "import importlib.util; print(importlib.util.find_spec('pyptx').origin)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    python = tmp_path / "venv" / "bin" / "python"

    def ask() -> str:
        words = [python, "-c", find]
        return subprocess.run(
            words, cwd=tmp_path / "elsewhere", env=environment, capture_output=True, text=True, check=False
        ).stdout

    assert ask() == ""
    machine.show_checkout(tmp_path / "venv")
    assert ask() == f"{ROOT / 'python' / 'pyptx' / '__init__.py'}\n"


def program(folder: Path, name: str, says: str) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable}\nprint({says!r})\n")
    path.chmod(0o755)


def test_the_newest_clang_is_taken_and_none_older_than_16(machine, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(machine, "VENV", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.clang() is None
    program(tmp_path, "clang++", "Debian clang version 14.0.6")
    assert machine.clang() is None
    program(tmp_path, "clang++-19", "Debian clang version 19.1.7 (++20240731024944-1~exp1~20240731145000.144)")
    program(tmp_path, "clang++-9", "clang version 9.0.1")
    assert machine.clang() == str(tmp_path / "clang++-19")
    program(tmp_path, "clang++", "clang version 23.1.0")
    assert machine.clang() == str(tmp_path / "clang++")


def test_the_clang_on_offer_is_the_newest_of_apts(machine, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.newest_clang_on_offer() == 16  # a system without apt is told a name all the same
    program(tmp_path, "apt-cache", "clang-14 - C compiler\nclang-21 - C compiler\nclang-18 - C compiler")
    assert machine.newest_clang_on_offer() == 21
