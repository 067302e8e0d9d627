"""A kernel and its backward as a function that torch differentiates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _ptx
from .._arguments import gradients_of_inputs, keywords_taken
from ..errors import PtxError
from . import state
from .operators import register_operators
from .refusals import has_tangent, in_forward_mode, refuse_argument


def differentiable_kernel(
    forward_kernel: Callable[..., Any],
    backward_kernel: Callable[..., Any],
    *,
    save_for_backward: Sequence[int] | None = None,
    num_grad_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function of torch tensors with a gradient: `forward_kernel(*inputs)` forward, `backward_kernel(*saved, *grad_outputs)`
    backward, which gives one gradient for each of the first `num_grad_inputs` inputs (default: all). `save_for_backward`
    are the indices of the inputs to save (default: all). Keywords go to the forward kernel, and to the backward kernel
    those that it takes. Gradients of gradients exist when the backward kernel is differentiable itself. IndexError for an index
    that no input has; ValueError for too many or too few gradients."""
    register_operators()
    torch: Any = state.torch
    for kernel in (forward_kernel, backward_kernel):
        if getattr(kernel, "input_output_aliases", None):
            _ptx.raise_error(
                "argument_gradient",
                f"kernel `{kernel.__name__}` changes its inputs and cannot have a gradient: "
                "the inputs saved for the backward would change too",
                "write a kernel that gives a new tensor",
            )

    name = getattr(forward_kernel, "__name__", "kernel")
    backward_name = getattr(backward_kernel, "__name__", "backward")
    of_backward = keywords_taken(backward_kernel)

    def saved(inputs: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(inputs if save_for_backward is None else (inputs[i] for i in save_for_backward))

    def gradients_of(ctx: Any, *grad_outputs: Any) -> Any:
        # A gradient may come expanded, as from `.sum()`; kernels take row-major.
        keywords = {key: value for key, value in ctx.keywords.items() if of_backward is None or key in of_backward}
        given = backward_kernel(*ctx.saved_tensors, *(g.contiguous() for g in grad_outputs), **keywords)
        count = len(ctx.needs_input_grad) - 1
        wanted = count if num_grad_inputs is None else num_grad_inputs
        return (*gradients_of_inputs(given, wanted, count, backward_name), *(None,) * (count - wanted))

    class Once(torch.autograd.Function):  # type: ignore[misc]
        """Gives the first `count` tensors back as results of all of them, which have no gradients."""

        generate_vmap_rule = True

        @staticmethod
        def forward(count: int, *tensors: Any) -> Any:
            return tuple(x.view_as(x) for x in tensors[:count])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            _ptx.raise_error(
                "argument_gradient",
                f"a gradient of a gradient is asked for: kernel `{backward_name}`, which is a backward, has none",
                "make it differentiable too, with `pyptx.differentiable_kernel(backward, its_backward)`",
            )

    def backward_of(ctx: Any, *grad_outputs: Any) -> Any:
        is_kernel = isinstance(backward_kernel, _ptx.KernelCall)
        if torch.compiler.is_dynamo_compiling() or not torch.is_grad_enabled():
            return gradients_of(ctx, *grad_outputs)
        if not is_kernel:
            try:  # of kernels that have backwards themselves, second derivatives are there
                return gradients_of(ctx, *grad_outputs)
            except PtxError as error:
                if error.kind != "argument_gradient":
                    raise
        # Of plain kernels. A second derivative is an error where it is asked for, not where the first is. torch's
        # `once_differentiable` would leave this part out of `torch.autograd.grad` without a word.
        with torch.no_grad():
            gradients = gradients_of(ctx, *grad_outputs)
        tensors = [x for x in gradients if x is not None]
        results = iter(Once.apply(len(tensors), *tensors, *ctx.saved_tensors, *grad_outputs))
        return tuple(None if x is None else next(results) for x in gradients)

    def refuse_out(keywords: dict[str, Any]) -> None:
        if "out" in keywords:
            raise ValueError(f"`out=` of `{name}` is written without a gradient; a call that needs one gives new tensors")

    def refuse_tangents(tangents: Sequence[Any]) -> None:
        number = next((i for i, tangent in enumerate(tangents[1:]) if tangent is not None), 0)
        refuse_argument(name, number, "tangent")

    class KernelFunction(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, keywords: dict[str, Any], *inputs: Any) -> Any:
            ctx.save_for_backward(*saved(inputs))
            ctx.keywords = keywords
            return forward_kernel(*inputs, **keywords)

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            return None, *backward_of(ctx, *grad_outputs)

    class KernelFunctionOfTransforms(torch.autograd.Function):  # type: ignore[misc]
        """The form that torch.func differentiates; a call costs more."""

        generate_vmap_rule = True

        @staticmethod
        def forward(keywords: dict[str, Any], *inputs: Any) -> Any:
            return forward_kernel(*inputs, **keywords)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.keywords = inputs[0]
            ctx.save_for_backward(*saved(inputs[1:]))

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            return None, *backward_of(ctx, *grad_outputs)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            refuse_tangents(tangents)

    def differentiable(*inputs: Any, **keywords: Any) -> Any:
        if not torch.compiler.is_dynamo_compiling() and in_forward_mode():
            for number, x in enumerate(inputs):
                if isinstance(x, torch.Tensor) and has_tangent(x):
                    refuse_argument(name, number, "tangent")
        if not torch.compiler.is_dynamo_compiling() and torch._C._are_functorch_transforms_active():
            refuse_out(keywords)
            return KernelFunctionOfTransforms.apply(keywords, *inputs)
        # The function costs more than the kernel's launch: only those who ask for gradients pay for it.
        if torch.is_grad_enabled() and any(getattr(x, "requires_grad", False) for x in inputs):
            refuse_out(keywords)
            return KernelFunction.apply(keywords, *inputs)
        return forward_kernel(*inputs, **keywords)

    # torch.compile keeps eight graphs of a code object: this one is of this function alone
    differentiable.__code__ = differentiable.__code__.replace(co_name=name)
    vars(differentiable).update(forward_kernel=forward_kernel, backward_kernel=backward_kernel)
    return differentiable
