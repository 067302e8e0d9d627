"""Programs that torch exports, which another process runs: the kernels travel in them."""

import base64
import json
import os
import shutil
import zlib

import pytest

torch = pytest.importorskip("torch")

from launching import WARP, add, offset, scale, value_and_index  # noqa: E402
from test_torch_ops import accumulate, ramp, run, times  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, _ptx, kernel, ptx, reg  # noqa: E402
from pyptx.types import f32  # noqa: E402


class Model(torch.nn.Module):
    def forward(self, a, b):
        y, index = value_and_index(scale(add(a, b), factor=3.0))
        return y + 1, index


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=1, block=WARP, input_output_aliases={0: 0})
def double(X, Y):
    """Doubles 32 numbers in place: no input is read only."""
    px, py = ptx.global_ptrs(X, Y)
    at = offset(4)
    px += at
    py += at
    x = reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.add.f32(x, x, x)
    ptx.inst.st.global_.f32(ptx.addr(py), x)
    ptx.ret()


class InPlace(torch.nn.Module):
    def forward(self, a, b):
        sum_ = accumulate(a * 1, b)
        return sum_, add(a, b, out=torch.empty_like(a)), double(a * 1)


EXAMPLE = (ramp(32), ramp(32))


def launches(program):
    return [node for node in program.graph.nodes if str(node.target).startswith("pyptx.")]


@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_program_runs_here_and_elsewhere(tmp_path, strict):
    program = torch.export.export(Model(), EXAMPLE, strict=strict)
    assert len(launches(program)) == 3
    y, index = program.module()(*EXAMPLE)
    assert torch.equal(y, 6 * ramp(32) + 1) and index.tolist() == list(range(32))
    torch.export.save(program, tmp_path / "model.pt2")
    run(f"""
import torch, pyptx.torch_support
ramp = torch.arange(32.0)
program = torch.export.load({str(tmp_path / "model.pt2")!r})
for call in (program.module(), torch.compile(program.module()), program.run_decompositions().module()):
    y, index = call(ramp, ramp)
    assert torch.equal(y, 6 * ramp + 1) and index.tolist() == list(range(32))
y, index = program.module()(2 * ramp, ramp)
assert torch.equal(y, 9 * ramp + 1)
""")


def test_elsewhere_without_the_operators_in_cpp(tmp_path):
    torch.export.save(torch.export.export(Model(), EXAMPLE), tmp_path / "model.pt2")
    run(f"""
from pyptx import _ptx
_ptx.register_torch_operators = lambda: "played"
import torch, pyptx.torch_support
ramp = torch.arange(32.0)
y, index = torch.export.load({str(tmp_path / "model.pt2")!r}).module()(ramp, ramp)
assert torch.equal(y, 6 * ramp + 1) and index.tolist() == list(range(32))
""")


@pytest.mark.parametrize("strict", [False, True])
def test_kernels_that_write_their_arguments(tmp_path, strict):
    program = torch.export.export(InPlace(), EXAMPLE, strict=strict)
    torch.export.save(program, tmp_path / "model.pt2")
    run(f"""
import torch, pyptx.torch_support
ramp = torch.arange(32.0)
a = ramp.clone()
for y in torch.export.load({str(tmp_path / "model.pt2")!r}).module()(a, ramp):
    assert torch.equal(y, 2 * ramp)
assert torch.equal(a, ramp)
""")


def test_sizes_are_constant():
    dynamic = ({0: torch.export.Dim("n", min=2)}, {0: torch.export.Dim("n", min=2)})

    class Add(torch.nn.Module):
        def forward(self, a, b):
            return add(a, b)

    with pytest.raises(pyptx.PtxError, match=r"dimension 0 of argument 0 of kernel `add` is dynamic .* constant sizes"):
        torch.export.export(Add(), (ramp(), ramp()), dynamic_shapes=dynamic, strict=False)
    with pytest.raises(Exception, match="constant"):
        torch.export.export(Add(), (ramp(), ramp()), dynamic_shapes=dynamic, strict=True)
    with pytest.raises(TypeError, match="float64"):
        torch.export.export(Add(), (ramp(), ramp(dtype=torch.float64)), strict=False)


def test_the_same_kernel_is_exported_the_same():
    first, second = (launches(torch.export.export(Model(), EXAMPLE)) for _ in range(2))
    assert [node.args[0] for node in first] == [node.args[0] for node in second]


def test_two_kernels_of_one_name_in_one_program(tmp_path):
    twice, thrice = times(2), times(3)

    class Both(torch.nn.Module):
        def forward(self, a):
            return twice(a), thrice(a)

    torch.export.save(torch.export.export(Both(), (ramp(),)), tmp_path / "model.pt2")
    run(f"""
import torch, pyptx.torch_support
a, b = torch.export.load({str(tmp_path / "model.pt2")!r}).module()(torch.arange(64.0))
assert torch.equal(a, 2 * torch.arange(64.0)) and torch.equal(b, 3 * torch.arange(64.0))
""")


def test_other_tensors_than_the_exported_ones_are_refused():
    node = launches(torch.export.export(Model(), EXAMPLE))[0]
    with pytest.raises(RuntimeError, match=r"64.*32|32.*64"):
        torch.ops.pyptx.launch(node.args[0], node.args[1], [ramp(), ramp()], [])


def repacked(payload, **changes):
    record = json.loads(zlib.decompress(base64.b64decode(payload))) | changes
    return base64.b64encode(zlib.compress(json.dumps(record).encode(), 9)).decode()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda payload: payload[:40], "is not a kernel"),
        (lambda payload: "no base64", "is not a kernel"),
        (lambda payload: base64.b64encode(zlib.compress(b"[]")).decode(), "is not a kernel"),
        (lambda payload: repacked(payload, version=99), r"version \(99, "),
        (lambda payload: repacked(payload, ptx=""), "holds another kernel than"),
    ],
)
def test_a_payload_that_is_none(spoil, says):
    node = launches(torch.export.export(Model(), EXAMPLE))[0]
    with pytest.raises(RuntimeError, match=says):
        torch.ops.pyptx.launch("a" * 64, spoil(node.args[1]), list(EXAMPLE), [])
    assert not _ptx.knows_torch_kernel("a" * 64)


@pytest.mark.skipif(shutil.which(os.environ.get("CXX", "g++")) is None, reason="no C++ compiler for AOTInductor")
def test_aot_inductor(tmp_path):
    packages = []
    for model in (Model(), InPlace()):
        program = torch.export.export(model, EXAMPLE)
        path = str(tmp_path / f"{type(model).__name__}.pt2")
        packages.append(str(torch._inductor.aoti_compile_and_package(program, package_path=path)))
    run(f"""
import torch, pyptx.torch_support
ramp = torch.arange(32.0)
y, index = torch._inductor.aoti_load_package({packages[0]!r})(ramp, ramp)
assert torch.equal(y, 6 * ramp + 1) and index.tolist() == list(range(32))
a = ramp.clone()
for y in torch._inductor.aoti_load_package({packages[1]!r})(a, ramp):
    assert torch.equal(y, 2 * ramp)
assert torch.equal(a, ramp)
""")
