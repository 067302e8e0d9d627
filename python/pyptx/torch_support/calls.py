"""A kernel's call as a call of an operator, for tensors that torch has to see: fake ones, those inside torch.func, a mode's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import PtxError
from . import state
from .export import exported_kernel, static_specs
from .operators import pack, register_operators
from .plans import key_of
from .refusals import refuse_argument, refuse_gradients, refuse_vmap
from .tensors import aliases_of, check_inputs, new_outputs, one_or_all, output_dims

if TYPE_CHECKING:
    from .._ptx import Plan


def call_operator(
    key: str, payload: str, inputs: Sequence[Any], outputs: Sequence[Any] | None, aliases: Any, scalars: Sequence[int]
) -> Any:
    """The operator's call: to new tensors, or to `outputs`. Dynamo traces this."""
    if outputs is None:
        launch = state.exported if payload else state.launch
        return one_or_all(launch(key, payload, list(inputs), list(scalars)))
    aliased = [pair[0] for pair in aliases]
    others = [x for number, x in enumerate(inputs) if number not in aliased]
    if not others and payload:  # AOTInductor cannot pass an empty list
        others = [state.torch.empty(0, device=inputs[0].device)]
    launch = state.exported_into if payload else state.launch_into
    launch(key, payload, others, list(outputs), list(scalars))
    return one_or_all(outputs)


def outputs_of_call(dims: Any, aliases: Any, inputs: Sequence[Any], out: Any) -> Sequence[Any] | None:
    """The tensors that a call writes; None when the operator makes them. Dynamo traces this."""
    if out is not None:
        outputs = list(out) if isinstance(out, (tuple, list)) else [out]
    elif len(aliases) == 0:
        return None
    else:
        outputs = new_outputs(dims, inputs)
    for first, second in aliases:
        outputs[second] = inputs[first]
    return outputs


def call_plan(plan: Plan, inputs: tuple[Any, ...], scalars: tuple[int | None, ...] = (), out: Any = None) -> Any:
    """A kernel's call that torch has to see: fake tensors, tensors inside torch.func, a dispatch mode. Goes through the
    operators. `out`: a tensor for the output, or a tuple of tensors."""
    register_operators()
    if aliases_of(plan) or out is not None or not hasattr(state.torch.library, "register_vmap"):
        for x in inputs:
            if state.torch._C._functorch.is_batchedtensor(x):
                refuse_vmap(f"kernel `{plan.name}`")
    refuse_gradients(plan.name, inputs, out or ())
    if is_exporting():
        check_inputs(plan, inputs)
        key, payload = exported_kernel(plan, static_specs(plan, inputs), scalars)
        scalars = ()
    else:
        key, payload = key_of(plan), ""
    aliases = aliases_of(plan)
    outputs = outputs_of_call(output_dims(plan), aliases, inputs, out)
    for first, second in aliases:
        if out is not None and out[second] is not inputs[first]:
            refuse_argument(plan.name, first, "another out")
    try:
        results = call_operator(key, payload, inputs, outputs, aliases, pack(scalars))
    except RuntimeError as error:
        if isinstance(error.__cause__, (PtxError, KeyboardInterrupt)):  # torch passes a C++ operator's error on as a RuntimeError
            raise error.__cause__ from None
        raise
    if outputs is not None:  # what autograd saved of them is no longer what it was
        state.torch.autograd.graph.increment_version([x for x in outputs if not x.is_inference()])
    return results


@state.constant
def is_exporting() -> bool:
    """Whether `torch.export` traces. A constant for Dynamo, which in torch 2.11 takes torch's own function for true."""
    return hasattr(state.torch.compiler, "is_exporting") and bool(state.torch.compiler.is_exporting())
