"""Triton's side of it: the compiler without its last step, and a driver whose device is the executor."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch
import triton
from triton.backends import Backend, backends
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.backends.nvidia.compiler import CUDABackend

from .. import _ptx
from ._cuda import Redirection
from ._launcher import Launcher, LoadedKernel

if TYPE_CHECKING:
    from ._state import Activation

_REGISTERS = 65536  # of a multiprocessor
_MOST_REGISTERS = 255  # of a thread
_MOST_THREADS = 1024  # of a block

_devices: dict[int, int] = {}  # Triton keeps what it compiled by device: each target has its own


class PtxBackend(CUDABackend):  # type: ignore[misc]
    """Triton's own stages up to PTX. What a launch loads is the text, `.asm["pyptx"]`; there is no cubin and no SASS."""

    binary_ext = "pyptx"

    def __init__(self, target: GPUTarget):
        super().__init__(target)
        self.binary_ext = "pyptx"

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any) -> None:
        super().add_stages(stages, options, language)
        stages.pop("cubin")
        stages["pyptx"] = lambda ptx, metadata: ptx.encode()

    def hash(self) -> str:
        return f"pyptx-{super().hash()}"


class _Event:
    """A moment, for `triton.testing.do_bench`: the executor has done its work when a launch returns."""

    def __init__(self, enable_timing: bool = False):
        self.at = 0.0

    def record(self, stream: Any = None) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, end: _Event) -> float:
        return max((end.at - self.at) * 1e3, 1e-6)

    def synchronize(self) -> None:
        pass


class _Interface:
    """What Triton's tools ask a device of torch."""

    Event = _Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        pass

    @staticmethod
    def current_device() -> int:
        return 0


class Utils:
    """What `CompiledKernel` asks of a driver."""

    def __init__(self, driver: Driver):
        self._driver = driver

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, Any, int, int, int]:
        """(module, function, registers of a thread, bytes of spills, threads of a block). No compiler has given registers out, so
        their number is the largest that a block of that size may have."""
        loaded = LoadedKernel(name, kernel.decode())
        threads = loaded.most_threads or _MOST_THREADS
        return loaded, loaded, min(_MOST_REGISTERS, _REGISTERS // threads), 0, _MOST_THREADS

    def get_device_properties(self, device: int) -> dict[str, int]:
        return self._driver.properties()


class Driver(DriverBase):  # type: ignore[misc]
    """A device of Triton's: kernels of one target, on the executor."""

    launcher_cls = Launcher

    def __init__(self, activation: Activation, number: int):
        super().__init__()
        self.activation, self.number, self.utils = activation, number, Utils(self)
        self.device = _devices.setdefault(number, len(_devices))

    @classmethod
    def is_active(cls) -> bool:
        return False

    def properties(self) -> dict[str, int]:
        shared, multiprocessors = _ptx.executor_limits(self.activation.target)
        return {
            "max_shared_mem": shared,
            "max_num_regs": _REGISTERS,
            "multiprocessor_count": multiprocessors,
            "warpSize": 32,
        }

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.number, 32)

    def get_current_device(self) -> int:
        return self.device

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return divmod(self.number, 10)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def get_device_interface(self) -> type[_Interface]:
        return _Interface

    def map_python_to_cpp_type(self, ty: str) -> str:
        from triton.backends.nvidia.driver import ty_to_cpp

        return str(ty_to_cpp(ty))

    def get_benchmarker(self) -> Any:
        """For the autotuner: one run, and the warp instructions that it took, which are the same every time."""

        def count(call: Any, *, quantiles: Any = None, **_: Any) -> list[float]:
            self.activation.last_report = None
            call()
            report = self.activation.last_report
            return [float(report.warp_instructions if report else 0)] * len(quantiles or (1,))

        return count

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(0)

    def clear_cache(self, cache: Any) -> None:
        pass

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args


def enter(activation: Activation, number: int) -> None:
    """Makes Triton compile for the target and launch on the executor; `activation` learns how to undo it."""
    config = triton.runtime.driver
    before = {"backend": backends.get("nvidia"), "active": config._active}
    driver = Driver(activation, number)
    backends["nvidia"] = Backend(PtxBackend, Driver)
    config.set_active(driver)

    def undo() -> None:
        if before["backend"] is None:
            del backends["nvidia"]
        else:
            backends["nvidia"] = before["backend"]
        config._active = before["active"]

    activation._undo.append(undo)
    wanted = activation._redirect_cuda
    if wanted or (wanted is None and not torch.cuda.is_available()):
        redirection = Redirection(driver)
        redirection.enter()
        activation._undo.append(redirection.leave)
