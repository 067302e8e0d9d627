"""A kernel's call as the custom call `pyptx_launch`, which carries the whole kernel as attributes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _ptx
from .ffi import ensure_ffi_registered
from .gradients import differentiated
from .sharding import all_varying, axes_of, varying_result

if TYPE_CHECKING:
    from .._ptx import Image

Outputs = tuple[tuple[tuple[int, ...], Any], ...]  # shape and dtype of each

KEPT_CALLS = 512  # one that was forgotten is only made again
X64_HINT = '`jax.config.update("jax_enable_x64", True)`, before arrays are made, or JAX_ENABLE_X64=1 in the environment'

_lock = threading.RLock()
_calls: OrderedDict[tuple[int, Outputs], Call] = OrderedDict()


class Call:
    """The custom call of one kernel: it takes the inputs and gives the outputs, of the shapes and dtypes given, as a tuple."""

    def __init__(self, name: str, attributes: dict[str, Any], outputs: Outputs, aliases: Mapping[int, int]) -> None:
        self.name = name
        self.attributes = attributes
        self.outputs = outputs
        self.aliases = dict(aliases)
        self.image: Image | None = None  # kept: a compiler that looks for it finds it traced, and need not read its text

        def run(*inputs: Any) -> tuple[Any, ...]:
            return self(*inputs)

        run.__name__ = run.__qualname__ = name  # what profilers show
        self.run = run
        self.compiled: Callable[..., tuple[Any, ...]] = import_module("jax").jit(run)

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        jax: Any = import_module("jax")
        axes = axes_of(inputs)  # results vary over all that the inputs do
        results = [varying_result(shape, dtype, axes) for shape, dtype in self.outputs]
        more: dict[str, Any] = {"input_output_aliases": self.aliases} if self.aliases else {}
        call = jax.ffi.ffi_call(_ptx.xla_target, results, vmap_method="sequential", **more)
        arrays = tuple(call(*inputs, **self.attributes))
        check_x64(self, arrays)
        return arrays


def call_of(image: Image, outputs: Outputs) -> Call:
    """The custom call of an image; of those used last the same each time: JAX compares attributes by identity before it compares
    bytes."""
    key = (image.handle, outputs)
    with _lock:
        known = _calls.get(key)
        if known is None:
            numpy: Any = import_module("numpy")
            attributes = {
                "abi": numpy.int32(_ptx.launch_abi),
                "cubin_handle": numpy.int64(image.handle),
                "key": image.key,
                "meta": image.meta,
                "ptx": image.ptx_bytes,
            }
            known = _calls[key] = Call(image.entry, attributes, outputs, image.aliases)
            known.image = image
            if len(_calls) > KEPT_CALLS:
                _calls.popitem(last=False)
        else:
            _calls.move_to_end(key)
    return known


def check_devices(name: str, inputs: Sequence[Any]) -> None:
    """Raises for an array on a device that no kernel runs on, where JAX would say that it does not know the custom call."""
    jax: Any = import_module("jax")
    for i, x in enumerate(inputs):
        if isinstance(x, jax.Array) and (other := {device.platform for device in x.devices()} - {"cpu", "gpu", "cuda"}):
            _ptx.raise_error(
                "argument_device",
                f"argument {i} of kernel `{name}` is a JAX array on {', '.join(sorted(other))}",
                "kernels run on NVIDIA GPUs and, by the executor, on the CPU",
            )


def check_x64(call: Call, arrays: Sequence[Any]) -> None:
    """Raises for an output that JAX narrowed to 32 bits, as older versions do, below a kernel that writes 64."""
    for i, (array, (_, dtype)) in enumerate(zip(arrays, call.outputs, strict=True)):
        if array.dtype != dtype:
            _ptx.raise_error(
                "argument_dtype",
                f"output {i} of kernel `{call.name}` is {dtype.name}; JAX has no 64-bit types as it is set up here",
                X64_HINT,
            )


def run_call(call: Call, inputs: Sequence[Any]) -> Any:
    """One custom call. One output comes back as an array, several as a tuple."""
    if not ensure_ffi_registered():
        raise RuntimeError("JAX cannot be imported")
    if any(isinstance(x, import_module("jax").core.Tracer) for x in inputs):
        arrays = _without_gradient(call)(*all_varying(inputs))
    else:  # nothing asks for a gradient
        check_devices(call.name, inputs)
        arrays = call.compiled(*inputs)
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _without_gradient(call: Call) -> Callable[..., tuple[Any, ...]]:
    """The call, with an error of ours where JAX would differentiate it: it names the line of the kernel's call."""
    guarded: Any = import_module("jax").custom_jvp(call.run)
    guarded.defjvp(differentiated(f"kernel `{call.name}` is differentiated"))
    wrapped: Callable[..., tuple[Any, ...]] = guarded
    return wrapped
