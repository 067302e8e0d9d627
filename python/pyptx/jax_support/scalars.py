"""Scalar parameters as operands: a kernel that reads them from memory, and the bytes that stand there."""

from __future__ import annotations

import threading
from collections import OrderedDict
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import _ptx, types
from .gradients import differentiated
from .lowering import KEPT_CALLS, X64_HINT

if TYPE_CHECKING:
    from .._ptx import Image

_lock = threading.RLock()
_in_memory_images: OrderedDict[tuple[int, tuple[int, ...]], Image | None] = OrderedDict()


def image_in_memory(image: Image, which: tuple[int, ...]) -> Image | None:
    """The image that reads these scalars from memory, made once."""
    key = (image.handle, which)
    with _lock:
        if key in _in_memory_images:
            _in_memory_images.move_to_end(key)
            return _in_memory_images[key]
    made = image.scalars_in_memory(which)
    with _lock:
        _in_memory_images[key] = made
        if len(_in_memory_images) > KEPT_CALLS:
            _in_memory_images.popitem(last=False)
    return made


def size_of(dtype: str) -> int:
    """Bytes of a parameter of this PTX type."""
    return (types.from_name(dtype).bits + 7) // 8


def as_bytes(bits: int, size: int) -> Any:
    numpy: Any = import_module("numpy")
    return numpy.frombuffer((bits & (1 << 8 * size) - 1).to_bytes(size, "little"), numpy.uint8)


def scalar_operand(kernel: str, dtype: str, parameter: str, value: Any) -> Any:
    """The bytes of a scalar as the parameter's type has it, for a number or a value of JAX's."""
    jax: Any = import_module("jax")
    numpy: Any = import_module("numpy")
    size = size_of(dtype)
    if not isinstance(value, jax.Array):
        (bits,) = _ptx.pack_scalars(kernel, [(dtype, parameter)], {parameter: value})
        assert bits is not None  # a value was given
        return as_bytes(bits, size)
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
        _ptx.raise_error("argument_dtype", f"{what} is float64; JAX has no 64-bit types as it is set up here", X64_HINT)

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
    guarded.defjvp(differentiated(f"{what} is differentiated"))
    return guarded(value)
