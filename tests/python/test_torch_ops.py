"""`pyptx::launch` and `pyptx::launch_`, which stand for every kernel in torch's graphs."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from launching import WARP, add, copy_kernel, offset, one_block_too_many, repeat, scale, value_and_index  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, _ptx, kernel, ptx, reg, torch_support  # noqa: E402
from pyptx.torch_support import operators, plans, state  # noqa: E402
from pyptx.types import f32, f64  # noqa: E402

HERE = Path(__file__).parent
launch, launch_ = torch.ops.pyptx.launch.default, torch.ops.pyptx.launch_.default


def ramp(n=64, dtype=torch.float32):
    return torch.arange(n).to(dtype)


def key_of(k, **kwargs):
    return plans.key_of(k._bind(kwargs)[0])


def run(program, **environment):
    """What a program prints in another process."""
    paths = [str(HERE), str(Path(pyptx.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path[:0] = {paths!r}\n{program}"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def elementwise(name, dtype, operation):
    """A kernel Y = operation(X, Y's register), of 32 N elements."""
    size = dtype.bits // 8

    def body(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        at = offset(size)
        px += at
        py += at
        x = reg.scalar(dtype)
        getattr(ptx.inst.ld.global_, dtype.name)(x, ptx.addr(px))
        operation(x)
        getattr(ptx.inst.st.global_, dtype.name)(ptx.addr(py), x)
        ptx.ret()

    body.__name__ = name
    return kernel(in_specs=(Tile("N", dtype),), out_specs=(Tile("N", dtype),), grid=lambda N: N // WARP, block=WARP)(body)


def times(factor, dtype=f32):
    """Y = factor * X, without saying so in its name."""
    return elementwise("times", dtype, lambda x: getattr(ptx.inst.mul, dtype.name)(x, x, reg.scalar(dtype, init=float(factor))))


@kernel(
    in_specs=(Tile("N", f32), Tile("N", f32)),
    out_specs=(Tile("N", f32),),
    grid=lambda N: N // WARP,
    block=WARP,
    input_output_aliases={0: 0},
)
def accumulate(X, Y, SUM):
    """X += Y, in place."""
    px, py, ps = ptx.global_ptrs(X, Y, SUM)
    at = offset(4)
    px += at
    py += at
    ps += at
    x, y = reg.scalar(f32), reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(px))
    ptx.inst.ld.global_.f32(y, ptx.addr(py))
    ptx.inst.add.f32(x, x, y)
    ptx.inst.st.global_.f32(ptx.addr(ps), x)
    ptx.ret()


# -- the operators


def test_they_are_written_in_cpp_where_torch_allows_it():
    """torch 2.10 and later do."""
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    assert (state.why_in_python is None) == (version >= (2, 10))


def test_launch():
    assert torch.equal(launch(key_of(add), "", [ramp(), ramp()], [])[0], 2 * ramp())
    assert torch.equal(launch(key_of(add), "", [ramp(96), ramp(96)], [0])[0], 2 * ramp(96))
    y, index = launch(key_of(value_and_index), "", [ramp(32)], [])
    assert torch.equal(y, ramp(32)) and index.dtype == torch.uint32 and index.tolist() == list(range(32))


def test_inputs_are_put_in_row_major_order():
    x = ramp(128)[::2]
    assert torch.equal(launch(key_of(add), "", [x, ramp()], [])[0], x + ramp())
    out = torch.empty(64)
    launch_(key_of(add), "", [ramp(), x], [out], [])
    assert torch.equal(out, x + ramp())


def test_launch_into():
    out = torch.full((64,), -1.0)
    assert launch_(key_of(add), "", [ramp(), ramp()], [out], []) is None
    assert torch.equal(out, 2 * ramp())
    y, index = torch.empty(32), torch.empty(32, dtype=torch.uint32)
    launch_(key_of(value_and_index), "", [ramp(32)], [y, index], [])
    assert torch.equal(y, ramp(32)) and index.tolist() == list(range(32))


def test_launch_in_place():
    x = ramp()
    launch_(key_of(accumulate), "", [ramp()], [x], [])
    assert torch.equal(x, 2 * ramp())
    with pytest.raises((RuntimeError, pyptx.PtxError), match=r"writes its argument 0; `pyptx::launch_` is the operator"):
        launch(key_of(accumulate), "", [ramp(), ramp()], [])


def test_scalars():
    # A kernel of its own: without values a launch has those of the call that made the plan.
    more = {"in_specs": scale.in_specs, "out_specs": scale.out_specs, "grid": scale.grid, "block": scale.block}
    key = key_of(kernel(**more, raw_params=[("f32", "factor")])(scale.__wrapped__), factor=3.0)
    assert torch.equal(launch(key, "", [ramp()], [])[0], 3 * ramp())
    assert torch.equal(launch(key, "", [ramp()], [1, 0, 0])[0], 3 * ramp())
    assert torch.equal(launch(key, "", [ramp()], operators.pack((0x40000000,)))[0], 2 * ramp())
    for bits in (0, 1, 1 << 63, (1 << 64) - 1, None):
        pairs = operators.pack((bits, 7))
        assert all(-(1 << 63) <= number < 1 << 63 for number in pairs)
        assert operators.unpack(pairs) == (bits, 7)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: launch(key_of(add), "", [ramp(dtype=torch.float64), ramp()], []), "argument_dtype", "float64; the kernel takes"),
        (lambda: launch(key_of(add), "", [ramp(), ramp(32)], []), "dim_conflict", "32 here, 64 from argument 0"),
        (lambda: launch(key_of(add), "", [ramp()], []), "argument_count", "takes 2 tensors"),
        (lambda: launch("0" * 64, "", [ramp()], []), "unknown_kernel", "has the key `000"),
        (lambda: launch("0" * 64, "????", [ramp()], []), "bad_image", "is not a kernel"),
        (lambda: launch(key_of(scale, factor=1.0), "", [ramp()], [1]), "argument_count", "two numbers for each"),
        (lambda: launch(key_of(scale, factor=1.0), "", [ramp()], [2, 1, 1, 1, 1]), "argument_count", "scalar parameters"),
        (lambda: launch_(key_of(add), "", [ramp(), ramp()], [], []), "argument_count", "gives 1 tensors; the call has 0"),
        (lambda: launch_(key_of(add), "", [ramp(), ramp()], [torch.empty(32)], []), "argument_dim", "another shape"),
        (
            lambda: launch_(key_of(add), "", [ramp(), ramp()], [torch.empty(64, dtype=torch.float16)], []),
            "argument_dtype",
            "float16; the kernel writes float32",
        ),
        (lambda: launch_(key_of(add), "", [ramp(), ramp()], [torch.empty(128)[::2]], []), "argument_layout", "strides are (2,)"),
        (lambda: launch(key_of(one_block_too_many), "", [ramp(32)], []), "out_of_bounds", "out_of_bounds"),
    ],
)
def test_errors_are_torchs_and_carry_ours(call, kind, says):
    for _ in range(2):  # the second call finds what the first one left
        with pytest.raises(RuntimeError) as raised:
            call()
        assert says in str(raised.value)
        assert isinstance(raised.value.__cause__, pyptx.PtxError) and raised.value.__cause__.kind == kind


def test_an_error_of_the_kernels_own_python():
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: {64: 2}[N], block=WARP)
    def only_64(X, Y):
        ptx.ret()

    key = key_of(only_64)
    with pytest.raises(RuntimeError, match="96") as raised:
        launch(key, "", [ramp(96)], [])
    assert isinstance(raised.value.__cause__, KeyError)
    launch(key, "", [ramp()], [])


def test_eager_calls_that_torch_sees_raise_our_errors():
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False), pytest.raises(pyptx.PtxError, match="conflicting sizes") as raised:
        add(ramp(), ramp(32))
    assert raised.value.kind == "dim_conflict"
    with FlopCounterMode(display=False), pytest.raises(pyptx.PtxError) as raised:
        one_block_too_many(ramp(32))
    assert raised.value.kind == "out_of_bounds"


def test_many_threads():
    import threading

    wrong = []
    key = key_of(times(2))

    def call(n):
        for _ in range(20):
            if not torch.equal(launch(key, "", [ramp(n)], [])[0], 2 * ramp(n)):
                wrong.append(n)

    threads = [threading.Thread(target=call, args=(32 * n,)) for n in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_torchs_own_checks():
    torch.library.opcheck(launch, (key_of(add), "", [ramp(), ramp()], []))
    torch.library.opcheck(launch, (key_of(value_and_index), "", [ramp(32)], []))
    torch.library.opcheck(launch_, (key_of(add), "", [ramp(), ramp()], [torch.empty(64)], []))
    torch.library.opcheck(launch_, (key_of(accumulate), "", [ramp()], [ramp()], []))


# -- keys


def test_kernels_of_one_content_have_keys_of_their_own():
    first, second, third = times(2), times(2), times(3)
    keys = [key_of(k) for k in (first, second, third)]
    assert len(set(keys)) == 3 and keys == [key_of(k) for k in (first, second, third)]
    for key, factor in zip(keys, (2, 2, 3), strict=True):
        assert torch.equal(launch(key, "", [ramp()], [])[0], factor * ramp())


def test_keys_are_the_same_in_every_process():
    program = "from launching import *; from test_torch_ops import *; print(key_of(add), key_of(times(7)), key_of(times(8)))"
    keys = run(program).split()
    assert keys == run("import random\n" + program, PYTHONHASHSEED="7").split()
    assert len(set(keys)) == 3


def test_kernels_leave_no_operators_behind():
    x = ramp()

    def operators():
        return sum(name.startswith("pyptx::") for name in torch._C._dispatch_get_all_op_names())

    before = operators()
    for factor in range(20):
        assert torch.equal(times(factor)(x), factor * x)
        with torch.utils.flop_counter.FlopCounterMode(display=False):
            times(factor)(x)
    gc.collect()
    assert operators() == before


# -- compiled


def compiled(f, **options):
    """The function, compiled whole, and what counts how often it was."""
    import torch._dynamo.testing

    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("inductor")
    return torch.compile(f, fullgraph=True, backend=counter, **options), counter


def test_compiled_once_for_many_sizes():
    f, counter = compiled(lambda a, b: add(a, b) * 2, dynamic=True)
    for n in (64, 96, 160, 32, 64):
        assert torch.equal(f(ramp(n), ramp(n)), 4 * ramp(n))
    assert counter.frame_count == 1
    f, counter = compiled(lambda a, b: add(a, b) * 2)
    for n in (64, 96, 160, 32, 64):  # the second size makes it dynamic
        assert torch.equal(f(ramp(n), ramp(n)), 4 * ramp(n))
    assert counter.frame_count == 2


def test_compiled_sizes_are_guarded():
    f, counter = compiled(copy_kernel(f32), dynamic=True)
    assert torch.equal(f(ramp(32)), ramp(32))
    with pytest.raises(Exception, match=r"32.*64|64.*32"):
        f(ramp(64))
    g, counter = compiled(lambda a, b: add(a, b[: a.shape[0]]), dynamic=True)
    for n in (64, 96):
        assert torch.equal(g(ramp(n), ramp(256)), 2 * ramp(n))
    assert counter.frame_count == 1


def test_compiled_with_numbers_that_change():
    f, _ = compiled(lambda a, factor: scale(a, factor=factor))
    for factor in (2.0, 3.0, 4.0):
        assert torch.equal(f(ramp(), factor), factor * ramp())
    f, _ = compiled(lambda a, r: repeat(a, R=r))
    for r in (1, 2, 3):
        assert torch.equal(f(ramp(32), r), ramp(32).expand(r, 32))


def test_compiled_by_themselves_kernels_have_graphs_of_their_own():
    """Not eight for all of them together, which is what torch keeps of a code object."""
    torch._dynamo.reset()
    x = torch.ones(WARP)
    for factor in range(2, 14):
        factored = times(factor)
        assert torch.compile(factored, fullgraph=True, backend="eager")(x)[0] == factor
        differentiable = torch_support.differentiable_kernel(factored, times(2 * factor), save_for_backward=[])
        y = x.clone().requires_grad_()
        torch.compile(differentiable, fullgraph=True, backend="eager")(y).sum().backward()
        assert y.grad[0] == 2 * factor


def test_compiled_kernels_in_turn():
    f, counter = compiled(lambda k, a: k(a))
    twice, thrice = times(2), times(3)
    for k, factor in ((twice, 2), (thrice, 3), (twice, 2)):
        assert torch.equal(f(k, ramp()), factor * ramp())
    assert counter.frame_count == 2


def test_compiled_with_out_and_in_place():
    def f(a, b, out):
        y = add(a, b, out=out)
        return y + 1, out * 2

    whole, _ = compiled(f)
    out = torch.empty(64)
    plus, doubled = whole(ramp(), ramp(), out)
    assert torch.equal(out, 2 * ramp()) and torch.equal(plus, 2 * ramp() + 1) and torch.equal(doubled, 4 * ramp())

    def g(x, y):
        base = x * 1
        changed = accumulate(base, y, out=base)
        accumulate(x, y)
        return base, changed

    whole, _ = compiled(g, dynamic=True)
    for n in (64, 96):
        x = ramp(n)
        base, changed = whole(x, ramp(n))
        assert torch.equal(x, 2 * ramp(n)) and torch.equal(base, 2 * ramp(n)) and torch.equal(changed, 2 * ramp(n))


def test_modes_see_out_and_in_place():
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False):
        out = torch.empty(64)
        assert add(ramp(), ramp(), out=out) is out and torch.equal(out, 2 * ramp())
        x = ramp()
        assert accumulate(x, ramp()) is x and torch.equal(x, 2 * ramp())
    for mode in ("real", "fake", "symbolic"):
        graph = make_fx(lambda x, y: accumulate(x * 1, y), tracing_mode=mode)(ramp(), ramp())
        assert any(node.target is launch_ for node in graph.graph.nodes)
        assert torch.equal(graph(ramp(), ramp()), 2 * ramp())
    with torch.inference_mode(), FlopCounterMode(display=False):
        assert torch.equal(accumulate(ramp(), ramp()), 2 * ramp())
    with FlopCounterMode(display=False), pytest.raises(pyptx.PtxError, match="`out` of kernel `add` requires a gradient"):
        add(ramp(), ramp(), out=ramp().requires_grad_())
    weight, x = torch.ones(64, requires_grad=True), ramp()
    y = weight * x
    with FlopCounterMode(display=False):
        accumulate(x, ramp())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_traced_by_make_fx():
    from torch.fx.experimental.proxy_tensor import make_fx

    for mode in ("real", "fake", "symbolic"):
        graph = make_fx(lambda a: add(a, a) + 1, tracing_mode=mode)(ramp())
        assert any(node.target is launch for node in graph.graph.nodes)
        assert torch.equal(graph(ramp()), 2 * ramp() + 1)
    assert torch.equal(graph(ramp(96)), 2 * ramp(96) + 1)


def test_a_graph_keeps_its_kernel():
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(lambda a: times(5)(a))(ramp())
    gc.collect()
    assert torch.equal(graph(ramp()), 5 * ramp())


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: add(ramp(dtype=torch.float64), ramp()), r"argument 0 .*float64; the kernel takes float32"),
        (lambda: add(ramp(), ramp(32)), r"conflicting sizes of dimension `N`"),
        (lambda: add(ramp().view(8, 8), ramp()), r"argument 0"),
        (lambda: add(ramp()), r"takes 2 tensors"),
        (lambda: add(ramp(), 3), r"argument 1 of kernel `add` is not a torch tensor"),
        (lambda: add(ramp().requires_grad_(), ramp()), r"requires a gradient; the kernel has no backward"),
        (lambda: accumulate(ramp(), ramp(), out=ramp()), r"writes to its argument 0; `out` is another tensor"),
        (lambda: add(ramp(), ramp(), out=ramp().requires_grad_()), r"`out` of kernel `add` requires a gradient"),
        (lambda: add(ramp(), ramp(), out=(ramp(), ramp())), r"gives 1 tensors; the call has 2"),
        (lambda: add(ramp(), ramp(), out=ramp(32)), r"dimension 0 is 64; the tensor for it has 32"),
        (lambda: add(ramp(), ramp(), unknown=3), r"no template parameter or dimension `unknown`"),
    ],
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_calls_say_what_is_wrong(call, says, dynamic):
    torch._dynamo.reset()
    with pytest.raises(Exception, match=says):
        torch.compile(call, fullgraph=True, dynamic=dynamic)()


def test_compiled_graphs_that_another_process_left(tmp_path):
    """torch caches what it compiled on disk, by the graph: kernels of one shape must not be taken for one another."""
    program = """
import torch, torch._inductor.config
from test_torch_ops import *
twice, thrice = times(2), times(3)
for k, factor in {order}:
    f = torch.compile(lambda a: k(a) + 1, fullgraph=True)
    assert torch.equal(f(ramp()), factor * ramp() + 1), factor
    torch._dynamo.reset()
print(torch._dynamo.utils.counters["inductor"]["fxgraph_cache_hit"])
"""
    same = """
import torch
from test_torch_ops import *
def build(n):
    # Kernels that differ in what no hash sees.
    class Factor:
        def __repr__(self): return "factor"
        def value(self): return float(n)
    factor = Factor()
    return elementwise("built", f32, lambda x: ptx.inst.mul.f32(x, x, reg.scalar(f32, init=factor.value())))
for n in {order}:
    k = build(n)
    assert torch.equal(torch.compile(lambda a: k(a) + 1, fullgraph=True)(ramp()), n * ramp() + 1), n
    torch._dynamo.reset()
"""
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path), "TORCHINDUCTOR_FX_GRAPH_CACHE": "1"}
    run(program.format(order="((twice, 2), (thrice, 3))"), **cache)
    assert int(run(program.format(order="((thrice, 3), (twice, 2))"), **cache)) == 2
    run(same.format(order="(2, 3)"), **cache)
    run(same.format(order="(3, 2)"), **cache)


# -- gradients


square = elementwise("square", f64, lambda x: ptx.inst.mul.f64(x, x, x))


@kernel(in_specs=(Tile("N", f64), Tile("N", f64)), out_specs=(Tile("N", f64),), grid=lambda N: N // WARP, block=WARP)
def times_twice(X, DY, DX):
    """DX = 2 * X * DY."""
    px, pdy, pdx = ptx.global_ptrs(X, DY, DX)
    at = offset(8)
    px += at
    pdy += at
    pdx += at
    x, dy = reg.scalar(f64), reg.scalar(f64)
    ptx.inst.ld.global_.f64(x, ptx.addr(px))
    ptx.inst.ld.global_.f64(dy, ptx.addr(pdy))
    ptx.inst.mul.f64(x, x, dy)
    ptx.inst.add.f64(x, x, x)
    ptx.inst.st.global_.f64(ptx.addr(pdx), x)
    ptx.ret()


def sample(n=32):
    return torch.randn(n, dtype=torch.float64, requires_grad=True)


def test_gradients():
    f = pyptx.differentiable_kernel(square, times_twice)
    assert torch.autograd.gradcheck(f, (sample(),))
    whole, _ = compiled(f, dynamic=True)
    for n in (32, 64):
        x = sample(n)
        whole(x).sum().backward()
        assert torch.equal(x.grad, 2 * x.detach())


def test_gradients_of_gradients():
    once = pyptx.differentiable_kernel(square, times_twice)
    x = sample()
    (gradient,) = torch.autograd.grad(once(x).sum(), x, create_graph=True)  # no error before it is asked for
    assert torch.equal(gradient, 2 * x.detach())
    with pytest.raises(pyptx.PtxError, match="kernel `times_twice`, which is a backward, has none"):
        torch.autograd.grad((gradient + x).sum(), x)
    with pytest.raises(pyptx.PtxError, match="gradient of a gradient"):
        torch.autograd.gradgradcheck(once, (sample(),))

    # d(2 x dy) = 2 dy dx + 2 x d(dy), which is the same kernel again.
    backward = pyptx.differentiable_kernel(times_twice, lambda x, dy, ddx: (times_twice(dy, ddx), times_twice(x, ddx)))
    twice = pyptx.differentiable_kernel(square, backward)
    assert torch.autograd.gradcheck(twice, (sample(),)) and torch.autograd.gradgradcheck(twice, (sample(),))


def test_gradients_of_torch_func():
    f = torch_support.differentiable_kernel(square, times_twice)
    x = sample().detach()
    assert torch.equal(torch.func.grad(lambda x: f(x).sum())(x), 2 * x)
    batch = torch.randn(2, 32, dtype=torch.float64)
    assert torch.equal(torch.vmap(f)(batch), batch * batch)
    assert torch.equal(torch.vmap(torch.func.grad(lambda x: f(x).sum()))(batch), 2 * batch)
    assert torch.equal(torch.func.grad(lambda x: torch.vmap(f)(x).sum())(batch), 2 * batch)
    assert torch.equal(torch.func.jacrev(f)(x), torch.diag(2 * x))


def test_without_gradients_there_is_no_function():
    f = pyptx.differentiable_kernel(square, times_twice)
    assert f(sample().detach()).grad_fn is None
    with torch.no_grad():
        assert f(sample()).grad_fn is None
    assert f(sample()).grad_fn is not None


def test_kernels_do_not_autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert add(ramp(), ramp()).dtype == torch.float32
        with pytest.raises(TypeError, match="bfloat16; the kernel takes float32"):
            add(ramp().bfloat16(), ramp().bfloat16())


# -- a torch whose library lacks something


def test_operators_in_python():
    """torch 2.9 and before. Played by saying so before the operators are made."""
    run("""
from pyptx import _ptx
_ptx.register_torch_operators = lambda: "the torch of this process lacks `torch_list_size`"
import torch
from test_torch_ops import *
assert state.why_in_python is not None
test_launch()
test_inputs_are_put_in_row_major_order()
test_launch_into()
test_launch_in_place()
test_scalars()
test_compiled_once_for_many_sizes()
test_compiled_with_out_and_in_place()
test_torchs_own_checks()
for say, call in (("64 from argument 0", lambda: launch(key_of(add), "", [ramp(), ramp(32)], [])),
                  ("has the key", lambda: launch("0" * 64, "", [ramp()], []))):
    try:
        call()
    except pyptx.PtxError as error:
        assert say in str(error), error
    else:
        raise AssertionError(say)
""")


def test_torch_may_be_imported_later():
    run("""
import pyptx.torch_support
from launching import add
assert "torch" not in sys.modules
import torch
x = torch.arange(64.0)
assert torch.equal(torch.compile(lambda a: add(a, a) + 1, fullgraph=True)(x), 2 * x + 1)
assert torch.equal(add(x, x), 2 * x)
""")


def test_what_lacks_is_named():
    """A process without torch has none of its functions."""
    said = run("from pyptx import _ptx; print(_ptx.register_torch_operators())")
    assert "`torch_library_impl`" in said and "stable interface" in said
    assert "torch_abi" in {name for name, _ in _ptx.kinds()}
