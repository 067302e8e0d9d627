"""Launching on a GPU: from torch and from JAX, on streams and devices, in graphs, and what goes wrong."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU here")

from launching import add, copy_kernel, offset, one_block_too_many, repeat, scale, value_and_index  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, _ptx, jax_support, kernel, ptx, reg, torch_support, types  # noqa: E402
from pyptx.types import f32, u32  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "rms_norm.py"


@pytest.fixture(scope="module")
def rms_norm():
    spec = importlib.util.spec_from_file_location("rms_norm_of_gpu_tests", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build_rms_norm(16, 512)


def ramp(n=64, device="cuda"):
    return torch.arange(n, dtype=torch.float32, device=device)


def exact_rms_norm(x, w):
    x = x.double()
    return x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * w.double()


def relative_error(y, exact):
    return ((y.double() - exact).abs() / exact.abs()).max().item()


# -- torch


def test_rms_norm_on_gpu_and_executor(rms_norm):
    x, w = torch.randn(16, 512), torch.randn(512)
    exact = exact_rms_norm(x, w)
    on_gpu = rms_norm(x.cuda(), w.cuda())
    assert on_gpu.device == torch.device("cuda", 0) and on_gpu.dtype == torch.float32
    assert relative_error(on_gpu.cpu(), exact) < 1e-6
    assert relative_error(rms_norm(x, w), exact) < 1e-6


def test_shapes_outputs_and_scalars():
    for n in (32, 96, 32, 160):
        assert torch.equal(add(ramp(n), ramp(n)), 2 * ramp(n))
    y, index = value_and_index(ramp(32))
    assert torch.equal(y, ramp(32)) and index.dtype == torch.uint32 and index.tolist() == list(range(32))
    assert torch.equal(repeat(ramp(32), R=3), ramp(32).expand(3, 32))
    for factor in (3.0, -2, 3.0, *range(100)):  # each value at its launch
        assert torch.equal(scale(ramp(), factor=factor), factor * ramp())


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f64", "s8", "s16", "s64", "u8", "u16", "u32", "u64", "e4m3", "e5m2"])
def test_outputs_have_the_dtype_of_their_tile(dtype):
    ptx_type = types.from_name(dtype)
    torch_dtype = getattr(torch, _ptx.numpy_name(ptx_type))
    x = torch.arange(32 * ptx_type.bits // 8, dtype=torch.uint8, device="cuda").view(torch_dtype)
    y = copy_kernel(ptx_type)(x)
    assert y.dtype == torch_dtype
    assert torch.equal(y.view(torch.uint8), x.view(torch.uint8))


def test_runs_on_the_current_stream():
    stream = torch.cuda.Stream()
    x = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # what is queued on this stream before, and not on the default one
        x += 1
        y = add(x, x)
    stream.synchronize()
    assert torch.equal(y, torch.full_like(y, 2.0))


def test_many_threads():
    wrong = []

    def call(n):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                x = ramp(n)
                if not torch.equal(add(x, x), 2 * x):
                    wrong.append(n)

    threads = [threading.Thread(target=call, args=(32 * n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_graph_replays_a_kernel():
    x = ramp()
    image, _ = add._plan_for({}).bind([((64,), "float32"), ((64,), "float32")])
    image.prepare(0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = add(x, x)
    x.fill_(3)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, torch.full_like(y, 6.0))


def test_a_capture_may_be_the_first_to_call_a_kernel():
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
    def never_called_before(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        at = offset(4)
        x = reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(px + at))
        ptx.inst.add.f32(x, x, 5.0)
        ptx.inst.st.global_.f32(ptx.addr(py + at), x)
        ptx.ret()

    x = ramp()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = never_called_before(x)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, ramp() + 5)


def test_a_graph_outlives_its_kernel():
    import gc

    def capture():
        @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32)
        def short_lived(X, Y):
            px, py = ptx.global_ptrs(X, Y)
            at = offset(4)
            x = reg.scalar(f32)
            ptx.inst.ld.global_.f32(x, ptx.addr(px + at))
            ptx.inst.add.f32(x, x, 7.0)
            ptx.inst.st.global_.f32(ptx.addr(py + at), x)
            ptx.ret()

        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = short_lived(x)
        return graph, y

    x = ramp(32)
    graph, y = capture()
    gc.collect()
    add(ramp(416), ramp(416))  # loads another kernel, which unloads what nobody holds
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, x + 7)


def test_a_kernel_in_flight_may_be_dropped():
    import gc

    x = ramp(1 << 20)
    for i in range(3):

        @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
        def dropped(X, Y, *, amount=float(i)):
            px, py = ptx.global_ptrs(X, Y)
            at = offset(4)
            x = reg.scalar(f32)
            ptx.inst.ld.global_.f32(x, ptx.addr(px + at))
            ptx.inst.add.f32(x, x, amount)
            ptx.inst.st.global_.f32(ptx.addr(py + at), x)
            ptx.ret()

        dropped.prepare(x)
        torch.cuda._sleep(50_000_000)
        y = dropped(x)
        del dropped
        gc.collect()
        _ptx.collect_retired()
        assert torch.equal(y, x + i)


def test_a_launch_that_waits_for_the_grid_before():
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32, programmatic=True)
    def increment(X, Y):
        ptx.inst.griddepcontrol.wait()
        ptx.inst.griddepcontrol.launch_dependents()
        px, py = ptx.global_ptrs(X, Y)
        at = offset(4)
        x = reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(px + at))
        ptx.inst.add.f32(x, x, 1.0)
        ptx.inst.st.global_.f32(ptx.addr(py + at), x)
        ptx.ret()

    x = torch.zeros(1 << 16, device="cuda")
    increment.prepare(x)
    for _ in range(200):  # each reads what the one before it wrote
        x = increment(x)
    assert (x == 200).all()
    graph, y = torch.cuda.CUDAGraph(), torch.zeros(1 << 16, device="cuda")
    with torch.cuda.graph(graph):
        z = y
        for _ in range(10):
            z = increment(z)
    for start in (0.0, 5.0):
        y.fill_(start)
        graph.replay()
        torch.cuda.synchronize()
        assert (z == start + 10).all()


def test_a_cooperative_launch_meets_in_the_middle():
    blocks = 64

    @kernel(
        in_specs=(Tile(1, u32),), out_specs=(Tile(blocks, u32),), grid=blocks, block=32, cooperative=True, input_output_aliases={}
    )
    def meet(COUNTER, Y):
        counter, py = ptx.global_ptrs(COUNTER, Y)
        seen, lane = reg.scalar(u32), reg.from_(ptx.special.tid.x(), u32)
        with ptx.if_(lane == 0):
            ptx.inst.red.global_.add.u32(ptx.addr(counter), 1)
            ptx.label("waiting")
            ptx.inst.ld.acquire.gpu.global_.u32(seen, ptx.addr(counter))
            ptx.bra("waiting", pred=seen < blocks)
            ptx.inst.st.global_.u32(ptx.addr(py + reg.from_(ptx.special.ctaid.x(), u32) * 4), seen)
        ptx.ret()

    counter = torch.zeros(1, dtype=torch.int32, device="cuda").view(torch.uint32)
    assert (meet(counter).view(torch.int32) == blocks).all()
    assert meet._image_for((counter,), {}).cooperative

    @kernel(in_specs=(Tile(1, u32),), out_specs=(Tile(1, u32),), grid=1 << 20, block=1024, cooperative=True)
    def too_many(X, Y):
        ptx.ret()

    with pytest.raises(RuntimeError, match="COOPERATIVE_LAUNCH_TOO_LARGE"):
        too_many(counter)


def test_outputs_are_written_where_the_caller_wants():
    x, y = ramp(), torch.empty(64, device="cuda")
    for _ in range(3):
        y.fill_(-1)
        assert add(x, x, out=y) is y
        assert torch.equal(y, 2 * x)
    for wrong in (torch.empty(32, device="cuda"), torch.empty(64), torch.empty(64, device="cuda", dtype=torch.float64)):
        with pytest.raises((TypeError, ValueError), match=r"output 0 \(`C`\) of kernel `add`"):
            add(x, x, out=wrong)


def test_a_tensor_changed_in_place():
    @kernel(
        in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32, input_output_aliases={0: 0}
    )
    def increment(X, Y):
        (py,) = ptx.global_ptrs(Y)
        at = offset(4)
        x = reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(py + at))
        ptx.inst.add.f32(x, x, 1.0)
        ptx.inst.st.global_.f32(ptx.addr(py + at), x)
        ptx.ret()

    x = ramp()
    for step in (1, 2, 3):
        assert increment(x) is x
        assert torch.equal(x, ramp() + step)


def test_prepared_before_the_first_call():
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
    def prepared(X, Y):
        ptx.ret()

    prepared.prepare(N=64, device=0)
    prepared.prepare(ramp(96))
    prepared.prepare(N=128)
    with pytest.raises(RuntimeError, match="there is no GPU 63"):
        prepared.prepare(N=160, device=63)


def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(64, dtype=cupy.float32)
    y = add(x, x)
    assert isinstance(y, cupy.ndarray)
    assert (cupy.asnumpy(y) == 2 * cupy.asnumpy(x)).all()
    out = cupy.empty_like(x)
    assert add(x, x, out=out) is out
    with cupy.cuda.Stream(non_blocking=True):
        z = add(x + 1, x)
    cupy.cuda.get_current_stream().synchronize()
    cupy.cuda.Device().synchronize()
    assert (cupy.asnumpy(z) == 2 * cupy.asnumpy(x) + 1).all()


def test_a_producer_is_asked_for_the_stream_of_the_launch():
    class Producer:
        """Another library's array, as DLPack shows it."""

        def __init__(self, tensor):
            self.tensor, self.asked = tensor, []

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

        def __dlpack__(self, *, stream=None, **more):
            self.asked.append(stream)
            return self.tensor.__dlpack__(stream=stream, **more)

    x, out = Producer(ramp()), torch.empty(64, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        add(x, x, out=out)
    stream.synchronize()
    assert set(x.asked) == {stream.cuda_stream}
    assert (out == 2 * ramp()).all()


def test_an_error_of_a_kernel_is_its_own_with_pyptx_sync():
    program = """
import torch
from launching import WARP, offset
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32

@kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32)
def wild(X, Y):
    ptx.inst.st.global_.f32(ptx.addr(reg.scalar(__import__("pyptx").types.u64, init=16)), reg.scalar(f32, init=1.0))
    ptx.ret()

try:
    wild(torch.ones(32, device="cuda"))
except RuntimeError as error:
    print(error)
"""
    for sync, expected in (("1", "kernel `wild` failed: `cuStreamSynchronize` failed: CUDA_ERROR_ILLEGAL_ADDRESS"), ("", "")):
        environment = {**os.environ, "PYPTX_SYNC": sync, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
        assert expected in done.stdout, done.stdout + done.stderr


def test_compiled_whole():
    torch._dynamo.reset()

    @torch.compile(fullgraph=True)
    def f(a, b):
        return add(a, b) * 2

    assert torch.equal(f(ramp(), ramp()), 4 * ramp())
    assert torch.equal(f(ramp(96), ramp(96)), 4 * ramp(96))


def test_calls_by_handle():
    image, _ = add._plan_for({}).bind([((64,), "float32"), ((64,), "float32")])
    spec = {"out_specs": (Tile("N", f32),), "out_shape_env": {"N": 64}, "grid": (2, 1, 1), "block": (32, 1, 1)}
    for call in (torch_support.call_kernel_via_torch, torch_support.call_kernel_via_torch_compile):
        assert torch.equal(call(ramp(), ramp(), cubin_handle=image.handle, **spec), 2 * ramp())
    handle = jax_support.get_cubin_registry().register("// text alone\n" + image.ptx, "add", grid=(2, 1, 1), block=(32, 1, 1))
    assert torch.equal(torch_support.call_kernel_via_torch(ramp(), ramp(), cubin_handle=handle, **spec), 2 * ramp())


def test_a_cufunction_for_callers_of_their_own():
    image, _ = add._plan_for({}).bind([((64,), "float32"), ((64,), "float32")])
    function, keep = jax_support.compile_ptx_to_cubin(image.ptx, "sm_90a")
    assert function != 0 and keep is not None
    with pytest.raises(RuntimeError, match="nothing_of_this_name"):
        jax_support.compile_ptx_to_cubin(image.ptx, "sm_90a", "nothing_of_this_name")


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_the_other_gpu():
    x = ramp(device="cuda:1")
    y = add(x, x)  # the current device is 0
    assert y.device == torch.device("cuda", 1)
    assert torch.equal(y, 2 * x)
    with pytest.raises(ValueError, match=r"on cuda:0, argument 1 .* on cuda:1"):
        add(ramp(), x)


# -- calls that are wrong


def test_tensors_on_two_devices():
    with pytest.raises(ValueError, match="different devices") as raised:
        add(ramp(), ramp(device="cpu"))
    assert "argument 0 (`A`) on cuda:0, argument 1 (`B`) on cpu" in str(raised.value)


def test_other_wrong_calls():
    add(ramp(), ramp())
    for call, error, says in (
        (lambda: add(ramp(128)[::2], ramp()), ValueError, "strides are"),
        (lambda: add(ramp().double(), ramp()), TypeError, "float64"),
        (lambda: add(ramp(), ramp(32)), ValueError, "conflicting"),
        (lambda: add(ramp().requires_grad_(), ramp()), RuntimeError, "requires a gradient"),
        (lambda: add(ramp(), 3), TypeError, "an `int`"),
    ):
        with pytest.raises(error, match=says) as raised:
            call()
        assert isinstance(raised.value, pyptx.PtxError)


def test_a_kernel_for_another_gpu():
    other = "sm_100a" if _ptx.detect_arch() != "sm_100a" else "sm_90a"

    @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32, arch=other)
    def elsewhere(X, Y):
        ptx.ret()

    with pytest.raises(RuntimeError, match=f"targets `{other}`") as raised:
        elsewhere(ramp(32))
    assert raised.value.kind == "wrong_device"


def test_a_gpu_that_is_not_there():
    image, _ = add._plan_for({}).bind([((64,), "float32"), ((64,), "float32")])
    with pytest.raises(RuntimeError) as raised:
        image.prepare(63)
    assert raised.value.kind == "no_device"


def test_the_executor_finds_what_the_gpu_lets_pass():
    with pytest.raises(RuntimeError, match="out_of_bounds"):
        one_block_too_many(ramp(32, device="cpu"))


def test_the_machine_is_described():
    assert _ptx.why_no_gpu() is None
    assert _ptx.device_count() == torch.cuda.device_count()
    assert _ptx.device_name() == torch.cuda.get_device_name()
    major, minor = torch.cuda.get_device_capability()
    assert pyptx.detect_arch().startswith(f"sm_{major}{minor}")


# -- JAX


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax")
    try:
        jax.devices("cuda")
    except RuntimeError:
        pytest.skip("this JAX has no CUDA")
    return jax


def test_jax_eager_jitted_and_vmapped(jax, rms_norm):
    jnp = jax.numpy
    a = jnp.arange(64, dtype=jnp.float32)
    assert (add(a, a) == 2 * a).all()
    f = jax.jit(lambda a: add(add(a, a), a) + 1)
    assert (f(a) == 3 * a + 1).all()
    assert (jax.vmap(add)(jnp.stack([a, a + 1]), jnp.stack([a, a])) == jnp.stack([2 * a, 2 * a + 1])).all()
    x, w = torch.randn(16, 512), torch.randn(512)
    y = jax.jit(rms_norm)(jnp.asarray(x.numpy()), jnp.asarray(w.numpy()))
    assert next(iter(y.devices())).platform in ("gpu", "cuda")
    assert relative_error(torch.from_numpy(__import__("numpy").array(y)), exact_rms_norm(x, w)) < 1e-6


def test_jax_replays_a_command_buffer(jax):
    """Six calls in a row become a CUDA graph; other buffers make XLA trace it again."""
    jnp = jax.numpy

    @jax.jit
    def f(a):
        for _ in range(6):
            a = add(a, a)
        return a

    for i in range(8):
        a = jnp.arange(64, dtype=jnp.float32) + i
        assert (f(a) == 64 * a).all()


def test_one_program_text_on_both_platforms(jax):
    def text(platform):
        a = jax.ShapeDtypeStruct((64,), "float32")
        return jax.jit(add).trace(a, a).lower(lowering_platforms=(platform,)).as_text()

    assert "pyptx_launch" in text("cpu")
    assert text("cpu") == text("cuda")


def test_jax_runs_a_kernel_known_by_its_text_alone(jax):
    jnp = jax.numpy
    image, _ = add._plan_for({}).bind([((64,), "float32"), ((64,), "float32")])
    handle = jax_support.get_cubin_registry().register("// for jax\n" + image.ptx, "add", grid=(2, 1, 1), block=(32, 1, 1))
    a = jnp.arange(64, dtype=jnp.float32)
    spec = {"out_specs": (Tile("N", f32),), "out_shape_env": {"N": 64}, "grid": (2, 1, 1), "block": (32, 1, 1)}
    y = jax.jit(lambda a: jax_support.call_kernel_via_ffi(a, a, cubin_handle=handle, **spec))(a)
    assert (y == 2 * a).all()
