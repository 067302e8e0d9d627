"""The public bugs of tests/public_bugs beside compute-sanitizer, on a GPU: what each of its tools says of the mistake and of the
mended kernel, and whether a plain run ends well. The kernels are loaded by the driver alone, by ctypes: nothing of pyptx runs.

    python tests/gpu/public_bugs_beside_sanitizer.py            the table, as docs/facts.md has it
    python tests/gpu/public_bugs_beside_sanitizer.py --jobs 8   so many processes at a time
"""

from __future__ import annotations

import argparse
import ctypes
import re
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sanitizer import answer

FOLDER = Path(__file__).resolve().parents[1] / "public_bugs"
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SECONDS = 25
MARKS = re.compile(r"  // (mend|mistake)$")
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


def text_of(path: Path, which: str) -> str:
    marked = ((line, MARKS.search(line)) for line in path.read_text().splitlines())
    return "".join(line + "\n" for line, mark in marked if mark is None or mark[1] == which)


def told(path: Path, what: str) -> str:
    found = re.search(rf"^// {what}:(.*)$", path.read_text(), re.MULTILINE)
    return found[1].strip() if found else ""


def three(word: str) -> list[int]:
    sizes = [int(size) for size in word.split(",")]
    return sizes + [1] * (3 - len(sizes))


class Attribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint32 * 16))


class Config(ctypes.Structure):
    _fields_ = (
        ("sizes", ctypes.c_uint32 * 6),
        ("shared", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint32),
    )


class Driver:
    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name: str, *arguments: object) -> None:
        if (result := getattr(self.library, name)(*arguments)) != 0:
            raise SystemExit(f"{name}: {result}")

    def buffer(self, spec: str) -> ctypes.c_uint64:
        """`f32[64]`, `u32[4]=0`, `f32[64]=iota`: memory, filled with zeros or with what is asked for."""
        kind, count, value = re.fullmatch(r"(\w+)\[(\d+)\](?:=(.*))?", spec).groups()  # type: ignore[union-attr]
        size = SIZES[re.sub(r"\D", "", kind)]
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size * int(count)))
        numbers = range(int(count)) if value == "iota" else [int(value or "0", 0)] * int(count)
        if kind == "f32":
            host = (ctypes.c_float * int(count))(*numbers)
        else:
            host = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}[size] * int(count)  # type: ignore[assignment]
            host = host(*numbers)  # type: ignore[operator]
        if value is not None:  # an output is left as it is, for initcheck
            self("cuMemcpyHtoD_v2", address, host, ctypes.c_size_t(size * int(count)))
        return address


def one_run(path: Path, words: str) -> None:
    """Loads and launches a kernel, in a process of its own."""
    options = argparse.ArgumentParser()
    for option in ("--grid", "--block", "--cluster", "--smem", "--entry"):
        options.add_argument(option)
    options.add_argument("--arg", action="append", default=[])
    given = options.parse_args(shlex.split(words))
    driver = Driver()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    text = path.read_text()
    driver("cuModuleLoadData", ctypes.byref(module), text.encode())
    name = re.search(r"\.entry\s+(\w+)", text)[1]  # type: ignore[index]
    driver("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    values = [driver.buffer(re.sub(r"^\w+:", "", word)) if "[" in word else ctypes.c_uint64(int(word, 0)) for word in given.arg]
    parameters = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
    config = Config()
    config.sizes[:] = [*three(given.grid or "1"), *three(given.block or "1")]
    config.shared = int(given.smem or 0)
    if config.shared > 48 << 10:
        driver("cuFuncSetAttribute", function, 8, int(config.shared))
    attribute = Attribute(id=4)
    if given.cluster:
        attribute.value[:3] = three(given.cluster)
        config.attributes, config.count = ctypes.pointer(attribute), 1
    driver("cuLaunchKernelEx", ctypes.byref(config), function, parameters, None)
    driver("cuCtxSynchronize")
    print("ends")


def beside(path: Path, words: str, tool: str | None) -> str:
    own = [sys.executable, __file__, "--one", str(path), words]
    return answer(own, tool, SECONDS)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=2)
    parser.add_argument("--jobs", type=int, default=10)
    options = parser.parse_args()
    if options.one:
        return one_run(Path(options.one[0]), options.one[1])
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(options.jobs) as pool:
        rows = []
        for bug in sorted(FOLDER.glob("*.ptx")):
            if "sm_100" in bug.read_text():
                continue  # tensor memory: not on Hopper
            for which in ("mistake", "mend"):
                text = Path(made) / f"{bug.stem}.{which}.ptx"
                text.write_text(text_of(bug, which))
                answers = [pool.submit(beside, text, told(bug, "run"), tool) for tool in (None, *TOOLS)]
                rows.append((bug.stem, which, told(bug, "finds") if which == "mistake" else "-", answers))
        print("| kernel | | the executor's checks | plain run | " + " | ".join(TOOLS) + " |\n" + "|---" * (4 + len(TOOLS)) + "|")
        for name, which, rules, answers in rows:
            print(f"| {name} | {which} | {rules} | " + " | ".join(answer.result() for answer in answers) + " |", flush=True)
    return None


if __name__ == "__main__":
    main()
