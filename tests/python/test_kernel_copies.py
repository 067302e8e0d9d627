"""A kernel is its definition, as a function is: copies are itself, and what goes to another process is its name."""

import copy
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from launching import add, scale

from pyptx import Kernel, Tile, kernel, ptx
from pyptx.types import f32

HERE = Path(__file__).parent


def body(X):
    ptx.ret()


under_another_name = kernel(in_specs=(Tile(32, f32),), out_specs=(), grid=1)(body)


class Holder:
    @kernel
    def inside():
        ptx.ret()


def test_copies_are_the_kernel():
    assert copy.copy(add) is add and copy.deepcopy(add) is add
    held = {"k": [add, scale]}
    assert copy.deepcopy(held)["k"] == [add, scale]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_a_name(protocol):
    for each in (add, scale):
        assert pickle.loads(pickle.dumps(each, protocol)) is each
    assert b"launching" in pickle.dumps(add, protocol) and len(pickle.dumps(add, protocol)) < 200


def test_names_that_are_not_the_functions(monkeypatch):
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or type(sys)(__name__))
    for name in ("under_another_name", "Holder"):
        monkeypatch.setattr(sys.modules[__name__], name, globals()[name], raising=False)
    assert pickle.loads(pickle.dumps(under_another_name)) is under_another_name
    assert pickle.loads(pickle.dumps(Holder.__dict__["inside"])) is Holder.__dict__["inside"]


def local():
    @kernel
    def k():
        ptx.ret()

    return k


@pytest.mark.parametrize(
    "make", [local, lambda: kernel(lambda: ptx.ret()), lambda: Kernel(body)], ids=["closure", "lambda", "without a name"]
)
def test_one_without_a_name_says_so(make):
    with pytest.raises(TypeError, match=r"kernel `.*` cannot be pickled: module `.*` has no such name for it") as error:
        pickle.dumps(make())
    assert error.value.kind == "argument_kind" and "at the top of a module" in str(error.value)
    assert copy.deepcopy(made := make()) is not None and made is not None


def test_modules_of_torch_hold_kernels():
    torch = pytest.importorskip("torch")

    class Layer(torch.nn.Module):
        def __init__(self, op):
            super().__init__()
            self.op, self.weight = op, torch.nn.Parameter(torch.ones(32))

        def forward(self, x):
            with torch.no_grad():
                return self.op(x, self.weight)

    layer = Layer(add)
    again = copy.deepcopy(layer)
    assert again.op is add and again.weight is not layer.weight
    assert again(torch.ones(32)).tolist() == [2.0] * 32
    globals()["Layer"], Layer.__qualname__ = Layer, "Layer"
    sys.modules.setdefault(__name__, sys.modules["launching"].__class__(__name__)).Layer = Layer
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    assert torch.load(file, weights_only=False).op is add


def test_another_process_finds_it(tmp_path):
    script = (
        "import multiprocessing, numpy\n"
        "from launching import add\n"
        "from pyptx import Tile, kernel, ptx, reg\n"
        "from pyptx.types import u32\n"
        "@kernel(in_specs=(), out_specs=(Tile(1, u32),), grid=1, block=1)\n"
        "def of_main(Y):\n"
        "    (py,) = ptx.global_ptrs(Y)\n"
        "    ptx.inst.st.global_.u32(ptx.addr(py), reg.scalar(u32, init=7))\n"
        "    ptx.ret()\n"
        "def work(op, out):\n"
        "    x = numpy.ones(32, numpy.float32)\n"
        "    out.put(float(op(x, x)[0]) if op.__name__ == 'add' else int(op()[0]))\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    out = context.Queue()\n"
        "    for op in (add, of_main):\n"
        "        process = context.Process(target=work, args=(op, out))\n"
        "        process.start()\n"
        "        print(out.get(timeout=120))\n"
        "        process.join()\n"
    )
    path = tmp_path / "program.py"
    path.write_text(script)
    paths = os.pathsep.join([str(HERE), str(HERE.parents[1] / "python")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment, timeout=240)
    assert done.stdout.split() == ["2.0", "7"], done.stderr
