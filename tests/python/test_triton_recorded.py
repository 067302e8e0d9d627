"""What Triton makes of the kernels of triton_kernels.py, at three targets, without Triton: recorded by record_triton.py, run by
pyptx.executor, compared with torch."""

from __future__ import annotations

import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from triton_cases import CASES, Case, storages  # noqa: E402

from pyptx import _ptx, executor, types  # noqa: E402

RECORDED = Path(__file__).parents[1] / "golden" / "triton" / "recorded.tar.xz"


@cache
def recorded() -> dict[str, bytes]:
    with tarfile.open(RECORDED) as archive:
        return {entry.name: file.read() for entry in archive if (file := archive.extractfile(entry)) is not None}


def parameter(what: Any, tensors: list[torch.Tensor]) -> Any:
    """A parameter of a recorded launch: bytes, a tensor, or memory that nothing else needs."""
    if isinstance(what, str):
        return bytes.fromhex(what)
    if isinstance(what, list):
        number, offset = what
        return (tensors[number].untyped_storage().data_ptr() + offset).to_bytes(8, "little")
    if "scratch" in what:
        return torch.zeros(what["scratch"] + 128, dtype=torch.uint8)
    made = _ptx.TensorMap.tiled(
        tuple(what["shape"]), types.from_name(what["dtype"]), tuple(what["box"]),
        strides=what["strides"], swizzle=what["swizzle"], fill=what["fill"],
    )  # fmt: skip
    return made.words(int.from_bytes(parameter(what["map"], tensors), "little"))


def run(case: Case, target: str) -> dict[str, Any]:
    launch = json.loads(recorded()[f"{case.name}.{target}.json"])
    arguments = case.arguments()
    tensors = storages(arguments)
    executor.Program(recorded()[f"{case.name}.{target}.ptx"].decode(), f"{case.name}.ptx").run(
        launch["entry"],
        [parameter(each, tensors) for each in launch["parameters"]],
        grid=launch["grid"],
        block=launch["block"],
        cluster=launch["cluster"],
        shared_memory=launch["shared"],
        regions=tensors,
    )
    return arguments


@pytest.mark.parametrize(("case", "target"), [(case, target) for case in CASES for target in case.targets], ids=str)
def test_a_recorded_kernel_gives_what_torch_gives(case: Case, target: str) -> None:
    case.check(run(case, target))
