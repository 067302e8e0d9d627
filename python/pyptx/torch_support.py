"""PyTorch: kernels on CPU and CUDA tensors, eager, under `torch.compile`, and with gradients.

The eager path is not here: a kernel's plan takes torch tensors in C++. This module has what torch must be told in its own terms:
operators that Dynamo can trace, named by the kernel's content so that compiled graphs mean the same in another process, and
`torch.autograd`.

torch is imported when it is first needed, not by importing this module.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _ptx, jax_support
from .kernel import kernel_by_number

if TYPE_CHECKING:
    from ._ptx import Image, Plan, Tile
    from .kernel import Kernel

Dims3 = tuple[int, int, int]
_ONE: Dims3 = (1, 1, 1)
_Outputs = Sequence[tuple[tuple[int, ...], str]]  # shape and numpy's dtype name

__all__ = [
    "any_torch_tensors",
    "call_kernel_via_torch",
    "call_kernel_via_torch_compile",
    "differentiable_kernel",
    "extract_input_shapes",
    "get_or_register_torch_op",
    "is_torch_tensor",
]


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


# -- eager, by handle


def _outputs(out_specs: Sequence[Tile], env: dict[str, int]) -> _Outputs:
    return [(tile.resolve_shape(env), jax_support.numpy_dtype(tile.dtype).name) for tile in out_specs]


def _empty(outputs: _Outputs, device: Any) -> list[Any]:
    torch: Any = import_module("torch")
    return [torch.empty(shape, dtype=getattr(torch, dtype), device=device) for shape, dtype in outputs]


def _one_or_all(tensors: Sequence[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _run(image: Image, outputs: _Outputs, inputs: Sequence[Any]) -> list[Any]:
    """Runs the image on real tensors, on their device's current stream. ValueError when they are not contiguous or on several
    devices."""
    if not inputs:
        raise ValueError("a call needs at least one tensor, which says where the kernel runs")
    results = _empty(outputs, inputs[0].device)
    image.launch(inputs, results)
    return results


def call_kernel_via_torch(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = _ONE,
    smem_bytes: int = 0,
) -> Any:
    """Calls a kernel by its handle with torch tensors, on their device and its current stream. One output comes back as a
    tensor, several as a tuple. ValueError without inputs or for another grid or block than the handle's; KeyError for an
    unknown handle."""
    image = jax_support.image_of_handle(cubin_handle, len(inputs), len(out_specs), grid, block, cluster, smem_bytes)
    return _one_or_all(_run(image, _outputs(out_specs, out_shape_env), inputs))


# -- operators

_lock = threading.RLock()
_library: Any = None
_ops: dict[str, Callable[..., list[Any]]] = {}


def _op_for(image: Image, outputs: _Outputs) -> Callable[..., list[Any]]:
    """The operator `pyptx::kernel_<handle>_<outputs>(Tensor[] inputs) -> Tensor[]` of an image. torch's caches know an
    operator by its name alone: hashes of the kernel and of what it returns make the name mean the same in every process."""
    global _library
    name = f"kernel_{image.handle}_{hashlib.sha256(repr(tuple(outputs)).encode()).hexdigest()[:8]}"
    known = _ops.get(name)
    if known is not None:
        return known
    torch: Any = import_module("torch")
    with _lock:
        if name in _ops:
            return _ops[name]
        if _library is None:
            _library = torch.library.Library("pyptx", "FRAGMENT")
        _library.define(f"{name}(Tensor[] inputs) -> Tensor[]")

        def run(inputs: list[Any]) -> list[Any]:
            # The compiler chooses the strides of what it computes; the kernel takes row-major.
            return _run(image, outputs, [x.contiguous() for x in inputs])

        def fake(inputs: list[Any]) -> list[Any]:
            return _empty(outputs, inputs[0].device)

        for backend in ("CPU", "CUDA"):
            _library.impl(name, run, backend)
        torch.library.register_fake(f"pyptx::{name}", fake, lib=_library)
        op: Callable[..., list[Any]] = getattr(torch.ops.pyptx, name).default
        _ops[name] = op
        return op


def get_or_register_torch_op(
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3,
    smem_bytes: int,
    *,
    num_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function of the input tensors that calls the operator of a handle: it survives Dynamo. The handle of a traced kernel
    knows its inputs; for one of `CubinRegistry.register`, `num_inputs` says how many there are. KeyError for an unknown
    handle."""
    image = _ptx.find_image(cubin_handle)
    if image is None:
        image = jax_support.image_of_handle(cubin_handle, num_inputs or 0, len(out_specs), grid, block, cluster, smem_bytes)
    op = _op_for(image, _outputs(out_specs, out_shape_env))

    def call(*inputs: Any) -> Any:
        return _one_or_all(op(list(inputs)))

    return call


def call_kernel_via_torch_compile(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = _ONE,
    smem_bytes: int = 0,
) -> Any:
    """As `call_kernel_via_torch`, through the kernel's operator."""
    op = get_or_register_torch_op(
        cubin_handle, out_specs, out_shape_env, grid, block, cluster, smem_bytes, num_inputs=len(inputs)
    )
    return op(*inputs)


# -- what torch must see: modes, wrappers, Dynamo


def call_plan(plan: Plan, inputs: tuple[Any, ...], scalars: tuple[int | None, ...] = ()) -> Any:
    """A kernel's call that torch has to see: fake tensors, tensors inside torch.func, a dispatch mode. Goes through the
    operator."""
    specs = [(tuple(int(size) for size in x.shape), str(x.dtype).removeprefix("torch.")) for x in inputs]
    image, outputs = plan.bind(specs, scalars)
    return _one_or_all(_op_for(image, outputs)(list(inputs)))


def _in_graph(number: int, kwargs: dict[str, Any], *tensors: Any) -> Any:
    """What Dynamo puts into its graph; called with fake tensors while the graph is lowered. Shapes become constants here, as
    they are in the PTX."""
    torch: Any = import_module("torch")
    kernel = kernel_by_number(number)
    if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        _ptx.raise_error(
            "argument_gradient",
            f"a tensor of a call to kernel `{kernel.__name__}` requires a gradient; the kernel has no backward",
            "wrap the kernel and its backward with `pyptx.differentiable_kernel(forward, backward)`, or call it under "
            "`torch.no_grad()`",
        )
    plan, scalars = kernel._bind(kwargs)
    return call_plan(plan, tensors, scalars)


def call_kernel_under_dynamo(kernel: Kernel, arrays: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A kernel's call while Dynamo traces it, which reads this function and puts one node into its graph."""
    return _in_graph(kernel._number, kwargs, *arrays)


def _teach_dynamo() -> None:
    """Tells Dynamo not to look into `_in_graph`. Without torch there is nobody to tell."""
    if "torch" in sys.modules:
        sys.modules["torch"].compiler.allow_in_graph(_in_graph)


_teach_dynamo()


# -- gradients


def differentiable_kernel(
    forward_kernel: Callable[..., Any],
    backward_kernel: Callable[..., Any],
    *,
    save_for_backward: Sequence[int] | None = None,
    num_grad_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function of torch tensors with a gradient: `forward_kernel(*inputs)` forward, `backward_kernel(*saved, *grad_outputs)`
    backward, which gives one gradient for each of the first `num_grad_inputs` inputs (default: all). `save_for_backward`
    are the indices of the inputs to save (default: all). Gradients of gradients exist when the backward kernel is
    differentiable itself. IndexError for an index that no input has."""
    torch: Any = import_module("torch")

    class KernelFunction(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.input_count = len(inputs)
            chosen = range(len(inputs)) if save_for_backward is None else save_for_backward
            ctx.save_for_backward(*(inputs[i] for i in chosen))
            return forward_kernel(*inputs)

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            # A gradient may come expanded, as from `.sum()`; kernels take row-major.
            gradients = backward_kernel(*ctx.saved_tensors, *(g.contiguous() for g in grad_outputs))
            gradients = gradients if isinstance(gradients, tuple) else (gradients,)
            wanted = ctx.input_count if num_grad_inputs is None else num_grad_inputs
            if len(gradients) < wanted:
                raise ValueError(f"the backward kernel gives {len(gradients)} gradients; {wanted} inputs need one")
            return (*gradients[:wanted], *(None,) * (ctx.input_count - wanted))

    def differentiable(*inputs: Any) -> Any:
        return KernelFunction.apply(*inputs)

    vars(differentiable).update(forward_kernel=forward_kernel, backward_kernel=backward_kernel)
    return differentiable
