"""What no call of a kernel under torch takes, and how that is said: gradients and tangents, `torch.vmap`, errors under Dynamo."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from .. import _ptx
from . import state


def in_forward_mode() -> bool:
    """Whether forward-mode differentiation is under way."""
    return bool(state.torch.autograd.forward_ad._current_level >= 0)


def has_tangent(x: Any) -> bool:
    """Whether the tensor has a tangent of forward-mode differentiation."""
    forward = state.torch.autograd.forward_ad
    return forward._current_level >= 0 and forward.unpack_dual(x).tangent is not None


def needs_gradient(x: Any) -> bool:
    """Whether torch differentiates it, at whatever level of torch.func: inside of `vmap` a tensor does not say so itself."""
    functorch = state.torch._C._functorch
    while not x.requires_grad:
        if not functorch.is_functorch_wrapped_tensor(x):
            return False
        x = functorch.get_unwrapped(x)
    return True


def refuse_gradients(name: str, inputs: Sequence[Any], outputs: Sequence[Any] = ()) -> None:
    for number, x in enumerate(inputs):
        if has_tangent(x):
            refuse_argument(name, number, "tangent")
        if state.torch.is_grad_enabled() and needs_gradient(x):
            refuse_argument(name, number, "gradient")
    if state.torch.is_grad_enabled() and any(needs_gradient(x) or has_tangent(x) for x in outputs):
        refuse_argument(name, 0, "gradient of out")


def refuse_vmap(what: str) -> NoReturn:
    _ptx.raise_error(
        "argument_kind",
        f"{what} is called with a tensor of `torch.vmap`; only kernels that give new tensors have a batching rule",
        "call it in a loop, without `out=`, or write a kernel with a dimension more",
    )


def raise_to_dynamo(error: Exception) -> NoReturn:
    """As errors of operators under Dynamo look, which otherwise speaks of a fault of its own."""
    raise import_module("torch._dynamo.exc").TorchRuntimeError(str(error)) from error


def refuse_argument(name: str, argument: int, why: str) -> None:
    if why == "gradient":
        _ptx.raise_error(
            "argument_gradient",
            f"argument {argument} of a call to kernel `{name}` requires a gradient; the kernel has no backward",
            "wrap the kernel and its backward with `pyptx.differentiable_kernel(forward, backward)`, or call it under "
            "`torch.no_grad()`",
        )
    if why == "tangent":
        _ptx.raise_error(
            "argument_gradient",
            f"argument {argument} of a call to kernel `{name}` has a tangent of forward-mode differentiation; kernels have no "
            "derivative of that mode",
            "take a gradient of `pyptx.differentiable_kernel(forward, backward)` by `.backward()` or `torch.func.grad`, or "
            "`.detach()` the tensor",
        )
    if why == "gradient of out":
        _ptx.raise_error("argument_gradient", f"`out` of kernel `{name}` requires a gradient, which a kernel does not compute")
    if why == "another out":
        _ptx.raise_error("argument_memory", f"kernel `{name}` writes to its argument {argument}; `out` is another tensor")
    _ptx.raise_error(
        "argument_kind", f"argument {argument} of kernel `{name}` is not a torch tensor, which `torch.compile` needs"
    )
