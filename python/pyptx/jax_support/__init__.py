"""JAX: kernels inside `jax.jit`, on the CPU through the executor and on GPUs, by XLA's typed foreign function interface.

A call becomes a custom call `pyptx_launch` that carries the whole kernel (PTX, launch record, content hash), so that a compiled
program means the same in another process: from JAX's persistent cache, from `jax.export`. The integer handles of this module are
63 bits of that hash.

`jax.vmap` of a call runs it once for each element, one after the other (`vmap_method="sequential"`): a kernel is made for one
shape, so that no other method of `jax.ffi` could know what it does with one more dimension. A kernel that takes the whole batch
at once goes in by `jax.custom_batching.custom_vmap`.

JAX is imported when it is first needed, not by importing this module.
"""

# From the top down: calls; scalars; lowering; gradients, ffi; sharding. descriptors go with handles. C++ calls `call_plan`.

from __future__ import annotations

from .._handles import (
    CubinRecord,
    CubinRegistry,
    add_scalar_param_to_shim,
    compile_ptx_to_cubin,
    get_cubin_registry,
    register_launch_config,
)
from .._handles import check_tensors as check_tensors
from .._handles import image_of_handle as image_of_handle
from .._handles import numpy_dtype as numpy_dtype
from .._own_words import show_as_of, speak_in_own_words
from .calls import call_kernel_via_ffi
from .calls import call_plan as call_plan
from .calls import call_with_traced_scalars as call_with_traced_scalars
from .descriptors import add_tma_spec_to_shim, synthesize_tma_descriptor, synthesize_tma_descriptor_3d
from .ffi import _load_shim as _load_shim
from .ffi import _pyptx_launch as _pyptx_launch
from .ffi import ensure_ffi_registered, export_safety_checks, set_mock_ffi_callback, shim_is_available, shim_load_error
from .gradients import differentiable_kernel_jax

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

show_as_of(__name__, *(globals()[name] for name in __all__))
speak_in_own_words(globals(), *(name for name in __all__ if not name[0].isupper()))
