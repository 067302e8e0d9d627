"""Kernels that change an input, called by their handles: torch's operators must say what they change, and give no input back."""

import pytest

torch = pytest.importorskip("torch")

from launching import WARP, offset  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, kernel, ptx, reg, torch_support  # noqa: E402
from pyptx._handles import image_of_handle, plan_of_call  # noqa: E402
from pyptx.torch_support import handles, plans  # noqa: E402
from pyptx.types import f32  # noqa: E402

ONE = (1, 1, 1)
TILES = (Tile(64, f32), Tile(64, f32))


def ramp(n=64):
    return torch.arange(n).float()


@kernel(
    in_specs=(Tile("N", f32), Tile("N", f32)),
    out_specs=(Tile("N", f32), Tile("N", f32)),
    grid=lambda N: N // WARP,
    block=WARP,
    input_output_aliases={1: 0},
)
def add_into(X, SUM, SAME, DIFFERENCE):
    """SUM += X, and what SUM was without X."""
    px, psum, psame, pd = ptx.global_ptrs(X, SUM, SAME, DIFFERENCE)
    at = offset(4)
    for p in (px, psum, psame, pd):
        p += at
    x, total, d = reg.scalar(f32), reg.scalar(f32), reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.ld.global_.f32(total, ptx.addr(psum))
    ptx.inst.sub.f32(d, total, x)
    ptx.inst.add.f32(total, total, x)
    ptx.inst.st.global_.f32(ptx.addr(psame), total)
    ptx.inst.st.global_.f32(ptx.addr(pd), d)
    ptx.ret()


@pytest.fixture(scope="module")
def handle():
    image = add_into._plan_for({}).bind([((64,), "float32")] * 2)[0]
    return {"cubin_handle": image.handle, "out_specs": TILES, "out_shape_env": {}, "grid": (2, 1, 1), "block": (WARP, 1, 1)}


def operator(handle):
    return torch_support.get_or_register_torch_op(**handle, cluster=ONE, smem_bytes=0)


def callers(handle):
    return {
        "at once": lambda x, y: torch_support.call_kernel_via_torch(x, y, **handle),
        "through its operator": lambda x, y: torch_support.call_kernel_via_torch_compile(x, y, **handle),
        "through the function of its operator": operator(handle),
    }


@pytest.mark.parametrize("which", ["at once", "through its operator", "through the function of its operator"])
def test_a_call_changes_its_input_and_gives_it_back(handle, which):
    total = 3 * ramp()
    before = total._version
    changed, difference = callers(handle)[which](ramp(), total)
    assert changed is total and torch.equal(total, 4 * ramp()) and torch.equal(difference, 2 * ramp())
    assert total._version > before, "autograd is told"


@pytest.mark.parametrize("which", ["at once", "through its operator", "through the function of its operator"])
def test_a_call_that_a_mode_of_torch_sees(handle, which):
    """It goes through an operator, which may not return its input."""
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if function.namespace == "pyptx":
                seen.append((function, result))
            return result

    total, call = 3 * ramp(), callers(handle)[which]
    with Watch():
        changed, difference = call(ramp(), total)
    assert changed is total and torch.equal(total, 4 * ramp()) and torch.equal(difference, 2 * ramp())
    assert [(function.name(), result) for function, result in seen] == [("pyptx::launch_", None)]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("which", ["through its operator", "through the function of its operator"])
def test_compiled_whole(handle, which, backend):
    """What is read of a tensor after the call is what the kernel wrote there."""
    call = callers(handle)[which]

    def f(x, total):
        mine = total * 3
        changed, difference = call(x, mine)
        again, _ = call(x, total)
        return mine + 0, changed, difference, again * 2

    torch._dynamo.reset()
    total = ramp()
    mine, changed, difference, again = torch.compile(f, fullgraph=True, backend=backend)(ramp(), total)
    assert torch.equal(mine, 4 * ramp()) and torch.equal(changed, 4 * ramp()) and torch.equal(difference, 2 * ramp())
    assert torch.equal(total, 2 * ramp()) and torch.equal(again, 4 * ramp())


def test_compiled_gives_the_input_itself_back(handle):
    torch._dynamo.reset()
    total = ramp()
    changed, _ = torch.compile(operator(handle), fullgraph=True)(ramp(), total)
    assert changed.data_ptr() == total.data_ptr() and torch.equal(total, 2 * ramp())


def test_torchs_own_checks_of_its_operator(handle):
    outputs = [((64,), "float32")] * 2
    plan = plan_of_call(image_of_handle(handle["cubin_handle"], 2, 2, (2, 1, 1), (WARP, 1, 1)), outputs, outputs)
    key = plans.key_of(plan)
    torch.library.opcheck(torch.ops.pyptx.launch_.default, (key, "", [ramp()], [ramp(), torch.empty(64)], []))
    with pytest.raises((RuntimeError, pyptx.PtxError), match=r"writes its argument 1; `pyptx::launch_` is the operator"):
        torch.ops.pyptx.launch.default(key, "", [ramp(), ramp()], [])
    operator(handle)
    assert not [name for name in handles._ops if str(handle["cubin_handle"]) in name], "no operator denies that it changes"


def test_exported_with_its_kernel(handle):
    call = operator(handle)

    class Program(torch.nn.Module):
        def forward(self, x, total):
            mine = total * 3
            _, difference = call(x, mine)
            return mine + 0, difference

    program = torch.export.export(Program(), (ramp(), ramp()), strict=True)
    assert [str(node.target) for node in program.graph.nodes if "pyptx" in str(node.target)] == ["pyptx.exported_.default"]
    mine, difference = program.module()(ramp(), ramp())
    assert torch.equal(mine, 4 * ramp()) and torch.equal(difference, 2 * ramp())


@pytest.mark.parametrize("which", ["at once", "through its operator", "through the function of its operator"])
def test_an_input_that_requires_a_gradient_is_not_changed(handle, which):
    total, call = ramp().requires_grad_(), callers(handle)[which]
    with pytest.raises(pyptx.PtxError, match=r"argument 1 .*`add_into` requires a gradient"):
        call(ramp(), total)
    assert torch.equal(total.detach(), ramp())
    with torch.no_grad():
        assert call(ramp(), total)[0] is total


def test_compiled_with_an_input_that_requires_a_gradient(handle):
    torch._dynamo.reset()
    with pytest.raises(Exception, match=r"argument 1 .*`add_into` requires a gradient"):
        torch.compile(operator(handle), fullgraph=True, backend="aot_eager")(ramp(), ramp().requires_grad_())


@pytest.mark.parametrize("which", ["at once", "through its operator", "through the function of its operator"])
def test_an_input_that_lies_otherwise_is_refused(handle, which):
    """A copy of it would be changed in its place."""
    total = ramp(128)[::2]
    with pytest.raises(ValueError, match=r"argument 1 .*strides are \(2,\)"):
        callers(handle)[which](ramp(), total)
    assert torch.equal(total, ramp(128)[::2])


def test_plans_of_handles_have_keys_of_their_own(handle):
    image = image_of_handle(handle["cubin_handle"], 2, 2, (2, 1, 1), (WARP, 1, 1))
    spec = [((64,), "float32")] * 2
    plan = plan_of_call(image, spec, spec)
    assert plan is plan_of_call(image, spec, spec) and plan.specialise.aliases == {1: 0}
    assert str(image.handle) in plan.specialise.content()
