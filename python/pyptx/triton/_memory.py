"""The memory of a launch: the storages of its tensors, and of those whose addresses it is given."""

from __future__ import annotations

import gc
from typing import Any

import torch

from .._arguments import fail, short

_LEAST, _BEHIND = 1 << 16, 1 << 47  # addresses that a program of this machine may have
_MOST_ADDRESSES = 1 << 16
_WORD = 4


class Memory:
    """Collects regions while arguments are read.

    `whole_words`: a tensor that ends amid a word of 4 bytes is lent with all of the word, as a GPU's allocator gives it. Triton's
    atomics of 16 bits read and exchange the word around the element.
    """

    def __init__(self, kernel: str, more: list[Any], whole_words: bool = False):
        self._whole_words = whole_words
        self._lent: dict[
            int, tuple[torch.Tensor, torch.Tensor]
        ] = {}  # by address: the storage's bytes, and those that stand for them
        self._found: dict[int, tuple[int, list[str]]] = {}
        self._looks_for_addresses: list[torch.Tensor] = []
        self._numbers: list[int] = []
        self._kept: list[Any] = []  # until the launch has ended: buffers that nobody else holds
        self._what = "argument `{}` of kernel `" + kernel + "`"
        for tensor in more:
            self._add(tensor, "added memory")

    def _add(self, tensor: torch.Tensor, name: str) -> None:
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if size:
            known = self._found.setdefault(start, (size, []))
            known[1].append(name)

    def _lend(self, tensor: torch.Tensor) -> int:
        """Where the kernel finds the tensor's storage: how far from where it is."""
        storage = tensor.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if not self._whole_words or size % _WORD == 0:
            return 0
        if start not in self._lent:
            own = torch.empty(0, dtype=torch.uint8).set_(storage)
            words = torch.zeros(-(-size // _WORD), dtype=torch.int32).view(torch.uint8)
            words[:size] = own
            self._lent[start] = (own, words)
        return int(self._lent[start][1].data_ptr()) - int(start)

    def give_back(self) -> None:
        """What the kernel left in bytes that stood for a tensor's is the tensor's."""
        for own, words in self._lent.values():
            own.copy_(words[: len(own)])

    def address(self, name: str, value: Any) -> int:
        """What a pointer argument is; its memory is the launch's."""
        self._kept.append(value)
        if value is None:
            return 0
        if isinstance(value, int):
            self._numbers.append(value)
            return value
        tensor = getattr(value, "base", value) if type(value).__name__ == "TensorWrapper" else value
        if not isinstance(tensor, torch.Tensor):
            if not hasattr(tensor, "data_ptr"):
                fail("argument_kind", f"{self._what.format(name)} is {short(value)}; what fits is a tensor")
            self._numbers.append(int(tensor.data_ptr()))
            return self._numbers[-1]
        if tensor.device.type != "cpu":
            on = f"is on `{tensor.device}`; the executor takes tensors on the CPU"
            fail("argument_device", f"{self._what.format(name)} {on}")
        if moved := self._lend(tensor):
            self._add(self._lent[tensor.untyped_storage().data_ptr()][1], name)
            return int(tensor.data_ptr()) + moved
        self._add(tensor, name)
        if tensor.dtype in (torch.int64, torch.uint64) and tensor.numel():
            self._looks_for_addresses.append(tensor)
        return int(tensor.data_ptr())

    def _addresses(self) -> list[int]:
        """Numbers among the arguments that may be addresses outside of the regions that are known."""
        numbers = list(self._numbers)
        for tensor in self._looks_for_addresses:
            if tensor.numel() <= _MOST_ADDRESSES:
                flat = tensor.detach().reshape(-1).view(torch.int64)
                numbers += flat[(flat >= _LEAST) & (flat < _BEHIND)].tolist()
        return [n for n in numbers if not any(start <= n < start + size for start, (size, _) in self._found.items())]

    def regions(self) -> list[tuple[int, int, str, bool, bool, None, None]]:
        """As the executor takes them. Tensors that the program has and whose addresses the launch is given count, too."""
        if self._numbers or self._looks_for_addresses:
            self._find(self._addresses())
        found = self._found.items()
        return [(start, size, " and ".join(dict.fromkeys(names)), True, True, None, None) for start, (size, names) in found]

    def _find(self, addresses: list[int]) -> None:
        if not addresses:
            return
        wanted = set(addresses)
        for thing in gc.get_objects():
            if not isinstance(thing, torch.Tensor) or thing.device.type != "cpu" or thing.layout != torch.strided:
                continue
            try:
                storage = thing.untyped_storage()
                start, size = storage.data_ptr(), storage.nbytes()
            except (RuntimeError, NotImplementedError):  # a fake tensor, or one of a subclass without memory
                continue
            if start not in self._found and any(start <= address < start + size for address in wanted):
                self._found[start] = (size, [f"a tensor {tuple(thing.shape)}"])
