"""The package itself: quick to import, thin, and with what a C++ project needs."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pyptx
from pyptx import _ptx

PACKAGE = Path(pyptx.__file__).parent


def run(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(PACKAGE.parent), "PATH": ""}
    command = [sys.executable, *arguments, *(["-c", code] if code else [])]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_importing_loads_no_framework_and_no_gpu() -> None:
    code = """if True:
        import sys, pyptx
        from pyptx import kernel, ptx, reg, smem, types, specs
        heavy = {"numpy", "jax", "jaxlib", "torch", "inspect", "dataclasses", "ml_dtypes"} & set(sys.modules)
        gpu = [line for line in open("/proc/self/maps") if "libcuda" in line]
        print(sorted(heavy), gpu)
    """
    done = run(code=code)
    assert (done.stdout, done.stderr, done.returncode) == ("[] []\n", "", 0)


def test_every_public_name_of_the_specification_is_there() -> None:
    from pyptx import jax_support, kernel, specs, torch_support  # noqa: F401
    from pyptx.kernel import Kernel, TensorSpec, TmaDescriptorHandle  # noqa: F401

    assert (
        callable(pyptx.kernel)
        and callable(pyptx.intrinsic)
        and callable(pyptx.detect_arch)
        and callable(pyptx.differentiable_kernel)
    )
    for name in ("Tile", "TensorMap", "Layout", "reg", "smem", "ptx", "types", "__version__"):
        assert hasattr(pyptx, name)


def test_submodules_are_loaded_when_they_are_asked_for() -> None:
    code = """if True:
        import sys, pyptx
        lazy = ("emitter", "ir", "parser", "spec", "specs", "jax_support", "torch_support")
        print([name for name in lazy if f"pyptx.{name}" in sys.modules])
        print(pyptx.parser.parse(".version 8.5\\n.target sm_90\\n").version, callable(pyptx.spec.strict), "ir" in dir(pyptx))
        try:
            pyptx.nothing
        except AttributeError as error:
            print(error)
    """
    done = run(code=code)
    said = "[]\nVersion(major=8, minor=5) True True\nmodule 'pyptx' has no attribute 'nothing'\n"
    assert (done.stdout, done.stderr) == (said, "")


def test_every_name_that_is_listed_is_there() -> None:
    code = """if True:
        import importlib, pyptx
        assert {*pyptx.__all__, *pyptx._LAZY} <= {*dir(pyptx)} and "codegen" not in dir(pyptx)
        for name in dir(pyptx):
            getattr(pyptx, name)
        for name in (*pyptx._LAZY, "errors", "inst", "kernel", "ptx", "reg", "smem", "types", "ir.types", "parser.lexer"):
            module = importlib.import_module(f"pyptx.{name}")
            for each in getattr(module, "__all__", ()):
                assert hasattr(module, each), (name, each)
        exec("from pyptx import *")
    """
    done = run(code=code)
    assert (done.stdout, done.stderr) == ("", "")


def test_what_programs_import_from_ptx() -> None:
    names = "addr bar bra cp ctaid_x ctaid_y cvta else_ expr file_ global_ptrs if_ inst kloop label loc loop param pipe pragma"
    names += " range_ raw ret scope special sreg var warp mov add sub mul mad shl shr and_ or_ xor_ not_ setp selp cvt ld st"
    for name in names.split():
        assert hasattr(pyptx.ptx, name) and name in pyptx.ptx.__all__, name


def strings_of(path: Path) -> list[tuple[int, str]]:
    """Every string of the code that is no docstring."""
    tree = ast.parse(path.read_text())
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
    ]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_python_writes_no_ptx_of_its_own(path) -> None:
    opcodes = "|".join(sorted(_ptx.opcodes(), key=len, reverse=True))
    instruction = re.compile(rf"^\s*(@!?%\w+\s+)?({opcodes})(\.\w+)+(\s|;|$)|^\s*({opcodes})\s+[%\[{{]")
    found = [(line, text) for line, text in strings_of(path) if any(instruction.match(row) for row in text.splitlines())]
    assert found == []


def test_the_command_line_says_where_the_cpp_library_is(tmp_path) -> None:
    assert run("-m", "pyptx", "--version").stdout.strip() == pyptx.__version__
    for option, folder in (("--cmake-dir", "lib/cmake/ptx"), ("--includedir", "include")):
        done = run("-m", "pyptx", option)
        if (PACKAGE / folder).is_dir():
            assert done.stdout.strip() == str(PACKAGE / folder)
        else:
            assert done.returncode == 1 and "source tree" in done.stderr
    assert run("-m", "pyptx").returncode == 2


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
