"""Tracing: a kernel's body, run with template values and sizes, becomes a module, once while what the body reads is the same."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import _ptx
from ._arguments import fail, refuse_not_run, short
from ._declaration import Declaration
from ._identity import Environment, Unreadable, identity
from ._ptx import TensorMap, TensorSpec, Tile
from .errors import PtxWarning

if TYPE_CHECKING:
    from ._ptx import Module, ModuleBuilder, Trace

Key = tuple[object, ...]

# Bytes; a kernel that asks for more at its launch keeps all of it in one dynamic allocation.
MAX_STATIC_SMEM = _ptx.max_static_shared

_own_bodies = threading.local()  # kernels whose bodies this thread runs, and of which specialisation


def _reads_shape(error: TypeError) -> bool:
    """Whether the line that raised it names a `.shape`, which is None while not all sizes are known."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and "shape" in place.tb_frame.f_code.co_names


def _tensor(name: str, tile: Tile | None, map: object, dims: Mapping[str, int]) -> TensorSpec:
    """What the body sees of a tensor; its shape only when every dimension has its size, and what a copy by its descriptor moves
    only when its map is known: the tile's own, or one that is given as it is."""
    box = map._shared_box_bytes if isinstance(map, TensorMap) else None
    if tile is None:
        return TensorSpec(name, box_bytes=box)
    if map is None:
        box = tile._shared_box_bytes(dict(dims))
    shape = tile.resolve_shape(dict(dims)) if dims.keys() >= set(tile.symbolic_dims) else None
    return TensorSpec(name, shape, tile.dtype, tile.layout, box)


class Traces:
    """The modules that a kernel was traced to, while what its body reads stays the same. A kernel that forgets has new ones, so
    that a thread that traces meanwhile writes to those that nobody asks any more."""

    def __init__(self, declared: Declaration) -> None:
        self.declared = declared
        self.modules: dict[Key, Module] = {}
        self.environment: Environment | None = None  # what the body reads, as it was when the kernel was traced

    def environment_now(self) -> Environment:
        if self.environment:
            return self.environment
        functions = [function._fn for function in self.declared.in_module.functions] if self.declared.in_module else []
        return Environment([self.declared.fn, self.declared.grid, *self.declared.tensor_maps.values(), *functions])

    def keep_environment(self, before: Environment) -> None:
        """What the body read, less the places that it writes itself."""
        self.environment = before if before.holds() else before.without_written()

    def template_key(self, template: Mapping[str, Any]) -> Key:
        """A key of the template values by their whole content, which Python's equality is not."""
        own = self.declared
        parts: list[object] = []
        for name, value in template.items():  # in the order of the signature
            if type(value) is int or type(value) is str or type(value) is bool:
                parts.append((type(value), value))
                continue
            try:
                key, opaque = identity(value, self.environment_now().names if isinstance(value, ModuleType) else frozenset())
            except Unreadable as why:
                fail(
                    "argument_kind",
                    f"template parameter `{name}` of kernel `{own.name}` {why}; what fits is a constant: a number, a text, "
                    "a type, a function, an object, or a collection of these",
                    "tensors are positional; a number that changes from call to call goes into `raw_params`",
                )
            if opaque:
                _ptx.warn_author(
                    f"template parameter `{name}` of kernel `{own.name}` has `{short(opaque[0])}`, whose content cannot be "
                    "compared: the kernel is traced once for this object, and not again when it changes"
                )
            parts.append(key)
        return tuple(parts)

    def module(self, dims: Mapping[str, int], template: Mapping[str, Any]) -> Module:
        key: Key = (tuple(sorted(dims.items())), self.template_key(template))
        known = self.modules.get(key)
        if known is None:
            own, before = self.declared, self.environment_now()
            own_bodies, this = _own_bodies.__dict__.setdefault("of", []), (id(own), key)
            if this in own_bodies:  # there would be no end of it
                fail(
                    "bad_control_flow",
                    f"kernel `{own.name}` is asked for in its own body, while that is traced: its text is not written yet",
                    "a body writes instructions; ask for the text, or call the kernel, behind its definition",
                )
            own_bodies.append(this)
            try:
                made = self._run_trace(dims, template)
            finally:
                own_bodies.remove(this)
            self.keep_environment(before)
            known = self.modules.setdefault(key, made)  # of two threads that made it, the first
        return known

    def _run_trace(self, dims: Mapping[str, int], template: Mapping[str, Any]) -> Module:
        parts = self.declared.in_module._parts(self.declared.block_threads) if self.declared.in_module is not None else None
        module = self._finished(dims, template, parts)
        for text, file, line in module.warnings:
            warnings.warn_explicit(text, PtxWarning, file or "<kernel>", line)
        return module

    def _finished(self, dims: Mapping[str, int], template: Mapping[str, Any], parts: ModuleBuilder | None) -> Module:
        dynamic = self.declared.smem > MAX_STATIC_SMEM
        trace = self.traced(dims, template, dynamic, parts)
        if not dynamic and trace.shared_bytes > MAX_STATIC_SMEM:
            trace = self.traced(dims, template, True, parts)
        return trace.finish()

    def traced(
        self, dims: Mapping[str, int], template: Mapping[str, Any], dynamic_smem: bool, parts: ModuleBuilder | None = None
    ) -> Trace:
        """The body, run once. Dynamic shared memory is another text: a body that turns out to need it is run again."""
        own = self.declared
        maps = own.tensor_maps
        tensors = [_tensor(name, tile, maps.get(name), dims) for name, tile in zip(own.tensors, own.specs, strict=True)]
        pointers = [("u64", name) for name in own.tensors] if own.has_specs else []
        trace = _ptx.Trace(
            own.name,
            own.arch,
            own.version,
            params=[*pointers, *own.raw_params],
            directives=own.directives,
            extern_smem=own.extern_smem,
            dynamic_smem=dynamic_smem,
            tma_by_value=own.tma_by_value,
            where=(own.fn.__code__.co_filename, own.fn.__code__.co_firstlineno),
            module=parts,
            block_threads=own.block_threads,
        )
        with trace, own.in_module._in_body(f"kernel `{own.name}`") if own.in_module else nullcontext():
            try:
                result = own.fn(*tensors, **template)
            except TypeError as error:
                unknown = [name for name in own.dims if name not in dims]
                if "'NoneType'" in str(error) and unknown and _reads_shape(error):
                    fail(
                        "launch_config",
                        f"the body of kernel `{own.name}` reads a tensor's shape, and the size of `{unknown[0]}` is not given",
                        f"`{own.name}.ptx({', '.join(f'{name}=…' for name in unknown)})` has a text for those sizes; a call with "
                        "tensors knows them",
                    )
                raise
        refuse_not_run("kernel", own.name, result)
        return trace
