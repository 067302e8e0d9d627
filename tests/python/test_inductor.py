"""What torch's compiler makes of a kernel's call: a call of its plan, where that goes."""

import pytest

torch = pytest.importorskip("torch")

from launching import add, scale, value_and_index  # noqa: E402

from pyptx import differentiable_kernel  # noqa: E402


def compiled(function, *inputs, **options):
    """The result, and the code that Inductor wrote."""
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    result, codes = run_and_get_code(torch.compile(function, fullgraph=True, **options), *inputs)
    return result, "\n".join(codes)


def calls_plan(code):
    return any(" = pyptx_plan_" in line for line in code.splitlines() if "__import__" not in line)


def test_a_kernel_with_one_output_is_a_call_of_its_plan():
    x, y = torch.arange(64.0), torch.ones(64)
    result, code = compiled(lambda a, b: add(a, b) * 2, x, y)
    assert torch.equal(result, (x + y) * 2)
    assert calls_plan(code) and "pyptx.launch.default(" not in code


def test_scalars_go_with_the_call():
    x = torch.arange(64.0)
    result, code = compiled(lambda a: scale(a, factor=3.0), x)
    assert torch.equal(result, 3 * x)
    assert calls_plan(code) and "scalars=" in code


def test_what_is_not_contiguous_is_copied_by_the_compiler():
    x, y = torch.arange(128.0)[::2], torch.arange(64.0).reshape(8, 8).t().reshape(-1)
    result, code = compiled(lambda a, b: add(a, b), x, y)
    assert torch.equal(result, x + y) and calls_plan(code)


def test_sizes_may_be_symbols():
    torch._dynamo.reset()
    call = torch.compile(lambda a, b: add(a, b), fullgraph=True, dynamic=True)
    for n in (64, 96, 32 * 17):
        assert torch.equal(call(torch.arange(float(n)), torch.ones(n)), torch.arange(float(n)) + 1)


def test_several_outputs_stay_the_operator():
    x = torch.arange(32.0)
    (value, index), code = compiled(lambda a: value_and_index(a), x)
    assert torch.equal(value, x) and index.tolist() == list(range(32))
    assert not calls_plan(code)


def test_a_kernel_with_a_gradient():
    function = differentiable_kernel(add, lambda a, b, g: (scale(g, factor=1.0), scale(g, factor=1.0)))
    torch._dynamo.reset()
    x = torch.arange(64.0, requires_grad=True)
    torch.compile(lambda a: function(a, torch.ones(64)).sum())(x).backward()
    assert torch.equal(x.grad, torch.ones(64))
