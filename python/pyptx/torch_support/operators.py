"""The operators `pyptx::launch` and `pyptx::launch_`, which stand for every kernel in torch's graphs, and `pyptx::exported` and
`pyptx::exported_` of exported programs: how torch learns of them, what they give for fake tensors, and what they do where this
torch cannot have them in C++.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .. import _ptx
from . import inductor, state
from .plans import plan_for
from .refusals import refuse_gradients
from .tensors import aliases_of, check_inputs, check_outputs, new_outputs, output_dims, with_aliased

NO_SCALARS = (0,)
_inductor_knows = False


@state.constant
def register_operators() -> None:
    """Makes `pyptx::launch` and `pyptx::launch_` known to torch. Importing this module does it when torch is imported already,
    and so does the first kernel that torch traces; a program that was exported needs it before it is loaded."""
    if state.launch_into is not None:
        return
    with state.lock:
        if state.launch_into is not None:
            return
        state.torch = import_module("torch")
        _ptx.pass_over(state.torch.__path__[0])  # of `torch.vmap(kernel)(x)` the author's line is that of the call
        state.library = state.torch.library.Library("pyptx", "FRAGMENT")
        # Compilers keep the strides that the kernel's inputs have in the graph; the operators copy what comes otherwise.
        strides = getattr(state.torch.Tag, "needs_exact_strides", state.torch.Tag.needs_fixed_stride_order)
        for schema in _ptx.torch_schemas:
            state.library.define(schema, tags=(state.torch.Tag.pt2_compliant_tag, strides))
        state.why_in_python = _ptx.register_torch_operators()
        if state.why_in_python is not None:
            for backend in ("CPU", "CUDA"):
                for name in ("launch", "exported"):
                    state.library.impl(name, _launch_in_python, backend)
                    state.library.impl(f"{name}_", _launch_into_in_python, backend)
        for name in ("launch", "exported"):
            state.torch.library.register_fake(f"pyptx::{name}", _fake_launch, lib=state.library)
            state.torch.library.register_fake(f"pyptx::{name}_", _fake_launch_into, lib=state.library)
        if hasattr(state.torch.library, "register_vmap"):
            state.torch.library.register_vmap("pyptx::launch", _launch_in_turn, lib=state.library)
        state.exported = state.torch.ops.pyptx.exported.default
        state.exported_into = state.torch.ops.pyptx.exported_.default
        state.library.impl("exported", _autograd_exported, "Autograd")
        state.library.impl("exported_", _autograd_exported_into, "Autograd")
        state.launch = state.torch.ops.pyptx.launch.default
        state.launch_into = state.torch.ops.pyptx.launch_.default


def pack(scalars: Sequence[int | None]) -> tuple[int, ...]:
    """As the operators take them: how many, and of each whether it is given, and its bits as a signed number."""
    pairs = [(0, 0) if bits is None else (1, bits - (bits >> 63 << 64)) for bits in scalars]
    return (len(pairs), *(number for pair in pairs for number in pair))


def unpack(scalars: Sequence[int]) -> tuple[int | None, ...]:
    if scalars and len(scalars) != 2 * scalars[0] + 1:
        _ptx.raise_error("argument_count", f"`scalars` are a count and two numbers for each; the call has {len(scalars)} numbers")
    return tuple(bits & (1 << 64) - 1 if given else None for given, bits in zip(scalars[1::2], scalars[2::2], strict=True))


def _teach_inductor() -> None:
    """Has Inductor call plans. It is imported by the time that a graph is on its way to it, and the operator's fake runs then."""
    global _inductor_knows
    if not _inductor_knows:
        _inductor_knows = inductor.teach(state.launch, unpack)


def _fake_launch(key: str, payload: str, inputs: list[Any], scalars: list[int]) -> list[Any]:
    _teach_inductor()
    plan = plan_for(key, payload)
    check_inputs(plan, inputs)
    return new_outputs(output_dims(plan), inputs)


def _fake_launch_into(key: str, payload: str, inputs: list[Any], outputs: list[Any], scalars: list[int]) -> None:
    plan = plan_for(key, payload)
    inputs = with_aliased(plan, inputs, outputs)
    check_inputs(plan, inputs)
    check_outputs(plan, inputs, outputs)


def _launch_in_python(key: str, payload: str, inputs: list[Any], scalars: list[int]) -> list[Any]:
    plan = plan_for(key, payload)
    if aliases := aliases_of(plan):
        _ptx.raise_error(
            "argument_memory",
            f"kernel `{plan.name}` writes its argument {aliases[0][0]}; `pyptx::launch_` is the operator that does",
        )
    with state.torch.no_grad():
        results = plan(*(x.contiguous() for x in inputs), scalars=unpack(scalars))
    return list(results) if isinstance(results, tuple) else [results]


def _launch_into_in_python(key: str, payload: str, inputs: list[Any], outputs: list[Any], scalars: list[int]) -> None:
    plan = plan_for(key, payload)
    with state.torch.no_grad():
        check_outputs(plan, with_aliased(plan, inputs, outputs), outputs)
        all_inputs = with_aliased(plan, [x.contiguous() for x in inputs], outputs)
        results = plan(*all_inputs, scalars=unpack(scalars))
        for out, result in zip(outputs, results if isinstance(results, tuple) else (results,), strict=True):
            if out is not result:
                out.copy_(result.view(out.dtype))  # of one width, and not converted


def _launch_in_turn(info: Any, in_dims: Any, key: str, payload: str, inputs: list[Any], scalars: list[int]) -> Any:
    """Under `torch.vmap`: one launch for each element of the batch."""
    if info.batch_size == 0:
        _ptx.raise_error(
            "argument_kind", f"kernel `{plan_for(key, payload).name}` is called with a batch of 0 elements of `torch.vmap`"
        )

    def element(i: int) -> list[Any]:
        return [x if dim is None else x.select(dim, i) for x, dim in zip(inputs, in_dims[2], strict=True)]

    each = [state.launch(key, payload, element(i), scalars) for i in range(info.batch_size)]
    outputs = [state.torch.stack(column) for column in zip(*each, strict=True)]
    return outputs, [0] * len(outputs)


# -- gradients that an exported program is asked for. In other graphs Dynamo has seen which tensors require one.


def _autograd_exported(key: str, payload: str, inputs: list[Any], scalars: list[int]) -> list[Any]:
    refuse_gradients(plan_for(key, payload).name, inputs)
    with state.torch._C._AutoDispatchBelowAutograd():
        results: list[Any] = state.exported(key, payload, inputs, scalars)
    return results


def _autograd_exported_into(key: str, payload: str, inputs: list[Any], outputs: list[Any], scalars: list[int]) -> None:
    plan = plan_for(key, payload)
    refuse_gradients(plan.name, with_aliased(plan, inputs, outputs), outputs)
    with state.torch._C._AutoDispatchBelowAutograd():
        state.exported_into(key, payload, inputs, outputs, scalars)
