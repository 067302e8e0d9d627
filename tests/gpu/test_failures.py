"""What goes wrong on a GPU, and the messages: docs/failures.md. What needs no GPU is in tests/python/test_failures.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU here")

from launching import WARP, add, offset  # noqa: E402
from tma_kernels import round_trip_kernel  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Layout, Tile, _ptx, kernel, ptx, reg, spec  # noqa: E402
from pyptx.types import f32  # noqa: E402

SPECS = {"in_specs": (Tile(WARP, f32),), "out_specs": (Tile(WARP, f32),)}
HERE = Path(__file__).parents[1] / "python"
needs_clusters = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (9, 0), reason="no GPU with clusters here"
)


def ramp(n=WARP, device="cuda"):
    return torch.arange(n, dtype=torch.float32, device=device)


def of_this_gpu(**options):
    return kernel(**{**SPECS, "grid": 1, "block": WARP, "arch": _ptx.detect_arch(), **options})


def refused(kind, call, *parts):
    with pytest.raises(pyptx.PtxError) as raised:
        call()
    assert raised.value.kind == kind, raised.value
    for part in parts:
        assert part in str(raised.value)
    return raised.value


def run(program, **settings):
    folders = os.pathsep.join([str(Path(pyptx.__file__).parents[1]), str(HERE)])
    environment = {**os.environ, "PYTHONPATH": folders, **settings}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False, timeout=300
    )


# -- loading


def test_what_ptxas_refuses_is_at_the_authors_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYPTX_JIT", "ptxas")

    @of_this_gpu()
    def refused_by_ptxas(X, Y):
        with spec.strict(False):
            ptx.raw("add.nonsense.u32 %tid, %tid, 1;")
        ptx.ret()

    with pytest.raises(pyptx.PtxError) as raised:
        refused_by_ptxas(ramp())
    error = raised.value
    if error.kind == "no_tool":
        pytest.skip("no ptxas here")
    assert error.kind == "compile_error" and "ptxas" in str(error) and "add.nonsense.u32" in str(error)
    assert error.where == (__file__, refused_by_ptxas._fn.__code__.co_firstlineno + 3)


def test_the_drivers_compiler_says_what_it_refuses(monkeypatch):
    monkeypatch.setenv("PYPTX_JIT", "driver")

    @of_this_gpu()
    def refused_by_the_driver(X, Y):
        with spec.strict(False):
            ptx.raw("add.nonsense.u32 %tid, %tid, 1;")
        ptx.ret()

    refused("compile_error", lambda: refused_by_the_driver(ramp()), "the driver's compiler", "add.nonsense.u32")


def test_a_kernel_for_another_gpu():
    other = "sm_100a" if _ptx.detect_arch() != "sm_100a" else "sm_90a"

    @of_this_gpu(arch=other)
    def elsewhere(X, Y):
        ptx.ret()

    major, minor = torch.cuda.get_device_capability()
    refused(
        "wrong_device",
        lambda: elsewhere(ramp()),
        f"kernel `elsewhere` targets `{other}` (architecture-specific, runs only on compute capability ",
        f"GPU 0 ({torch.cuda.get_device_name()}) is compute capability {major}.{minor}",
    )


def test_compiling_is_forbidden(tmp_path, monkeypatch):
    @of_this_gpu()
    def of_no_cache(X, Y):
        _, py = ptx.global_ptrs(X, Y)
        py += offset(4)
        ptx.inst.st.global_.f32(ptx.addr(py), reg.scalar(f32, init=3.25))
        ptx.ret()

    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYPTX_NO_COMPILE", "1")
    refused(
        "compile_needed",
        lambda: of_no_cache(ramp()),
        "kernel `of_no_cache` would have to be compiled for",
        "PYPTX_NO_COMPILE=1 forbids it",
        str(tmp_path),
    )
    monkeypatch.delenv("PYPTX_NO_COMPILE")
    assert torch.equal(of_no_cache(ramp()), torch.full((WARP,), 3.25, device="cuda"))


def test_settings_that_do_not_fit(monkeypatch):
    @of_this_gpu()
    def unheard_of(X, Y):
        ptx.inst.bar.sync(1)
        ptx.ret()

    monkeypatch.setenv("PYPTX_JIT", "nvcc")
    error = refused("bad_setting", lambda: unheard_of(ramp()), "PYPTX_JIT is `nvcc`; what fits is `ptxas` or `driver`")
    assert isinstance(error, ValueError)


# -- what the GPU has not


def test_more_shared_memory_than_a_block_has():
    image, _ = add._plan_for({}).bind([((64,), "float32"), ((64,), "float32")])
    large = _ptx.Image.from_text(image.ptx, "add", grid=(2, 1, 1), block=(32, 1, 1), smem=300000, inputs=2, outputs=1)
    refused("launch_config", lambda: large.prepare(0), "kernel `add` needs 300000 bytes", "shared memory", "has at most ")


@needs_clusters
def test_a_cluster_larger_than_any():
    @of_this_gpu(grid=32, cluster=32)
    def crowd(X, Y):
        ptx.ret()

    refused("launch_config", lambda: crowd(ramp()), "kernel `crowd`: cluster (32, 1, 1) has 32 blocks in x; at most 16 fit")


def test_more_registers_than_a_multiprocessor_has():
    """What the driver would call 701, launch out of resources."""

    @of_this_gpu(block=1024)
    def greedy(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        values = [reg.scalar(f32) for _ in range(150)]
        for value in values:
            ptx.inst.ld.volatile.global_.f32(value, ptx.addr(px))
        ptx.bar.sync(0)
        for value in values:
            ptx.inst.st.volatile.global_.f32(ptx.addr(py), value)
        ptx.ret()

    refused(
        "launch_config",
        lambda: greedy(ramp()),
        "kernel `greedy`: block (1024, 1, 1) has 1024 threads; the compiled kernel, with ",
        " registers a thread and its `.maxntid`, runs with at most ",
    )


# -- tensors


def test_tensors_that_do_not_fit():
    x = ramp(64)
    good = torch.equal(add(x, x), 2 * x)
    assert good
    for call, kind, says in (
        (lambda: add(x, ramp(64, "cpu")), "argument_device", "argument 0 (`A`) on cuda:0, argument 1 (`B`) on cpu"),
        (lambda: add(ramp(128)[::2], x), "argument_layout", "strides are (2,) elements; the kernel takes row-major (1,)"),
        (lambda: add(x, x.clone().requires_grad_()), "argument_gradient", "argument 1 (`B`) of kernel `add` requires a gradient"),
        (lambda: add(x.to(torch.complex64), x), "argument_dtype", "complex64"),
        (lambda: add(x.to_sparse(), x), "argument_layout", "torch.sparse_coo"),
        (lambda: add(x, x, out=ramp(64, "cpu")), "argument_device", "the tensor is on cpu, the call runs on cuda:0"),
    ):
        refused(kind, call, says)
    assert add(x[:0], x[:0]).shape == (0,)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_tensors_on_two_gpus():
    x = ramp(64)
    refused(
        "argument_device",
        lambda: add(x, ramp(64, "cuda:1")),
        "the tensors of one call to kernel `add` are on different devices: ",
        "argument 0 (`A`) on cuda:0, argument 1 (`B`) on cuda:1",
    )


@needs_clusters
def test_a_tensor_of_a_tensor_map_that_starts_in_the_middle():
    k = round_trip_kernel(f32, ("N", 32), (64, 32), Layout.TMA_128B)
    x = torch.zeros(64 * 32 + 4, device="cuda")
    assert torch.equal(k(x[4:].view(64, 32)), x[4:].view(64, 32))
    refused(
        "argument_alignment",
        lambda: k(x[1:-3].view(64, 32)),
        "the TMA descriptor of tensor `X` of kernel `round_trip`",
        "is not a multiple of 16 bytes, which a tensor map needs",
    )


# -- errors of kernels, and of processes

WILD = """
import torch
from launching import add
from pyptx import PtxError, Tile, kernel, ptx, reg
from pyptx.types import f32, u64

@kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32)
def wild(X, Y):
    ptx.inst.st.global_.f32(ptx.addr(reg.scalar(u64, init=16)), reg.scalar(f32, init=1.0))
    ptx.ret()

x, y = torch.ones(64, device="cuda"), torch.ones(64, device="cuda")
add(x, x, out=y)
torch.cuda.synchronize()
"""


def test_an_illegal_address_is_reported_by_a_later_call_with_the_kernels_name():
    done = run(
        WILD
        + """
wild(x[:32])
try:
    torch.cuda.synchronize()
except RuntimeError:
    pass
try:
    add(x, x, out=y)
except PtxError as error:
    print(error.kind, error)
"""
    )
    for part in (
        "driver_error error: `cuLaunchKernelEx` failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
        "a kernel that ran earlier in this process caused it",
        "launching kernel `add`",
        "launched by pyptx before it: kernel `wild`; with PYPTX_SYNC=1 each launch reports its own errors",
    ):
        assert part in done.stdout, done.stdout + done.stderr


def test_with_pyptx_sync_the_launch_reports_it():
    done = run(WILD + "\ntry:\n    wild(x[:32])\nexcept PtxError as error:\n    print(error.kind, error)\n", PYPTX_SYNC="1")
    says = "driver_error error: kernel `wild` failed: `cuStreamSynchronize` failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)"
    assert says in done.stdout, done.stdout + done.stderr


def test_a_forked_child_is_told_so():
    done = run("""
import os
import torch
from launching import add
from pyptx import PtxError

x = torch.ones(64, device="cuda")
y = add(x, x)
torch.cuda.synchronize()
pid = os.fork()
if pid == 0:
    try:
        add(x, x, out=y)
    except PtxError as error:
        print(error.kind, error, flush=True)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert torch.equal(add(x, x), 2 * x)
""")
    assert done.returncode == 0, done.stderr
    says = "no_driver error: CUDA was initialised before fork: its state does not exist in the child process"
    assert says in done.stdout and "`spawn`" in done.stdout, done.stdout + done.stderr


def test_a_fork_before_the_first_use_is_fine():
    done = run("""
import os
import pyptx
from launching import add
pid = os.fork()
if pid == 0:
    import torch
    x = torch.ones(64, device="cuda")
    os._exit(0 if torch.equal(add(x, x), 2 * x) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
""")
    assert done.returncode == 0, done.stderr
