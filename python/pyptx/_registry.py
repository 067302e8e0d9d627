"""The kernels of this process as others name them: by a number, in what torch traces, and by the handle of an image."""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any

from . import _ptx

if TYPE_CHECKING:
    from ._ptx import Plan, Tile
    from .kernel import Kernel

_numbers = itertools.count()
_kernels: weakref.WeakValueDictionary[str, Kernel] = weakref.WeakValueDictionary()


def number_of(kernel: Kernel) -> str:
    """A new number for a kernel, which finds it while it lives. A text: Dynamo makes symbols of numbers."""
    number = str(next(_numbers))
    _kernels[number] = kernel
    return number


def kernel_by_number(number: str) -> Kernel:
    """The kernel of this process with that number: what a graph that torch traces holds in its place."""
    return _kernels[number]


# By handle, of each image: the kernel's name, its inputs, its outputs, and what its tensors are called.
_tensors_of_handles: dict[int, tuple[str, list[Tile], list[Tile], list[str]]] = {}
_plans_of_handles: dict[int, Plan] = {}


def keep_tensors(handle: int, name: str, inputs: list[Tile], outputs: list[Tile], tensors: list[str]) -> None:
    """Keeps what the image of a handle, which was traced here, takes and gives."""
    _tensors_of_handles.setdefault(handle, (name, inputs, outputs, tensors))


def plan_of_image(image: Any) -> Plan | None:
    """A plan that checks tensors for a kernel that is called by its handle; None for one that was not traced here."""
    known = _plans_of_handles.get(image.handle)
    if known is None and image.handle in _tensors_of_handles:
        name, inputs, outputs, tensors = _tensors_of_handles[image.handle]
        known = _ptx.Plan(name, inputs, outputs, tensors, lambda _: image, {})
        known = _plans_of_handles.setdefault(image.handle, known)
    return known
