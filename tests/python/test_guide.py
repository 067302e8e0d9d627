"""The guide (docs/guide) says what happens: its Python blocks run here, and its kernels are assembled. Its C++ blocks are one
program, which the build makes and ctest runs (tools/docs/cpp_program.py)."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyptx import Kernel, PtxError, _ptx

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools" / "docs"))
from pages import Block, pages, read, shown  # noqa: E402

LIBRARIES = ("torch", "jax", "ml_dtypes", "triton")


def check_output(block: Block, printed: str) -> None:
    for output in block.shown:
        if output.language == "ptx":
            rest = iter(line.strip() for line in printed.splitlines())
            for line in filter(None, map(str.strip, output.text.splitlines())):
                assert line == "…" or line in rest, f"{output.place}: `{line}` is not printed there:\n{printed}"
        else:
            assert shown(printed) == shown(output.text), f"{output.place}: it prints\n{printed}"


def run_python(block: Block, scope: dict[str, Any]) -> None:
    code = compile("\n" * (block.line - 1) + block.text, str(ROOT / "docs" / "guide" / f"{block.page}.md"), "exec")
    if "gpu" in block.flags and _ptx.why_no_gpu() is not None:
        return
    if any(flag in LIBRARIES and importlib.util.find_spec(flag) is None for flag in block.flags):
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if "raises" in block.flags:
            with pytest.raises(PtxError) as error:
                exec(code, scope)
            printed.write(str(error.value))
        else:
            exec(code, scope)
    check_output(block, printed.getvalue())


def run_console(block: Block, folder: Path) -> None:
    if "unrun" in block.flags:
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        program, *arguments = shlex.split(line)
        assert program == "pyptx", f"{block.place}: nothing runs `{line}`"
        done = subprocess.run(
            [sys.executable, "-m", "pyptx", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert shown(done.stdout + done.stderr) == shown(expected), f"{block.place}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> None:
    monkeypatch.chdir(tmp_path)  # pages save kernels
    scope: dict[str, Any] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for block in read(page):
            if block.language == "python":
                run_python(block, scope)
            elif block.language == "console":
                run_console(block, tmp_path)
    assemble_all(scope, request)


def assemble_all(scope: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """ptxas takes every kernel that the page has traced, those too that the executor does not run yet."""
    kernels = [held for held in scope.values() if isinstance(held, Kernel)]
    texts = {module.text for held in kernels for module in held._launches.traces.modules.values()}
    if not texts:
        return
    ptxas: Callable[..., str] = request.getfixturevalue("ptxas")  # what ran has run; without it the closing lines say so
    for text in texts:
        target = re.search(r"^\.target (\w+)", text, re.MULTILINE)
        assert target is not None
        ptxas(text, target[1])


def test_every_page_is_in_the_contents() -> None:
    linked = set(re.findall(r"\]\((\w+)\.md\)", (ROOT / "docs" / "guide" / "README.md").read_text()))
    assert linked == {page.stem for page in pages()} - {"README"}


def test_the_pictures_are_what_the_library_says_now() -> None:
    import pictures

    drawn = {name: draw() for name, draw in pictures.PICTURES.items()}
    committed = {path.stem: path.read_text() for path in pictures.FOLDER.glob("*.svg")}
    assert drawn == committed, "tools/docs/pictures.py draws them again"
    shown_on_pages = {name for page in pages() for name in re.findall(r"\]\(pictures/(\w+)\.svg\)", page.read_text())}
    assert shown_on_pages == set(drawn)
