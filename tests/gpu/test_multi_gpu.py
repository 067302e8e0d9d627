"""Several GPUs: the examples on two, JAX's meshes of them, and torch on another GPU than the current one."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two NVIDIA GPUs here")

from launching import add, scale  # noqa: E402
from tma_kernels import round_trip_kernel  # noqa: E402

from pyptx import Layout  # noqa: E402
from pyptx.types import f32  # noqa: E402

ROOT = Path(__file__).parents[2]
HAS_TENSOR_COPIES = torch.cuda.is_available() and torch.cuda.get_device_capability() >= (9, 0)


def run(program: Path, *arguments: str | Path) -> str:
    folders = [str(ROOT / "python"), str(ROOT / "tests" / "python"), os.environ.get("PYTHONPATH", "")]
    settings = {"PYTHONPATH": os.pathsep.join(folders), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    done = subprocess.run(
        [sys.executable, program, *arguments],
        env={**os.environ, **settings},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# -- the examples


@pytest.mark.parametrize("route", ["jax", "torch"])
@pytest.mark.parametrize(("name", "results"), [("rms_norm_data_parallel", 2), ("gemm_tensor_parallel", 1)])
def test_an_example_on_two_gpus(name, results, route) -> None:
    if importlib.util.find_spec(route) is None:
        pytest.skip(f"no {route} here")
    program = ROOT / "examples" / "distributed" / f"{name}.py"
    head, line = run(program, "--devices", "2", "--route", route).splitlines()[-2:]
    print(f"{head}\n{line}")
    assert head.startswith(name)
    assert line.split()[:2] == [route, "2"]
    if torch.cuda.get_device_capability() == (9, 0):
        assert "executor" not in line and re.search(r"one device +\d+\.\d us, 2 devices +\d+\.\d us", line)
    assert len(re.findall(r"\d\.\de-\d+", line)) == results  # the program holds them to a tolerance


def test_jax_on_all_gpus() -> None:
    """Sharded inputs, `jax.shard_map` with its check of what varies, gradients through it."""
    pytest.importorskip("jax")
    if torch.cuda.device_count() % 2:
        pytest.skip("an odd number of GPUs")
    run(ROOT / "tests" / "python" / "jax_processes.py", "several_devices", ROOT)


# -- torch on another GPU than the current one


def ramp(device: str, n: int = 64) -> torch.Tensor:
    return torch.arange(n, dtype=torch.float32, device=device)


@pytest.fixture(autouse=True)
def the_first_is_current():
    torch.cuda.set_device(0)
    yield
    assert torch.cuda.current_device() == 0


def test_each_gpu_in_turn() -> None:
    for _ in range(5):
        for device in ("cuda:1", "cuda:0"):
            x = ramp(device)
            for y, expected in ((add(x, x), 2 * x), (scale(x, factor=3.0), 3 * x)):
                assert y.device == torch.device(device) and torch.equal(y, expected)


def test_the_stream_is_that_of_the_tensors_gpu() -> None:
    stream = torch.cuda.Stream("cuda:1")
    x = torch.zeros(1 << 20, device="cuda:1")
    torch.cuda.synchronize("cuda:1")
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # what is queued on this stream before, and not on the default one
        x += 1
    with torch.cuda.stream(stream):
        y = add(x, x)
    stream.synchronize()
    assert torch.equal(y, torch.full_like(y, 2.0))


@pytest.mark.skipif(not HAS_TENSOR_COPIES, reason="no GPU with tensor copies here")
def test_descriptors_are_of_the_tensors_gpu() -> None:
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B)
    for i in range(20):
        for device in ("cuda:1", "cuda:0"):
            x = torch.full((64 * (1 + i % 3), 32), float(i), device=device)
            assert torch.equal(k(x), x)


def test_a_graph_of_the_other_gpu() -> None:
    x = ramp("cuda:1")
    add(x, x)
    with torch.cuda.device(1):
        graph = torch.cuda.CUDAGraph()
        # Without a stream torch captures on one that it made once for all, on the GPU that was current then.
        with torch.cuda.graph(graph, stream=torch.cuda.Stream(1)):
            y = add(x, x)
        x.fill_(3)
        graph.replay()
        torch.cuda.synchronize()
    assert torch.equal(y, torch.full_like(y, 6.0))


def test_a_thread_for_each_gpu() -> None:
    wrong = []

    def call(device: str) -> None:
        for i in range(200):
            x = ramp(device, 32 * (1 + i % 4))
            if not torch.equal(add(x, x), 2 * x):
                wrong.append((device, i))

    threads = [threading.Thread(target=call, args=(f"cuda:{i % 2}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_compiled_for_the_other_gpu() -> None:
    torch._dynamo.reset()

    @torch.compile(fullgraph=True)
    def f(a: torch.Tensor) -> torch.Tensor:
        return add(a, a) * 2

    for device in ("cuda:1", "cuda:0"):
        assert torch.equal(f(ramp(device)), 4 * ramp(device))


def test_tensors_on_two_gpus() -> None:
    with pytest.raises(ValueError, match=r"on cuda:0, argument 1 .* on cuda:1"):
        add(ramp("cuda:0"), ramp("cuda:1"))
