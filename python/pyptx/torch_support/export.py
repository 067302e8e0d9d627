"""Kernels in exported programs: a payload has all that another process needs to launch the kernel for the sizes at hand."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _ptx, types
from . import state
from .tensors import aliases_of, dtype_name

if TYPE_CHECKING:
    from .._ptx import Image, Plan

_PAYLOAD_VERSION = 1


def exported_kernel(plan: Plan, specs: Sequence[tuple[tuple[int, ...], str]], scalars: Sequence[int | None]) -> tuple[str, str]:
    """Key and payload of the kernel for these sizes: all that another process needs to launch it."""
    image, outputs = plan.bind(specs, tuple(scalars))
    if image is None:
        _ptx.raise_error(
            "argument_dim", f"the outputs of kernel `{plan.name}` have no elements for these sizes: nothing to export"
        )
    record = {
        "version": _PAYLOAD_VERSION,
        "abi": _ptx.launch_abi,
        "name": plan.name,
        "inputs": [[*shape, tile.dtype.name] for (shape, _), tile in zip(specs, plan.inputs, strict=True)],
        "outputs": [[*shape, tile.dtype.name] for (shape, _), tile in zip(outputs, plan.outputs, strict=True)],
        "arguments": plan.arguments,
        "aliases": aliases_of(plan),
        "meta": base64.b64encode(image.meta).decode(),
        "ptx": image.ptx,
    }
    payload = base64.b64encode(zlib.compress(json.dumps(record).encode(), 9)).decode()
    return hashlib.sha256(payload.encode()).hexdigest(), payload


class _Unpacked:
    """Makes the one image of a plan that came in a payload."""

    def __init__(self, image: Image, aliases: dict[int, int]) -> None:
        self.image, self.aliases = image, aliases

    def __call__(self, env: dict[str, int]) -> Image:
        return self.image


def plan_of_payload(key: str, payload: str) -> Plan:
    """The kernel of a payload, whose key this is. ValueError when it is none that this version reads."""
    try:
        record = json.loads(zlib.decompress(base64.b64decode(payload, validate=True)))
        version = record["version"], record["abi"]
    except (ValueError, zlib.error, KeyError, TypeError) as error:
        _ptx.raise_error("bad_image", f"the payload of `pyptx::launch` is not a kernel: {error}")
    if version != (_PAYLOAD_VERSION, _ptx.launch_abi):
        _ptx.raise_error(
            "bad_image",
            f"the exported program has a kernel of version {version}; this process reads {(_PAYLOAD_VERSION, _ptx.launch_abi)}",
            "export the program again with this version of pyptx",
        )
    if hashlib.sha256(payload.encode()).hexdigest() != key:
        _ptx.raise_error("bad_image", f"the payload of `pyptx::launch` holds another kernel than `{key}`")
    inputs, outputs = (
        [_ptx.Tile(*shape, types.from_name(dtype)) for *shape, dtype in record[which]] for which in ("inputs", "outputs")
    )
    image = _ptx.Image.from_record(record["ptx"], base64.b64decode(record["meta"]))
    make = _Unpacked(image, {first: second for first, second in record["aliases"]})
    return _ptx.Plan(record["name"], inputs, outputs, record["arguments"], make)


def static_specs(plan: Plan, inputs: Sequence[Any]) -> list[tuple[tuple[int, ...], str]]:
    """Shapes and dtypes, which an exported program has as constants."""
    for number, x in enumerate(inputs):
        for axis, size in enumerate(x.shape):
            if isinstance(size, state.torch.SymInt) and size.node.maybe_as_int() is None:
                _ptx.raise_error(
                    "argument_dim",
                    f"dimension {axis} of argument {number} of kernel `{plan.name}` is dynamic (`{size}`); in an exported "
                    "program a kernel has constant sizes",
                    "export without `dynamic_shapes` for it; `torch.compile` takes any size",
                )
    return [(tuple(int(size) for size in x.shape), dtype_name(x)) for x in inputs]
