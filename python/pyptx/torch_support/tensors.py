"""Tensors, also those that torch makes up while it traces: their shapes and element types, and what a plan takes and gives."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _ptx
from .._handles import numpy_dtype
from . import state

if TYPE_CHECKING:
    from .._ptx import Plan, Tile

Outputs = Sequence[tuple[tuple[int, ...], str]]  # shape and numpy's dtype name
Dim = int | tuple[int, int] | None  # of an output: its size, the input and dimension that have it, or nothing when no input has


def is_torch_tensor(obj: Any) -> bool:
    """Whether it is a torch.Tensor. False, without importing torch, when nobody has imported it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(obj, torch.Tensor)


def any_torch_tensors(inputs: Sequence[Any]) -> bool:
    """Whether any of them is a torch.Tensor."""
    return any(map(is_torch_tensor, inputs))


def extract_input_shapes(inputs: Sequence[Any]) -> list[tuple[int, ...]]:
    """The tensors' shapes."""
    return [tuple(x.shape) for x in inputs]


def outputs_of(out_specs: Sequence[Tile], env: dict[str, int]) -> Outputs:
    return [(tile.resolve_shape(env), numpy_dtype(tile.dtype).name) for tile in out_specs]


def empty(outputs: Outputs, device: Any) -> list[Any]:
    torch: Any = import_module("torch")
    return [torch.empty(shape, dtype=getattr(torch, dtype), device=device) for shape, dtype in outputs]


def one_or_all(tensors: Sequence[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def dtype_name(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.")


def hint_of(size: Any) -> int | None:
    """A size, or for a symbol the size that it stands for while torch traces; None when there is none."""
    if isinstance(size, int):
        return size
    node = size.node
    hint = node.hint if node.has_hint() else None
    return hint if isinstance(hint, int) else None


# -- what Dynamo is to take for constant


def constant_number(value: Any) -> Any:
    """Dynamo makes constants of what stands in a slice: numbers that it would keep as symbols become part of the kernel."""
    return slice(value) if isinstance(value, (int, float)) else value


def number_of_constant(value: Any) -> Any:
    """The number that `constant_number` was given."""
    return value.stop if isinstance(value, slice) else value


def constant_specs(tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Rank, sizes and dtype of each tensor, one after the other. Dynamo traces this."""
    specs: list[Any] = []
    for x in tensors:
        specs.append(len(x.shape))
        for size in x.shape:
            specs.append(constant_number(size))
        specs.append(x.dtype)
    return tuple(specs)


def specs_of_constants(constants: Sequence[Any]) -> list[tuple[tuple[int, ...], str]]:
    """Shapes and dtype names of what `constant_specs` was given."""
    items, specs = iter(constants), []
    for rank in items:
        shape = tuple(int(number_of_constant(next(items))) for _ in range(rank))
        specs.append((shape, str(next(items)).removeprefix("torch.")))
    return specs


# -- what a plan takes and gives


def aliases_of(plan: Plan) -> tuple[tuple[int, int], ...]:
    """Which inputs are outputs too: numbers of both."""
    return tuple(sorted(getattr(plan.specialise, "aliases", {}).items()))


def output_dims(plan: Plan) -> tuple[tuple[tuple[Dim, ...], str], ...]:
    """Of each output, where its sizes come from, and its dtype's name."""
    where: dict[str, Dim] = {}
    for number, tile in enumerate(plan.inputs):
        for axis, dim in enumerate(tile.shape):
            if isinstance(dim, str):
                where.setdefault(dim, (number, axis))
    where.update(plan.dims)
    return tuple(
        (tuple(dim if isinstance(dim, int) else where.get(dim) for dim in tile.shape), _ptx.numpy_name(tile.dtype))
        for tile in plan.outputs
    )


def new_outputs(dims: Sequence[tuple[Sequence[Dim], str]], inputs: Sequence[Any]) -> list[Any]:
    """Tensors for the outputs. Sizes may be symbols; Dynamo traces this."""
    made = []
    for sizes, dtype in dims:
        shape = [size if isinstance(size, int) else inputs[size[0]].shape[size[1]] for size in sizes]  # type: ignore[index]
        made.append(state.torch.empty(shape, dtype=getattr(state.torch, dtype), device=inputs[0].device))
    return made


def check_inputs(plan: Plan, inputs: Sequence[Any]) -> None:
    """Checks tensors that may be fake against the plan, as a launch would. What is found to hold of symbols becomes a guard."""
    specs = [(tuple(hint_of(size) for size in x.shape), dtype_name(x)) for x in inputs]
    if len(specs) != len(plan.inputs) or not any(None in shape for shape, _ in specs):
        plan.bind([(tuple(size or 0 for size in shape), dtype) for shape, dtype in specs])
    for number, x in enumerate(inputs):
        if x.device != inputs[0].device:
            _ptx.raise_error(
                "argument_device",
                f"the tensors of one call to kernel `{plan.name}` are on different devices: argument 0 on {inputs[0].device}, "
                f"argument {number} on {x.device}",
                "move them to one device, as with `.to(…)`",
            )
    env: dict[str, Any] = dict(plan.dims)
    for number, (x, tile) in enumerate(zip(inputs, plan.inputs, strict=True)):
        for axis, dim in enumerate(tile.shape):
            size = x.shape[axis]
            wanted = dim if isinstance(dim, int) else env.setdefault(dim, size)
            if wanted is not size:
                state.torch._check(
                    size == wanted,
                    lambda n=number, a=axis, d=dim: f"argument {n} of kernel `{plan.name}`: dimension {a} is not `{d}`",
                )


def check_outputs(plan: Plan, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    dims = output_dims(plan)
    if len(outputs) != len(dims):
        _ptx.raise_error(
            "argument_count", f"kernel `{plan.name}` gives {len(dims)} tensors; the call has {len(outputs)} to put them in"
        )
    for number, (out, (sizes, dtype)) in enumerate(zip(outputs, dims, strict=True)):
        if dtype_name(out) != dtype and not _ptx.dtype_matches(plan.outputs[number].dtype, dtype_name(out)):
            _ptx.raise_error(
                "argument_dtype",
                f"output {number} of kernel `{plan.name}` is {dtype}; the tensor for it is {dtype_name(out)}",
            )
        if out.dim() != len(sizes):
            _ptx.raise_error(
                "argument_rank",
                f"output {number} of kernel `{plan.name}` has {len(sizes)} dimensions; the tensor for it has {out.dim()}",
            )
        for axis, size in enumerate(sizes):
            wanted = size if isinstance(size, int) else inputs[size[0]].shape[size[1]]  # type: ignore[index]
            seen = out.shape[axis]
            if isinstance(wanted, int) and isinstance(seen, int) and wanted != seen:
                _ptx.raise_error(
                    "argument_dim",
                    f"output {number} of kernel `{plan.name}`: dimension {axis} is {wanted}; the tensor for it has {seen}",
                )
            state.torch._check(seen == wanted)


def with_aliased(plan: Plan, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """All inputs: those that are outputs too stand among the outputs alone."""
    aliases = aliases_of(plan)
    everything = [] if len(aliases) == len(plan.inputs) and len(inputs) == 1 else list(inputs)  # that one stands in for none
    for number, output in aliases:
        everything[number:number] = outputs[output : output + 1]
    return everything
