"""Kernels in torch's graphs on a GPU: compiled, captured, exported, on streams and devices. tests/python/test_torch_ops.py and
test_torch_export.py have what needs no GPU."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU here")

from launching import add, copy_kernel, repeat, scale, value_and_index  # noqa: E402
from test_torch_ops import accumulate, compiled, key_of, launch, launch_, run, square, times, times_twice  # noqa: E402

import pyptx  # noqa: E402
from pyptx import torch_support, types  # noqa: E402

needs_two = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")


def ramp(n=64, device="cuda"):
    return torch.arange(n, dtype=torch.float32, device=device)


# -- the operators


def test_they_are_written_in_cpp():
    assert torch_support.state.why_in_python is None


def test_launch():
    for n in (64, 96, 64):
        y = launch(key_of(add), "", [ramp(n), ramp(n)], [0])[0]
        assert y.device == torch.device("cuda", 0) and torch.equal(y, 2 * ramp(n))
    y, index = launch(key_of(value_and_index), "", [ramp(32)], [0])
    assert torch.equal(y, ramp(32)) and index.dtype == torch.uint32 and index.tolist() == list(range(32))
    x = ramp(128)[::2]
    assert torch.equal(launch(key_of(add), "", [x, ramp()], [0])[0], x + ramp())
    out = torch.empty(64, device="cuda")
    launch_(key_of(add), "", [ramp(), x], [out], [0])
    assert torch.equal(out, x + ramp())


@pytest.mark.parametrize("name", ["f16", "bf16", "f64", "s8", "s16", "s64", "u8", "u16", "u32", "u64", "e4m3", "e5m2"])
def test_outputs_have_the_dtype_of_their_tile(name):
    dtype = types.from_name(name)
    x = torch.arange(32 * dtype.bits // 8, dtype=torch.uint8, device="cuda").view(getattr(torch, pyptx._ptx.numpy_name(dtype)))
    y = launch(key_of(copy_kernel(dtype)), "", [x], [0])[0]
    assert y.dtype == x.dtype and torch.equal(y.view(torch.uint8), x.view(torch.uint8))


def test_tensors_of_cpu_and_gpu_are_refused():
    with pytest.raises(RuntimeError, match="on different devices") as raised:
        launch(key_of(add), "", [ramp(), ramp(device="cpu")], [0])
    assert raised.value.__cause__.kind == "argument_device"
    with pytest.raises(Exception, match="on different devices"):
        compiled(add)[0](ramp(), ramp(device="cpu"))


def test_runs_on_the_current_stream():
    stream = torch.cuda.Stream()
    x = torch.zeros(1 << 20, device="cuda")
    key = key_of(add)
    launch(key, "", [x, x], [0])
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # what is queued on this stream before, and not on the default one
        x += 1
        y = launch(key, "", [x, x], [0])[0]
    stream.synchronize()
    assert torch.equal(y, torch.full_like(y, 2.0))


def test_many_threads():
    wrong = []
    key = key_of(times(2))

    def call(n):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                if not torch.equal(launch(key, "", [ramp(n)], [0])[0], 2 * ramp(n)):
                    wrong.append(n)

    threads = [threading.Thread(target=call, args=(32 * n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@needs_two
def test_runs_on_the_tensors_device():
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        y = launch(key_of(add), "", [ramp(device=device), ramp(device=device)], [0])[0]
        assert y.device == torch.device(device) and torch.equal(y, 2 * ramp(device=device))
    with pytest.raises(RuntimeError, match="on different devices"):
        launch(key_of(add), "", [ramp(device="cuda:0"), ramp(device="cuda:1")], [0])
    whole, _ = compiled(lambda a: add(a, a) + 1)
    for device in ("cuda:1", "cuda:0"):
        assert torch.equal(whole(ramp(device=device)), 2 * ramp(device=device) + 1)


def test_torchs_own_checks():
    torch.library.opcheck(launch, (key_of(add), "", [ramp(), ramp()], [0]))
    torch.library.opcheck(launch_, (key_of(accumulate), "", [ramp()], [ramp()], [0]))


# -- compiled


def test_compiled_once_for_many_sizes():
    whole, counter = compiled(lambda a, b: add(a, b) * 2, dynamic=True)
    for n in (64, 96, 160, 32, 64):
        assert torch.equal(whole(ramp(n), ramp(n)), 4 * ramp(n))
    assert counter.frame_count == 1


def test_compiled_between_torchs_own_kernels():
    """What Inductor fuses before and after, and may lay out as it likes."""
    whole, _ = compiled(lambda a: scale((a.view(8, 8).t() * 2).reshape(-1), factor=3.0).view(8, 8).sum(0))
    expected = (ramp().view(8, 8).t() * 6).reshape(8, 8).sum(0)
    assert torch.allclose(whole(ramp()), expected)
    whole, _ = compiled(lambda a, r: repeat(a + 1, R=r).sum(1))
    for r in (2, 3, 4):
        assert torch.allclose(whole(ramp(32), r), (ramp(32) + 1).sum().expand(r))


def test_compiled_with_out_and_in_place():
    def f(x, y, out):
        base = x * 1
        changed = accumulate(base, y)
        accumulate(x, y)
        return base, changed, add(x, y, out=out)

    whole, _ = compiled(f)
    x, out = ramp(), torch.empty(64, device="cuda")
    base, changed, result = whole(x, ramp(), out)
    assert torch.equal(x, 2 * ramp()) and torch.equal(base, 2 * ramp()) and torch.equal(changed, 2 * ramp())
    assert torch.equal(out, 3 * ramp()) and torch.equal(result, out)


@pytest.mark.parametrize("mode", ["reduce-overhead", "max-autotune"])
def test_compiled_into_cuda_graphs(mode):
    torch._dynamo.reset()
    before = dict(torch._dynamo.utils.counters["inductor"])
    whole = torch.compile(lambda a, b: times_two(add(a, b) + 1), mode=mode, fullgraph=True)
    times_two = times(2)
    for step in range(6):
        a = ramp() + step
        torch.compiler.cudagraph_mark_step_begin()
        assert torch.equal(whole(a, ramp()), 2 * (a + ramp() + 1))
    skipped = torch._dynamo.utils.counters["inductor"]["cudagraph_skips"] - before.get("cudagraph_skips", 0)
    assert skipped == 0


def test_captured_by_hand():
    whole, _ = compiled(lambda a: add(a, a) + 1)
    x = ramp()
    whole(x)  # compiled and loaded before the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = whole(x)
        (z,) = launch(key_of(add), "", [y, y], [0])
    x.fill_(3)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, torch.full_like(y, 7.0)) and torch.equal(z, torch.full_like(z, 14.0))


def test_compiled_on_a_stream():
    whole, _ = compiled(lambda a: add(a, a) + 1)
    x = torch.zeros(1 << 20, device="cuda")
    whole(x)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        x += 1
        y = whole(x)
    stream.synchronize()
    assert torch.equal(y, torch.full_like(y, 3.0))


# -- gradients


def test_gradients():
    def sample(n=32):
        return torch.randn(n, dtype=torch.float64, device="cuda", requires_grad=True)

    f = pyptx.differentiable_kernel(square, times_twice)
    assert torch.autograd.gradcheck(f, (sample(),))
    backward = pyptx.differentiable_kernel(times_twice, lambda x, dy, ddx: (times_twice(dy, ddx), times_twice(x, ddx)))
    assert torch.autograd.gradgradcheck(pyptx.differentiable_kernel(square, backward), (sample(),))
    whole, _ = compiled(lambda x: f(x * 1).sum(), dynamic=True)
    for n in (32, 64):
        x = sample(n)
        whole(x).backward()
        assert torch.equal(x.grad, 2 * x.detach())


# -- exported


class Model(torch.nn.Module):
    def forward(self, a, b):
        y = scale(add(a, b), factor=3.0)  # floats alone: torch 2.11 writes no unsigned types wider than a byte
        return y + 1, repeat(y, R=2)


@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_program_runs_elsewhere(tmp_path, strict):
    program = torch.export.export(Model(), (ramp(32), ramp(32)), strict=strict)
    y, rows = program.module()(ramp(32), ramp(32))
    assert torch.equal(y, 6 * ramp(32) + 1) and torch.equal(rows, (6 * ramp(32)).expand(2, 32))
    torch.export.save(program, tmp_path / "model.pt2")
    run(f"""
import torch, pyptx.torch_support
ramp = torch.arange(32.0, device="cuda")
program = torch.export.load({str(tmp_path / "model.pt2")!r})
for call in (program.module(), torch.compile(program.module())):
    y, rows = call(ramp, ramp)
    assert torch.equal(y, 6 * ramp + 1) and torch.equal(rows, (6 * ramp).expand(2, 32))
""")


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler for AOTInductor")
def test_aot_inductor(tmp_path):
    plain = torch.export.export(torch.nn.Identity(), (ramp(32),))
    package = Path(torch._inductor.aoti_compile_and_package(plain, package_path=str(tmp_path / "plain.pt2")))
    load = f"import torch; torch._inductor.aoti_load_package({str(package)!r})"
    if subprocess.run([sys.executable, "-c", load], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"torch {torch.__version__} cannot load a program of its own operators here")
    program = torch.export.export(Model(), (ramp(32), ramp(32)))
    package = Path(torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "model.pt2")))
    run(f"""
import torch, pyptx.torch_support
ramp = torch.arange(32.0, device="cuda")
call = torch._inductor.aoti_load_package({str(package)!r})
for _ in range(2):
    y, rows = call(ramp, ramp)
    assert torch.equal(y, 6 * ramp + 1) and torch.equal(rows, (6 * ramp).expand(2, 32))
""")
