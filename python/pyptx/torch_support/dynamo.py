"""A kernel's call while Dynamo traces it, for `torch.compile` and `torch.export`: it comes down to one operator in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._registry import kernel_by_number
from ..errors import PtxError
from . import state
from .calls import call_operator, is_exporting, outputs_of_call
from .export import exported_kernel
from .operators import NO_SCALARS, pack, register_operators
from .plans import key_of
from .refusals import raise_to_dynamo, refuse_argument
from .tensors import aliases_of, constant_number, constant_specs, number_of_constant, output_dims, specs_of_constants

if TYPE_CHECKING:
    from .._ptx import Plan
    from ..kernel import Kernel


def call_kernel_under_dynamo(kernel: Kernel, arrays: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A kernel's call while Dynamo traces it: this very function is traced, and comes down to one operator in the graph."""
    register_operators()
    out = None
    for argument, x in enumerate(arrays):
        if not isinstance(x, state.torch.Tensor):
            _refuse(kernel._number, argument, "kind")
        if state.torch.is_grad_enabled() and x.requires_grad:
            _refuse(kernel._number, argument, "gradient")
        # Read here, so that Dynamo guards it: the graph is not that of a call in forward mode. Which tensors have tangents then,
        # only torch sees.
        if state.torch.autograd.forward_ad._current_level >= 0:
            _refuse(kernel._number, argument, "tangent")
    if kernel._out_is_free and "out" in kwargs:
        kwargs = dict(kwargs)
        out = kwargs.pop("out")
    names, values = tuple(kwargs), [constant_number(value) for value in kwargs.values()]
    key, scalars, aliases, dims = _constants(kernel._number, names, *values)
    for first, second in aliases:
        if out is not None and (out[second] if isinstance(out, (tuple, list)) else out) is not arrays[first]:
            _refuse(kernel._number, first, "another out")
    for position, x in enumerate(out if isinstance(out, (tuple, list)) else [] if out is None else [out]):
        if state.torch.is_grad_enabled() and x.requires_grad:
            _refuse(kernel._number, position, "gradient of out")
    payload = ""
    if is_exporting():
        key, payload = _constants_of_export(kernel._number, names, constant_specs(arrays), *values)
        scalars = NO_SCALARS
    return call_operator(key, payload, arrays, outputs_of_call(dims, aliases, arrays, out), aliases, scalars)


def call_number_under_dynamo(number: str, arrays: Sequence[Any], scalars: Sequence[tuple[str, Any]]) -> Any:
    """The same of a kernel that is known by its number, for a library that chooses kernels itself: tensors and scalars are what
    it takes, and nobody asks for their gradients."""
    register_operators()
    names, values = tuple([name for name, _ in scalars]), [constant_number(value) for _, value in scalars]
    key, packed, aliases, dims = _constants(number, names, *values)
    payload = ""
    if is_exporting():
        key, payload = _constants_of_export(number, names, constant_specs(arrays), *values)
        packed = NO_SCALARS
    return call_operator(key, payload, arrays, outputs_of_call(dims, aliases, arrays, None), aliases, packed)


def _plan_under_dynamo(number: str, names: tuple[str, ...], values: Sequence[Any]) -> tuple[Plan, tuple[int | None, ...]]:
    return kernel_by_number(number)._bind({name: number_of_constant(value) for name, value in zip(names, values, strict=True)})


@state.constant
def _constants(number: str, names: tuple[str, ...], *values: Any) -> tuple[Any, ...]:
    """What a call with these keyword arguments has in every graph. Dynamo runs this, and takes the result for constant."""
    try:
        plan, scalars = _plan_under_dynamo(number, names, values)
        return key_of(plan), pack(scalars), aliases_of(plan), output_dims(plan)
    except PtxError as error:
        raise_to_dynamo(error)


@state.constant
def _constants_of_export(number: str, names: tuple[str, ...], specs: Sequence[Any], *values: Any) -> tuple[str, str]:
    """Key and payload for these shapes and dtypes, as `constant_specs` has them."""
    try:
        plan, scalars = _plan_under_dynamo(number, names, values)
        return exported_kernel(plan, specs_of_constants(specs), scalars)
    except PtxError as error:
        raise_to_dynamo(error)


@state.constant
def _refuse(number: str, argument: int, why: str) -> None:
    """An argument that no call takes."""
    try:
        refuse_argument(kernel_by_number(number).__name__, argument, why)
    except PtxError as error:
        raise_to_dynamo(error)
