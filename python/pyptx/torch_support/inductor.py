"""Inductor, torch's compiler: what it compiles calls a kernel's plan, where it would call the operator `pyptx::launch`.

Only for what compiled Python can call, a kernel with one output that is new; all else stays the operator. torch calls none of
this interface public: where a version of it differs, the operator stays too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

lowered = 0  # calls that were compiled to calls of a plan, in this process


def teach(operator: Any, unpack: Callable[[Sequence[int]], tuple[int | None, ...]]) -> bool:
    """Registers the lowering of `pyptx::launch`, if Inductor is here. False: it is not, so ask again."""
    if sys.modules.get("torch._inductor.lowering") is None:
        return False
    lowering: Any = import_module("torch._inductor.lowering")
    ir: Any = import_module("torch._inductor.ir")
    virtualized: Any = import_module("torch._inductor.virtualized")

    class PlanCall(ir.ExternKernelAlloc):  # type: ignore[misc]
        """One call of a plan in a compiled function."""

        def codegen(self, wrapper: Any) -> None:
            wrapper.add_import_once(_NAMED.format(name=self.python_kernel_name, key=self.plan_key))
            super().codegen(wrapper)

        def codegen_size_asserts(self, wrapper: Any) -> None:
            pass  # the plan makes the output, for the inputs that it gets

    def as_operator(key: str, payload: str, inputs: Sequence[Any], scalars: Sequence[Any]) -> Any:
        return lowering.fallback_handler(operator, add_to_fallback_set=False)(key, payload, inputs, scalars)

    def lower(key: str, payload: str, inputs: Sequence[Any], scalars: Sequence[Any]) -> Any:
        global lowered
        # The operator copies what is not contiguous; here the compiler does, or lays it out so in the first place.
        inputs = [ir.ExternKernel.require_contiguous(ir.ExternKernel.realize_input(x)) for x in inputs]
        graph = virtualized.V.graph
        if payload or graph.cpp_wrapper or graph.aot_mode or not all(isinstance(number, int) for number in scalars):
            return as_operator(key, payload, inputs, scalars)
        with graph.fake_mode:
            results, tensors, *_ = ir.FallbackKernel.process_kernel(operator, key, payload, inputs, scalars)
        if len(results) != 1:
            return as_operator(key, payload, inputs, scalars)
        values = unpack(scalars)
        call = PlanCall(
            ir.FallbackKernel.tensor_to_layout(results[0]),
            tensors,
            kwargs={"scalars": values} if any(value is not None for value in values) else {},
            python_kernel_name=f"pyptx_plan_{key[:16]}",
            op_overload=operator,
        )
        call.plan_key = key
        lowered += 1
        return [ir.TensorBox.create(call)]

    lowering.register_lowering(operator, type_promotion_kind=None)(lower)
    return True


# In the head of compiled code. Cached code may be of an earlier version of this package.
_NAMED = "{name} = __import__('pyptx.torch_support', fromlist=['plan_of']).plan_of('{key}')"
