"""The memory of a launch on the executor: where tensors and arrays lie, and which of it a kernel may use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _ptx
from ._arguments import fail, is_int, short


@dataclass(frozen=True)
class Region:
    """Memory that a kernel may use: accesses outside of every region are errors.

    Of a tensor the region is its whole storage, views included; with `bytes`, as many from the tensor's first element.
    """

    memory: Any
    """A tensor or array in host memory, or an address (with `bytes`)."""
    name: str = ""
    """What messages call it."""
    bytes: int | None = None
    """Its size, bytes; None: the tensor's storage."""
    writable: bool = True
    """Whether the kernel may store there. Memory that may not be written at all is never writable."""
    initialised: bool = True
    """Whether it holds values: of memory that counts as not written, loads before the first store are errors."""
    replicas: Sequence[Any] | None = None
    """Not None: a multicast region. Its addresses are for ``multimem.*`` alone, which reaches `memory` and each of these tensors:
    the memory of so many devices. What else may use them is said by other parameters and regions."""

    @property
    def address(self) -> int:
        """Where a kernel finds the first element: what a parameter takes that is given the region."""
        memory = Regions.memory_of(self, "the region")
        return _ptx.multimem_address(memory.address) if self.replicas is not None else memory.address


_Shape = tuple[list[int], int]
_RegionTuple = tuple[int, int, str, bool, bool, "list[int] | None", "_Shape | None"]


class Memory(NamedTuple):
    address: int  # of the first element
    start: int  # of its storage
    bytes: int  # of its storage
    writable: bool
    shape: _Shape | None = None  # of a tensor that fills its storage, row by row: sizes, and bits of an element


def _memory_of_array(array: Any) -> Memory:
    owner = array
    while type(owner.base) is type(array):
        owner = owner.base
    writable = bool(array.flags.writeable)
    if owner.flags.c_contiguous or owner.flags.f_contiguous:
        whole = array.flags.c_contiguous and array.nbytes == owner.nbytes and array.ndim > 0
        shape = (list(array.shape), 8 * array.itemsize) if whole else None
        return Memory(array.ctypes.data, owner.ctypes.data, owner.nbytes, writable, shape)
    spans = [(size - 1) * stride for size, stride in zip(owner.shape, owner.strides, strict=True)]
    start = owner.ctypes.data + sum(span for span in spans if span < 0)
    return Memory(array.ctypes.data, start, sum(abs(span) for span in spans) + owner.itemsize, writable)


def memory_at(value: Any, what: str) -> Memory | None:
    """Where a tensor lies; None of anything that is none. `what` is for the error of a tensor that is not in host memory."""
    storage_of = getattr(value, "untyped_storage", None)
    if storage_of is not None:  # torch's
        if value.device.type != "cpu":
            fail("argument_device", f"{what} is on `{value.device}`; the executor takes tensors in host memory")
        storage = storage_of()
        whole = value.is_contiguous() and value.dim() > 0 and value.data_ptr() == storage.data_ptr()
        shape = (list(value.shape), 8 * value.element_size()) if whole else None
        return Memory(value.data_ptr(), storage.data_ptr(), storage.nbytes(), True, shape)
    if hasattr(value, "__array_interface__") and hasattr(value, "ctypes"):
        return _memory_of_array(value)
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        import numpy as np

        array = np.asarray(value) if hasattr(value, "__array_interface__") else np.from_dlpack(value)
        return _memory_of_array(array)
    return None


class Regions:
    """The memory of a launch: pieces that share an allocation are one."""

    def __init__(self, given: Iterable[Any]):
        self.fixed: list[_RegionTuple] = []
        self.found: dict[int, tuple[int, list[str], bool, _Shape | None]] = {}
        for number, region in enumerate(given):
            self.fixed.append(self.fixed_of(region if isinstance(region, Region) else Region(region), f"region {number}"))

    @staticmethod
    def memory_of(region: Region, what: str) -> Memory:
        size = region.bytes
        if size is not None and (not is_int(size) or size < 0):
            fail("argument_kind", f"`bytes` of {what} is `{short(size)}`; what fits is a number of bytes")
        # (a tensor of one integer may stand for a number, too)
        if is_int(region.memory) and not hasattr(region.memory, "untyped_storage") and getattr(region.memory, "ndim", 0) == 0:
            if size is None:
                fail("argument_kind", f"{what} is an address alone; what fits is one with its size, `Region(address, bytes=…)`")
            return Memory(int(region.memory), int(region.memory), int(size), region.writable)
        memory = memory_at(region.memory, what)
        if memory is None:
            fail("argument_kind", f"{what} is {short(region.memory)}; what fits is a tensor, or an address with its size")
        most = memory.start + memory.bytes - memory.address
        if size is not None and size > most:
            fail("argument_memory", f"{what} is said to have {size} bytes; its tensor's storage has {most} from there")
        if size is None and region.replicas is None:
            return memory._replace(writable=region.writable and memory.writable)
        return Memory(memory.address, memory.address, most if size is None else int(size), region.writable and memory.writable)

    @classmethod
    def fixed_of(cls, region: Region, what: str) -> _RegionTuple:
        memory = cls.memory_of(region, what)
        writable, replicas = memory.writable, None
        if region.replicas is not None:
            replicas = []
            for number, other in enumerate(region.replicas):
                replica = cls.memory_of(
                    Region(other, bytes=memory.bytes, writable=region.writable), f"replica {number} of {what}"
                )
                writable = writable and replica.writable
                replicas.append(replica.address)
        return memory.start, memory.bytes, region.name, writable, region.initialised, replicas, memory.shape

    def add(self, memory: Memory, name: str) -> None:
        ordinary = [(start, size) for start, size, *_, replicas, _ in self.fixed if replicas is None]
        if memory.bytes == 0 or any(start <= memory.address < start + size for start, size in ordinary):
            return
        size, names, writable, shape = self.found.get(memory.start, (0, [], False, memory.shape))
        same = memory.shape if shape == memory.shape else None
        self.found[memory.start] = (max(size, memory.bytes), [*names, name], writable or memory.writable, same)

    def all(self) -> list[_RegionTuple]:
        found = self.found.items()
        shared = [(at, size, " and ".join(names), writable, True, None, shape) for at, (size, names, writable, shape) in found]
        return [*self.fixed, *shared]
