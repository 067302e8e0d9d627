"""Calls with torch tensors: eager, compiled, with gradients, by handle. No GPU needed: tests/gpu has the rest."""

import threading

import pytest

torch = pytest.importorskip("torch")

from launching import add, copy_kernel, scale, value_and_index, zeros_like_matmul  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, _ptx, jax_support, kernel, ptx, torch_support, types  # noqa: E402
from pyptx.types import f32  # noqa: E402


def ramp(n=64, dtype=torch.float32):
    return torch.arange(n).to(dtype)


def image_of(k, *specs):
    return k._plan_for({}).bind(list(specs))[0]


@kernel(in_specs=(Tile("N", f32), Tile("N", f32)), out_specs=(Tile("N", f32), Tile("N", f32)), grid=lambda N: N // 32, block=32)
def square_backward(X, DY, DX, UNUSED):
    """The gradient of x * x is 2 * x * dy; and a second output, for an input that needs none."""
    from launching import offset

    from pyptx import reg

    px, pdy, pdx, pu = ptx.global_ptrs(X, DY, DX, UNUSED)
    at = offset(4)
    px += at
    pdy += at
    pdx += at
    pu += at
    x, dy = reg.scalar(f32), reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.ld.global_.f32(dy, ptx.addr(pdy))
    ptx.inst.mul.f32(x, x, dy)
    ptx.inst.add.f32(x, x, x)
    ptx.inst.st.global_.f32(ptx.addr(pdx), x)
    ptx.inst.st.global_.f32(ptx.addr(pu), x)
    ptx.ret()


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
def square(X, Y):
    from launching import offset

    from pyptx import reg

    px, py = ptx.global_ptrs(X, Y)
    at = offset(4)
    px += at
    py += at
    x = reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.mul.f32(x, x, x)
    ptx.inst.st.global_.f32(ptx.addr(py), x)
    ptx.ret()


# -- eager


def test_tensors_in_tensors_out():
    y = add(ramp(), ramp())
    assert type(y) is torch.Tensor and y.dtype == torch.float32 and y.is_contiguous()
    assert torch.equal(y, 2 * ramp())
    assert torch.equal(add(ramp(96), ramp(96)), 2 * ramp(96))
    assert torch.equal(add(ramp(), ramp()), 2 * ramp())


def test_parameters_are_tensors():
    with torch.no_grad():
        assert torch.equal(add(torch.nn.Parameter(ramp()), ramp()), 2 * ramp())


def test_several_outputs_are_a_tuple():
    y, index = value_and_index(ramp(32))
    assert torch.equal(y, ramp(32))
    assert index.dtype == torch.uint32 and index.tolist() == list(range(32))


@pytest.mark.parametrize(
    "dtype", ["f16", "bf16", "f64", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "b64", "e4m3", "e5m2"]
)
def test_outputs_have_the_dtype_of_their_tile(dtype):
    ptx_type = types.from_name(dtype)
    torch_dtype = getattr(torch, _ptx.numpy_name(ptx_type))
    x = torch.arange(32 * ptx_type.bits // 8, dtype=torch.uint8).view(torch_dtype)
    y = copy_kernel(ptx_type)(x)
    assert y.dtype == torch_dtype
    assert torch.equal(y.view(torch.uint8), x.view(torch.uint8))


def test_numpy_arrays_beside_tensors():
    numpy = pytest.importorskip("numpy")
    assert torch.equal(add(ramp(), numpy.arange(64, dtype=numpy.float32)), 2 * ramp())


def test_each_call_has_its_scalars():
    for factor in (3.0, -2.0, 3.0):
        assert torch.equal(scale(ramp(), factor=factor), factor * ramp())
        assert torch.equal(torch.compile(lambda a: scale(a, factor=factor), fullgraph=True)(ramp()), factor * ramp())  # noqa: B023


def test_views_that_are_contiguous_are_fine():
    whole = ramp(256).view(4, 64)
    assert torch.equal(add(whole[1], whole[2]), whole[1] + whole[2])
    assert torch.equal(zeros_like_matmul(torch.ones(32, 1).expand(32, 1), torch.ones(1, 4)), torch.zeros(32, 4))


@pytest.mark.parametrize(
    ("call", "kind", "builtin", "says"),
    [
        pytest.param(
            lambda: add(ramp(dtype=torch.float64), ramp()),
            "argument_dtype",
            TypeError,
            ["argument 0 (`A`)", "float64", "float32"],
            id="dtype",
        ),
        pytest.param(
            lambda: add(ramp().view(8, 8), ramp()),
            "argument_rank",
            ValueError,
            ["argument 0 (`A`)", "given: float32[8, 8]"],
            id="rank",
        ),
        pytest.param(lambda: copy_kernel(f32)(ramp()), "argument_dim", ValueError, ["32", "64"], id="fixed dim"),
        pytest.param(
            lambda: add(ramp(), ramp(32)),
            "dim_conflict",
            ValueError,
            ["argument 1 (`B`)", "`N`", "32 here, 64 from argument 0"],
            id="dims",
        ),
        pytest.param(
            lambda: zeros_like_matmul(torch.ones(8, 32).t(), torch.ones(8, 4)),
            "argument_layout",
            ValueError,
            ["argument 0 (`A`)", "strides are (1, 32) elements; the kernel takes row-major (8, 1)", ".contiguous()"],
            id="transposed",
        ),
        pytest.param(lambda: add(ramp(128)[::2], ramp()), "argument_layout", ValueError, ["strides are (2,)"], id="strided"),
        pytest.param(
            lambda: add(ramp(), 3), "argument_kind", TypeError, ["argument 1 (`B`) of kernel `add` is an `int`"], id="int"
        ),
        pytest.param(
            lambda: add(ramp()), "argument_count", TypeError, ["takes 2 tensors (`A`, `B`); the call has 1"], id="count"
        ),
        pytest.param(
            lambda: add(ramp().to("meta"), ramp()), "argument_device", ValueError, ["argument 0 (`A`)", "`meta`"], id="meta"
        ),
        pytest.param(
            lambda: add(ramp().to_sparse(), ramp()),
            "argument_layout",
            ValueError,
            ["argument 0 (`A`)", "torch.sparse_coo"],
            id="sparse",
        ),
        pytest.param(
            lambda: copy_kernel(f32)(torch.zeros(32, dtype=torch.complex64)),
            "argument_dtype",
            TypeError,
            ["complex64"],
            id="complex",
        ),
        pytest.param(
            lambda: add(ramp().requires_grad_(), ramp()),
            "argument_gradient",
            RuntimeError,
            ["argument 0 (`A`) of kernel `add` requires a gradient", "differentiable_kernel", "torch.no_grad()"],
            id="gradient",
        ),
    ],
)
def test_a_wrong_call_says_what_is_wrong(call, kind, builtin, says):
    add(ramp(), ramp())  # also when the last call was a good one
    with pytest.raises(builtin) as raised:
        call()
    assert isinstance(raised.value, pyptx.PtxError)
    assert raised.value.kind == kind
    for part in says:
        assert part in str(raised.value)
    assert raised.value.where[0] == __file__


def test_without_gradients_a_tensor_may_require_one():
    x = ramp().requires_grad_()
    with torch.no_grad():
        assert torch.equal(add(x, x), 2 * ramp())
    with torch.inference_mode():
        assert torch.equal(add(ramp(), ramp()), 2 * ramp())
    assert torch.equal(add(x.detach(), ramp()), 2 * ramp())


def test_many_threads():
    wrong = []

    def call(n):
        for _ in range(20):
            if not torch.equal(add(ramp(n), ramp(n)), 2 * ramp(n)):
                wrong.append(n)

    threads = [threading.Thread(target=call, args=(32 * n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_torch_without_the_exchange_interface(tmp_path):
    """torch 2.9 and before: tensors are seen through their attributes. Played by hiding the capsule before the first call of a
    process."""
    import subprocess
    import sys
    from pathlib import Path

    here = Path(__file__).parent
    program = f"""
import sys
sys.path[:0] = [{str(here)!r}, {str(Path(pyptx.__file__).parents[1])!r}]
import torch
torch.Tensor.__dlpack_c_exchange_api__ = None
from launching import add
x = torch.arange(64.0)
assert torch.equal(add(x, x), 2 * x) and torch.equal(add(x, x), 2 * x)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- what torch must see


def test_fake_tensors_give_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    with FakeTensorMode():
        y = add(torch.empty(64), torch.empty(64))
    assert isinstance(y, FakeTensor) and y.shape == (64,)


def test_a_dispatch_mode_sees_the_kernel():
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Watch():
        y = add(ramp(), ramp())
    assert torch.equal(y, 2 * ramp())
    assert any("pyptx.launch" in name for name in seen)


def test_vmap_launches_once_for_each_element():
    x, y = torch.randn(3, 64), torch.randn(64)
    assert torch.equal(torch.vmap(add, in_dims=(0, None))(x, y), x + y)
    assert torch.equal(torch.vmap(add, in_dims=(1, None), out_dims=1)(x.mT.contiguous(), y), (x + y).mT)
    nested = torch.vmap(torch.vmap(add, in_dims=(0, None)), in_dims=(0, 0))
    many, few = torch.randn(2, 3, 64), torch.randn(2, 64)
    assert torch.equal(nested(many, few), many + few[:, None])
    with pytest.raises(pyptx.PtxError, match=r"(?s)batch of 0 elements of `torch.vmap`.*test_launch_torch.py"):
        torch.vmap(add)(torch.ones(0, 64), torch.ones(0, 64))
    with pytest.raises(pyptx.PtxError, match=r"kernel `add` is called with a tensor of `torch.vmap`.*give new tensors"):
        torch.vmap(lambda x: add(x, y, out=torch.empty(64)))(x)


def test_compiled_whole():
    torch._dynamo.reset()

    @torch.compile(fullgraph=True)
    def f(a, b):
        return add(a, b) * 2

    assert torch.equal(f(ramp(), ramp()), 4 * ramp())
    assert torch.equal(f(ramp(96), ramp(96)), 4 * ramp(96))  # another specialisation
    assert torch.equal(f(ramp(160), ramp(160)), 4 * ramp(160))


def test_compiled_with_several_outputs_and_keyword_arguments():
    torch._dynamo.reset()

    @torch.compile(fullgraph=True)
    def f(a):
        y, index = value_and_index(a)
        return scale(y, factor=3.0), index

    y, index = f(ramp(32))
    assert torch.equal(y, 3 * ramp(32)) and index.tolist() == list(range(32))


def test_compiled_inputs_may_have_any_strides():
    torch._dynamo.reset()

    @torch.compile(fullgraph=True)
    def f(a):
        return add(a.t().reshape(-1), a.t().reshape(-1))

    a = ramp().view(8, 8)
    assert torch.equal(f(a), 2 * a.t().reshape(-1))


def test_compiled_calls_are_checked_too():
    torch._dynamo.reset()

    @torch.compile(fullgraph=True)
    def f(a, b):
        return add(a, b)

    with pytest.raises(Exception, match=r"argument 0 .*float64; the kernel takes float32"):
        f(ramp(dtype=torch.float64), ramp())
    with pytest.raises(Exception, match="requires a gradient; the kernel has no backward"):
        f(ramp().requires_grad_(), ramp())


def test_the_operator_passes_torchs_own_checks():
    image = image_of(add, ((64,), "float32"), ((64,), "float32"))
    op = getattr(torch.ops.pyptx, torch_support.handles.operator_of(image, [((64,), "float32")])).default
    assert str(image.handle) in op.name()
    tests = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static")
    torch.library.opcheck(op, ([ramp(), ramp()],), test_utils=tests)


# -- gradients


def test_a_differentiable_kernel_has_its_gradient():
    def backward(x, dy):
        return square_backward(x, dy)[0]

    f = pyptx.differentiable_kernel(square, backward)
    x = ramp().requires_grad_()
    f(x).sum().backward()  # an expanded gradient
    assert torch.equal(x.grad, 2 * ramp())
    assert f.forward_kernel is square and f.backward_kernel is backward
    with torch.no_grad():
        assert torch.equal(f(x), ramp() ** 2)


def test_saved_inputs_and_gradients_are_chosen():
    def forward(x, other):
        return square(x)

    f = torch_support.differentiable_kernel(forward, square_backward, save_for_backward=[0], num_grad_inputs=1)
    x, other = ramp().requires_grad_(), ramp().requires_grad_()
    f(x, other).sum().backward()
    assert torch.equal(x.grad, 2 * ramp()) and other.grad is None
    g = torch_support.differentiable_kernel(forward, lambda x, dy: square_backward(x, dy)[0], save_for_backward=[0])
    with pytest.raises(ValueError, match="gives 1 gradients; 2 inputs need one"):
        g(ramp().requires_grad_(), ramp()).sum().backward()


def test_a_differentiable_kernel_compiles():
    torch._dynamo.reset()
    f = pyptx.differentiable_kernel(square, lambda x, dy: square_backward(x, dy)[0])

    @torch.compile(fullgraph=True)
    def loss(x):
        return f(x).sum()

    x = ramp().requires_grad_()
    loss(x).backward()
    assert torch.equal(x.grad, 2 * ramp())


# -- by handle


def by_handle(**more):
    image = image_of(add, ((64,), "float32"), ((64,), "float32"))
    spec = {
        "cubin_handle": image.handle,
        "out_specs": (Tile("N", f32),),
        "out_shape_env": {"N": 64},
        "grid": (2, 1, 1),
        "block": (32, 1, 1),
    }
    return spec | more


def test_calls_by_handle():
    for call in (torch_support.call_kernel_via_torch, torch_support.call_kernel_via_torch_compile):
        assert torch.equal(call(ramp(), ramp(), **by_handle()), 2 * ramp())
    op = torch_support.get_or_register_torch_op(**by_handle(), cluster=(1, 1, 1), smem_bytes=0)
    assert torch.equal(torch.compile(op, fullgraph=True)(ramp(), ramp()), 2 * ramp())


def test_calls_by_handle_are_checked():
    call = torch_support.call_kernel_via_torch
    with pytest.raises(ValueError, match="at least one tensor"):
        call(**by_handle())
    with pytest.raises(KeyError, match="no kernel with handle 42 is registered"):
        call(ramp(), **by_handle(cubin_handle=42))
    with pytest.raises(ValueError, match=r"has the grid \(2, 1, 1\); the call gives \(3, 1, 1\)"):
        call(ramp(), ramp(), **by_handle(grid=(3, 1, 1)))
    with pytest.raises(ValueError, match=r"argument 0 \(`A`\) of kernel `add`: strides are \(2,\) elements"):
        call(ramp(128)[::2], ramp(), **by_handle())


def test_a_registered_text_is_launched():
    image = image_of(add, ((64,), "float32"), ((64,), "float32"))
    handle = jax_support.get_cubin_registry().register("// another text\n" + image.ptx, "add", grid=(2, 1, 1), block=(32, 1, 1))
    call = torch_support.call_kernel_via_torch
    assert torch.equal(call(ramp(), ramp(), **by_handle(cubin_handle=handle)), 2 * ramp())
    with pytest.raises(ValueError, match=r"argument 1 .* of kernel `add`: strides are \(2,\) elements"):
        call(ramp(), ramp(128)[::2], **by_handle(cubin_handle=handle))
    with pytest.raises(TypeError, match="elements of type complex64"):
        call(ramp().to(torch.complex64), ramp(), **by_handle(cubin_handle=handle))


def test_outputs_of_calls_by_handle_are_made_by_the_one_call(monkeypatch):
    """torch_support makes tensors for what torch makes up, none for a launch."""
    monkeypatch.setattr("pyptx.torch_support.handles.empty", None)
    assert torch.equal(torch_support.call_kernel_via_torch(ramp(), ramp(), **by_handle()), 2 * ramp())


def test_what_is_a_tensor():
    assert torch_support.is_torch_tensor(ramp()) and not torch_support.is_torch_tensor(1)
    assert torch_support.any_torch_tensors([1, ramp()]) and not torch_support.any_torch_tensors([1])
    assert torch_support.extract_input_shapes([ramp(), torch.ones(2, 3)]) == [(64,), (2, 3)]


def test_a_plan_called_again():
    plan = add._plan_for({})
    a, b = ramp(), 2 * ramp()
    assert plan.again((), None, a, b[:32]) is None  # not like the last call
    plan(a, b)
    assert torch.equal(plan.again((), None, a, b), 3 * ramp())
    folded = b.view(8, 8)
    assert plan.again((), None, a, folded) is None
    assert torch.equal(plan.again((), (None, ((64,), (1,))), a, folded), 3 * ramp())
    between = torch.zeros(65)[1:].copy_(a)
    for other in (a.double(), a.clone().requires_grad_(), between, torch.ones(128)[::2], a.numpy(), 3):
        assert plan.again((), None, other, b) is None
        assert plan.again((), None, a, other) is None
    with torch.no_grad():
        assert torch.equal(plan.again((), None, a.clone().requires_grad_(), b), 3 * ramp())
    assert plan.again((), None, a) is None and plan.again((), None, a, b, b) is None
    assert torch.vmap(lambda x: add(x, b))(a[None]).shape == (1, 64)
    for wrong in ((None,), ((1, 2), None), (((64,), (1, 1)), None), ((("64",), (1,)), None), 3):
        with pytest.raises(TypeError, match="values of the wrong type"):
            plan.again((), wrong, a, b)
    with pytest.raises(TypeError, match="takes scalars, ways and tensors; 1 arguments"):
        plan.again(())
