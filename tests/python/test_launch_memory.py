"""What a launch asks of the memory that it is given, and what it reads of tensors that others own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import WARP, add, offset

import pyptx
from pyptx import PtxError, Tile, _ptx, kernel, ptx, reg
from pyptx.types import f32

torch = pytest.importorskip("torch")


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // (4 * WARP), block=WARP)
def copy4(X, Y):
    """Y = X, four numbers a thread; N is a multiple of 128."""
    px, py = ptx.global_ptrs(X, Y)
    at = offset(16)
    values = [reg.scalar(f32) for _ in range(4)]
    ptx.inst.ld.global_.v4.f32(values, ptx.addr(px + at))
    ptx.inst.st.global_.v4.f32(ptx.addr(py + at), values)
    ptx.ret()


def aligned(n, torch_or_numpy, by=16):
    """n numbers whose address is a multiple of `by`, with one before and some behind them."""
    memory = np.arange(n + 64, dtype=np.float32)
    begin = next(i for i in range(1, 64) if (memory.ctypes.data + 4 * i) % by == 0)
    whole = memory if torch_or_numpy is np else torch.from_numpy(memory)
    return whole, begin


@pytest.mark.parametrize("library", [np, torch])
def test_a_tensor_must_lie_where_wide_loads_can_go(library):
    whole, begin = aligned(256, library)
    for _ in range(2):  # the plan is new, then it is not
        assert (copy4(whole[begin : begin + 256]) == whole[begin : begin + 256]).all()
        for shift in (1, 2, 3):
            with pytest.raises(PtxError) as error:
                copy4(whole[begin + shift : begin + shift + 256])
            assert error.value.kind == "argument_alignment"
            assert "is not a multiple of 16 bytes, which `ld.global.v4.f32` needs" in str(error.value)
            assert "test_launch_memory.py" in str(error.value)
    whole[begin : begin + 256] = 1
    x = whole[begin : begin + 128]
    with pytest.raises(PtxError, match=r"tensor `Y` of kernel `copy4`.* which `st.global.v4.f32` needs"):
        copy4(x, out=whole[begin + 129 : begin + 257])
    assert copy4(x, out=whole[begin + 128 : begin + 256]) is not None


def test_scalar_loads_need_no_more_than_their_element():
    whole, begin = aligned(64, np)
    x = whole[begin + 1 : begin + 65]
    assert (add(x, x) == 2 * x).all()


def test_plain_torch_tensors_are_read_without_asking_torch():
    add(torch.ones(64), torch.ones(64))
    assert _ptx.reads_torch_tensors(), "this torch keeps its tensors in another way: python/binding/torch/torch_layout.cpp"


def test_tensors_that_torch_must_be_asked_about():
    y = torch.arange(64.0)
    assert torch.equal(add(y, y), 2 * y)  # now the fast path is there
    with torch.inference_mode():
        inference = torch.arange(64.0)
        assert torch.equal(add(inference, y), 2 * y)
    assert torch.equal(add(inference, y), 2 * y)
    shared = torch._lazy_clone(y)  # one memory until one of them is written to
    assert torch.equal(add(y, y, out=shared), 2 * torch.arange(64.0))
    assert torch.equal(y, torch.arange(64.0))
    memory = torch.arange(200.0)
    assert torch.equal(add(memory[100:164], memory[3:67]), memory[100:164] + memory[3:67])
    deep = Tile(*(2,) * 6, f32)

    @kernel(in_specs=(deep,), out_specs=(deep,), grid=2, block=WARP)
    def copy(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        at, value = offset(4), reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(px + at))
        ptx.inst.st.global_.f32(ptx.addr(py + at), value)
        ptx.ret()

    x = torch.arange(64.0).reshape((2,) * 6)
    for _ in range(3):
        assert torch.equal(copy(x), x)


def test_autograd_counts_what_a_kernel_writes():
    out = torch.empty(64)
    for count in range(1, 4):
        add(torch.ones(64), torch.ones(64), out=out)
        assert out._version == count


class Interface:
    def __init__(self, **changes):
        self.array = np.arange(64, dtype=np.float32)
        self.__array_interface__ = self.array.__array_interface__ | changes


@pytest.mark.parametrize("strides", [(), (4, 4), (4, 4, 4)])
def test_an_array_interface_with_too_few_or_many_strides(strides):
    with pytest.raises(PtxError, match=rf"gives {len(strides)} strides for 1 dimensions"):
        add(Interface(strides=strides), np.ones(64, np.float32))
    assert (add(Interface(strides=(4,)), np.ones(64, np.float32)) == np.arange(64) + 1).all()


def test_an_image_finds_every_overlap():
    image = add._image_for((), {"N": 64})
    memory = np.zeros(256, np.float32)
    a, b = memory[:64], memory[64:128]
    image.launch([a, b], [memory[128:192]])
    image.launch([a, b], [b])
    for out in (memory[96:160], memory[32:96], memory[1:65]):
        with pytest.raises(PtxError, match="overlap in memory"):
            image.launch([a, b], [out])
    with pytest.raises(PtxError, match="overlap in memory"):
        image.launch([a, memory[32:96]], [a])  # the first input itself, and half of the second


DAEMON = """
import sys, threading, time
sys.path[:0] = {path!r}
import numpy as np
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, pred, u32

@kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=64, block=32)
def long(X, Y):
    i, more = reg.scalar(u32, init=0), reg.scalar(pred)
    with ptx.loop("again", pred=more):
        i += 1
        ptx.inst.setp.lt.u32(more, i, 3_000_000)
    (py,) = ptx.global_ptrs(Y)
    ptx.inst.st.global_.f32(ptx.addr(py + (reg.from_(ptx.special.tid.x(), u32) << 2)), reg.scalar(f32, init=1.0))
    ptx.ret()

threading.Thread(target=lambda: long(np.zeros(32, np.float32)), daemon=True).start()
time.sleep(0.5)
print("leaving")
"""


def test_a_daemon_thread_in_the_executor_does_not_abort_the_exit():
    path = [str(Path(pyptx.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", DAEMON.format(path=path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "leaving\n"), done.stderr


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("M", f32),), grid=1, block=WARP)
def given(X, Y):
    ptx.ret()


@pytest.mark.parametrize("size", [-1, -5, -(2**40)])
def test_negative_sizes(size):
    for use in (lambda: given(np.zeros(4, np.float32), M=size), lambda: given.ptx(N=size), lambda: given.prepare(N=size, M=1)):
        with pytest.raises(PtxError, match=f"is `?{size}`?; what fits is an int from 0") as error:
            use()
        assert error.value.kind == "argument_dim"


TEXT = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) { ret; }\n"


@pytest.mark.parametrize(
    ("text", "launch", "says"),
    [
        (TEXT.replace("entry k", "entry other"), {}, "the module has no kernel `k`"),
        (TEXT.replace(", .param .u64 b", ""), {}, "the launch does not pass the parameters of kernel `k`"),
        (TEXT.replace("ret;", "rot;"), {}, "rot"),
        (TEXT, {"smem": 200_000}, "needs 200000 bytes of dynamic shared memory; a block on sm_80 has at most 166912"),
        (TEXT.replace("{ ret", ".reqntid 64 { ret"), {"block": (32, 1, 1)}, "does not fit the kernel's `.reqntid`"),
    ],
)
def test_what_can_never_launch_is_not_saved(tmp_path, text, launch, says):
    image = _ptx.Image.from_text(text, "k", inputs=1, outputs=1, **launch)
    with pytest.raises(PtxError, match=says):
        image.save(str(tmp_path / "k"), [], [], [])
    assert not list(tmp_path.iterdir())
    _ptx.Image.from_text(TEXT, "k", inputs=1, outputs=1).save(str(tmp_path / "k"), [], [], [])
    assert (tmp_path / "k").is_file()


def test_a_device_is_not_replaced_by_a_saved_kernel():
    image = _ptx.Image.from_text(TEXT, "k", inputs=1, outputs=1)
    with pytest.raises(PtxError, match="it is not a regular file, and would be replaced by one"):
        image.save("/dev/null", [], [], [])
    assert Path("/dev/null").is_char_device()
