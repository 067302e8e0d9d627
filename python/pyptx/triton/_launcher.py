"""A launch: Triton's arguments as the parameter block and the memory of a run on the executor."""

from __future__ import annotations

import linecache
import re
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from triton.runtime import _allocation

from .. import _ptx, types
from .._arguments import fail, short
from ..errors import PtxError
from ..executor import Report
from ._memory import Memory
from ._state import Activation, active

# How a value of each of Triton's types lies in the parameter block.
_FORMATS = {
    "i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "B", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "fp16": "e", "bf16": "H", "fp32": "f", "f32": "f", "fp64": "d",
}  # fmt: skip


def _bf16(value: float) -> int:
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits >> 16  # as Triton's own launcher does


class LoadedKernel:
    """A kernel's text, read and checked when it is loaded, decoded at its first launch."""

    def __init__(self, name: str, ptx: str):
        self.name = name
        self.module = _ptx.ExecutorModule.read(ptx, f"{name}.ptx")
        bound = re.search(r"\.(?:req|max)ntid\s+(\d+)", ptx)
        self.most_threads = int(bound[1]) if bound else None
        self.exchanges_words = ".cas.b32" in ptx  # as Triton's atomics of 16 bits do
        self.sizes = [size for _, _, size, _ in self.module.parameters(name)]

    def __repr__(self) -> str:
        return f"<kernel {self.name} on the executor>"


# Triton's numbers of element types, which are those of tensormap.replace (8: f32 that flushes subnormal numbers, 12: tf32 that
# does; a copy moves both as they are), and CUtensorMapSwizzle
_ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32", "f64", "bf16", "tf32", "tf32")
_SWIZZLES = ("NONE", "32B", "64B", "128B")


def _descriptor(host: Any, meta: dict[str, Any], name: str) -> bytes:
    """A host's tensor descriptor as the TMA descriptor that a kernel takes by value."""
    if meta["fp4_padded"] or meta["elem_type"] >= len(_ELEMENTS):
        fail("not_executed", f"argument `{name}` is a descriptor of 4-bit elements, which the executor does not copy")
    tensor_map = _ptx.TensorMap.tiled(
        tuple(host.shape),
        types.from_name(_ELEMENTS[meta["elem_type"]]),
        tuple(meta["block_size"]),
        strides=[meta["elem_size"] * stride for stride in host.strides[:-1]],
        swizzle=_SWIZZLES[meta["swizzle"]],
        fill="nan" if host.padding == "nan" else "zero",
    )
    return tensor_map.words(host.base.data_ptr())


class _Leaf(NamedTuple):
    """One parameter: its type, and the way from the arguments to its value, by index and by attribute."""

    name: str
    kind: str
    path: tuple[int | str, ...]
    meta: dict[str, Any] | None = None

    def of(self, arguments: Sequence[Any]) -> Any:
        value: Any = arguments
        for step in self.path:
            value = getattr(value, step) if isinstance(step, str) else value[step]
        return value


def _leaves(names: Sequence[str], kinds: Sequence[Any], descriptors: Sequence[Any]) -> list[_Leaf]:
    """The parameters of the kernel, in order: no constexprs, tuples taken apart, descriptors as what they are made of."""
    metas, found = iter(descriptors), list[_Leaf]()

    def walk(name: str, kind: Any, path: tuple[int | str, ...]) -> None:
        if isinstance(kind, tuple):
            for i, inner in enumerate(kind):
                walk(f"{name}[{i}]", inner, (*path, i))
        elif kind.startswith("tensordesc"):
            of_descriptor(name, kind, path)
        elif kind != "constexpr":
            found.append(_Leaf(name, kind, path))

    def of_descriptor(name: str, kind: str, path: tuple[int | str, ...]) -> None:
        inside = re.match(r"tensordesc<[^\[>]*\[([^\]]*)\]", kind)
        rank = inside[1].count(",") + 1 if inside else 0
        meta = next(metas, None)
        if meta is None:
            found.append(_Leaf(name, "*", (*path, "base")))
            found.extend(_Leaf(name, "i64", (*path, part, i)) for part in ("shape", "strides") for i in range(rank))
            found.append(_Leaf(name, "padding", (*path, "padding")))
        else:
            found.append(_Leaf(name, "descriptor", path, meta))
        found.extend(_Leaf(name, "i32", (*path, "shape", i)) for i in range(rank))
        found.extend(_Leaf(name, "i64", (*path, "strides", i)) for i in range(rank))

    for at, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        walk(name, kind, (at,))
    return found


class Launcher:
    """Called by Triton with the grid, the loaded kernel and its arguments."""

    def __init__(self, src: Any, metadata: Any):
        self.metadata = metadata
        kinds, names = list(src.signature.values()), [str(name) for name in src.signature]
        self.leaves = _leaves(names, kinds, getattr(metadata, "tensordesc_meta", None) or ())
        for leaf in self.leaves:
            if not leaf.kind.startswith("*") and leaf.kind not in _FORMATS and leaf.kind not in ("descriptor", "padding"):
                fail("argument_kind", f"argument `{leaf.name}` of kernel `{metadata.name}` has the unknown type `{leaf.kind}`")
        # the buffers that Triton passes behind the arguments
        self.scratch = [
            ("global scratch", getattr(metadata, "global_scratch_size", 0), getattr(metadata, "global_scratch_align", 1)),
            ("profile scratch", getattr(metadata, "profile_scratch_size", 0), getattr(metadata, "profile_scratch_align", 1)),
        ]

    def _scratch(self, name: str, size: int, align: int, blocks: int, stream: Any) -> Any:
        if not size:
            return None
        allocators = {"global scratch": _allocation._allocator, "profile scratch": _allocation._profile_allocator}
        return allocators[name].get()(blocks * size, align, stream)

    def _value(self, leaf: _Leaf, arguments: Sequence[Any], memory: Memory) -> bytes:
        value = leaf.of(arguments)
        if leaf.kind.startswith("*"):
            return memory.address(leaf.name, value).to_bytes(8, "little")
        if leaf.meta is not None:
            memory.address(leaf.name, value.base)
            return _descriptor(value, leaf.meta, leaf.name)
        if leaf.kind == "padding":
            return bytes((value == "nan",))
        if leaf.kind == "bf16":
            value = _bf16(float(value))
        try:
            return struct.pack("<" + _FORMATS[leaf.kind], value)
        except struct.error as error:
            raise OverflowError(f"argument `{leaf.name}` of kernel `{self.metadata.name}` is {short(value)}: {error}") from None

    def __call__(
        self, x: int, y: int, z: int, stream: Any, kernel: LoadedKernel, packed: Any, launch_metadata: Any,
        enter_hook: Any, exit_hook: Any, *args: Any,
    ) -> None:  # fmt: skip
        activation = active()
        if activation is None:
            hint = "pyptx.triton.activate()"
            fail("bad_setting", f"kernel `{kernel.name}` was compiled for the executor, which is not active", hint)
        meta = self.metadata
        ctas = getattr(meta, "num_ctas", 1)
        blocks = x * y * z * ctas
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if blocks > 0:
            memory = Memory(kernel.name, activation._memory, kernel.exchanges_words)
            values = [self._value(leaf, args, memory) for leaf in self.leaves]
            for name, size, align in self.scratch:
                buffer = self._scratch(name, size, align, blocks, stream)
                values.append(memory.address(name, buffer).to_bytes(8, "little"))
            self._run(activation, kernel, values, memory, (x * ctas, y, z), ctas)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _run(
        self, activation: Activation, kernel: LoadedKernel, values: list[bytes], memory: Memory,
        grid: tuple[int, int, int], ctas: int,
    ) -> None:  # fmt: skip
        module, meta = kernel.module, self.metadata
        try:
            done = module.run(
                kernel.name,
                module.parameter_block(kernel.name, values[: len(kernel.sizes)]),
                memory.regions(),
                grid,
                (32 * meta.num_warps, 1, 1),
                (ctas, 1, 1),
                meta.shared,
                activation.workers,
                activation.max_instructions,
                activation.check_initialised,
                {},  # settings: the process's
                sys.stdout.write if activation.print is None else activation.print,
            )
        except PtxError as error:
            raise at_source(error) from None
        finally:
            memory.give_back()
        activation.last_report = Report(*done)


_TRITON = Path(_allocation.__file__).resolve().parents[1]


def at_source(error: PtxError) -> PtxError:
    """The error at the line of Python that it comes from: the innermost one that is not Triton's own, shown with its callers."""
    places = [place for place in error.places if place[0] in ("source", "called at")]
    if not places:
        return error
    own = [place for place in places if not Path(place[1]).resolve().is_relative_to(_TRITON)]
    _, file, line = (own or places)[0]
    error.where = (file, line)
    text = str(error)
    for role, path, number in places:
        if code := linecache.getline(path, number).strip():
            place = re.compile(rf"(= {role}: {re.escape(path)}:{number}(?::\d+)?)$", re.MULTILINE)
            if found := place.search(text):
                text = f"{text[: found.end()]}: {code}{text[found.end() :]}"
    first, arrow, rest = text.partition("\n  --> ")
    if arrow:
        text = f"{first}{arrow}{file}:{line}\n{rest.partition(chr(10))[2]}"
    error.args = (text, *error.args[1:])
    return error
