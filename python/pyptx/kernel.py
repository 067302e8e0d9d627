"""`@kernel`: a Python function whose calls of `reg`, `smem` and `ptx` write PTX becomes a kernel that arrays can be passed to."""

from __future__ import annotations

import itertools
import os
import sys
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from . import _ptx
from ._ptx import TensorMap, TensorSpec, Tile, TmaDescriptorHandle
from .errors import PtxWarning

if TYPE_CHECKING:
    from ._ptx import Module, Plan, Trace

Dims3 = tuple[int, int, int]
Grid = Callable[..., Any] | Sequence[int] | int | None
TensorMaps = TensorMap | Callable[..., TensorMap]  # or a function of the symbolic dimensions
_Key = tuple[object, ...]
_T = TypeVar("_T")

# Bytes; a kernel that asks for more at its launch keeps all of it in one dynamic allocation.
MAX_STATIC_SMEM = _ptx.most_static_shared
_VARARGS, _VARKEYWORDS = 0x04, 0x08  # of a code object's flags

__all__ = ["Kernel", "TensorSpec", "TmaDescriptorHandle", "kernel"]


def _fail(kind: str, message: str, hint: str = "") -> NoReturn:
    _ptx.raise_error(kind, message, hint)


def _is_int(value: object) -> bool:
    return hasattr(type(value), "__index__") and not isinstance(value, bool)


def _dims3(value: Any, what: str) -> Dims3:
    """One to three ints, the missing ones 1."""
    items = (value,) if _is_int(value) else value
    if not isinstance(items, Sequence) or isinstance(items, str) or not 1 <= len(items) <= 3 or not all(map(_is_int, items)):
        _fail("launch_config", f"the {what} is `{value!r}`; what fits is one to three ints")
    x, y, z = (*map(int, items), *(1,) * (3 - len(items)))
    if min(x, y, z) < 1:
        _fail("launch_config", f"the {what} is `{value!r}`; each of its sizes is at least 1")
    return x, y, z


def _tiles(tiles: Sequence[Tile] | None, what: str) -> tuple[Tile, ...] | None:
    if tiles is None:
        return None
    if not isinstance(tiles, Sequence) or not all(isinstance(tile, Tile) for tile in tiles):
        _fail("bad_tile", f"`{what}` is `{tiles!r}`; what fits is a sequence of `Tile`s")
    return tuple(tiles)


def _parameters(fn: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The tensors (positional) and the template parameters (keyword-only). Read off the code: `inspect` is slow to import."""
    code = getattr(fn, "__code__", None)
    if code is None:
        _fail("argument_kind", f"`@kernel` takes a Python function, `{fn!r}` was given")
    if code.co_flags & (_VARARGS | _VARKEYWORDS):
        _fail(
            "bad_declaration", f"kernel `{fn.__name__}` has `*` parameters; each tensor and template parameter has its own name"
        )
    count = code.co_argcount
    only = code.co_varnames[count : count + code.co_kwonlyargcount]
    defaults = getattr(fn, "__kwdefaults__", None) or {}
    return code.co_varnames[:count], {name: defaults.get(name) for name in only}


def _accepted(fn: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that the function has parameters for; all, when that cannot be seen."""
    code = getattr(fn, "__code__", None)
    if code is None or code.co_flags & _VARKEYWORDS:
        return dict(values)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: value for name, value in values.items() if name in names}


def _tensor(name: str, tile: Tile | None, dims: Mapping[str, int]) -> TensorSpec:
    """What the body sees of a tensor; its shape only when every dimension has its size."""
    if tile is None:
        return TensorSpec(name)
    shape = tile.resolve_shape(dict(dims)) if dims.keys() >= set(tile.symbolic_dims) else None
    return TensorSpec(name, shape, tile.dtype, tile.layout)


def _tagged(values: Mapping[str, Any]) -> tuple[object, ...]:
    """A key that keeps 1, 1.0 and True apart, which Python's equality does not."""
    return tuple((name, type(value), value) for name, value in sorted(values.items()))


def _get(cache: dict[_Key, _T], key: _Key) -> _T | None:
    try:
        return cache.get(key)
    except TypeError:  # a template value that cannot be hashed: made again each time
        return None


def _keep(cache: dict[_Key, _T], key: _Key, value: _T) -> _T:
    """Two threads may make the same thing; the first is kept for both."""
    try:
        return cache.setdefault(key, value)
    except TypeError:
        return value


_numbers = itertools.count()
_kernels: weakref.WeakValueDictionary[str, Kernel] = weakref.WeakValueDictionary()


def kernel_by_number(number: str) -> Kernel:
    """The kernel of this process with that number: what a graph that torch traces holds in its place."""
    return _kernels[number]


def _is_compiling_once_torch_is_there() -> bool:
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "compiler"):
        return False
    global _is_compiling
    _is_compiling = torch.compiler.is_dynamo_compiling
    return bool(_is_compiling())


# Asked at every call, so it is one look-up and one call: torch's own function, once torch is imported.
_is_compiling: Callable[[], bool] = _is_compiling_once_torch_is_there


def _fingerprint(value: Any, seen: frozenset[int] = frozenset()) -> Any:
    """What a value is, as far as text can say that: of a function, its code and what it closes over."""
    code = value if hasattr(value, "co_code") else getattr(value, "__code__", None)
    if code is None or id(code) in seen:
        return repr(value)
    seen |= {id(code)}
    cells = []
    for cell in getattr(value, "__closure__", None) or ():
        try:
            cells.append(_fingerprint(cell.cell_contents, seen))
        except ValueError:  # not bound yet
            cells.append(None)
    constants = [_fingerprint(constant, seen) for constant in code.co_consts]
    return [code.co_code.hex(), code.co_names, constants, cells, repr(getattr(value, "__defaults__", None))]


class _Specialise:
    """Makes a plan's images: the kernel's, with the template values, dimensions and scalars of one call."""

    __slots__ = ("dims", "kernel", "raw", "template")

    def __init__(self, kernel: Kernel, dims: dict[str, int], template: dict[str, Any], raw: dict[str, Any]) -> None:
        self.kernel, self.dims, self.template, self.raw = kernel, dims, template, raw

    def __call__(self, env: dict[str, int]) -> Any:
        return self.kernel._image({**self.dims, **env}, self.template, self.raw)

    def content(self) -> str:
        """A text of all that its images are made from, as far as that can be said without making one."""
        kernel = self.kernel
        functions = [_fingerprint(each) for each in (kernel._fn, kernel._grid, *kernel._tensor_maps.values())]
        launched = [kernel._block, kernel._cluster, kernel._smem, kernel._extern_smem, kernel._cooperative, kernel._programmatic]
        text = [kernel.__name__, kernel._arch, kernel._version, kernel._raw_params, kernel._directives, kernel._tma_by_value]
        tensors = [kernel._in_specs, kernel._out_specs, sorted(kernel._aliases.items())]
        call = [sorted(self.dims.items()), sorted(self.template.items()), sorted(self.raw)]
        return repr([functions, launched, text, tensors, call])


class Kernel(_ptx.KernelCall):
    """A kernel: called with arrays it runs, ``.ptx()`` shows its text, ``.sass()`` what the hardware runs."""

    __name__: str
    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        fn: Callable[..., Any],
        arch: str = "sm_90a",
        version: tuple[int, int] | None = None,
        in_specs: Sequence[Tile] | None = None,
        out_specs: Sequence[Tile] | None = None,
        grid: Grid = None,
        block: Sequence[int] | int = (1, 1, 1),
        cluster: Sequence[int] | int = (1, 1, 1),
        smem: int = 0,
        raw_params: Sequence[tuple[str, str]] | None = None,
        extern_smem: bool | str = False,
        reqntid: Sequence[int] | None = None,
        raw_directives: Sequence[tuple[str, Sequence[int]]] | None = None,
        *,
        tma: str = "address",
        tensor_maps: Mapping[str, TensorMaps] | None = None,
        input_output_aliases: Mapping[int, int] | None = None,
        cooperative: bool = False,
        programmatic: bool = False,
    ) -> None:
        self._fn = fn
        self._tensors, self._template = _parameters(fn)
        self.__name__ = fn.__name__
        self.__qualname__, self.__module__, self.__doc__, self.__wrapped__ = fn.__qualname__, fn.__module__, fn.__doc__, fn
        self._arch = _ptx.detect_arch() if arch == "auto" else arch
        self._version = version
        self._in_specs, self._out_specs = _tiles(in_specs, "in_specs"), _tiles(out_specs, "out_specs")
        self._grid = grid
        self._block, self._cluster = _dims3(block, "block"), _dims3(cluster, "cluster")
        if not _is_int(smem) or not 0 <= smem < 1 << 32:
            _fail("launch_config", f"the shared memory `smem` is `{smem!r}`; what fits is a number of bytes")
        self._smem = smem
        self._raw_params = tuple((str(dtype), str(name)) for dtype, name in raw_params or ())
        self._extern_smem = "global_smem" if extern_smem is True else extern_smem or None
        self._directives = [(name, tuple(values)) for name, values in raw_directives or ()]
        if raw_directives is None and reqntid is not None:
            self._directives = [("reqntid", tuple(reqntid))]

        if tma not in ("address", "value"):
            _fail("launch_config", f"`tma` is `{tma!r}`; what fits is 'address' (of a descriptor) or 'value' (the descriptor)")
        self._tma_by_value = tma == "value"
        self._tensor_maps = dict(tensor_maps or {})
        if unknown := [name for name in self._tensor_maps if name not in self._tensors]:
            _fail("argument_kind", f"`tensor_maps` names `{unknown[0]}`, which is no tensor of kernel `{self.__name__}`")
        self._aliases = dict(input_output_aliases or {})
        self._cooperative, self._programmatic = cooperative, programmatic

        specs = (*(self._in_specs or ()), *(self._out_specs or ()))
        self._has_specs = self._in_specs is not None or self._out_specs is not None
        if self._has_specs and len(specs) != len(self._tensors):
            _fail(
                "argument_count",
                f"kernel `{self.__name__}` has {len(self._tensors)} tensors ({', '.join(self._tensors)}) and {len(specs)} specs",
                "one Tile for each positional parameter, inputs first, outputs after",
            )
        self._specs = specs if self._has_specs else (None,) * len(self._tensors)
        self._dims = tuple(dict.fromkeys(name for tile in specs for name in tile.symbolic_dims))
        self._modules: dict[_Key, Module] = {}
        self._plans: dict[_Key, Plan] = {}
        self._cubin_handles: dict[_Key, int] = {}
        self._plan: Callable[..., Any] = self._first_call
        self._out_is_free = "out" not in {*self._template, *self._dims, *(name for _, name in self._raw_params)}
        self._number = str(next(_numbers))  # a text: Dynamo makes symbols of numbers
        _kernels[self._number] = self
        _is_compiling()  # so that it is torch's own by now: Dynamo compiles again when it changes

    # -- what it was made from

    @property
    def in_specs(self) -> tuple[Tile, ...] | None:
        """The inputs' tiles."""
        return self._in_specs

    @property
    def out_specs(self) -> tuple[Tile, ...] | None:
        """The outputs' tiles."""
        return self._out_specs

    @property
    def grid(self) -> Grid:
        """Blocks: a tuple, or a function of the symbolic dimensions."""
        return self._grid

    @property
    def block(self) -> Dims3:
        """Threads of a block."""
        return self._block

    @property
    def cluster(self) -> Dims3:
        """Blocks of a cluster."""
        return self._cluster

    @property
    def smem(self) -> int:
        """Dynamic shared memory of a block, in bytes."""
        return self._smem

    @property
    def input_output_aliases(self) -> dict[int, int]:
        """Inputs that the kernel changes: the number of each, and of the output that is written there."""
        return dict(self._aliases)

    @property
    def arch(self) -> str:
        """The target, such as ``sm_90a``."""
        return self._arch

    @property
    def template_params(self) -> dict[str, Any]:
        """The keyword-only parameters and their defaults."""
        return dict(self._template)

    def __repr__(self) -> str:
        tensors = [name if tile is None else f"{name}: {tile}" for name, tile in zip(self._tensors, self._specs, strict=True)]
        template = [f"{name}={value!r}" for name, value in self._template.items()]
        signature = ", ".join([*tensors, *(["*", *template] if template else [])])
        grid = getattr(self._grid, "__name__", self._grid)
        return f"<kernel {self.__name__}({signature}) for {self._arch}, grid {grid}, block {self._block}>"

    # -- what it becomes

    def ptx(self, *, lineinfo: bool = False, **kwargs: Any) -> str:
        """The kernel's PTX. Template parameters and dimensions go by name; those not given keep their defaults, or stay open.

        ``lineinfo=True`` adds where each instruction was written (``.loc``), which profilers and debuggers show.
        """
        module = self.module(**kwargs)
        return module.text_with_lines() if lineinfo else module.text

    def module(self, **kwargs: Any) -> Module:
        """The traced and checked module. The same arguments give the same object."""
        template, dims, _ = self._split(kwargs)
        return self._trace_once(dims, template)

    def sass(self, **kwargs: Any) -> str:
        """What the hardware runs: the PTX assembled by ptxas and disassembled. Needs NVIDIA's command-line tools."""
        return _ptx.sass(self.module(**kwargs))

    def resources(self, **kwargs: Any) -> dict[str, int]:
        """What ptxas makes of it: registers, spill stores and loads, shared memory."""
        return _ptx.resources(self.module(**kwargs))

    # -- tracing

    def _split(self, kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int], dict[str, Any]]:
        """Keyword arguments as template values (with the defaults), sizes of dimensions, and values of raw parameters."""
        template, dims, raw = dict(self._template), dict[str, int](), dict[str, Any]()
        raw_names = [name for _, name in self._raw_params]
        for name, value in kwargs.items():
            if name in template:
                template[name] = value
            elif name in self._dims:
                if not _is_int(value):
                    _fail("argument_kind", f"dimension `{name}` of kernel `{self.__name__}` is `{value!r}`; what fits is an int")
                dims[name] = int(value)
            elif name in raw_names:
                raw[name] = value
            else:
                known = [*self._template, *self._dims, *raw_names]
                has = f"it takes {', '.join(f'`{each}`' for each in known)}" if known else "it takes none"
                _fail("argument_kind", f"kernel `{self.__name__}` has no template parameter or dimension `{name}`; {has}")
        for name in self._dims:
            if name not in dims and _is_int(template.get(name)):
                dims[name] = int(template[name])
        return template, dims, raw

    def _trace_once(self, dims: Mapping[str, int], template: Mapping[str, Any]) -> Module:
        key: _Key = (_tagged(dims), _tagged(template))
        return _get(self._modules, key) or _keep(self._modules, key, self._run_trace(dims, template))

    def _run_trace(self, dims: Mapping[str, int], template: Mapping[str, Any]) -> Module:
        dynamic = self._smem > MAX_STATIC_SMEM
        trace = self._traced(dims, template, dynamic)
        if not dynamic and trace.shared_bytes > MAX_STATIC_SMEM:
            trace = self._traced(dims, template, True)
        module = trace.finish()
        for text, file, line in module.warnings:
            warnings.warn_explicit(text, PtxWarning, file or "<kernel>", line)
        return module

    def _traced(self, dims: Mapping[str, int], template: Mapping[str, Any], dynamic_smem: bool) -> Trace:
        """The body, run once. Dynamic shared memory is another text: a body that turns out to need it is run again."""
        tensors = [_tensor(name, tile, dims) for name, tile in zip(self._tensors, self._specs, strict=True)]
        pointers = [("u64", name) for name in self._tensors] if self._has_specs else []
        trace = _ptx.Trace(
            self.__name__,
            self._arch,
            self._version,
            params=[*pointers, *self._raw_params],
            directives=self._directives,
            extern_smem=self._extern_smem,
            dynamic_smem=dynamic_smem,
            tma_by_value=self._tma_by_value,
            where=(self._fn.__code__.co_filename, self._fn.__code__.co_firstlineno),
        )
        with trace:
            self._fn(*tensors, **template)
        return trace

    def _trace(self, **kwargs: Any) -> Module:
        return self.module(**kwargs)

    # -- calling

    def _resolve_grid(self, env: Mapping[str, Any]) -> Dims3:
        """The grid for these sizes; template values count as sizes of their names."""
        if self._grid is None:
            _fail("launch_config", f"kernel `{self.__name__}` has no grid", "a tuple, or a function of the symbolic dimensions")
        if callable(self._grid):
            return _dims3(self._grid(**_accepted(self._grid, env)), f"grid of kernel `{self.__name__}`")
        return _dims3(self._grid, f"grid of kernel `{self.__name__}`")

    def __call__(self, *arrays: Any, **kwargs: Any) -> Any:
        """Runs the kernel on numpy arrays, JAX arrays (also under jit) or torch tensors: its output, or a tuple of them.

        Keywords are template parameters, sizes of dimensions and values of scalar parameters; ``out=`` is a tensor, or a tuple of
        one for each output, that the outputs are written to (not for JAX arrays).
        """
        # Calls that need no more than the plan do not come here: see `call_through_plan` below.
        if _is_compiling():
            from . import torch_support

            return torch_support.call_kernel_under_dynamo(self, arrays, kwargs)
        out = kwargs.pop("out", None) if self._out_is_free else None
        if kwargs:
            plan, scalars = self._bind(kwargs)
            return plan(*arrays, scalars=scalars, out=out)
        return self._plan(*arrays, out=out)

    def _first_call(self, *arrays: Any, out: Any = None) -> Any:
        self._plan = self._plan_for({})
        return self._plan(*arrays, out=out)

    def prepare(self, *arrays: Any, device: int | None = None, **kwargs: Any) -> None:
        """Compiles the kernel and loads it, so that the first call costs what every call does.

        For tensors like ``arrays``, of which only shapes, types and GPU count; or, without them, for the sizes given by name.
        ``device`` is the GPU, by default the tensors' or else every GPU.
        """
        image = self._image_for(arrays, kwargs)
        if image is None:  # no elements: nothing is ever launched
            return
        on = {device} if device is not None else {gpu for gpu in map(_gpu_of, arrays) if gpu is not None}
        for gpu in sorted(on or range(max(1, _ptx.device_count()))):
            image.prepare(gpu)

    def save(self, path: str | os.PathLike[str], *arrays: Any, targets: Sequence[str] | None = None, **kwargs: Any) -> None:
        """Writes the kernel, compiled for ``targets`` (by default its own; an empty list: none), and how it is launched, into one
        file.

        A C++ program runs it with ``ptx::load(path)``, without Python and without compiling. For tensors like ``arrays``, or for
        the sizes given by name, as in ``prepare``.
        """
        image = self._image_for(arrays, kwargs)
        if image is None:
            _fail(
                "argument_dim", f"kernel `{self.__name__}` has outputs without elements for these sizes: there is nothing to save"
            )
        tiles = [*(self._in_specs or ()), *(self._out_specs or ())]
        sizes = self._sizes(arrays, kwargs)
        image.save(
            os.fspath(path),
            None if targets is None else list(targets),
            tiles=[Tile(*tile.resolve_shape(sizes), tile.dtype, tile.layout) for tile in tiles],
            scalar_types=[dtype for dtype, _ in self._raw_params],
        )

    def _sizes(self, arrays: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, int]:
        """Every dimension's size, by name."""
        _, sizes, _ = self._split(kwargs)
        for tile, array in zip(self._in_specs or (), arrays, strict=False):
            sizes.update(tile.extract_env(tuple(array.shape)))
        return sizes

    def _image_for(self, arrays: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        plan, scalars = self._bind(kwargs)
        if arrays:
            specs = [(tuple(x.shape), str(getattr(x.dtype, "name", x.dtype)).removeprefix("torch.")) for x in arrays]
        else:
            _, dims, _ = self._split(kwargs)
            if missing := [name for tile in self._in_specs or () for name in tile.symbolic_dims if name not in dims]:
                _fail(
                    "dim_unbound",
                    f"dimension `{missing[0]}` of kernel `{self.__name__}` has no size",
                    f"give it by name, as in `{missing[0]}=1024`, or give tensors",
                )
            specs = [(tile.resolve_shape(dims), _ptx.numpy_name(tile.dtype)) for tile in self._in_specs or ()]
        return plan.bind(specs, scalars)[0]

    def _require_callable(self) -> None:
        """Raises for a kernel that only text can be had of."""
        if self._in_specs is None:
            raise NotImplementedError(f"kernel `{self.__name__}` cannot be called with arrays: it has no in_specs")
        for dtype, name in self._raw_params:
            if any(part.startswith("array") for part in dtype.split(".")):
                raise NotImplementedError(
                    f"kernel `{self.__name__}` cannot be called: its parameter `{name}` ({dtype}) is no scalar"
                )

    def _bind(self, kwargs: Mapping[str, Any]) -> tuple[Plan, tuple[int | None, ...]]:
        """The launch plan for these keyword arguments, and the values of scalar parameters among them, which a launch takes."""
        self._require_callable()
        given = {name: kwargs[name] for _, name in self._raw_params if name in kwargs}
        scalars = _ptx.pack_scalars(self.__name__, self._raw_params, given) if given else ()  # before a plan keeps them
        return self._plan_for(kwargs), scalars

    def _plan_for(self, kwargs: Mapping[str, Any]) -> Plan:
        """The launch plan for these keyword arguments, made once. The values of scalar parameters do not count: the plan has
        those of the call that made it, and a launch brings its own."""
        self._require_callable()
        template, dims, raw = self._split(kwargs)
        key: _Key = (_tagged(template), _tagged(dims), tuple(sorted(raw)))
        if known := _get(self._plans, key):
            return known

        specialise = _Specialise(self, dims, template, raw)
        inputs, outputs = list(self._in_specs or ()), list(self._out_specs or ())
        plan = _ptx.Plan(self.__name__, inputs, outputs, list(self._tensors), specialise, dims)
        return _keep(self._plans, key, plan)

    def _tensor_map(self, name: str, env: Mapping[str, Any]) -> TensorMap:
        given = self._tensor_maps[name]
        made = given if isinstance(given, TensorMap) else given(**_accepted(given, env))
        if not isinstance(made, TensorMap):
            _fail("bad_tile", f"the tensor map of `{name}` of kernel `{self.__name__}` is `{made!r}`; what fits is a `TensorMap`")
        return made

    def _image(self, env: Mapping[str, int], template: Mapping[str, Any], raw: Mapping[str, Any]) -> Any:
        """The launchable image for these sizes."""
        module = self._trace_once(env, template)
        values = {**template, **env, **raw}
        scalars = []
        for dtype, name in self._raw_params:
            if name not in values:
                _fail("argument_count", f"kernel `{self.__name__}` is called without its parameter `{name}` ({dtype})")
            scalars.append(values[name])
        sizes = {name: int(value) for name, value in {**template, **env}.items() if _is_int(value)}
        image = _ptx.Image(
            module,
            grid=self._resolve_grid({**template, **env}),
            block=self._block,
            cluster=self._cluster,
            smem=max(self._smem, module.dynamic_smem),
            inputs=len(self._in_specs or ()),
            outputs=len(self._out_specs or ()),
            scalars=scalars,
            tiles=[*(self._in_specs or ()), *(self._out_specs or ())],
            sizes=sizes,
            maps=[(self._tensors.index(name), self._tensor_map(name, {**template, **env})) for name in self._tensor_maps],
            aliases=self._aliases,
            cooperative=self._cooperative,
            programmatic=self._programmatic,
        )
        specialisation = {name: value for name, value in values.items() if name not in raw}
        self._cubin_handles[(self._arch, self._version, repr(sorted(specialisation.items())))] = image.handle
        return image


def _gpu_of(array: Any) -> int | None:
    """The GPU of a torch tensor or a JAX array."""
    device = getattr(array, "device", None)
    if getattr(device, "type", None) == "cuda":
        return int(getattr(device, "index", None) or 0)
    if getattr(device, "platform", None) in ("gpu", "cuda"):
        return int(device.local_hardware_id)  # type: ignore[union-attr]
    return None


_ptx.call_through_plan(Kernel)


@overload
def kernel(fn: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    *,
    arch: str = "sm_90a",
    version: tuple[int, int] | None = None,
    in_specs: Sequence[Tile] | None = None,
    out_specs: Sequence[Tile] | None = None,
    grid: Grid = None,
    block: Sequence[int] | int = (1, 1, 1),
    cluster: Sequence[int] | int = (1, 1, 1),
    smem: int = 0,
    raw_params: Sequence[tuple[str, str]] | None = None,
    extern_smem: bool | str = False,
    reqntid: Sequence[int] | None = None,
    raw_directives: Sequence[tuple[str, Sequence[int]]] | None = None,
    tma: str = "address",
    tensor_maps: Mapping[str, TensorMaps] | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    cooperative: bool = False,
    programmatic: bool = False,
) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(
    fn: Callable[..., Any] | None = None,
    *,
    arch: str = "sm_90a",
    version: tuple[int, int] | None = None,
    in_specs: Sequence[Tile] | None = None,
    out_specs: Sequence[Tile] | None = None,
    grid: Grid = None,
    block: Sequence[int] | int = (1, 1, 1),
    cluster: Sequence[int] | int = (1, 1, 1),
    smem: int = 0,
    raw_params: Sequence[tuple[str, str]] | None = None,
    extern_smem: bool | str = False,
    reqntid: Sequence[int] | None = None,
    raw_directives: Sequence[tuple[str, Sequence[int]]] | None = None,
    tma: str = "address",
    tensor_maps: Mapping[str, TensorMaps] | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    cooperative: bool = False,
    programmatic: bool = False,
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Makes a kernel of a function. Positional parameters are tensors, inputs first; keyword-only ones are template parameters.

    ``@kernel(in_specs=(Tile("M", f32),), out_specs=(Tile("M", f32),), grid=lambda M: M // 128, block=128)``

    ``tma="value"`` passes TMA descriptors themselves, 128 bytes each, in place of their addresses: safe and free of copies to the
    GPU. ``tensor_maps`` are descriptors of tensors by name where those made of the tiles do not do (`TensorMap.tiled`,
    `TensorMap.im2col`). ``input_output_aliases`` (input number to output number) says which inputs the kernel changes in place.
    ``cooperative`` has all blocks resident at once; ``programmatic`` lets the grid start while the one before it still runs,
    which it waits for with ``ptx.inst.griddepcontrol.wait()``.
    """

    def make(function: Callable[..., Any]) -> Kernel:
        return Kernel(
            function,
            arch,
            version,
            in_specs,
            out_specs,
            grid,
            block,
            cluster,
            smem,
            raw_params,
            extern_smem,
            reqntid,
            raw_directives,
            tma=tma,
            tensor_maps=tensor_maps,
            input_output_aliases=input_output_aliases,
            cooperative=cooperative,
            programmatic=programmatic,
        )

    return make if fn is None else make(fn)
