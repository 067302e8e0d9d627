"""What is left after a million launches and ten thousand dropped specialisations: nothing. And many threads, streams, GPUs and
graphs at once: results are always right."""

from __future__ import annotations

import ctypes
import gc
import random
import sys
import threading
from pathlib import Path
from typing import ClassVar

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0), reason="no NVIDIA GPU with tensor copies here"
)

from launching import add, offset, scale  # noqa: E402
from tma_kernels import round_trip_kernel  # noqa: E402

from pyptx import Layout, Tile, _ptx, kernel, ptx, reg  # noqa: E402
from pyptx.types import f32  # noqa: E402

MIB = 1 << 20


def resident_bytes() -> int:
    """Memory of this process on the host."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class HeapStatistics(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_: ClassVar = [
        (name, ctypes.c_size_t)
        for name in ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "used", "free", "keep"]
    ]


def heap_bytes() -> int:
    """What C++ holds of the heap, without what the allocator keeps for later, which comes and goes."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = HeapStatistics
    statistics = mallinfo2()
    return int(statistics.used + statistics.hblkhd)


def free_gpu_bytes() -> int:
    torch.cuda.synchronize()
    return torch.cuda.mem_get_info()[0]


def operators() -> int:
    return len([name for name in torch._C._dispatch_get_all_op_names() if name.startswith("pyptx::")])


def test_a_million_launches_leave_nothing():
    x, y = torch.ones(64, device="cuda"), torch.empty(64, device="cuda")
    by_value = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.ROW, "value")
    tensors = [torch.ones(64, 32, device="cuda") for _ in range(8)]

    def launch(times: int) -> None:
        for i in range(times // 10):
            for _ in range(4):
                add(x, x, out=y)
            for _ in range(3):
                add(x, x)
            scale(x, factor=float(i % 7), out=y)
            by_value(tensors[i % 8])
            by_value(tensors[i % 5], out=tensors[5])
            if i % 1000 == 0:
                torch.cuda.synchronize()

    launch(20_000)
    gc.collect()
    objects = len(gc.get_objects())  # first: the list of them takes memory itself
    host, gpu, images, allocated = resident_bytes(), free_gpu_bytes(), _ptx.registry_size(), torch.cuda.memory_allocated()
    launch(1_000_000)
    gc.collect()
    assert torch.cuda.memory_allocated() == allocated
    assert free_gpu_bytes() >= gpu
    assert _ptx.registry_size() == images
    assert len(gc.get_objects()) <= objects + 1000
    assert resident_bytes() - host < MIB, "a byte a launch would be a MiB"


def test_ten_thousand_dropped_specialisations_leave_nothing():
    def use(first: int, count: int) -> None:
        """A kernel with `count` specialisations, launched once each, and dropped with all of them."""

        @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
        def dropped(X, Y):
            px, py = ptx.global_ptrs(X, Y)
            at = offset(4)
            x = reg.scalar(f32)
            ptx.inst.ld.global_.f32(x, ptx.addr(px + at))
            ptx.inst.add.f32(x, x, 1.0)
            ptx.inst.st.global_.f32(ptx.addr(py + at), x)
            ptx.ret()

        for i in range(count):
            x = memory[: 32 * (first + i + 1)]
            y = dropped(x)
            if i % 25 == 0:
                assert torch.equal(y, x + 1)

    memory = torch.arange(32 * 101, dtype=torch.float32, device="cuda")
    ops = operators()
    use(0, 100)
    for _ in range(20):
        use(0, 100)
    gc.collect()
    _ptx.collect_retired()
    heap, blocks, gpu, images = heap_bytes(), sys.getallocatedblocks(), free_gpu_bytes(), _ptx.registry_size()
    for _ in range(100):
        use(0, 100)
    gc.collect()
    assert _ptx.collect_retired() <= 200
    assert _ptx.registry_size() == images
    assert operators() == ops
    assert free_gpu_bytes() >= gpu, "the GPU holds code that nobody can run"
    grown, more = heap_bytes() - heap, sys.getallocatedblocks() - blocks
    print(f"after 10,000 specialisations: {grown} bytes of C++, {more} blocks of Python more")
    assert grown < 320_000 and more < 3000, "some 30 bytes or a third of an object for each would be too much"


# -- all at once


class Worker(threading.Thread):
    """Works on all GPUs, on streams of its own: eager calls, TMA copies by both kinds of descriptors, and replays of graphs whose
    tensors change, in an order of its own."""

    capturing = threading.Lock()  # torch captures one graph at a time; launches of the others go on meanwhile

    def __init__(self, number: int, rounds: int) -> None:
        super().__init__()
        self.dice = random.Random(number)
        self.rounds, self.wrong, self.error = rounds, [], None
        self.launched = self.replayed = 0

    def run(self) -> None:
        try:
            places = [
                self.place(f"cuda:{gpu}", torch.cuda.Stream(gpu)) for gpu in range(torch.cuda.device_count()) for _ in range(4)
            ]
            for _ in range(self.rounds):
                self.work(*self.dice.choice(places))
        except Exception as error:  # shown by the test: a thread's own is lost
            self.error = error

    def place(self, device, stream):
        with torch.cuda.device(device), torch.cuda.stream(stream):
            x = torch.zeros(128, 32, device=device)
            stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            with Worker.capturing, torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                y = add_rows(by_value(by_address(x)), x)
        return device, stream, graph, x, y

    def work(self, device, stream, graph, x, y) -> None:
        value = float(self.dice.randrange(1 << 20))
        with torch.cuda.stream(stream):
            what = self.dice.randrange(4)
            if what == 0:
                x.fill_(value)
                graph.replay()
                self.replayed += 1
                got, expected = y, 2 * value
            elif what == 1:
                a = torch.full((64 * self.dice.randint(1, 4), 32), value, device=device)
                got, expected = self.dice.choice([by_value, by_address])(a), value
            elif what == 2:
                a = torch.full((32 * self.dice.randint(1, 8),), value, device=device)
                got, expected = add(a, a), 2 * value
            else:
                a = torch.full((32 * self.dice.randint(1, 8),), value, device=device)
                got, expected = scale(a, factor=3.0, out=torch.empty_like(a)), 3 * value
            self.launched += 1
            if not bool((got == expected).all()):
                self.wrong.append((what, value, str(device)))


by_address = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B)
by_value = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B, "value")


@kernel(in_specs=(Tile("N", 32, f32), Tile("N", 32, f32)), out_specs=(Tile("N", 32, f32),), grid=lambda N: N, block=32)
def add_rows(A, B, C):
    pa, pb, pc = ptx.global_ptrs(A, B, C)
    at = offset(4)
    a, b = reg.scalar(f32), reg.scalar(f32)
    ptx.inst.ld.global_.f32(a, ptx.addr(pa + at))
    ptx.inst.ld.global_.f32(b, ptx.addr(pb + at))
    ptx.inst.add.f32(a, a, b)
    ptx.inst.st.global_.f32(ptx.addr(pc + at), a)
    ptx.ret()


def test_threads_streams_gpus_and_graphs_at_once():
    workers = [Worker(number, 400) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not [worker.error for worker in workers if worker.error]
    assert not [wrong for worker in workers for wrong in worker.wrong]
    print(f"{sum(w.launched for w in workers)} checked results, {sum(w.replayed for w in workers)} of them of graphs")
    assert sum(w.replayed for w in workers) > 500


def test_the_stress_is_clean_under_compute_sanitizer(tmp_path):
    """Memory accesses of our own kernels and copies, as compute-sanitizer's memcheck sees them."""
    import os
    import shutil
    import subprocess
    import sys

    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(sanitizer).exists():
        pytest.skip("no compute-sanitizer here")
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "from test_endurance import Worker\n"
        "workers = [Worker(n, 6) for n in range(2)]\n"
        "for w in workers: w.start()\n"
        "for w in workers: w.join()\n"
        "assert not any(w.error or w.wrong for w in workers), [w.error for w in workers]\n"
        "print('done')\n"
    )
    paths = [str(Path(__file__).parent), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTORCH_NO_CUDA_MEMORY_CACHING": ""}
    # Errors of the driver's functions are not reported: asking for the parameter behind the last one is how we count them.
    options = ["--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", "9"]
    command = [sanitizer, *options, sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    log = done.stdout + done.stderr
    assert done.returncode == 0 and "done" in done.stdout, log[-6000:]
    assert "ERROR SUMMARY: 0 errors" in log, log[-6000:]
