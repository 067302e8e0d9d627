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


def test_the_environment_imports_the_checkout_from_any_folder(machine, monkeypatch, tmp_path) -> None:
    module = tmp_path / "checkout" / "python" / "pyptx" / "__init__.py"
    module.parent.mkdir(parents=True)
    module.touch()
    monkeypatch.setattr(machine, "ROOT", tmp_path / "checkout")
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
    assert ask() == f"{module}\n"


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


@pytest.fixture
def dev(machine, monkeypatch: pytest.MonkeyPatch):
    import dev

    monkeypatch.setattr(machine, "left_out", [])
    return dev


def test_what_did_not_run_is_said_at_the_end(dev, machine, capsys) -> None:
    """Nobody reads "all passed" of tests that were skipped."""
    passed = "=== 10 passed in 2.00s ==="
    checks = dev.Checks()
    assert checks.run("pytest", lambda: f"some line\n{passed}\n")
    assert checks.report() == 0
    assert capsys.readouterr().out.endswith("all passed\n")

    skipped = "SKIPPED [31] tests/python/test_launch_torch.py:20: could not import 'torch'"
    checks = dev.Checks()
    checks.run("pytest", lambda: f"{skipped}\n=== 10 passed, 31 skipped in 2.00s ===\n")
    checks.run("ctest", lambda: "99% tests passed, 0 tests failed out of 2\n\t  2 - cuda.RealDriver (Skipped)\n")
    assert checks.report() == 0
    said = capsys.readouterr().out
    assert f"did not run:\n  pytest: {skipped}\n  ctest: 2 - cuda.RealDriver (Skipped)\n" in said
    assert said.endswith("all that ran passed; what did not run stands above\n")
    assert "all passed" not in said


def test_torch_that_would_bring_cuda_is_left_out_and_said_so(dev, machine, monkeypatch, tmp_path, capsys) -> None:
    offer = tmp_path / "installed" / "torch-offer.json"
    offer.parent.mkdir()
    offer.write_text('{"install": [{"metadata": {"name": "torch"}}, {"metadata": {"name": "nvidia-cudnn-cu13"}}]}')
    monkeypatch.setattr(machine, "VENV", tmp_path)
    for name in ("PTX_TORCH", "PTX_TORCH_INDEX"):
        monkeypatch.delenv(name, raising=False)
    assert not machine.torch_is_cpu_build(dev.console, tmp_path / "requirements.txt")
    assert "1 CUDA packages" in capsys.readouterr().out
    checks = dev.Checks()
    checks.run("pytest", lambda: "=== 10 passed in 2.00s ===\n")
    assert checks.report() == 0
    said = capsys.readouterr().out
    assert "did not run:\n  torch was left out" in said
    assert "all passed" not in said


def test_a_check_that_fails_ends_with_its_name(dev, capsys) -> None:
    checks = dev.Checks()
    assert not checks.run("rows", lambda: dev.fail("a row"))
    assert checks.run("pytest", lambda: "=== 10 passed in 2.00s ===\n")
    assert checks.report() == 1
    assert capsys.readouterr().out.endswith("failed: rows\n")
