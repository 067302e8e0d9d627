"""A launch attribute is a line of ptx/tile/launch_attributes.inc, and there is no other list: one more line is seen in C++'s
specs, the image, its record and the driver's attributes, in Python's keywords, its stub and the guide."""

import ast
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyptx import Tile, _ptx, kernel, ptx
from pyptx.kernel import Kernel
from pyptx.types import f32

ROOT = Path(__file__).parents[2]
PACKAGE = Path(inspect.getfile(kernel)).parent
LINES = ROOT / "ptx/tile/launch_attributes.inc"
NAMES = re.findall(r"^PTX_LAUNCH_ATTRIBUTE\((\w+),", LINES.read_text(), re.MULTILINE)
ANOTHER = 'PTX_LAUNCH_ATTRIBUTE(prompt, 9,\n                     "it is prompt",\n                     "the kernel is prompt")\n'


def waits(X, Y):
    ptx.inst.griddepcontrol.wait()
    ptx.ret()


def declared(**attributes):
    return kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32, **attributes)(waits)


def guide_with(attributes):
    path = ROOT / "tools/docs/launch_attributes.py"
    spec = importlib.util.spec_from_file_location("launch_attributes", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool.with_table(tool.PAGE.read_text(), attributes), tool.PAGE.read_text()


# ---- those that there are


def test_python_has_every_line():
    assert NAMES and list(_ptx.launch_attributes) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_authors_can_say_it(name):
    for makes in (kernel, Kernel.__init__):
        keyword = inspect.signature(makes).parameters[name]
        assert keyword.kind is keyword.KEYWORD_ONLY and keyword.default is False and keyword.annotation == "bool"
    assert f"``{name}``: {_ptx.launch_attributes[name][0]}" in (kernel.__doc__ or "")


@pytest.mark.parametrize("name", NAMES)
def test_it_reaches_the_image_and_every_record_of_it(name, tmp_path):
    plain, image = declared()._image_for((), {}), declared(**{name: True})._image_for((), {})
    assert [getattr(plain, other) for other in NAMES] == [False] * len(NAMES)
    assert [other for other in NAMES if getattr(image, other)] == [name]
    assert image.key != plain.key
    again = _ptx.Image.from_record(image.ptx, image.meta)
    assert getattr(again, name) is True and again.key == image.key
    image.save(str(tmp_path / "saved"), targets=[])
    assert getattr(_ptx.load(str(tmp_path / "saved")), name) is True


@pytest.mark.parametrize("name", NAMES)
def test_a_call_takes_a_flag(name):
    with pytest.raises(TypeError, match=f"{name}"):
        declared(**{name: 1})


def stub_classes(text):
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}


@pytest.mark.parametrize("name", NAMES)
def test_the_stub_names_it(name):
    classes = stub_classes((PACKAGE / "_ptx.pyi").read_text())
    stub = next(node for node in classes["Image"].body if isinstance(node, ast.FunctionDef) and node.name == name)
    assert ast.get_docstring(stub) == f"Whether {_ptx.launch_attributes[name][0]}."
    assert f"{name}: bool" in [ast.unparse(node) for node in classes["LaunchAttributes"].body]


def test_the_guide_is_written():
    made, page = guide_with(_ptx.launch_attributes)
    assert made == page, "./dev docs writes the table again"


@pytest.mark.parametrize("wrong", [{"prompt": True}, {"cooperativ": True}])
def test_an_attribute_that_is_none_is_refused(wrong):
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{next(iter(wrong))}'"):
        declared(**wrong)
    module = declared().traced()
    with pytest.raises(ValueError, match=f"there is no launch attribute `{next(iter(wrong))}`"):
        _ptx.Image(module, inputs=1, outputs=1, attributes=wrong)


# ---- one more


CPP = """
#include <cstdio>
#include <string>
#include "ptx/launch/attribute_record.hpp"
#include "ptx/launch/options.hpp"
#include "ptx/write/boundary.hpp"
#include "ptx/write/kernel.hpp"
int main() {
  const ptx::KernelSpec spec{.name = "k", .prompt = true};
  ptx::Boundary boundary;
  boundary.attributes = ptx::attributes_of(spec);
  ptx::CompileOptions options{};
  ptx::set_attributes(options, boundary.attributes);
  std::string record;
  ptx::launch::put_attributes(record, ptx::attributes_of(options), ptx::launch_attributes);
  ptx::cuda::ByteReader in{.bytes = record};
  ptx::LaunchAttributes again;
  const bool is_read = static_cast<bool>(ptx::launch::get_attributes(in, again, ptx::launch_attributes));
  for (const ptx::LaunchAttribute& row : ptx::launch_attributes)
    std::printf("%s %u %d\\n", row.name.data(), row.number, is_read && again.*row.value);
}
"""


def test_another_line_is_seen_in_cpp(tmp_path):
    built = [ROOT / "build" / preset for preset in ("release", "debug", "fast", "gpu")]
    build = next((path for path in built if (path / "generated/ptx/inst.hpp").exists()), None)
    if build is None or shutil.which("g++") is None:
        pytest.skip("no build of the C++ library here (./dev demo makes one), or no g++")
    copy = tmp_path / "ptx/tile/launch_attributes.inc"
    copy.parent.mkdir(parents=True)
    copy.write_text(LINES.read_text().replace("#undef", ANOTHER + "#undef"))
    (tmp_path / "main.cpp").write_text(CPP)
    sources = [
        tmp_path / "main.cpp",
        ROOT / "ptx/launch/attribute_record.cpp",
        ROOT / "ptx/cuda/sections.cpp",
        *(ROOT / "ptx/base").glob("*.cpp"),
    ]
    sources = [source for source in sources if not source.name.endswith("_test.cpp")]
    folders = [f"-I{folder}" for folder in (tmp_path, ROOT, build / "generated")]
    made = tmp_path / "main"
    command = ["g++", "-std=c++20", "-O0", "-Wno-missing-field-initializers", *folders, *sources, "-o", made]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = subprocess.run([made], capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[0] for line in said] == [*NAMES, "prompt"]
    assert said[-1] == "prompt 9 1" and all(line.endswith(" 0") for line in said[:-1])


PYTHON = """
import importlib, inspect, sys
import pyptx
from pyptx import _ptx
_ptx.launch_attributes["prompt"] = ("it is prompt", "the kernel is prompt")
_ptx.LaunchAttributes.prompt = False
module = importlib.reload(sys.modules["pyptx.kernel"])
print(inspect.signature(module.kernel).parameters["prompt"])
print(inspect.signature(module.Kernel.__init__).parameters["prompt"])
print("``prompt``: it is prompt" in module.kernel.__doc__)
@module.kernel(grid=1, block=32, in_specs=(), out_specs=(), prompt=True)
def says():
    pyptx.ptx.ret()
try:
    says._image_for((), {})
except ValueError as error:  # as far as the core, which has its own lines
    print(error)
from nanobind import stubgen
stub = stubgen.StubGen(_ptx, include_private=True, patterns=stubgen.load_pattern_file(sys.argv[1]))
stub.put(_ptx.LaunchAttributes, "LaunchAttributes", _ptx)
print(stub.get())
"""


def test_another_line_is_seen_in_python():
    pytest.importorskip("nanobind")
    command = [sys.executable, "-c", PYTHON, str(ROOT / "python/binding/stubs.txt")]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    keyword, of_class, documented, refused, *stub = [line for line in done.stdout.splitlines() if "-->" not in line]
    assert keyword == of_class == "prompt: 'bool' = False" and documented == "True"
    assert "there is no launch attribute `prompt`" in refused
    made = stub_classes("\n".join(stub))
    assert "prompt: bool" in [ast.unparse(node) for node in made["LaunchAttributes"].body]


def test_another_line_is_seen_in_the_guide():
    made, _ = guide_with({**_ptx.launch_attributes, "prompt": ("it is prompt", "the kernel is prompt")})
    assert "| `prompt=True` | the kernel is prompt |" in made


# ---- nowhere else


def test_there_is_no_other_list():
    """No file names them all, besides what is written of the table; the driver's own names stand in its door."""
    endings = {".hpp", ".cpp", ".inc", ".def", ".py", ".txt"}
    sources = [path for room in ("ptx", "python") for path in (ROOT / room).rglob("*") if path.suffix in endings]
    texts = {path: path.read_text() for path in sources if not path.name.endswith("_test.cpp")}
    lists = [path.relative_to(ROOT) for path, text in texts.items() if all(re.search(rf"\b{name}\b", text) for name in NAMES)]
    assert lists == [LINES.relative_to(ROOT)]
