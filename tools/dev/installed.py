"""What a user of a wheel has: a fresh environment with the wheel in it, and nothing of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import machine
from console import Console, Failed, output
from machine import REQUIREMENTS, ROOT, environment

RUN_IT = """
import numpy as np
a, b = np.arange(1024, dtype=np.float32), np.full(1024, 0.5, np.float32)
assert (np.asarray(add(a, b)) == a + b).all()
print("right")
"""


def first_kernel() -> str:
    """The kernel that README begins with, and a call of it."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    kernel, call, _ = blocks[0].partition("\nadd(np_a")
    if not call:
        raise Failed("README's first Python block has no line `add(np_a…`")
    return str(kernel) + "\n" + RUN_IT


class Installed:
    """A fresh environment with the wheel, and beside it the repository's tests without the repository's package."""

    def __init__(self, console: Console, version: str, python: Path, wheel: Path, folder: Path) -> None:
        self.console, self.version, self.wheel, self.folder = console, version, wheel, folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.python = folder / "venv" / "bin" / "python"
        console.step(f"fresh environment, Python {version}", [python, "-m", "venv", folder / "venv"])

    def first_kernel(self) -> str:
        """A stranger's first minute: pip install, and README's kernel, where PATH has no compiler, and nothing else either."""
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        bare |= {"PATH": "", "PYPTX_CACHE_DIR": str(self.folder / "cache")}
        program = self.folder / "first_kernel.py"
        program.write_text(first_kernel())
        packages = machine.pip(self.wheel, "numpy", python=self.python)
        self.console.step(f"pip install of the wheel, Python {self.version}", packages, env=bare)
        said = self.console.step(f"first kernel, no compiler, Python {self.version}", [self.python, program], env=bare)
        command = self.console.step(
            f"the program pyptx, Python {self.version}", [self.python.parent / "pyptx", "--version"], env=bare
        )
        return f"1 passed: first kernel on Python {self.version} is {said.split()[-1]}; pyptx {command.split()[-1]}"

    def cpp(self) -> str:
        """A C++ project that finds the package in the wheel."""
        where = self._ask("-m", "pyptx", "--cmake-dir")
        tree = self.folder / "cpp"
        project = ROOT / "tests" / "projects" / "package"
        configure: list[str | Path] = ["cmake", "-S", project, "-B", tree, "-G", "Ninja", f"-Dptx_DIR={where}"]
        user: list[str | Path] = [tree / "user", tree / "kernel.ptxk"]
        title = f"C++ project against the wheel, {self.version}"
        self.console.step(title, configure, ["cmake", "--build", tree], user, env=self._environment())
        if (said := output(*user)) != (ROOT / "tests" / "golden" / "cpp_projects" / "user.txt").read_text():
            raise Failed(f"tests/projects/user.cpp, built against the wheel, prints something else than it should:\n{said}")
        return f"1 passed: a C++ project against the wheel for Python {self.version}"

    def tests(self, sdist: Path, jobs: str) -> str:
        """The Python tests of the sdist, whose own package is taken away: what they import is the wheel's."""
        groups = ["test", "run"]
        if self._torch_is_small():
            groups.append("torch")
        requirements = [
            machine.pip("-r", REQUIREMENTS / f"requirements-{group}.txt", *machine.torch_index(group), python=self.python)
            for group in groups
        ]
        self.console.step(f"packages to test, Python {self.version}", *requirements, env=environment())
        with tarfile.open(sdist) as tar:
            tar.extractall(self.folder / "tree", filter="data")
        (tree,) = (self.folder / "tree").iterdir()
        shutil.rmtree(tree / "python")
        where = self._ask("-c", "import pyptx; print(pyptx.__file__)", cwd=tree)
        if not Path(where).is_relative_to(self.folder / "venv"):
            raise Failed(f"the tests would run against {where}")
        pytest: list[str | Path] = [
            self.python,
            "-m",
            "pytest",
            "--rootdir",
            tree,
            "-c",
            tree / "pyproject.toml",
            tree / "tests" / "python",
        ]
        title = f"Python tests of the wheel, {self.version}"
        return self.console.step(title, [*pytest, "-n", jobs, "--dist", "worksteal"], env=self._environment())

    def _torch_is_small(self) -> bool:
        report = self.folder / "torch-offer.json"
        requirements = REQUIREMENTS / "requirements-torch.txt"
        cuda = machine.cuda_packages_of_torch(self.console, requirements, report, python=self.python)
        if not cuda:
            return True
        machine.left_out.append(f"the tests of PyTorch on Python {self.version}: torch would bring {len(cuda)} CUDA packages")
        return False

    def _ask(self, *words: str, cwd: Path | None = None) -> str:
        return output(self.python, *words, cwd=cwd, env=self._environment()).strip()

    def _environment(self) -> Mapping[str, str]:
        """The machine's programs, this environment's first; the checkout's package is not on the path."""
        own = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
        return {**own, "PATH": os.pathsep.join([str(self.python.parent), own["PATH"]])}
