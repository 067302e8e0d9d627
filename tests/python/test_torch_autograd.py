"""torch's gradients of every mode: what a kernel has none of is refused; and tensors that torch shows as they do not lie."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import add, scale, value_and_index

from pyptx import differentiable_kernel

torch = pytest.importorskip("torch")
fw = torch.autograd.forward_ad

ONES = torch.ones(32)


def no_tangent():
    return pytest.raises(
        RuntimeError, match="has a tangent of forward-mode differentiation; kernels have no derivative of that mode"
    )


differentiable = differentiable_kernel(add, lambda a, b, g: (g, g))


def plain(x):
    return add(x, ONES)


def both(x):
    return differentiable(x, ONES)


@pytest.mark.parametrize("f", [plain, both], ids=["kernel", "differentiable"])
@pytest.mark.parametrize("before", ["first", "after a good call"])
def test_forward_mode_is_refused(f, before):
    if before != "first":
        f(ONES)
    with no_tangent() as error:
        torch.func.jvp(f, (ONES,), (ONES,))
    assert error.value.kind == "argument_gradient" and "differentiable_kernel" in str(error.value)
    with no_tangent():
        torch.func.jvp(lambda x: f(2 * x).sum(), (ONES,), (ONES,))
    with no_tangent():
        torch.func.linearize(f, ONES)[1](ONES)
    with fw.dual_level():
        dual = fw.make_dual(ONES, ONES)
        with no_tangent():
            f(dual)
        with no_tangent(), torch.no_grad():
            f(2 * dual)
        f(ONES), f(fw.unpack_dual(dual).primal), f(dual.detach())  # these have no tangents
        with no_tangent():
            f(torch.nn.Parameter(ONES.clone()) * dual)
    f(ONES)


@pytest.mark.parametrize("f", [plain, both], ids=["kernel", "differentiable"])
def test_jacobians_of_forward_mode_are_refused(f):
    for transform in (torch.func.jacfwd(f), torch.func.jacfwd(torch.func.jacfwd(lambda x: f(x).sum()))):
        with pytest.raises(RuntimeError, match=r"tangent of forward-mode|torch\.vmap|requires a gradient"):
            transform(ONES)
    with pytest.raises(RuntimeError, match=r"tangent of forward-mode|torch\.vmap|requires a gradient"):
        torch.autograd.functional.jacobian(f, ONES, strategy="forward-mode", vectorize=True)
    with pytest.raises(RuntimeError, match=r"tangent of forward-mode|torch\.vmap|requires a gradient"):
        torch.func.hessian(lambda x: f(x).sum())(ONES)


def test_transforms_of_a_backward_that_calls_plain_kernels():
    scaled = differentiable_kernel(add, lambda a, b, g: (add(g, g), None))
    assert torch.func.grad(lambda x: scaled(x, ONES).sum())(ONES).tolist() == [2.0] * 32
    assert torch.func.vjp(lambda x: scaled(x, ONES), ONES)[1](ONES)[0].tolist() == [2.0] * 32
    x = ONES.clone().requires_grad_()
    (first,) = torch.autograd.grad(scaled(x, ONES).sum(), x, create_graph=True)
    assert first.tolist() == [2.0] * 32


def test_forward_mode_outside_of_reverse_mode():
    grad = torch.func.grad(lambda x: both(x).sum())
    assert grad(ONES).tolist() == [1.0] * 32
    with no_tangent():
        torch.func.jvp(grad, (ONES,), (ONES,))
    with no_tangent():
        torch.func.grad(lambda x: torch.func.jvp(both, (x,), (ONES,))[1].sum())(ONES)


def test_tangents_of_what_is_written_are_refused():
    with fw.dual_level():
        dual = fw.make_dual(torch.zeros(32), ONES)
        for inputs in ((ONES, ONES), (ONES.numpy(), ONES.numpy())):
            with pytest.raises(RuntimeError, match=r"has a tangent of forward-mode|requires a gradient"):
                add(*inputs, out=dual)


def test_forward_mode_under_compile_is_refused():
    compiled = torch.compile(lambda x: add(x, ONES), backend="eager")
    compiled(ONES)
    with fw.dual_level(), pytest.raises(Exception, match="forward-mode"):
        compiled(fw.make_dual(ONES, ONES))
    with pytest.raises(Exception, match=r"forward-mode|requires a gradient"):
        torch.func.jvp(compiled, (ONES,), (ONES,))
    with pytest.raises(Exception, match=r"forward-mode|requires a gradient"):
        torch.compile(lambda x: torch.func.jvp(plain, (x,), (ONES,))[1], backend="eager")(ONES)
    assert compiled(ONES).tolist() == [2.0] * 32


# -- exported programs


class Exported(torch.nn.Module):
    def forward(self, x):
        return add(2 * x, x) + 1


class InPlace(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        add(x, x, out=out)
        return out * 2


@pytest.mark.parametrize("model", [Exported(), InPlace()], ids=["new", "out"])
def test_an_exported_program_refuses_to_drop_a_gradient(model, tmp_path):
    program = torch.export.export(model, (ONES,))
    wanted = model(ONES).tolist()
    run = program.module()
    path = tmp_path / "program.pt2"
    torch.export.save(program, path)
    loaded = torch.export.load(path).module()
    for f in (run, loaded):
        assert f(ONES).tolist() == wanted
        x = ONES.clone().requires_grad_()
        with pytest.raises(RuntimeError, match=r"kernel `add` requires a gradient; the kernel has no backward") as error:
            f(x)
        assert error.value.kind == "argument_gradient"
        with torch.no_grad():
            assert f(x).tolist() == wanted
        with torch.inference_mode():
            assert f(ONES).tolist() == wanted
        with pytest.raises(RuntimeError, match="requires a gradient"):
            torch.func.grad(lambda x, f=f: f(x).sum())(ONES)
        with pytest.raises(RuntimeError, match="has a tangent of forward-mode"):
            torch.func.jvp(f, (ONES,), (ONES,))
    code = (
        "import sys, torch, pyptx.torch_support\n"
        "pyptx.torch_support.register_operators()\n"
        "f = torch.export.load(sys.argv[1]).module()\n"
        "print(f(torch.ones(32)).sum().item())\n"
        "try:\n    f(torch.ones(32, requires_grad=True))\n"
        "except RuntimeError as error:\n    print(error.kind)\n"
    )
    package = Path(__file__).parents[2] / "python"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, env={"PYTHONPATH": str(package)}
    )
    assert done.stdout.split() == [str(sum(wanted)), "argument_gradient"], done.stderr


def test_an_exported_program_compiles():
    run = torch.export.export(Exported(), (ONES,)).module()
    compiled = torch.compile(run, backend="aot_eager", fullgraph=True)
    assert compiled(ONES).tolist() == Exported()(ONES).tolist()


# -- numpy inputs, torch outputs


def test_out_is_checked_whatever_the_inputs_are():
    x, y = np.ones(32, np.float32), np.ones(32, np.float32)
    leaf = torch.zeros(32, requires_grad=True)
    for out in (leaf, leaf * 1, torch.nn.Parameter(torch.zeros(32))):
        with pytest.raises(RuntimeError, match="`out` of kernel `add` requires a gradient") as error:
            add(x, y, out=out)
        assert error.value.kind == "argument_gradient"
        with torch.no_grad():
            add(x, y, out=out)
        assert out.detach().tolist() == [2.0] * 32


def test_autograd_notices_that_out_was_written():
    x = np.ones(32, np.float32)
    saved = torch.ones(32)
    result = (torch.ones(32, requires_grad=True) * saved).sum()
    assert saved._version == 0
    add(x, x, out=saved)
    assert saved._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.backward()


def test_out_that_torch_must_see_written():
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = np.ones(32, np.float32)
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(torch.zeros(32))
    for out in (fake,):
        with pytest.raises(TypeError, match="`out` of kernel `add` is a `FakeTensor` that torch has to see written"):
            add(x, x, out=out)
    with pytest.raises(TypeError, match="that torch has to see written"):
        torch.func.vmap(lambda out: add(x, x, out=out))(torch.zeros(2, 32))
    with pytest.raises(ValueError, match="lazy conjugate or negative"):
        add(x, x, out=torch._neg_view(torch.zeros(32)))


def test_inference_tensors_are_written():
    x = np.ones(32, np.float32)
    with torch.inference_mode():
        inferred = torch.zeros(32)
        assert add(x, x, out=inferred).tolist() == [2.0] * 32
        assert add(torch.ones(32), torch.ones(32), out=inferred).tolist() == [2.0] * 32
    assert add(x, x, out=inferred).tolist() == [2.0] * 32
    assert add(torch.ones(32), torch.ones(32), out=inferred).tolist() == [2.0] * 32


# -- lazily negated tensors


def negatives():
    base = torch.arange(32, dtype=torch.float32)
    yield torch._neg_view(base)
    yield torch.complex(base, base).conj().imag  # apart in memory
    yield torch._neg_view(torch.arange(64, dtype=torch.float32))[32:]
    yield torch._neg_view(base).view(4, 8).view(32)


def test_negated_tensors_are_read_as_they_are_or_refused():
    for warm in (False, True):
        for x in negatives():
            if warm:
                add(ONES, ONES), scale(ONES, factor=2.0), value_and_index(ONES)
            for call in (lambda x=x: add(x, ONES), lambda x=x: add(ONES, x), lambda x=x: scale(x, factor=1.0)):
                with pytest.raises(ValueError, match=r"resolve_neg|row-major|contiguous") as error:
                    call()
                assert error.value.kind == "argument_layout"
            with pytest.raises(ValueError):
                add(ONES, ONES, out=x)
            resolved = x.resolve_neg().contiguous()
            assert add(resolved, ONES).tolist() == (x + 1).tolist()
    # Through torch's dispatcher they come as they are.
    for x in negatives():
        assert torch.compile(lambda x: add(x, ONES), backend="eager")(x).tolist() == (x + 1).tolist()


times = differentiable_kernel(add, add, save_for_backward=[0], num_grad_inputs=1)


def test_a_differentiable_kernel_says_what_it_is_and_can_be_pickled():
    assert repr(times) == "<differentiable kernel add, backward add>" and times.__name__ == "add"
    again = pickle.loads(pickle.dumps(times))
    assert again.forward_kernel is add and again.options == {"save_for_backward": [0], "num_grad_inputs": 1}


def scaled_backward(dy, *, factor):
    return scale(dy, factor=factor)


scaled = differentiable_kernel(scale, scaled_backward, save_for_backward=[])


@pytest.mark.parametrize("how", ["eager", "transforms", "compiled", "numpy"])
def test_keywords_go_to_both_kernels(how):
    if how == "numpy":
        assert (scaled(np.ones(32, np.float32), factor=3) == 3).all()
        return
    x = torch.ones(32, requires_grad=True)
    assert (scaled(x.detach(), factor=3) == 3).all()
    for factor in (3, 5):
        if how == "transforms":
            gradient = torch.func.grad(lambda x, by=factor: scaled(x, factor=by).sum())(x.detach())
        else:
            f = torch.compile(scaled, fullgraph=True, backend="eager") if how == "compiled" else scaled
            (gradient,) = torch.autograd.grad(f(x, factor=factor).sum(), x)
        assert (gradient == factor).all()
    with pytest.raises(TypeError, match="no template parameter or dimension `fctor`; it takes `N`, `factor`"):
        scaled(x, fctor=3)
    with pytest.raises(ValueError, match="`out=` of `scale` is written without a gradient"):
        scaled(x, factor=3, out=torch.empty(32))
    out = torch.empty(32)
    assert scaled(x.detach(), factor=3, out=out) is out and (out == 3).all()


def test_a_backward_gives_a_gradient_for_each_input():
    x = torch.ones(32, requires_grad=True)
    for gradients, number in [(lambda a, b, g: (g, g, g), 3), (lambda a, b, g: g, 1), (lambda a, b, g: (g, g, None), 3)]:
        with pytest.raises(ValueError, match=f"gives {number} gradients; 2 inputs need one"):
            differentiable_kernel(add, gradients)(x, x).sum().backward()
    with pytest.raises(ValueError, match="gives 3 gradients; 1 inputs need one"):
        differentiable_kernel(add, lambda a, b, g: (g, g, g), num_grad_inputs=1)(x, ONES).sum().backward()
    with pytest.raises(ValueError, match="num_grad_inputs is 3; the call has 2 inputs"):
        differentiable_kernel(add, lambda a, b, g: (g, g, g), num_grad_inputs=3)(x, x).sum().backward()
    differentiable_kernel(add, lambda a, b, g: [g, None], num_grad_inputs=1)(x, ONES).sum().backward()
    assert (x.grad == 1).all()
