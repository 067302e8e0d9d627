"""Launching: the plans of a kernel's calls, and the images that they launch."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from . import _ptx
from ._arguments import fail, is_int, short
from ._identity import Unreadable, identity, stable_text
from ._ptx import Tile
from ._registry import keep_tensors
from ._sizes import MAX_SIZE
from ._tracing import Key, Traces

if TYPE_CHECKING:
    from ._declaration import Declaration
    from ._ptx import Plan
    from .kernel import Kernel


MOST_PLANS = 4096  # of a program whose sizes never end


def _code_key(code: CodeType) -> tuple[object, ...]:
    """What a code does, without the lines where it was written."""
    return code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, identity(code.co_consts)[0]


class Specialise:
    """Makes a plan's images: the kernel's, with the template values, dimensions and scalars of one call."""

    __slots__ = ("dims", "kernel", "raw", "template")

    def __init__(self, kernel: Kernel, dims: dict[str, int], template: dict[str, Any], raw: dict[str, Any]) -> None:
        self.kernel, self.dims, self.template, self.raw = kernel, dims, template, raw

    def __call__(self, env: dict[str, int]) -> Any:
        return self.kernel._image({**self.dims, **env}, self.template, self.raw)

    @property
    def declared(self) -> Declaration:
        """What the kernel is declared with."""
        return self.kernel._declared

    @property
    def aliases(self) -> dict[int, int]:
        """Inputs that are outputs too."""
        return self.declared.aliases

    def content(self) -> str:
        """A text of all that its images are made from, as far as that can be said without making one."""
        traces, own = self.kernel._launches.traces, self.declared
        environment = traces.environment
        try:
            functions = stable_text((environment.key if environment else (), traces.template_key(self.template)), _code_key)
        except Unreadable:  # of another process, torch must not take it for the same
            functions = os.urandom(16).hex()
        launched = [own.block, own.cluster, own.smem, own.extern_smem, *own.attributes.values()]
        text = [own.name, own.arch, own.version, own.raw_params, own.directives, own.tma_by_value]
        tensors = [own.in_specs, own.out_specs, sorted(own.aliases.items()), own.inputs_apart]
        call = [sorted(self.dims.items()), sorted(self.raw)]
        declared = own.in_module._content() if own.in_module else ""
        return repr([functions, launched, text, tensors, call, declared])


class Launches:
    """A kernel's plans and images, while what its body reads stays the same."""

    def __init__(self, traces: Traces) -> None:
        self.traces = traces
        self.declared = traces.declared
        self.plans: dict[Key, Plan] = {}
        self.cubin_handles: dict[Key, int] = {}

    def plan_for(self, kernel: Kernel, kwargs: Mapping[str, Any]) -> Plan:
        """The launch plan for these keyword arguments, made once. The values of scalar parameters do not count: the plan has
        those of the call that made it, and a launch brings its own."""
        own = self.declared
        template, dims, raw = own.split(kwargs)
        key: Key = (self.traces.template_key(template), tuple(sorted(dims.items())), tuple(sorted(raw)))
        if known := self.plans.get(key):
            return known

        specialise = Specialise(kernel, dims, template, raw)
        if len(self.plans) > MOST_PLANS:
            self.plans.clear()
        plan = _ptx.Plan(own.name, list(own.in_specs or ()), list(own.out_specs or ()), list(own.tensors), specialise, dims)
        return self.plans.setdefault(key, plan)

    def image(self, env: Mapping[str, int], template: Mapping[str, Any], raw: Mapping[str, Any]) -> Any:
        """The launchable image for these sizes."""
        own = self.declared
        module = self.traces.module(env, template)
        before = self.traces.environment_now()
        values = {**template, **env, **raw}
        scalars = []
        for dtype, name in own.raw_params:
            if name not in values:
                fail("argument_count", f"kernel `{own.name}` is called without its parameter `{name}` ({dtype})")
            scalars.append(values[name])
        sizes = {name: int(value) for name, value in {**template, **env}.items() if is_int(value)}
        sizes = {name: size for name, size in sizes.items() if abs(size) <= MAX_SIZE}
        image = _ptx.Image(
            module,
            grid=own.resolve_grid({**template, **env}),
            block=own.block,
            cluster=own.cluster,
            smem=max(own.smem, module.dynamic_smem),
            inputs=len(own.in_specs or ()),
            outputs=len(own.out_specs or ()),
            scalars=scalars,
            tiles=[*(own.in_specs or ()), *(own.out_specs or ())],
            sizes=sizes,
            maps=[(own.tensors.index(name), own.tensor_map(name, {**template, **env})) for name in own.tensor_maps],
            aliases=own.aliases,
            inputs_apart=own.inputs_apart,
            attributes=own.attributes,
        )
        self.traces.keep_environment(before)  # functions of the grid may write too
        specialisation = {name: value for name, value in values.items() if name not in raw}
        self.cubin_handles[(own.arch, own.version, repr(sorted(specialisation.items())))] = image.handle
        specs = own.in_specs or (), own.out_specs or ()
        if all(0 not in tile.resolve_shape(sizes) for side in specs for tile in side):  # a Tile has elements
            inputs, outputs = ([Tile(*tile.resolve_shape(sizes), tile.dtype) for tile in side] for side in specs)
            keep_tensors(image.handle, own.name, inputs, outputs, list(own.tensors))
        return image


def image_for(plan: Plan, scalars: Any, own: Declaration, arrays: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The image of a plan for tensors like these or, without any, for sizes that are given by name; None when it would be
    launched for no elements."""
    for number, x in enumerate(arrays):
        if not hasattr(x, "shape") or not hasattr(x, "dtype") or isinstance(x, type):
            name = own.tensors[number] if number < len(own.tensors) else "?"
            fail(
                "argument_kind",
                f"argument {number} (`{name}`) of kernel `{own.name}` is `{short(x)}`; what fits is a tensor, of which "
                "shape and element type count",
            )
    if arrays:
        specs = [(tuple(x.shape), str(getattr(x.dtype, "name", x.dtype)).removeprefix("torch.")) for x in arrays]
    else:
        _, dims, _ = own.split(kwargs)
        if missing := [name for tile in own.in_specs or () for name in tile.symbolic_dims if name not in dims]:
            fail(
                "dim_unbound",
                f"dimension `{missing[0]}` of kernel `{own.name}` has no size",
                f"give it by name, as in `{missing[0]}=1024`, or give tensors",
            )
        specs = [(tile.resolve_shape(dims), _ptx.numpy_name(tile.dtype)) for tile in own.in_specs or ()]
    return plan.bind(specs, scalars)[0]


def memory_of(image: Any, variable: str) -> memoryview:
    """The bytes of an image's variable, as launches on the executor have them."""
    import ctypes

    address, size = image.variable(variable)
    memory = (ctypes.c_ubyte * size).from_address(address)
    memory.image = image  # whose memory it is
    return memoryview(memory).cast("B")


def jax_scalars(own: Declaration, arrays: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """The scalar parameters whose values JAX has: traced, or arrays beside arrays of JAX's."""
    jax: Any = sys.modules["jax"]
    array, tracer = getattr(jax, "Array", None), getattr(getattr(jax, "core", None), "Tracer", None)
    if array is None or tracer is None:  # still being imported
        return []
    beside = any(isinstance(x, array) for x in arrays)
    return [
        name
        for _, name in own.raw_params
        if isinstance(kwargs.get(name), tracer) or (beside and isinstance(kwargs.get(name), array))
    ]


def gpu_of(array: Any) -> int | None:
    """The GPU of a torch tensor or a JAX array."""
    device = getattr(array, "device", None)
    if getattr(device, "type", None) == "cuda":
        return int(getattr(device, "index", None) or 0)
    if getattr(device, "platform", None) in ("gpu", "cuda"):
        return int(device.local_hardware_id)  # type: ignore[union-attr]
    return None
