"""A launch attribute is a row of ptx/tile/launch_attributes.hpp; what Python and the documentation say of it follows, or fails
here. What C++ says of it is the compiler's to find."""

import ast
import inspect
from pathlib import Path

import pytest

from pyptx import Tile, _ptx, kernel, ptx
from pyptx.kernel import Kernel
from pyptx.types import f32

ROOT = Path(__file__).parents[2]
PACKAGE = Path(inspect.getfile(kernel)).parent
NAMES = sorted(_ptx.launch_attributes)
CPP = ("ptx/write/kernel.hpp", "ptx/launch/options.hpp")


def waits(X, Y):
    ptx.inst.griddepcontrol.wait()
    ptx.ret()


def declared(**attributes):
    return kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32, **attributes)(waits)


def test_the_rows_are_those_of_the_header():
    header = (ROOT / "ptx/tile/launch_attributes.hpp").read_text()
    assert NAMES and all(f"  bool {name} = false;" in header for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_authors_can_say_it(name):
    for makes in (kernel, Kernel.__init__):
        keyword = inspect.signature(makes).parameters[name]
        assert keyword.kind is keyword.KEYWORD_ONLY and keyword.default is False and keyword.annotation == "bool"
    functions = [node for node in ast.parse((PACKAGE / "kernel.py").read_text()).body if isinstance(node, ast.FunctionDef)]
    overloads = [node for node in functions if node.name == "kernel" and node.args.kwonlyargs]
    assert len(overloads) >= 2 and all(name in [arg.arg for arg in node.args.kwonlyargs] for node in overloads)
    assert f"``{name}``" in (kernel.__doc__ or "")
    for path in CPP:
        assert f"bool {name} = false;" in (ROOT / path).read_text(), path


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


@pytest.mark.parametrize("name", NAMES)
def test_stub_and_documentation_name_it(name):
    image = next(
        node
        for node in ast.parse((PACKAGE / "_ptx.pyi").read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == "Image"
    )
    stub = next(node for node in image.body if isinstance(node, ast.FunctionDef) and node.name == name)
    assert ast.get_docstring(stub) == f"Whether {_ptx.launch_attributes[name]}."
    assert f"| `{name}=True` |" in (ROOT / "docs/guide/launching.md").read_text()
    assert f"`{name}`" in (ROOT / "docs/guide/declaring.md").read_text()


def test_an_attribute_that_is_none_is_refused():
    module = declared().traced()
    with pytest.raises(ValueError, match="there is no launch attribute `prompt`"):
        _ptx.Image(module, inputs=1, outputs=1, attributes={"prompt": True})
