"""Small kernels written at random through the API: what our checker accepts, ptxas accepts.

Many calls are refused, as their operands are drawn at random; a refused call leaves nothing behind, and the kernel goes on.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Callable

import pytest

from pyptx import PtxError, kernel, ptx, reg, smem
from pyptx.types import b16, b32, b64, bf16, f16, f32, f64, pred, s32, s64, u16, u32, u64

COUNT = int(os.environ.get("PYPTX_RANDOM_KERNELS", "600"))
SEED = int(os.environ.get("PYPTX_RANDOM_SEED", "1"))
TARGETS = ("sm_80", "sm_90a", "sm_100a")
TYPES = (b16, b32, b64, bf16, f16, f32, f64, s32, s64, u16, u32, u64)
SPECIALS = (ptx.special.tid.x, ptx.special.ctaid.x, ptx.special.laneid, ptx.special.clock64, ptx.special.ntid.y)


class Author:
    """One author at a keyboard: keeps what was made, and uses it again."""

    def __init__(self, draw: random.Random, said: Counter[str]) -> None:
        self.draw, self.said = draw, said
        self.regs = [reg.scalar(t, init=0) for t in (u32, s32, u64, s64, b32)] + [
            reg.scalar(f32, init=1.0),
            reg.scalar(f64, init=2),
        ]
        self.regs.append(reg.from_(ptx.special.tid.x(), u32))
        self.preds = [self.regs[0] == 0]
        self.labels = 0
        self.shared = [smem.alloc(f32, (4, 32)), smem.alloc(u32, 64)]

    def operand(self):
        kind = self.draw.random()
        if kind < 0.6:
            return self.draw.choice(self.regs)
        if kind < 0.8:
            return self.draw.choice((0, 1, 3, 31, -1, 255, 1 << 20, -(1 << 31), (1 << 40) + 1))
        if kind < 0.85:
            return self.draw.choice((0.5, -1.0, 1e30))
        return self.draw.choice(SPECIALS)()

    def predicate(self):
        p = self.draw.choice(self.preds)
        return ~p if self.draw.random() < 0.3 else p

    def guard(self):
        return self.predicate() if self.draw.random() < 0.2 else None

    def operators(self) -> None:
        a, b = self.draw.choice(self.regs), self.operand()
        made = self.draw.choice(
            (lambda: a + b, lambda: a - b, lambda: a * b, lambda: a << b, lambda: a >> b, lambda: a & b, lambda: a | b,
             lambda: a ^ b, lambda: b + a, lambda: a.max(b))
        )()  # fmt: skip
        self.keep(made)

    def in_place(self) -> None:
        a, b = self.draw.choice(self.regs), self.operand()
        match self.draw.randrange(4):
            case 0:
                a += b
            case 1:
                a <<= b
            case 2:
                a ^= b
            case 3:
                a -= b

    def compare(self) -> None:
        a, b = self.draw.choice(self.regs), self.operand()
        self.preds.append(self.draw.choice((lambda: a == b, lambda: a < b, lambda: a >= b, lambda: a != b))())

    def declare(self) -> None:
        dtype = self.draw.choice(TYPES)
        self.keep(reg.scalar(dtype) if self.draw.random() < 0.3 else reg.scalar(dtype, init=self.draw.choice((0, 7, 1.5))))

    def instruction(self) -> None:
        i, g = ptx.inst, self.guard()
        t = self.draw.choice(("u32", "s32", "f32", "f64", "b32", "u64", "s64", "f16", "bf16", "u16"))
        d, a, b, c = self.draw.choice(self.regs), self.operand(), self.operand(), self.operand()
        calls: list[Callable[[], object]] = [
            lambda: getattr(i.mov, t)(d, a, pred=g),
            lambda: getattr(i.add, t)(d, a, b, pred=g),
            lambda: getattr(i.mul.lo, t)(d, a, b, pred=g),
            lambda: getattr(i.mad.lo, t)(d, a, b, c, pred=g),
            lambda: getattr(i.fma.rn, t)(d, a, b, c, pred=g),
            lambda: getattr(i.min, t)(d, a, b, pred=g),
            lambda: getattr(i.selp, t)(d, a, b, self.predicate(), pred=g),
            lambda: i.cvt.rn.f32.s32(d, a, pred=g),
            lambda: i.cvt.u32.u64(d, a, pred=g),
            lambda: i.cvt.rzi.s32.f32(d, a, pred=g),
            lambda: i.popc.b32(d, a, pred=g),
            lambda: i.prmt.b32(d, a, b, c, pred=g),
            lambda: i.bfe.u32(d, a, b, c, pred=g),
            lambda: i.lop3.b32(d, a, b, c, self.draw.randrange(300), pred=g),
            lambda: i.shfl.sync.idx.b32(d, a, b, 31, -1, pred=g),
            lambda: i.ex2.approx.f32(d, a, pred=g),
            lambda: i.rcp.rn.f64(d, a, pred=g),
            lambda: i.ld.shared.f32(d, ptx.addr(self.draw.choice(self.shared), self.draw.randrange(0, 256, 4)), pred=g),
            lambda: i.st.shared.b32(ptx.addr(self.draw.choice(self.shared), self.draw.randrange(0, 256, 4)), a, pred=g),
        ]
        self.draw.choice(calls)()

    def shared_element(self) -> None:
        tile = self.shared[0]
        row = self.draw.choice((0, 3, self.draw.choice(self.regs)))
        column = self.draw.choice((0, 31, self.draw.choice(self.regs)))
        if self.draw.random() < 0.5:
            self.keep(tile[row, column])
        else:
            tile[row, column] = self.draw.choice(self.regs)

    def reduce(self) -> None:
        getattr(ptx.warp, self.draw.choice(("reduce_sum", "reduce_max", "reduce_min")))(
            self.draw.choice(self.regs), width=self.draw.choice((2, 4, 8, 16, 32))
        )

    def barrier(self) -> None:
        ptx.bar.sync(self.draw.choice((0, 1, 15)))

    def block(self, depth: int) -> None:
        made, preds = len(self.regs), len(self.preds)
        kind = self.draw.randrange(4)
        if kind == 0:
            with ptx.if_(self.predicate()):
                self.write(depth + 1)
            if self.draw.random() < 0.5:
                with ptx.else_():
                    self.write(depth + 1)
        elif kind == 1:
            self.labels += 1
            with ptx.loop(f"again_{self.labels}", pred=self.predicate()):
                self.write(depth + 1)
        elif kind == 2:
            for k in ptx.range_(0, self.draw.choice((4, self.regs[1])), self.draw.choice((1, 2))):
                self.regs.append(k)
                self.write(depth + 1)
        else:
            with ptx.scope():
                self.write(depth + 1)
            del self.regs[made:], self.preds[preds:]  # what a scope declares is out of reach behind it

    def keep(self, made) -> None:
        if made is not None and not isinstance(made, ptx.PipeRef):
            (self.preds if made.dtype is pred else self.regs).append(made)

    def write(self, depth: int = 0) -> None:
        steps = [
            self.operators,
            self.in_place,
            self.compare,
            self.declare,
            self.instruction,
            self.instruction,
            self.shared_element,
            self.reduce,
        ]
        if depth == 0:
            steps.append(self.barrier)
        for _ in range(self.draw.randrange(3, 9)):
            if depth < 3 and self.draw.random() < 0.15:
                self.block(depth)
                continue
            try:
                self.draw.choice(steps)()
                self.said["written"] += 1
            except (PtxError, TypeError, ValueError) as error:
                self.said[type(error).__name__] += 1


def written_by(draw: random.Random, said: Counter[str]) -> Callable[[], None]:
    def random_kernel() -> None:
        Author(draw, said).write()
        ptx.ret()

    return random_kernel


def body_of(text: str, name: str) -> str:
    """The entry of a module's text, under another name."""
    return re.sub(
        r"\brandom_kernel\b", name, text[text.index(".visible .entry") if ".visible" in text else text.index(".entry") :]
    )


@pytest.mark.filterwarnings("ignore::pyptx.PtxWarning")
def test_ptxas_accepts_what_we_accept(ptxas) -> None:
    said: Counter[str] = Counter()
    texts: dict[str, list[str]] = {target: [] for target in TARGETS}
    for number in range(COUNT):
        draw = random.Random(SEED * 1_000_003 + number)
        target = draw.choice(TARGETS)
        try:
            texts[target].append(kernel(arch=target)(written_by(draw, said)).ptx())
        except PtxError as error:  # the whole kernel: a register used where no path has set it, and the like
            said[f"kernel: {type(error).__name__}"] += 1
    accepted = sum(map(len, texts.values()))
    assert accepted >= COUNT * 0.9, said
    for target, all_texts in texts.items():
        for begin in range(0, len(all_texts), 100):
            batch = all_texts[begin : begin + 100]
            header = batch[0][: batch[0].index(".entry")].rsplit("\n", 1)[0]
            entries = [body_of(text, f"random_{begin + i}") for i, text in enumerate(batch)]
            ptxas("\n".join([header, *entries]), target, "-O0")
    print(f"seed {SEED}: {accepted} kernels of {COUNT} accepted by both; {dict(said)}")
