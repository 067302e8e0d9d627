"""Records what Triton makes of the kernels of triton_kernels.py, for test_triton_recorded.py, which runs it without Triton:

    python tests/python/record_triton.py

Each launch is kept as its PTX, its geometry, and its parameters: numbers as they lie in the parameter block, pointers as places
in the case's tensors, descriptors as what they are made of.
"""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import torch
from test_triton import call
from triton_cases import CASES, TARGETS, storages

import pyptx.triton
from pyptx.triton import _launcher

RECORDED = Path(__file__).parents[1] / "golden" / "triton" / "recorded.tar.xz"


def place_of(address: int, tensors: list[torch.Tensor]) -> list[int] | None:
    """Which of the storages an address lies in, and how far from its beginning."""
    for number, tensor in enumerate(tensors):
        storage = tensor.untyped_storage()
        if storage.data_ptr() <= address < storage.data_ptr() + max(storage.nbytes(), 1):
            return [number, address - storage.data_ptr()]
    return None


def record(case: Any, target: str) -> tuple[dict[str, Any], str]:
    """One case at one target: its launch, and the text."""
    launches: list[tuple[dict[str, Any], str]] = []
    arguments = case.arguments()
    tensors = storages(arguments)

    plain_call, plain_run = _launcher.Launcher.__call__, _launcher.Launcher._run
    now: list[Any] = []

    def noting(self: Any, *given: Any) -> None:
        now[:] = given[9:]  # Triton's arguments
        plain_call(self, *given)

    def recording(self: Any, activation: Any, kernel: Any, values: Any, memory: Any, grid: Any, ctas: int) -> None:
        parameters: list[Any] = []
        for number, value in enumerate(values[: len(kernel.sizes)]):
            leaf = self.leaves[number] if number < len(self.leaves) else None
            address = int.from_bytes(value[:8], "little")
            if leaf is not None and leaf.meta is not None:
                host = leaf.of(now)
                parameters.append({"map": place_of(host.base.data_ptr(), tensors), **map_of(host, leaf.meta)})
            elif leaf is not None and leaf.kind.startswith("*"):
                parameters.append(place_of(address, tensors))
            elif leaf is None and address:
                parameters.append({"scratch": self.scratch[number - len(self.leaves)][1] * grid[0] * grid[1] * grid[2]})
            else:
                parameters.append(value.hex())
        launch = {
            "entry": kernel.name, "grid": grid, "block": 32 * self.metadata.num_warps, "cluster": ctas,
            "shared": self.metadata.shared, "parameters": parameters,
        }  # fmt: skip
        launches.append((launch, kernel.module.ptx))
        plain_run(self, activation, kernel, values, memory, grid, ctas)

    _launcher.Launcher.__call__, _launcher.Launcher._run = noting, recording  # type: ignore[method-assign]
    try:
        with pyptx.triton.activate(target):
            call(case, arguments)
    finally:
        _launcher.Launcher.__call__, _launcher.Launcher._run = plain_call, plain_run  # type: ignore[method-assign]
    case.check(arguments)
    (launch,) = launches
    return launch


def map_of(host: Any, meta: dict[str, Any]) -> dict[str, Any]:
    """What TensorMap.tiled is asked for."""
    return {
        "shape": list(host.shape), "dtype": _launcher._ELEMENTS[meta["elem_type"]], "box": list(meta["block_size"]),
        "strides": [meta["elem_size"] * stride for stride in host.strides[:-1]],
        "swizzle": _launcher._SWIZZLES[meta["swizzle"]], "fill": "nan" if host.padding == "nan" else "zero",
    }  # fmt: skip


def main() -> None:
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(RECORDED, "w:xz", preset=9) as archive:
        for case in CASES:
            for target in case.targets:
                assert target in TARGETS
                launch, ptx = record(case, target)
                for suffix, text in (("json", json.dumps(launch)), ("ptx", ptx)):
                    data = text.encode()
                    entry = tarfile.TarInfo(f"{case.name}.{target}.{suffix}")
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))
                print(case.name, target, flush=True)


if __name__ == "__main__":
    main()
