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
    if not aliases_of(plan) and out is None and any(_comes_in_batches(x) for x in inputs):
        return _call_in_turn(plan, inputs, scalars)
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


def _comes_in_batches(x: Any) -> bool:
    """A gradient of `torch.autograd.grad(…, is_grads_batched=True)`, where there is `vmap` of an older kind."""
    return bool(state.torch._C._functorch.is_legacy_batchedtensor(x))


def _call_in_turn(plan: Plan, inputs: Sequence[Any], scalars: tuple[int | None, ...]) -> Any:
    torch = state.torch
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    batches = [torch._remove_batch_dim(x, level, 1, 0) if _comes_in_batches(x) else None for x in inputs]
    count = next(len(x) for x in batches if x is not None)

    def element(number: int) -> list[Any]:
        # Copied: an element of a batch may begin where a kernel cannot load.
        return [x if batch is None else batch[number].clone() for x, batch in zip(inputs, batches, strict=True)]

    results = [plan(*element(number), scalars=scalars) for number in range(count)]
    if isinstance(results[0], tuple):
        return tuple([torch._add_batch_dim(torch.stack(each), 0, level) for each in zip(*results, strict=True)])
    return torch._add_batch_dim(torch.stack(results), 0, level)


@state.constant
def is_exporting() -> bool:
    """Whether `torch.export` traces. A constant for Dynamo, which in torch 2.11 takes torch's own function for true."""
    return hasattr(state.torch.compiler, "is_exporting") and bool(state.torch.compiler.is_exporting())
