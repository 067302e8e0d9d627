"""Write GPU kernels as real PTX, one call = one instruction; run them from numpy, JAX and PyTorch, on a GPU or without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _ptx

_ptx.set_package_folder(__path__[0])

from . import _describe, ptx, reg, smem, types  # noqa: E402, F401
from ._module import Func, Module, Var, func  # noqa: E402
from ._ptx import Layout, TensorMap, Tile, detect_arch  # noqa: E402
from ._trace import intrinsic  # noqa: E402
from .errors import (  # noqa: E402
    PtxAttributeError,
    PtxError,
    PtxKeyError,
    PtxNotImplementedError,
    PtxOSError,
    PtxRuntimeError,
    PtxTypeError,
    PtxValueError,
    PtxWarning,
)
from .kernel import Kernel, TensorSpec, kernel  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__version__ = _ptx.version

# Modules that are loaded when they are asked for: `pyptx.parser.parse(text)` after `import pyptx` alone.
_LAZY = (
    "cache", "emitter", "executor", "gradients", "ir", "jax_support", "kernels", "parser", "spec", "specs", "testing",
    "torch_support", "triton", "wgmma_layout",
)  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    if name in _LAZY:
        import importlib

        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY, *(name for name in globals() if name.startswith("__"))})


def differentiable_kernel(forward_kernel: Kernel, backward_kernel: Kernel, **options: Any) -> Callable[..., Any]:
    """A function of torch tensors or JAX arrays with a gradient, see `pyptx.gradients.differentiable_kernel`."""
    from . import gradients

    return gradients.differentiable_kernel(forward_kernel, backward_kernel, **options)


def explain(rule: str) -> str:
    """What a rule that a run may break is about, ``P-01``: see `pyptx.executor.explain`."""
    from . import executor

    return executor.explain(rule)


__all__ = [
    "Func", "Kernel", "Layout", "Module", "PtxAttributeError", "PtxError", "PtxKeyError", "PtxNotImplementedError", "PtxOSError",
    "PtxRuntimeError", "PtxTypeError", "PtxValueError", "PtxWarning", "TensorMap", "TensorSpec", "Tile", "Var", "detect_arch",
    "differentiable_kernel", "explain", "func", "intrinsic", "kernel", "ptx", "reg", "smem", "types",
]  # fmt: skip
