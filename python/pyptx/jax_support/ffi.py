"""XLA's foreign function interface: the custom-call target that every kernel's call names, and what its programs need of JAX."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .. import _ptx

# The versions of XLA's FFI that the handler speaks: ptx/ffi/xla_abi.hpp.
_OLDEST_FFI, _NEWEST_FFI = (0, 1), (0, 4)
_registered = False
_lock = threading.RLock()


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


def export_safety_checks() -> list[Any]:
    """What `jax.export.export(…, disabled_checks=…)` needs to let the custom call through."""
    return [import_module("jax.export").DisabledSafetyCheck.custom_call(_ptx.xla_target)]


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
