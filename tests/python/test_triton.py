"""pyptx.triton with Triton itself: kernels of the tutorials' kind, errors at Triton's lines, Triton's own tools."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton", reason="Triton is not installed: tools/dev/requirements-triton.txt")

import triton.language as tl  # noqa: E402
import triton_cases  # noqa: E402
import triton_kernels  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402
from triton_cases import CASES, Case, Descriptor  # noqa: E402

import pyptx.triton  # noqa: E402
from pyptx import PtxError  # noqa: E402


@pytest.fixture
def sm_80() -> Iterator[pyptx.triton.Activation]:
    with pyptx.triton.activate("sm_80") as activation:
        yield activation


def call(case: Case, arguments: dict[str, Any]) -> Any:
    """Launches the case's kernel as a user of Triton's would."""
    given = {
        name: TensorDescriptor.from_tensor(value.tensor, list(value.block)) if isinstance(value, Descriptor) else value
        for name, value in arguments.items()
        if name != "kept"  # tensors that a kernel finds by address
    }
    if case.scratch:
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
    meta = {name: getattr(tl, str(value)) if name == "ACCUMULATOR" else value for name, value in case.meta.items()}
    return getattr(triton_kernels, case.kernel)[case.grid](**given, **meta)


@pytest.mark.parametrize(("case", "target"), [(case, target) for case in CASES for target in case.targets], ids=str)
def test_a_kernel_gives_what_torch_gives(case: Case, target: str) -> None:
    with pyptx.triton.activate(target):
        arguments = case.arguments()
        call(case, arguments)
        case.check(arguments)


def line_of(text: str) -> int:
    lines = Path(triton_kernels.__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)


def test_an_error_is_at_the_line_of_python(sm_80: pyptx.triton.Activation) -> None:
    x, out = torch.zeros(1000), torch.zeros(1000)
    with pytest.raises(PtxError) as caught:
        triton_kernels.add_bug[(1,)](x, out, 1000, BLOCK=1024)
    error = caught.value
    assert error.kind == "out_of_bounds" and error.region == "x" and error.kernel == "add_bug"
    inner, outer = line_of("return tl.load(x + i)"), line_of("tl.store(out + i, load_without_mask(x, i), mask=i < n)")
    assert error.where == (triton_kernels.__file__, inner)
    assert [place[1:] for place in error.places] == [(triton_kernels.__file__, line) for line in (inner, outer)]
    text = str(error)
    assert f"--> {triton_kernels.__file__}:{inner}\n" in text
    assert "return tl.load(x + i)" in text and "tl.store(out + i, load_without_mask(x, i), mask=i < n)" in text


def test_an_error_inside_of_tritons_library_is_at_the_users_line(sm_80: pyptx.triton.Activation) -> None:
    with pytest.raises(PtxError) as caught:  # index 700 of 16
        index, turns = torch.full((512,), 700, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        triton_kernels.atomics[(4,)](torch.zeros(512), index, torch.zeros(16), torch.zeros(16), turns, N=128)
    assert caught.value.where == (triton_kernels.__file__, line_of("tl.atomic_add(sums + at, values)"))


def test_prints_and_asserts(sm_80: pyptx.triton.Activation, capsys: pytest.CaptureFixture[str]) -> None:
    triton_kernels.speak[(1,)](torch.tensor([41], dtype=torch.int32), 42, debug=True, num_warps=1)
    assert set(capsys.readouterr().out.splitlines()) == {"pid (0, 0, 0) idx () value: 41"}  # each thread says it
    with pytest.raises(RuntimeError, match="too large") as caught:
        triton_kernels.speak[(1,)](torch.tensor([42], dtype=torch.int32), 42, debug=True, num_warps=1)
    assert caught.value.where == (triton_kernels.__file__, line_of('tl.device_assert(value < n, "too large")'))


def test_another_grid_or_scalar_reads_nothing_again(sm_80: pyptx.triton.Activation, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyptx.triton import _driver

    loads: list[str] = []
    real = _driver.LoadedKernel
    monkeypatch.setattr(_driver, "LoadedKernel", lambda name, ptx: (loads.append(name), real(name, ptx))[1])
    x = torch.rand(4000)
    for n in (4000, 3001, 123, 999):
        out = torch.zeros(4000)
        triton_kernels.vector_add[(triton.cdiv(n, 160),)](x, x, out, n, BLOCK=256)
        assert torch.equal(out[:n], 2 * x[:n]) and not out[n:].any()
    assert len(loads) <= 2  # numbers that divide by 16 are another kernel of Triton's


def test_tuples_and_none(sm_80: pyptx.triton.Activation) -> None:
    x, out = torch.tensor([2.0]), torch.zeros(2)
    triton_kernels.tuples[(1,)]((x, 3), None, out)
    assert out.tolist() == [5, 0]
    triton_kernels.tuples[(1,)]((x, 3), 4.0, out)
    assert out.tolist() == [5, 8]


def test_autotune_counts_instructions(sm_80: pyptx.triton.Activation) -> None:
    x, out = torch.rand(1 << 14), torch.zeros(1 << 14)
    triton_kernels.tuned_copy[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    assert torch.equal(x, out)
    times = triton_kernels.tuned_copy.configs_timings
    assert triton_kernels.tuned_copy.best_config.kwargs["BLOCK"] == 1024
    assert all(float(value[0]).is_integer() and value[0] > 0 for value in times.values())


def test_do_bench_warmup_and_hooks(sm_80: pyptx.triton.Activation) -> None:
    x, out = torch.rand(256), torch.zeros(256)

    def run() -> Any:
        return triton_kernels.vector_add[(2,)](x, x, out, 256, BLOCK=128)

    assert triton.testing.do_bench(run, warmup=1, rep=2) > 0
    kernel = triton_kernels.vector_add.warmup(x, x, out, 256, BLOCK=128, grid=(2,))
    kernel._init_handles()
    assert kernel.n_regs == 255 and kernel.n_spills == 0 and ".visible .entry vector_add" in kernel.asm["ptx"]
    assert "cubin" not in kernel.asm
    seen: list[str] = []
    hooks = triton.knobs.runtime
    hooks.launch_enter_hook = lambda metadata: seen.append(f"enter {metadata.get()['name']}")
    hooks.launch_exit_hook = lambda metadata: seen.append("exit")
    try:
        run()
    finally:
        hooks.launch_enter_hook = hooks.launch_exit_hook = None
    assert seen == ["enter vector_add", "exit"]
    assert sm_80.last_report is not None and sm_80.last_report.blocks == 2


def test_views_of_one_storage(sm_80: pyptx.triton.Activation) -> None:
    store = torch.rand(1000)
    x, y, out = store[:300], store[301:601], store[700:]
    wanted = x + y
    triton_kernels.vector_add[(3,)](x, y, out, 300, BLOCK=128)
    assert torch.equal(out, wanted)


def test_atomics_of_16_bits_take_the_whole_word(sm_80: pyptx.triton.Activation) -> None:
    out, x = torch.tensor([1.5], dtype=torch.bfloat16), torch.tensor([2.0], dtype=torch.bfloat16)
    for times in (1, 2):
        triton_kernels.add_atomically[(3,)](out, x)  # of which 2 bytes lie behind the tensor
        assert out.item() == 1.5 + 6 * times
    three = torch.tensor([1, 2, 3], dtype=torch.bfloat16)
    triton_kernels.add_atomically[(1,)](three[2:], three)
    assert three.tolist() == [1, 2, 4]


def test_memory_that_only_the_kernel_knows(sm_80: pyptx.triton.Activation) -> None:
    x, out = torch.rand(64), torch.zeros(64)
    address = out.data_ptr()
    triton_kernels.vector_add[(1,)](x, x, out[:0], 0, BLOCK=64)
    table = torch.tensor([x.data_ptr(), x.data_ptr(), address])
    assert table.dtype == torch.int64
    groups = triton_cases._groups()
    call(next(case for case in CASES if case.kernel == "grouped_matmul"), groups)
    triton_cases._check_groups(groups)


def test_programs_that_ask_for_a_gpu() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine's torch sees a GPU")
    with pyptx.triton.activate("sm_90a"):
        assert torch.cuda.get_device_capability() == (9, 0)
        assert torch.cuda.get_device_properties("cuda").multi_processor_count == 132
        x = torch.ones(8, device="cuda")
        assert x.device.type == "cpu" and x.cuda() is x and x.to("cuda:0").device.type == "cpu"
        torch.cuda.synchronize()
        torch.cuda.set_device(0)
        assert torch.cuda.device_count() == 1
        with torch.cuda.device(x.device.index), torch.cuda.device(0):
            assert torch.cuda.current_device() == 0
        driver = triton.runtime.driver.active
        assert driver.get_active_torch_device() == torch.device("cpu")
        assert driver.get_current_target().arch == 90
        assert driver.utils.get_device_properties(0)["max_shared_mem"] == 227 * 1024
    with pytest.raises((AssertionError, RuntimeError)):
        torch.ones(8, device="cuda")


def test_activations_nest_and_end() -> None:
    before = (triton.backends.backends["nvidia"], triton.runtime.driver._active)
    assert pyptx.triton.active() is None
    outer = pyptx.triton.activate("sm_80")
    with pyptx.triton.activate(90) as inner:
        assert pyptx.triton.active() is inner and inner.target == "sm_90a"
        assert triton.runtime.driver.active.get_current_target().arch == 90
    assert pyptx.triton.active() is outer
    assert triton.runtime.driver.active.get_current_target().arch == 80
    pyptx.triton.deactivate()
    pyptx.triton.deactivate()
    assert pyptx.triton.active() is None
    assert (triton.backends.backends["nvidia"], triton.runtime.driver._active) == before


def test_refuses_what_does_not_fit(sm_80: pyptx.triton.Activation, monkeypatch: pytest.MonkeyPatch) -> None:
    for target in ("sm_81", "hopper", None, 3.5):
        with pytest.raises(ValueError, match="what fits is one of sm_70"):
            pyptx.triton.activate(target)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`workers` is `-1`"):
        pyptx.triton.activate(workers=-1)
    monkeypatch.setattr(triton, "__version__", "2.1.0")
    with pytest.raises(ValueError, match=r"Triton 2\.1\.0 is installed; pyptx\.triton knows the launches of 3\.6\.x"):
        pyptx.triton.activate()


def test_max_instructions_and_options() -> None:
    x, out = torch.rand(4096), torch.zeros(4096)
    with pyptx.triton.activate("sm_80", max_instructions=10, workers=1), pytest.raises(PtxError) as caught:
        triton_kernels.vector_add[(32,)](x, x, out, 4096, BLOCK=128)
    assert caught.value.kind == "step_limit"


def test_without_triton() -> None:
    """Importing brings nothing of Triton's, and activating without it says what to install."""
    code = """
        import sys
        import pyptx, pyptx.triton
        assert not [name for name in sys.modules if name.split(".")[0] in ("triton", "torch")]
        sys.modules["triton"] = None
        try:
            pyptx.triton.activate()
        except ModuleNotFoundError as error:
            assert "pip install triton==3.6" in str(error), error
        else:
            raise AssertionError("it was there")
    """
    path = [str(Path(pyptx.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n" + textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
