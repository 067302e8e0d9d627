#!/usr/bin/env python3
"""The guide's pictures, drawn from what the library computes: docs/guide/pictures/*.svg.

pictures.py [FOLDER]    writes them, by default where they are committed; tests/python/test_guide.py holds them to this
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32

FOLDER = Path(__file__).parents[2] / "docs" / "guide" / "pictures"
COLOURS = ["#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#9c755f"]
PALE = "#e8eaed"


class Drawing:
    """An SVG of rectangles and texts, readable on a light and on a dark page."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, colour: str, text: str = "") -> None:
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}" stroke="#fff"/>')
        if text:
            ink = "#222" if colour == PALE else "#fff"
            self.parts.append(
                f'<text x="{x + width / 2:g}" y="{y + height / 2 + 3.5:g}" text-anchor="middle" fill="{ink}">{text}</text>'
            )

    def say(self, x: float, y: float, text: str, anchor: str = "start") -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="#555">{text}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#888" stroke-dasharray="3 3"/>')

    def text(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="sans-serif" font-size="10" role="img">'
        )
        background = f'<rect width="{self.width}" height="{self.height}" fill="#fff"/>'
        return "\n".join([head, f"<title>{self.title}</title>", background, *self.parts, "</svg>\n"])


# -- what the library says


def swizzled_offsets(mode: str, offsets: Iterable[int]) -> list[int]:
    """Where `smem.apply_swizzle` puts these bytes: the instructions that it writes, run by the executor."""
    given = np.array(list(offsets), np.uint32)

    @kernel(in_specs=(Tile("N", u32),), out_specs=(Tile("N", u32),), grid=lambda N: N // 32, block=32, arch="sm_90a")
    def where(X, Y):  # type: ignore[no-untyped-def]
        x, y = ptx.global_ptrs(X, Y)
        at = (reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)) * 4
        offset = reg.scalar(u32)
        ptx.inst.ld.global_.u32(offset, ptx.addr(x + at))
        ptx.inst.st.global_.u32(ptx.addr(y + at), smem.apply_swizzle(offset, mode))
        ptx.ret()

    return [int(byte) for byte in where(given)]


def fragment_owners(columns: int) -> np.ndarray:
    """Of each element of a 64 x columns accumulator the thread and register that hold it: each thread of a warpgroup stores
    its own number and the register's where the guide's kernel stores its sums."""

    @kernel(in_specs=(Tile(1, f32),), out_specs=(Tile(64, columns, u32),), grid=1, block=128, arch="sm_90a")
    def owners(X, Y):  # type: ignore[no-untyped-def]
        (y,) = ptx.global_ptrs(Y)
        tid = reg.from_(ptx.special.tid.x(), u32)
        row = ((tid >> 5) << 4) + ((tid & 31) >> 2)
        y += (row * columns + ((tid & 3) << 1)) * 4
        for j in range(columns // 8):
            for register, at in ((4 * j, 0), (4 * j + 1, 4), (4 * j + 2, 8 * columns * 4), (4 * j + 3, 8 * columns * 4 + 4)):
                ptx.inst.st.global_.u32(ptx.addr(y, j * 32 + at), tid * 256 + register)
        ptx.ret()

    held: np.ndarray = owners(np.zeros(1, np.float32))
    return held


# -- the pictures


def banks() -> str:
    """A column of 32 f32 in rows of 32 and of 33: the bank of each."""
    cell, left = 17, 90
    drawing = Drawing(left + 32 * cell + 10, 120, "Banks of one column of a tile, without and with padding")
    for half, (pitch, note) in enumerate([(32, "rows of 32"), (33, "rows of 33")]):
        top = 26 + half * 48
        banks_used = [row * pitch % 32 for row in range(32)]
        drawing.say(left - 8, top + 13, note, "end")
        for bank in range(32):
            hits = banks_used.count(bank)
            colour = PALE if not hits else COLOURS[0] if hits == 1 else COLOURS[2]
            drawing.box(left + bank * cell, top, cell, 20, colour, str(hits) if hits else "")
    drawing.say(left, 16, "bank 0 to 31, and how many of a warp's 32 lanes read it at once, down a column")
    drawing.say(left, 112, "32 lanes at one bank take 32 turns; one lane at each bank is one access")
    return drawing.text()


def swizzle() -> str:
    """Eight rows of 128 bytes: which 16-byte chunk of its row lies where, under each swizzle."""
    cell, gap = 26, 34
    drawing = Drawing(3 * (8 * cell + gap) + 20, 8 * cell + 60, "16-byte chunks of eight rows of 128 bytes under each swizzle")
    for number, mode in enumerate(["32B", "64B", "128B"]):
        left = 20 + number * (8 * cell + gap)
        width = int(mode[:-1]) // 16  # chunks of a row of that width
        rows = 8 * 8 // width
        chunks = [(row, chunk) for row in range(rows) for chunk in range(width)]
        at = swizzled_offsets(mode, [(row * width + chunk) * 16 for row, chunk in chunks])
        drawing.say(left, 16, f"{mode}: rows of {width * 16} bytes")
        for (_row, chunk), byte in zip(chunks, at, strict=True):
            place = byte // 16
            drawing.box(left + place % 8 * cell, 26 + place // 8 * cell, cell, cell, COLOURS[chunk], str(chunk))
    drawing.say(
        20,
        8 * cell + 46,
        "each line is 128 bytes of shared memory, all banks once; the number is the chunk's place in its own row",
    )
    return drawing.text()


def fragment() -> str:
    """The lanes of warp 0 over rows 0 to 15 and columns 0 to 7 of the sums."""
    cell_width, cell, left, top = 74, 19, 60, 34
    drawing = Drawing(left + 8 * cell_width + 10, top + 16 * cell + 12, "Which lane has which element of the sums of wgmma")
    held = fragment_owners(8)
    drawing.say(left, 14, "rows 0 to 15 of a 64 x N accumulator, columns 0 to 7: lane, and its register (4j + …)")
    for column in range(8):
        drawing.say(left + (column + 0.5) * cell_width, 28, f"column {column}", "middle")
    for row in range(16):
        drawing.say(left - 8, top + row * cell + 13, f"row {row}", "end")
        for column in range(8):
            lane, register = divmod(int(held[row, column]), 256)
            drawing.box(
                left + column * cell_width, top + row * cell, cell_width, cell, COLOURS[lane % 4 + (0 if register < 2 else 4)],
                f"lane {lane}: d[{register}]",
            )  # fmt: skip
    return drawing.text()


def ring() -> str:
    """Two stages, a producer that copies in 2 units of time and a consumer that reads in 3: who waits for what."""
    copy, read, passes, stages = 2, 3, 6, 2
    filled, emptied, producer, consumer = [0] * passes, [0] * passes, 0, 0
    spans: list[tuple[int, int, int, str, int]] = []  # row, begin, end, text, colour
    for i in range(passes):
        start = max(producer, emptied[i - stages] if i >= stages else 0)
        if start > producer:
            spans.append((0, producer, start, "empty?", -1))
        filled[i] = producer = start + copy
        spans.append((0, start, producer, f"{i} to stage {i % stages}", i % stages))
        begin = max(consumer, filled[i])
        if begin > consumer:
            spans.append((1, consumer, begin, "full?", -1))
        emptied[i] = consumer = begin + read
        spans.append((1, begin, consumer, f"{i} from stage {i % stages}", i % stages))
    unit, left = 36, 76
    drawing = Drawing(left + max(emptied) * unit + 10, 118, "A ring of two stages over time")
    for row, name in enumerate(["copies", "reads"]):
        drawing.say(left - 8, 36 + row * 34, name, "end")
    for row, begin, end, text, colour in spans:
        fill = PALE if colour < 0 else COLOURS[colour]
        drawing.box(left + begin * unit, 20 + row * 34, (end - begin) * unit, 26, fill, text)
    for i in range(passes):
        drawing.line(left + filled[i] * unit, 46, left + filled[i] * unit, 54)
    drawing.say(left, 98, "a copy that ends completes the stage's barrier `full`; readers that are done arrive at `empty`")
    drawing.say(left, 112, "grey: waiting. After two copies the producer is always ahead, and the readers never wait again")
    return drawing.text()


PICTURES: dict[str, Callable[[], str]] = {"banks": banks, "fragment": fragment, "ring": ring, "swizzle": swizzle}


def main(folder: Path = FOLDER) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw())
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
