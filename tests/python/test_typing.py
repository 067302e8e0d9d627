"""What a type checker says of programs: nothing of one that runs, and of a slip the line where it is."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pyptx

RIGHT = '''
"""Constructs of every kind, with every parameter typed."""

from pyptx import Kernel, Layout, Tile, intrinsic, kernel, ptx, reg, smem
from pyptx.kernel import TensorSpec
from pyptx.reg import Reg, RegArray
from pyptx.types import PtxType, b32, b64, bf16, f32, pred, u32


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
def twice(X: TensorSpec, Y: TensorSpec) -> None:
    x, y = ptx.global_ptrs(X, Y)
    at = (reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)) * 4
    v = reg.scalar(f32)
    ptx.inst.ld.global_.f32(v, ptx.addr(x + at))
    doubled: Reg = ptx.inst.add.f32(v, v, v)
    ptx.inst.st.global_.f32(ptx.addr(y + at), doubled)
    ptx.ret()


@intrinsic
def blend(a: Reg, b: Reg, bits: int = 3) -> Reg:
    a += 1
    a -= b
    a *= 3
    a <<= bits
    a >>= 1
    a &= 7
    a ^= b
    a |= 1
    return 2 + (4 * a) + (15 & b) + (1 ^ a).max(b)


def build(dtype: PtxType = bf16, *, block: int = 128) -> Kernel:
    @kernel(
        in_specs=[Tile("M", "K", dtype, Layout.TMA_128B, tma_box=(64, 64)), Tile.wgmma_b("K", 64, dtype, tile_k=64)],
        out_specs=[Tile("M", 64, f32)],
        grid=lambda M: (M // 64, 1),
        block=(block, 1, 1),
        raw_params=[("u32", "n")],
        raw_directives=[("maxntid", (block,))],
    )
    def gemm(A: TensorSpec, B: TensorSpec, C: TensorSpec, *, STAGES: int = 2) -> None:
        a, b = smem.wgmma_tile(dtype, (64, 64)), smem.wgmma_tile(dtype, (64, 64), major="MN")
        full, row = smem.mbarrier(STAGES), smem.alloc(f32, (1, 32), swizzle=None)
        (c,) = ptx.global_ptrs(C)
        tid = reg.from_(ptx.special.tid.x(), u32)
        first = tid == 0
        with ptx.if_(first):
            for i in range(STAGES):
                ptx.mbarrier.init(full[i], 1)
            ptx.fence.proxy_async_shared_cta(pred=first)
        with ptx.else_():
            ptx.bar.sync(1, 32)
        accumulator: RegArray = reg.array(f32, 32)
        for i in range(len(accumulator)):
            accumulator[i] = reg.scalar(f32, init=0.0)
        k, phase, more = reg.scalar(u32, init=0), reg.scalar(u32, init=0), reg.scalar(pred)
        with ptx.loop("next", pred=more):
            ptx.mbarrier.arrive_expect_tx(full[0], 64 * 64 * 2, pred=first)
            ptx.cp.async_.bulk.tensor_2d(dst=a[0], src=A.tma_desc(), coord=(k, 0), mbar=full[0], pred=first)
            ptx.cp.async_.bulk.tensor_2d(dst=b, src=B, coord=[0, k], mbar=full[0], pred=~first)
            ptx.mbarrier.wait(full[0], phase)
            ptx.wgmma.fence()
            ptx.wgmma.mma_async(
                shape=(64, 64, 16), dtype_d=f32, dtype_a=dtype, dtype_b=dtype, d=accumulator, a=a, b=b[0], scale_d=more
            )
            ptx.wgmma.commit_group()
            ptx.wgmma.wait_group(0)
            k += 64
            phase ^= 1
            ptx.inst.setp.lt.u32(more, k, ptx.param(u32, "n"), pred=first)
        row[0, tid] = accumulator[0]
        ptx.warp.reduce_sum(row[0, 3], width=4)
        total: Reg = ptx.let.fma.rn.f32(accumulator[0], 0.5, "0f3F800000", pred=first, other=0.0)
        four: list[Reg] = ptx.let.ld.global_.v4.f32(ptx.addr(c + tid * 16), pred=~first, other=1)
        x0, x1, x2, x3 = four
        byte = ptx.let.ld.global_.u8(ptx.addr(c), dtype=u32).max(tid)
        leader, elected = ptx.let.elect.sync(-1)
        low, high = ptx.let.mov.b64(ptx.let.mov.b64([byte, leader]), dtype=b32)
        with ptx.if_(ptx.let.setp.lt.f32(total, x0 + x1 + x2 + x3) & elected):
            ptx.let.atom.global_.add.u32(ptx.addr(c), ptx.let.add.u32(low, high))
        lane, word = reg.scalar(b32, init=0), reg.scalar(b64)
        ptx.inst.elect.sync(lane | more, 0xFFFFFFFF)
        ptx.inst._raw_emit("// as it is")
        for barrier in full:
            ptx.mbarrier.arrive(barrier)
        ptx.inst.mov.b64(word, [lane, tid])
        ptx.inst.mov.b64([lane, tid], word)
        ptx.inst.mov.b32(lane, row)
        ptx.inst.mov.b32(lane, row.name)
        ptx.inst.fma.rn.f32(accumulator[0], accumulator[1], 0.5, "0f3F800000")
        ptx.inst.st.global_.v4.f32(ptx.addr(c + tid * 16, 8), accumulator.regs()[:4], pred=~more)
        ptx.inst.mbarrier.try_wait.parity.shared__cta.b64(more, ptx.addr(full[1]), phase)
        for step in ptx.range_(0, 8, 2):
            blend(step, tid)
        ptx.kloop(4, unroll=2, body=lambda: None)
        with ptx.scope(), ptx.expr():
            ptx.pipe(tid).add.s32(lane, 5).shl.b32(lane, 2)
        stage, parity = ptx.pipeline(STAGES).advance()
        ptx.mbarrier.array(smem.base(row.name), 0, STAGES).at(stage).wait(parity)
        ptx.bra("done", pred=~more)
        ptx.label("done")
        ptx.ret()

    return gemm


text: str = twice.ptx(N=64) + build().ptx(M=64, K=64, STAGES=3)
'''

WRONG = """
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32

x, q = reg.scalar(f32), reg.array(f32, 4)
k = kernel(in_specs=(Tile(1, f32),))(lambda X: None)
ptx.inst.fma.rn.f33(x, x, x, x)  # error: no such type
ptx.inst.fma.f32(x, x, x, x)  # error: the rounding is missing
ptx.inst.ld.f32.global_(x, x)  # error: modifiers have an order
ptx.inst.fmaa  # error: no such instruction
ptx.inst.fma.rn.f32(x, x, x)  # error: an operand too few
ptx.inst.fma.rn.f32(x, x, x, x, x)  # error: an operand too many
ptx.inst.fma.rn.f32(x, x, x, x, predicate=x)  # error: the keyword is pred
ptx.inst.fma.rn.f32(x, x, x, x, pred="p")  # error: a predicate's name
ptx.inst.fma.rn.f32(x, x, x, None)  # error: no operand
ptx.inst.fma.rn.f32(x, x, f32, x)  # error: a type
ptx.inst.fma.rn.f32(3.0, x, x, x)  # error: a number to write to
reg.scalar("f32")  # error: a type's name
reg.scalar(f32, initial=0.0)  # error: the keyword is init
reg.array(f32)  # error: how many
q[0] = 1.0  # error: a number in a slot
x + "a"  # error: a text
x * "1.5"  # error: a text
x @ 2  # error: no such operator
x.type  # error: no such attribute
reg.from_(u32, x)  # error: in the other order
smem.alloc(f32, "4")  # error: a shape
smem.wgmma_tile(f32, (64, 64, 2))  # error: a matrix
smem.allocate(f32, 4)  # error: no such function
ptx.if_(3)  # error: no predicate
ptx.loop("again", pred=1)  # error: no predicate
ptx.bra(x)  # error: no label
ptx.special.tid.q()  # error: no such register
ptx.global_ptrs(x)  # error: no tensor
ptx.mbarrier.try_wait(x)  # error: the phase is missing
ptx.cp.async_.bulk.tensor_2d(dst=x, src=x, coord=3)  # error: coordinates
ptx.cp.async_.bulk.tensor_6d  # error: no such rank
ptx.warp.reduce_sum(x, 4)  # error: width is a keyword
ptx.wgmma.mma_async(shape=(64, 64), dtype_d=f32, dtype_a=f32, dtype_b=f32, d=q, a=x, b=x)  # error: a shape of two
ptx.tcgen05.alloc(x)  # error: the columns are missing
ptx.inst.fma.rn.f32(x, ptx.addr(x), x, x)  # error: an address where a register belongs
ptx.inst.ld.global_.f32(x, x)  # error: a register where an address belongs
ptx.inst.st.global_.f32(x, ptx.addr(x))  # error: swapped
ptx.inst.mbarrier.init.shared__cta.b64(1, ptx.addr(x))  # error: swapped
ptx.let.fma.rn.f33(x, x, x)  # error: no such type
ptx.let.fma.rn.f32(x, x)  # error: an operand too few
ptx.let.fma.rn.f32(x, x, x, x)  # error: the destination is not named
ptx.let.fma.rn.f32(x, ptx.addr(x), x)  # error: an address where a register belongs
ptx.let.ld.global_.f32(x)  # error: a register where an address belongs
ptx.let.atom.global_.add.f32(x, ptx.addr(x))  # error: swapped
ptx.let.st.global_.f32(ptx.addr(x), x)  # error: no result
ptx.let.add.f32(x, x, dtype="f32")  # error: a type's name
ptx.let.add.f32(x, x, other=ptx.addr(x))  # error: an address
ptx.let.add.f32(x, x, mask=x)  # error: no such keyword
ptx.let.ld.global_.v4.f32(ptx.addr(x)) + x  # error: a vector is a list
a, b = ptx.let.add.f32(x, x)  # error: one register
ptx.let.elect.sync(-1).name  # error: two destinations
k.ptx(M=[64])  # error: no template value
k.ptx(lineinfo="yes")  # error: no bool
k.sass(M={})  # error: no template value
Tile("M", 1.5, f32)  # error: a dimension
kernel(in_specs=Tile("M", f32))  # error: a sequence
kernel(threads=32)  # error: no such argument
"""


@pytest.fixture(params=["mypy", "basedpyright"])  # the second is pyright, as PyPI has it: with its own node
def complaints(request, tmp_path):
    """Of a program's text, the lines that the checker calls errors, with all it said."""
    checker, package = request.param, str(Path(pyptx.__file__).parents[1])
    if checker == "mypy":
        pytest.importorskip("mypy")
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache")]
    elif found := shutil.which(checker, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])):
        command = [found]
        settings = {"extraPaths": [package], "typeCheckingMode": "standard", "reportUnusedExpression": False}
        (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    else:
        pytest.skip(f"no {checker} on PATH")

    def check(text: str) -> tuple[set[int], str]:
        (tmp_path / "program.py").write_text(text)
        # What is installed mypy finds by itself, and it refuses such a path.
        environment = {**os.environ, **({} if "site-packages" in package else {"MYPYPATH": package})}
        done = subprocess.run(
            [*command, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert done.returncode in (0, 1), said
        lines = {int(line) for line in re.findall(r"program\.py:(\d+)(?:: error|:\d+ - error)", said)}
        assert bool(lines) == (done.returncode == 1), said
        return lines, said

    return check


def test_a_program_that_runs_has_no_errors(complaints, tmp_path) -> None:
    lines, said = complaints(RIGHT)
    assert lines == set(), said
    assert "wgmma.mma_async" in runpy.run_path(str(tmp_path / "program.py"))["text"]


def test_every_slip_is_found_at_its_line(complaints) -> None:
    lines, said = complaints(WRONG)
    assert lines == {number for number, line in enumerate(WRONG.splitlines(), 1) if "# error" in line}, said
