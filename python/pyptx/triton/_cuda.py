"""What programs for a GPU ask torch, answered for a machine that has none, while pyptx.triton is active."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from ._driver import Driver


def _is_cuda(device: Any) -> bool:
    return (isinstance(device, str) and device.partition(":")[0] == "cuda") or (
        isinstance(device, torch.device) and device.type == "cuda"
    )


class _OnCpu(TorchFunctionMode):  # type: ignore[misc]
    """`device="cuda"`, `.to("cuda")` and `.cuda()` mean the CPU."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if _is_cuda(kwargs.get("device")):
            kwargs = {**kwargs, "device": "cpu"}
        name = getattr(function, "__name__", "")
        if name == "to" and any(_is_cuda(each) for each in args[1:]):
            args = tuple("cpu" if _is_cuda(each) else each for each in args)
        elif name == "cuda" and args:
            return args[0]
        return function(*args, **kwargs)


class _Device:
    """`with torch.cuda.device(…)`, of a machine that has none: nothing is chosen."""

    def __init__(self, device: Any = None):
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        pass


class Redirection:
    """Enters the mode, and gives functions of `torch.cuda` that fail without a GPU answers for one of the driver's target."""

    def __init__(self, driver: Driver):
        self._driver = driver
        self._mode = _OnCpu()
        self._before: dict[str, Any] = {}

    def _answers(self) -> dict[str, Any]:
        major, minor = self._driver.get_device_capability()
        known = self._driver.properties()
        properties = SimpleNamespace(
            name=f"pyptx executor ({self._driver.activation.target})",
            major=major,
            minor=minor,
            multi_processor_count=known["multiprocessor_count"],
            shared_memory_per_block_optin=known["max_shared_mem"],
            regs_per_multiprocessor=known["max_num_regs"],
            warp_size=known["warpSize"],
            L2_cache_size=50 << 20,
            total_memory=1 << 36,
        )
        return {
            "get_device_capability": lambda device=None: (major, minor),
            "get_device_properties": lambda device=None: properties,
            "get_device_name": lambda device=None: properties.name,
            "current_device": lambda: 0,
            "synchronize": lambda device=None: None,
            "set_device": lambda device: None,
            "device_count": lambda: 1,
            "device": _Device,
        }

    def enter(self) -> None:
        for name, answer in self._answers().items():
            self._before[name] = getattr(torch.cuda, name)
            setattr(torch.cuda, name, answer)
        self._mode.__enter__()

    def leave(self) -> None:
        self._mode.__exit__(None, None, None)
        for name, before in self._before.items():
            setattr(torch.cuda, name, before)
