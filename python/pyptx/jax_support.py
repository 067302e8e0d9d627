"""JAX: kernels inside `jax.jit`, on the CPU through the executor and on GPUs, by XLA's typed foreign function interface.

A call becomes a custom call `pyptx_launch` that carries the whole kernel (PTX, launch record, content hash), so that a compiled
program means the same in another process: from JAX's persistent cache, from `jax.export`. The integer handles of this module are
63 bits of that hash.

`jax.vmap` of a call runs it once for each element, one after the other (`vmap_method="sequential"`): a kernel is made for one
shape, so that no other method of `jax.ffi` could know what it does with one more dimension. A kernel that takes the whole batch
at once goes in by `jax.custom_batching.custom_vmap`.

JAX is imported when it is first needed, not by importing this module.
"""

from __future__ import annotations

import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakValueDictionary

from . import _ptx, types
from ._own_words import speak_in_own_words
from .errors import PtxTypeError, from_diagnostic

if TYPE_CHECKING:
    from ._ptx import EncodedTensorMap, Image, Layout, Plan, PtxType, TensorMap, Tile

Dims3 = tuple[int, int, int]
_Outputs = tuple[tuple[tuple[int, ...], Any], ...]  # shape and dtype of each
_ONE: Dims3 = (1, 1, 1)

__all__ = [
    "CubinRecord",
    "CubinRegistry",
    "add_scalar_param_to_shim",
    "add_tma_spec_to_shim",
    "call_kernel_via_ffi",
    "compile_ptx_to_cubin",
    "differentiable_kernel_jax",
    "ensure_ffi_registered",
    "export_safety_checks",
    "get_cubin_registry",
    "register_launch_config",
    "set_mock_ffi_callback",
    "shim_is_available",
    "shim_load_error",
    "synthesize_tma_descriptor",
    "synthesize_tma_descriptor_3d",
]


# -- calls


# The versions of XLA's FFI that the handler speaks: ptx/ffi/xla_abi.hpp.
_OLDEST_FFI, _NEWEST_FFI = (0, 1), (0, 4)


def ensure_ffi_registered() -> bool:
    """Makes the custom-call target `pyptx_launch` known to JAX, for CPU and CUDA. False when JAX cannot be imported. Import
    `pyptx.jax_support` and call this before a program that was compiled elsewhere is loaded. RuntimeError for a jaxlib whose
    FFI is too new or too old."""
    global _registered
    if _registered:
        return True
    try:
        jax: Any = import_module("jax")
    except ImportError:
        return False
    with _lock:
        if not _registered:
            cpu, cuda = _ptx.xla_handler("cpu"), _ptx.xla_handler("CUDA")
            on_cpu = {"instantiate": cpu, "execute": cpu}
            # `initialize` runs behind XLA's barrier and before any capture, so code loads there; `prepare` would be one more
            # call at each run for nothing.
            on_cuda = {"instantiate": cuda, "initialize": cuda, "execute": cuda}
            try:
                jax.ffi.register_ffi_target(_ptx.xla_target, on_cpu, platform="cpu", api_version=1)
                jax.ffi.register_ffi_target(_ptx.xla_target, on_cuda, platform="CUDA", api_version=1)
            except Exception as error:
                says = _wrong_ffi_version(str(error))
                if says is None:
                    raise
                raise RuntimeError(says) from error
            _registered = True
    return True


def _wrong_ffi_version(error: str) -> str | None:
    """What to do about a registration that XLA refused for its version; None when that is not why."""
    version = re.search(r"framework's API version \((\d+)\.(\d+)\)", error)
    if version is None:
        return None
    theirs = (int(version[1]), int(version[2]))
    jaxlib = getattr(import_module("jaxlib"), "__version__", "?")
    (major, oldest), (_, newest) = _OLDEST_FFI, _NEWEST_FFI
    return (
        f"jaxlib {jaxlib} speaks XLA FFI {theirs[0]}.{theirs[1]}; this pyptx {_ptx.version} knows {major}.{oldest} to "
        f"{major}.{newest}: upgrade {'pyptx' if theirs > _NEWEST_FFI else 'jaxlib'}"
    )


_registered = False
_lock = threading.RLock()
_KEPT_CALLS = 512  # one that was forgotten is only made again
_calls: OrderedDict[tuple[int, _Outputs], _Call] = OrderedDict()


class _Call:
    """The custom call of one kernel: it takes the inputs and gives the outputs, of the shapes and dtypes given, as a tuple."""

    def __init__(self, name: str, attributes: dict[str, Any], outputs: _Outputs, aliases: Mapping[int, int]) -> None:
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
        axes = _axes_of(inputs)  # results vary over all that the inputs do
        results = [_varying_result(shape, dtype, axes) for shape, dtype in self.outputs]
        more: dict[str, Any] = {"input_output_aliases": self.aliases} if self.aliases else {}
        call = jax.ffi.ffi_call(_ptx.xla_target, results, vmap_method="sequential", **more)
        arrays = tuple(call(*inputs, **self.attributes))
        _check_x64(self, arrays)
        return arrays


def _call_of(image: Image, outputs: _Outputs) -> _Call:
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
            known = _calls[key] = _Call(image.entry, attributes, outputs, image.aliases)
            known.image = image
            if len(_calls) > _KEPT_CALLS:
                _calls.popitem(last=False)
        else:
            _calls.move_to_end(key)
    return known


def _axes(x: Any) -> frozenset[Any]:
    """The mesh axes that a value varies over, as it knows under `jax.shard_map`. JAX 0.10 gave them another name."""
    abstract = import_module("jax").typeof(x)
    manual = getattr(abstract, "manual_axis_type", None)
    return frozenset((getattr(abstract, "vma", None) if manual is None else manual.varying) or ())


def _axes_of(inputs: Sequence[Any]) -> frozenset[Any]:
    """The mesh axes that any of the values varies over."""
    return frozenset().union(*map(_axes, inputs))


def _varying_result(shape: tuple[int, ...], dtype: Any, axes: frozenset[Any]) -> Any:
    """What a result is, which varies over these mesh axes."""
    jax: Any = import_module("jax")
    if not axes:
        return jax.ShapeDtypeStruct(shape, dtype)
    if hasattr(jax.sharding, "ManualAxisType"):  # which goes with a mesh that has the axes
        sharding = jax.sharding.NamedSharding(jax.sharding.get_abstract_mesh(), jax.sharding.PartitionSpec())
        varying = jax.sharding.ManualAxisType(varying=axes)
        return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding, manual_axis_type=varying)
    return jax.ShapeDtypeStruct(shape, dtype, vma=axes)


def _varying(inputs: Sequence[Any]) -> Sequence[Any]:
    """The inputs, each varying over all the mesh axes that any of them does, as a custom call needs. Going back through this,
    the gradient of a value that was the same on every device is the sum of theirs."""
    axes = _axes_of(inputs)
    if not axes:
        return inputs
    jax: Any = import_module("jax")

    def widened(x: Any) -> Any:
        missing = tuple(sorted(axes - _axes(x), key=str))
        if not missing:
            return x
        return jax.lax.pcast(x, missing, to="varying") if hasattr(jax.lax, "pcast") else jax.lax.pvary(x, missing)

    return [widened(x) for x in inputs]


def _check_devices(name: str, inputs: Sequence[Any]) -> None:
    """Raises for an array on a device that no kernel runs on, where JAX would say that it does not know the custom call."""
    jax: Any = import_module("jax")
    for i, x in enumerate(inputs):
        if isinstance(x, jax.Array) and (other := {device.platform for device in x.devices()} - {"cpu", "gpu", "cuda"}):
            _ptx.raise_error(
                "argument_device",
                f"argument {i} of kernel `{name}` is a JAX array on {', '.join(sorted(other))}",
                "kernels run on NVIDIA GPUs and, by the executor, on the CPU",
            )


def _check_x64(call: _Call, arrays: Sequence[Any]) -> None:
    """Raises for an output that JAX narrowed to 32 bits, as older versions do, below a kernel that writes 64."""
    for i, (array, (_, dtype)) in enumerate(zip(arrays, call.outputs, strict=True)):
        if array.dtype != dtype:
            _ptx.raise_error(
                "argument_dtype",
                f"output {i} of kernel `{call.name}` is {dtype.name}; JAX has no 64-bit types as it is set up here",
                _X64_HINT,
            )


_X64_HINT = '`jax.config.update("jax_enable_x64", True)`, before arrays are made, or JAX_ENABLE_X64=1 in the environment'


def _run(call: _Call, inputs: Sequence[Any]) -> Any:
    """One custom call. One output comes back as an array, several as a tuple."""
    if not ensure_ffi_registered():
        raise RuntimeError("JAX cannot be imported")
    if any(isinstance(x, import_module("jax").core.Tracer) for x in inputs):
        arrays = _without_gradient(call)(*_varying(inputs))
    else:  # nothing asks for a gradient
        _check_devices(call.name, inputs)
        arrays = call.compiled(*inputs)
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _without_gradient(call: _Call) -> Callable[..., tuple[Any, ...]]:
    """The call, with an error of ours where JAX would differentiate it: it names the line of the kernel's call."""
    guarded: Any = import_module("jax").custom_jvp(call.run)
    guarded.defjvp(_differentiated(f"kernel `{call.name}` is differentiated"))
    wrapped: Callable[..., tuple[Any, ...]] = guarded
    return wrapped


def _differentiated(what: str) -> Callable[[Any, Any], NoReturn]:
    """The rule of differentiation of what has none."""
    jax: Any = import_module("jax")
    frame, folders = sys._getframe(), (_OUR_FOLDER, *jax.__path__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(folders):
        frame = frame.f_back
    where = (frame.f_code.co_filename, frame.f_lineno)

    def differentiate(primals: Any, tangents: Any) -> NoReturn:
        message = f"{what}; it has no backward"
        hint = (
            "hint: wrap the kernel and its backward with `pyptx.differentiable_kernel(forward, backward)`, or take its inputs "
            "through `jax.lax.stop_gradient`"
        )
        text = f"error: {message}  [argument_gradient]\n  --> {where[0]}:{where[1]}\n  = {hint}"
        raise from_diagnostic("argument_gradient", "RuntimeError", message, *where, [hint], text)

    return differentiate


_OUR_FOLDER = __file__.rpartition("/")[0]


def call_plan(plan: Plan, inputs: tuple[Any, ...], scalars: tuple[int | None, ...] = ()) -> Any:
    """A kernel's call with JAX arrays or tracers among its tensors. Raises what the plan's check of shapes and dtypes raises.

    Outside of a trace the values of scalars are operands, so that all of them share one program; in a trace they are constants of
    the kernel, as any number of Python's is one of the program.
    """
    jax: Any = import_module("jax")
    given = [i for i, bits in enumerate(scalars) if bits is not None]
    if given and not any(isinstance(x, jax.core.Tracer) for x in inputs):
        image, shapes = _bind(plan, inputs, ())
        in_memory = image and _in_memory(image, tuple(given))
        if in_memory:
            specialise: Any = plan.specialise  # an object of ours that knows its kernel
            sizes = [_size_of(dtype) for dtype, _ in specialise.kernel._raw_params]
            operands = [_bytes_of(bits, size) for bits, size in zip(scalars, sizes, strict=True) if bits is not None]
            return _run(_call_of(in_memory, shapes), (*inputs, *operands))
    image, shapes = _bind(plan, inputs, scalars)
    return _without_elements(shapes, inputs) if image is None else _run(_call_of(image, shapes), inputs)


def call_with_traced_scalars(plan: Plan, name: str, inputs: tuple[Any, ...], scalars: Sequence[tuple[str, str, Any]]) -> Any:
    """A kernel's call whose scalars are JAX's values: for each scalar parameter its type, its name, and a number, a value of
    JAX's, or None where the call gives none. They are operands of the custom call."""
    image, shapes = _bind(plan, inputs, ())
    if image is None:
        return _without_elements(shapes, inputs)
    given = tuple(i for i, (_, _, value) in enumerate(scalars) if value is not None)
    in_memory = _in_memory(image, given)
    if in_memory is None:
        traced = next(parameter for _, parameter, value in scalars if value is not None)
        _ptx.raise_error(
            "argument_kind",
            f"parameter `{traced}` of kernel `{name}` is a traced value, and the kernel does more with it than to load it",
            "give a number of Python's, or do nothing with the parameter but load it with `ptx.param`",
        )
    operands = [_scalar_operand(name, *scalar) for scalar in scalars if scalar[2] is not None]
    return _run(_call_of(in_memory, shapes), (*inputs, *operands))


_in_memory_images: OrderedDict[tuple[int, tuple[int, ...]], Image | None] = OrderedDict()


def _in_memory(image: Image, which: tuple[int, ...]) -> Image | None:
    """The image that reads these scalars from memory, made once."""
    key = (image.handle, which)
    with _lock:
        if key in _in_memory_images:
            _in_memory_images.move_to_end(key)
            return _in_memory_images[key]
    made = image.scalars_in_memory(which)
    with _lock:
        _in_memory_images[key] = made
        if len(_in_memory_images) > _KEPT_CALLS:
            _in_memory_images.popitem(last=False)
    return made


def _size_of(dtype: str) -> int:
    """Bytes of a parameter of this PTX type."""
    return (types.from_name(dtype).bits + 7) // 8


def _bytes_of(bits: int, size: int) -> Any:
    numpy: Any = import_module("numpy")
    return numpy.frombuffer((bits & (1 << 8 * size) - 1).to_bytes(size, "little"), numpy.uint8)


def _scalar_operand(kernel: str, dtype: str, parameter: str, value: Any) -> Any:
    """The bytes of a scalar as the parameter's type has it, for a number or a value of JAX's."""
    jax: Any = import_module("jax")
    numpy: Any = import_module("numpy")
    size = _size_of(dtype)
    if not isinstance(value, jax.Array):
        (bits,) = _ptx.pack_scalars(kernel, [(dtype, parameter)], {parameter: value})
        assert bits is not None  # a value was given
        return _bytes_of(bits, size)
    what = f"parameter `{parameter}` of kernel `{kernel}`"
    if value.shape != ():
        _ptx.raise_error("argument_kind", f"{what} is an array of shape {value.shape}; what fits is one number")
    is_float = jax.numpy.issubdtype(value.dtype, jax.numpy.floating)
    if not is_float and not jax.numpy.issubdtype(value.dtype, jax.numpy.integer) and value.dtype != bool:
        _ptx.raise_error("argument_kind", f"{what} is {value.dtype.name}; what fits is a number")
    floats = {"f16": numpy.float16, "bf16": jax.numpy.bfloat16, "f32": numpy.float32, "f64": numpy.float64}
    if dtype not in floats and is_float:
        _ptx.raise_error("launch_config", f"{what}: a `.{dtype}` parameter takes an integer; the value is {value.dtype.name}")
    if dtype == "f64" and not jax.config.jax_enable_x64:
        _ptx.raise_error("argument_dtype", f"{what} is float64; JAX has no 64-bit types as it is set up here", _X64_HINT)

    def bytes_of(x: Any) -> Any:
        if dtype in floats:
            return jax.lax.bitcast_convert_type(x.astype(floats[dtype]), numpy.uint8)
        if dtype == "pred":
            return (x != 0).astype(numpy.uint8).reshape(1)
        signed = jax.numpy.issubdtype(x.dtype, numpy.signedinteger)
        width = min(size, 8 if jax.config.jax_enable_x64 else 4)
        word = jax.lax.bitcast_convert_type(x.astype(f"{'int' if signed else 'uint'}{8 * width}"), numpy.uint8).reshape(width)
        if width == size:
            return word
        sign = (x < 0).astype(numpy.uint8) * numpy.uint8(255) if signed else jax.numpy.uint8(0)
        return jax.numpy.concatenate([word, jax.numpy.broadcast_to(sign, (size - width,))])

    if not is_float:
        return bytes_of(value)
    guarded: Any = jax.custom_jvp(bytes_of)  # else its gradient would be zero without a word
    guarded.defjvp(_differentiated(f"{what} is differentiated"))
    return guarded(value)


def _bind(plan: Plan, inputs: tuple[Any, ...], scalars: tuple[int | None, ...]) -> tuple[Image | None, _Outputs]:
    """The image for these inputs, and its outputs."""
    jax: Any = import_module("jax")
    numpy: Any = import_module("numpy")
    abstract = [jax.typeof(x) for x in inputs]
    for number, x in enumerate(abstract):
        for axis, size in enumerate(x.shape):
            if not isinstance(size, int):
                _ptx.raise_error(
                    "argument_dim",
                    f"dimension {axis} of argument {number} of kernel `{plan.name}` is symbolic (`{size}`); a kernel is made for "
                    "sizes that are numbers",
                    "export with constant sizes, once for each that is needed",
                )
    # An array of numpy's is what it is, and not what JAX would make of it.
    dtypes = [x.dtype if isinstance(x, numpy.ndarray) else its.dtype for x, its in zip(inputs, abstract, strict=True)]
    try:
        image, outputs = plan.bind([(x.shape, dtype.name) for x, dtype in zip(abstract, dtypes, strict=True)], scalars)
    except PtxTypeError as error:
        wants_64_bits = error.kind == "argument_dtype" and re.search(r"takes (float64|u?int64)", error.message)
        if not wants_64_bits or jax.config.jax_enable_x64:
            raise
        hint = f"hint: JAX has no 64-bit types as it is set up here: {_X64_HINT}"
        file, line = error.where or ("", 0)
        text = f"{error}\n  = {hint}"
        raise from_diagnostic(error.kind, "TypeError", error.message, file, line, [*error.notes, hint], text) from None
    for i, (its, dtype) in enumerate(zip(abstract, dtypes, strict=True)):
        if its.dtype != dtype:
            _ptx.raise_error(
                "argument_dtype",
                f"argument {i} of kernel `{plan.name}` is {dtype.name}, which JAX would make {its.dtype.name} of",
                _X64_HINT,
            )
    return image, tuple((shape, jax.numpy.dtype(dtype)) for shape, dtype in outputs)


def _without_elements(outputs: _Outputs, inputs: Sequence[Any]) -> Any:
    """The outputs of a kernel that has nothing to write, and is not launched."""
    jax: Any = import_module("jax")
    empty = [jax.numpy.zeros(shape, dtype) for shape, dtype in outputs]
    arrays = _varying([*empty, *inputs])[: len(empty)]
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def call_kernel_via_ffi(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = _ONE,
    smem_bytes: int = 0,
) -> Any:
    """Calls a kernel by its handle: a traced kernel's, or one of `CubinRegistry.register`. The outputs have the shapes of
    `out_specs` under `out_shape_env`; one comes back as an array, several as a tuple. A handle that this process does not
    know lowers, and fails when compiled. ValueError when grid or block are not those that the handle stands for."""
    image = _image_for(cubin_handle, len(inputs), len(out_specs), grid, block, cluster, smem_bytes)
    outputs = tuple((tile.resolve_shape(out_shape_env), numpy_dtype(tile.dtype)) for tile in out_specs)
    if image is not None:
        abstract = [import_module("jax").typeof(x) for x in inputs]
        check_tensors(image, [(x.shape, x.dtype.name) for x in abstract], outputs)
    else:
        attributes = {"cubin_handle": import_module("numpy").int64(cubin_handle)}
        return _run(_Call(f"handle_{cubin_handle}", attributes, outputs, {}), inputs)
    return _run(_call_of(image, outputs), inputs)


def numpy_dtype(dtype: PtxType) -> Any:
    """The numpy dtype of a tensor of this PTX type, with ml_dtypes for bfloat16 and float8. TypeError for a type that no
    tensor has."""
    name = _ptx.numpy_name(dtype)
    if not name:
        raise TypeError(f"no tensor has elements of type {dtype}")
    numpy: Any = import_module("numpy")
    return numpy.dtype(getattr(numpy if hasattr(numpy, name) else import_module("ml_dtypes"), name))


def export_safety_checks() -> list[Any]:
    """What `jax.export.export(…, disabled_checks=…)` needs to let the custom call through."""
    return [import_module("jax.export").DisabledSafetyCheck.custom_call(_ptx.xla_target)]


# -- gradients


class _Signature(tuple[Any, ...]):
    """Shapes and dtypes of a call's inputs and outputs, which JAX is to carry from forward to backward as they are."""


def _teach_jax_signatures(jax: Any) -> None:
    global _signatures_are_known
    with _lock:
        if not _signatures_are_known:
            jax.tree_util.register_pytree_node(_Signature, lambda s: ((), tuple(s)), lambda values, _: _Signature(values))
            _signatures_are_known = True


_signatures_are_known = False


def differentiable_kernel_jax(
    forward_kernel: Callable[..., Any],
    backward_kernel: Callable[..., Any],
    *,
    save_for_backward: Sequence[int] | None = None,
    num_grad_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function of JAX arrays with a gradient (`jax.custom_vjp`): `forward_kernel(*inputs)` forward, `backward_kernel(*saved,
    *grad_outputs)` backward, which gives one gradient, or None, for each of the first `num_grad_inputs` inputs (default: all).
    `save_for_backward` are the indices of the inputs to save (default: all). Inputs of integers have no gradient, whatever the
    backward kernel gives. Gradients of gradients exist when the backward kernel is differentiable itself. IndexError for an
    index that no input has; ValueError for a gradient of another shape than its input."""
    jax: Any = import_module("jax")
    numpy: Any = import_module("numpy")
    _teach_jax_signatures(jax)

    def signature(values: Any) -> _Signature:
        return _Signature((jax.numpy.shape(x), jax.numpy.result_type(x)) for x in values)

    def run(*inputs: Any) -> Any:
        return forward_kernel(*inputs)

    def forward(*inputs: Any) -> Any:
        chosen = range(len(inputs)) if save_for_backward is None else save_for_backward
        saved = tuple(inputs[i] for i in chosen)
        outputs = call(*inputs)  # for gradients of gradients: JAX differentiates this function then
        listed = outputs if isinstance(outputs, tuple) else (outputs,)
        return outputs, (saved, signature(inputs), signature(listed))

    def as_output(gradient: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """Of an output of integers JAX has a gradient without values; the kernel takes one of the output's type."""
        return jax.numpy.zeros(shape, dtype) if gradient.dtype == jax.dtypes.float0 else gradient

    def as_input(i: int, gradient: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if gradient is None or not jax.numpy.issubdtype(dtype, numpy.inexact):
            return None
        if gradient.shape != shape:
            raise ValueError(f"the backward kernel gives a gradient of shape {gradient.shape} for input {i}, of shape {shape}")
        return gradient.astype(dtype)

    def backward(residuals: Any, cotangents: Any) -> tuple[Any, ...]:
        saved, of_inputs, of_outputs = residuals
        listed = cotangents if isinstance(cotangents, tuple) else (cotangents,)
        grad_outputs = [as_output(g, *of) for g, of in zip(listed, of_outputs, strict=True)]
        gradients = backward_kernel(*saved, *grad_outputs)
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        wanted = len(of_inputs) if num_grad_inputs is None else num_grad_inputs
        if wanted > len(of_inputs):
            raise ValueError(f"num_grad_inputs is {wanted}; the call has {len(of_inputs)} inputs")
        if len(gradients) < wanted:
            raise ValueError(f"the backward kernel gives {len(gradients)} gradients; {wanted} inputs need one")
        given = [as_input(i, g, *of) for i, (g, of) in enumerate(zip(gradients[:wanted], of_inputs[:wanted], strict=True))]
        return (*given, *(None,) * (len(of_inputs) - len(given)))

    call: Any = jax.custom_vjp(run)
    call.defvjp(forward, backward)

    def differentiable(*inputs: Any) -> Any:
        return call(*_varying(inputs))

    vars(differentiable).update(forward_kernel=forward_kernel, backward_kernel=backward_kernel)
    return differentiable


# -- kernels that the caller compiled or wrote as text


@dataclass
class CubinRecord:
    """A kernel by its handle. `module` is kept alive for whoever uses `cu_function`."""

    handle: int
    ptx_source: str
    kernel_name: str
    smem_bytes: int = 0
    grid: Dims3 = _ONE
    block: Dims3 = _ONE
    cu_function: int | None = None
    module: Any = None
    cubin_bytes: bytes | None = None


class CubinRegistry:
    """Records by handle. A handle is 63 bits of a hash of the kernel's content: registering the same kernel again, here or in
    another process, gives the same one."""

    def __init__(self) -> None:
        self._records: dict[int, CubinRecord] = {}
        self._lock = threading.Lock()

    def register(
        self,
        ptx_source: str,
        kernel_name: str,
        cubin_bytes: bytes | None = None,
        smem_bytes: int = 0,
        grid: Dims3 = _ONE,
        block: Dims3 = _ONE,
        cu_function: int | None = None,
        module: Any = None,
    ) -> int:
        """Keeps a record and returns its handle."""
        handle = _ptx.content_handle(ptx_source, kernel_name, grid, block, smem_bytes)
        with self._lock:
            self._records[handle] = CubinRecord(
                handle, ptx_source, kernel_name, smem_bytes, grid, block, cu_function, module, cubin_bytes
            )
        return handle

    def get(self, handle: int) -> CubinRecord | None:
        """The record, or None."""
        with self._lock:
            return self._records.get(handle)

    def clear(self) -> None:
        """Forgets every record. Kernels that programs already use stay launchable."""
        with self._lock:
            self._records.clear()

    def __len__(self) -> int:
        with self._lock:
            return len(self._records)


_registry = CubinRegistry()


def get_cubin_registry() -> CubinRegistry:
    """The records of this process."""
    return _registry


@dataclass(frozen=True)
class _LaunchConfig:
    """What `register_launch_config`, `add_scalar_param_to_shim` and `add_tma_spec_to_shim` said of a handle."""

    grid: Dims3
    block: Dims3
    cluster: Dims3
    smem_bytes: int
    scalars: tuple[tuple[int, int], ...] = ()  # bits, bytes
    descriptors: tuple[tuple[int, TensorMap], ...] = ()  # number of the tensor, its map


_configs: dict[int, _LaunchConfig] = {}


def _image_for(
    handle: int, inputs: int, outputs: int, grid: Dims3, block: Dims3, cluster: Dims3 = _ONE, smem_bytes: int = 0
) -> Image | None:
    """The image that a handle stands for; None for an unknown one."""
    image = _ptx.find_image(handle)
    if image is None:
        record = _registry.get(handle)
        if record is None:
            return None
        config = _configs.get(handle) or _LaunchConfig(grid, block, cluster, smem_bytes or record.smem_bytes)
        image = _ptx.Image.from_text(
            record.ptx_source,
            record.kernel_name,
            grid=config.grid,
            block=config.block,
            cluster=config.cluster,
            smem=config.smem_bytes,
            inputs=inputs,
            outputs=outputs,
            scalars=config.scalars,
            descriptors=config.descriptors,
        )
    given: tuple[tuple[str, object, object], ...] = (
        ("grid", tuple(grid), tuple(image.grid)),
        ("block", tuple(block), tuple(image.block)),
        ("cluster", tuple(cluster), tuple(image.cluster)),
        ("dynamic shared memory", smem_bytes, image.smem),
    )
    left_out: dict[str, object] = {"cluster": _ONE, "dynamic shared memory": 0}  # whoever says nothing means the kernel's own
    for what, value, has in given:
        if value != has and value != left_out.get(what):
            raise ValueError(f"kernel `{image.entry}` (handle {handle}) has the {what} {has}; the call gives {value}")
    return image


def check_tensors(image: Image, inputs: Sequence[tuple[tuple[int, ...], str]], outputs: Sequence[tuple[Any, Any]]) -> None:
    """Checks shapes and dtype names of a call by handle against the tiles of the kernel, as far as it was traced here: TypeError
    or ValueError."""
    from .kernel import plan_of_image

    plan = plan_of_image(image)
    if plan is None:
        return
    _, made = plan.bind(list(inputs))
    seen = [(tuple(shape), getattr(dtype, "name", dtype)) for shape, dtype in outputs]
    for number, (tile, has) in enumerate(zip(plan.outputs, made, strict=True)):
        if len(seen) != len(made) or seen[number][0] != has[0] or not tile.matches(*seen[number]):
            said = [f"{dtype}{list(shape)}" for shape, dtype in seen]
            _ptx.raise_error(
                "argument_dim",
                f"kernel `{image.entry}` (handle {image.handle}) gives {', '.join(f'{d}{list(s)}' for s, d in made)}; "
                f"`out_specs` of the call are {', '.join(said)}",
            )


def image_of_handle(
    handle: int, inputs: int, outputs: int, grid: Dims3, block: Dims3, cluster: Dims3 = _ONE, smem_bytes: int = 0
) -> Image:
    """The image that a handle stands for. KeyError for an unknown handle, ValueError for another grid or block."""
    image = _image_for(handle, inputs, outputs, grid, block, cluster, smem_bytes)
    if image is None:
        raise KeyError(f"no kernel with handle {handle} is registered in this process")
    return image


def register_launch_config(
    handle: int, cu_function: int, grid: Dims3, block: Dims3, cluster: Dims3 = _ONE, smem_bytes: int = 0
) -> None:
    """Says how the kernel of a handle is launched, in place of what the call would give. RuntimeError for a handle that no
    record has: the launcher loads the PTX itself, on whichever GPU the call runs, so `cu_function`, which is of one GPU, is
    kept in the record only."""
    record = _registry.get(handle)
    if record is None:
        raise RuntimeError(f"no kernel with handle {handle} is registered: `get_cubin_registry().register(…)` gives handles")
    record.cu_function = cu_function or record.cu_function
    with _lock:
        _configs[handle] = _LaunchConfig(grid, block, cluster, smem_bytes)


def _config(handle: int) -> _LaunchConfig:
    config = _configs.get(handle)
    if config is None:
        raise RuntimeError(f"handle {handle} has no launch configuration yet: call `register_launch_config` first")
    return config


def add_scalar_param_to_shim(handle: int, *, value_bits: int, size_bytes: int) -> None:
    """Adds a scalar of 1, 2, 4 or 8 bytes behind the kernel's pointers, after those added before. RuntimeError before
    `register_launch_config`."""
    with _lock:
        config = _config(handle)
        _configs[handle] = replace(config, scalars=(*config.scalars, (value_bits, size_bytes)))


def compile_ptx_to_cubin(
    ptx_source: str, arch: str, kernel_name: str = "", dynamic_smem_bytes: int = 0
) -> tuple[int, Any] | None:
    """Loads a kernel on GPU 0: its CUfunction as an int, and what keeps it loaded. None where there is no driver or no GPU. An
    empty name means the text's first entry. RuntimeError when the text is not for `arch`, has no entry, or does not
    compile."""
    name = kernel_name or _first_entry(ptx_source)
    target = re.search(r"^\s*\.target\s+(\w+)", ptx_source, re.MULTILINE)
    if target is not None and target[1] != arch:
        raise RuntimeError(f"kernel `{name}` targets {target[1]}; it is to be compiled for {arch}")
    if _ptx.why_no_gpu() is not None:
        return None
    return _ptx.load_text(ptx_source, name, smem=dynamic_smem_bytes)


def _first_entry(ptx_source: str) -> str:
    entry = re.search(r"\.entry\s+([\w$%]+)", ptx_source)
    if entry is None:
        raise RuntimeError("the PTX has no `.entry`")
    return entry[1]


# -- TMA descriptors


_tensor_maps: WeakValueDictionary[int, EncodedTensorMap] = WeakValueDictionary()  # by where their bytes lie on the host


def _encoded(tile: Tile, address: int) -> tuple[EncodedTensorMap, int, int]:
    encoded = _ptx.TensorMap.of(tile).encode(address)
    _tensor_maps[encoded.host_ptr] = encoded
    return encoded, encoded.host_ptr, encoded.device_ptr


def synthesize_tma_descriptor(
    shape: tuple[int, ...], dtype: PtxType, layout: Layout, box_shape: tuple[int, ...] | None = None, placeholder_ptr: int = 0
) -> tuple[EncodedTensorMap, int, int]:
    """A CUtensorMap of a row-major tensor at `placeholder_ptr`: the object, and where its 128 bytes lie on the host, while the
    object lives, and on GPU 0, for good. Both copies are constant: a launch with another tensor uses another descriptor. The
    swizzle is the layout's; `box_shape` is what one copy moves, by default 128 rows of a matrix by the swizzle's width.
    ValueError names the rule of tensor maps that is broken, RuntimeError says why there is no GPU."""
    if box_shape is None and len(shape) == 2:
        box_shape = _ptx.default_tma_box(_ptx.Tile(*shape, dtype, layout))
    return _encoded(_ptx.Tile(*shape, dtype, layout, tma_box=box_shape), placeholder_ptr)


def synthesize_tma_descriptor_3d(
    height: int,
    width: int,
    dtype: PtxType,
    box_major: int,
    box_minor: int,
    *,
    swizzle_128b: bool = True,
    padding: bool = False,
    placeholder_ptr: int = 0,
) -> tuple[EncodedTensorMap, int, int]:
    """As `synthesize_tma_descriptor`, of a (height, width) matrix in slabs of 64 columns: one copy moves `box_major` rows of
    `box_minor` columns, also more than a swizzle is wide. With `padding` rows in shared memory are 72 elements apart."""
    layout = _ptx.Layout.TMA_128B if swizzle_128b else _ptx.Layout.ROW
    box = (box_major, box_minor)
    return _encoded(_ptx.Tile(height, width, dtype, layout, tma_box=box, tma_rank=3, tma_padding=padding), placeholder_ptr)


def add_tma_spec_to_shim(handle: int, xla_arg_index: int, host_blob_ptr: int, device_blob_ptr: int) -> None:
    """Adds a TMA descriptor behind the kernel's scalars, after those added before: of tensor `xla_arg_index`, which counts the
    inputs and then the outputs, described as the one of `synthesize_tma_descriptor` whose bytes are at `host_blob_ptr`. Each
    launch passes a descriptor of its own tensor's address; `device_blob_ptr` is not written to. RuntimeError before
    `register_launch_config`, ValueError for a host address where no descriptor is."""
    encoded = _tensor_maps.get(host_blob_ptr)
    if encoded is None:
        raise ValueError(
            f"no descriptor lies at {host_blob_ptr:#x}: `synthesize_tma_descriptor` gives one, valid while its object lives"
        )
    with _lock:
        config = _config(handle)
        _configs[handle] = replace(config, descriptors=(*config.descriptors, (xla_arg_index, encoded.map)))


# -- names that earlier programs ask for


def shim_is_available() -> bool:
    """Whether the native launcher is loaded. It is part of the package, so it always is."""
    return "pyptx._ptx" in sys.modules


def shim_load_error() -> str | None:
    """Why it is not; None when it is."""
    return None if shim_is_available() else "pyptx._ptx is not loaded"


def _load_shim() -> Any:
    return _ptx


_mock_callback: Callable[..., Any] | None = None


def set_mock_ffi_callback(callback: Callable[..., Any] | None) -> None:
    """A test hook: what `_pyptx_launch` calls; None takes it away."""
    global _mock_callback
    _mock_callback = callback


def _pyptx_launch(*args: Any, **kwargs: Any) -> Any:
    if _mock_callback is None:
        raise RuntimeError("no mock callback is set: `set_mock_ffi_callback` sets one")
    return _mock_callback(*args, **kwargs)


speak_in_own_words(globals(), *(name for name in __all__ if not name[0].isupper()))
