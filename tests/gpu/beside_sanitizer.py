"""The mutants of tests/python/test_races.py beside compute-sanitizer, on a GPU: what shows in a plain run, what racecheck and
synccheck name, and what the executor's checks do.

    python tests/gpu/beside_sanitizer.py            the table, for the Hopper examples
    python tests/gpu/beside_sanitizer.py --jobs 8   so many processes at a time

Mutants that would never end on a GPU (the executor says deadlock) and those that the checker refuses or warns of are left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "python"), str(ROOT / "tests" / "python")]

from mutants import found_by_the_checker, mutants  # noqa: E402
from sanitizer import answer  # noqa: E402
from test_races import EXAMPLES, arrays_of, run  # noqa: E402

import pyptx  # noqa: E402
from pyptx import _ptx  # noqa: E402

HOPPER = ("hopper.gemm", "hopper.attention")
TOOLS = ("racecheck", "synccheck")  # memcheck counts errors of the unchanged examples too
SECONDS = 60


def images_of(name: str, folder: Path) -> list[tuple[str, str, Path]]:
    """Of each mutant the instruction that it lacks, what the executor says, and its files."""
    example = EXAMPLES[name]
    image = example.kernel()._image_for(arrays_of(example)[0], {})
    changed = list(mutants(image.ptx))
    texts = folder / name
    texts.mkdir()
    said = found_by_the_checker([text for _, text in changed], texts)
    (folder / f"{name}.meta").write_bytes(image.meta)
    (folder / f"{name}.base").write_text(image.ptx)
    found = []
    for i, (instruction, text) in enumerate(changed):
        if i in said:
            continue
        try:
            mutant = _ptx.Image.from_record(text, image.meta)
            rules = {str(f.rule) for completion in ("eager", "lazy") for f in run(mutant, example, completion)}  # type: ignore[arg-type]
            verdict = " ".join(sorted(rules)) or "-"
        except pyptx.PtxError as error:
            verdict = error.kind
        if verdict not in ("deadlock", "barrier_misuse"):
            found.append((instruction, verdict, texts / f"{i:04}.ptx"))
    return found


def one_run(name: str, text: Path, folder: Path) -> None:
    """In a process of its own: the mutant and the example itself on the GPU, and whether they agree."""
    import torch

    example = EXAMPLES[name]
    meta = (folder / f"{name}.meta").read_bytes()
    inputs, output = arrays_of(example)
    tensors = [torch.from_numpy(array.view("int16")).cuda().view(torch.bfloat16) for array in inputs]
    results: list[Any] = []
    for source in (folder / f"{name}.base", text):
        out = torch.zeros(output.shape, dtype=torch.bfloat16, device="cuda")
        _ptx.Image.from_record(source.read_text(), meta).launch(tensors, [out])
        torch.cuda.synchronize()
        results.append(out)
    print("same" if torch.equal(*results) else "differs")


def beside(name: str, text: Path, folder: Path, tool: str | None) -> str:
    own = [sys.executable, __file__, "--one", name, str(text), str(folder)]
    return answer(own, tool, SECONDS)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=3)
    parser.add_argument("--jobs", type=int, default=6)
    options = parser.parse_args()
    if options.one:
        one_run(options.one[0], Path(options.one[1]), Path(options.one[2]))
        return
    with tempfile.TemporaryDirectory() as made, ThreadPoolExecutor(options.jobs) as pool:
        folder = Path(made)
        rows = [(name, *row) for name in HOPPER for row in images_of(name, folder)]
        rows += [(name, "(nothing)", "-", folder / f"{name}.base") for name in HOPPER]
        futures = [[pool.submit(beside, row[0], row[3], folder, tool) for tool in (None, *TOOLS)] for row in rows]
        print(f"{'example':18} {'without':58} {'executor':28} {'plain run':9} " + " ".join(f"{tool:9}" for tool in TOOLS))
        for (name, instruction, verdict, _), answers in zip(rows, futures, strict=True):
            print(
                f"{name:18} {instruction[:58]:58} {verdict:28} " + " ".join(f"{answer.result():9}" for answer in answers),
                flush=True,
            )


if __name__ == "__main__":
    main()
