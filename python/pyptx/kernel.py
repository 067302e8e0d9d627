"""`@kernel`: a Python function whose calls of `reg`, `smem` and `ptx` write PTX becomes a kernel that arrays can be passed to."""

from __future__ import annotations

import math
import os
import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, overload

from . import _module, _ptx
from ._arguments import as_target as _target
from ._arguments import as_version as _version
from ._arguments import fail as _fail
from ._arguments import is_int as _is_int
from ._arguments import name_in_module, refuse_not_run, refuse_suspended, version_text
from ._arguments import short as _short
from ._identity import Environment, Unreadable, identity, stable_text
from ._ptx import TensorMap, TensorSpec, Tile, TmaDescriptorHandle
from ._registry import keep_tensors, number_of
from .errors import PtxError, PtxWarning, not_implemented

if TYPE_CHECKING:
    from . import ir
    from ._ptx import Module, ModuleBuilder, Plan, Trace

Dims3 = tuple[int, int, int]
Grid = Callable[..., Any] | Sequence[int] | int | None
TensorMaps = TensorMap | Callable[..., TensorMap]  # or a function of the symbolic dimensions
_Key = tuple[object, ...]

# Bytes; a kernel that asks for more at its launch keeps all of it in one dynamic allocation.
MAX_STATIC_SMEM = _ptx.most_static_shared
_MAX_SIZE = (1 << 63) - 1  # of a dimension
_VARARGS, _VARKEYWORDS = 0x04, 0x08  # of a code object's flags

__all__ = ["Kernel", "TensorSpec", "TmaDescriptorHandle", "kernel"]


def _dims3(value: Any, what: str) -> Dims3:
    """One to three ints, the missing ones 1."""
    items = (value,) if _is_int(value) else value
    if not isinstance(items, Sequence) or isinstance(items, str) or not 1 <= len(items) <= 3 or not all(map(_is_int, items)):
        _fail("launch_config", f"the {what} is `{value!r}`; what fits is one to three ints")
    x, y, z = (*map(int, items), *(1,) * (3 - len(items)))
    if min(x, y, z) < 1 or max(x, y, z) >= 1 << 32:
        _fail("launch_config", f"the {what} is `{value!r}`; each of its sizes is at least 1, and below 2^32")
    return x, y, z


def _pairs(value: Any, what: str, example: str, second: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """A sequence of a name and something each."""
    items: Any = () if value is None else value

    def is_pair(item: Any) -> bool:
        return isinstance(item, Sequence) and not isinstance(item, (str, bytes)) and len(item) == 2

    is_list = isinstance(items, Sequence) and not isinstance(items, (str, bytes))
    if not is_list or not all(is_pair(item) and isinstance(item[0], str) and second(item[1]) for item in items):
        _fail("argument_kind", f"`{what}` is `{_short(value)}`; what fits is a sequence of pairs, as in `{example}`")
    return [(name, held) for name, held in items]


def _ints(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and all(map(_is_int, value))


def _mapping(value: Any, what: str, key: type, fits: Callable[[Any], bool], example: str) -> dict[Any, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, key) and fits(held) for name, held in value.items()):
        _fail("argument_kind", f"`{what}` is `{_short(value)}`; what fits is a dict, as in `{example}`")
    return dict(value)


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        _fail("argument_kind", f"`{what}` is `{_short(value)}`; what fits is True or False")
    return value


def _tiles(tiles: Sequence[Tile] | None, what: str) -> tuple[Tile, ...] | None:
    if tiles is None:
        return None
    if not isinstance(tiles, Sequence) or not all(isinstance(tile, Tile) for tile in tiles):
        _fail("bad_tile", f"`{what}` is `{tiles!r}`; what fits is a sequence of `Tile`s")
    return tuple(tiles)


def _parameters(fn: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The tensors (positional) and the template parameters (keyword-only). Read off the code: `inspect` is slow to import."""
    code = getattr(fn, "__code__", None)
    if not isinstance(code, CodeType) or not isinstance(fn, FunctionType):
        _fail(
            "argument_kind",
            f"`@kernel` takes a Python function, `{_short(fn)}` was given",
            "its parameters are the kernel's, so they are read off a `def`; one that calls this will do",
        )
    refuse_suspended("kernel", fn.__name__, code.co_flags)
    if code.co_flags & (_VARARGS | _VARKEYWORDS):
        _fail(
            "bad_declaration", f"kernel `{fn.__name__}` has `*` parameters; each tensor and template parameter has its own name"
        )
    count = code.co_argcount
    only = code.co_varnames[count : count + code.co_kwonlyargcount]
    defaults = getattr(fn, "__kwdefaults__", None) or {}
    return code.co_varnames[:count], {name: defaults.get(name) for name in only}


def _signature(fn: Callable[..., Any]) -> tuple[list[str], list[str], set[str], int]:
    """Parameters by position, those by keyword alone, those of both that have a default, and flags as a code object has them."""
    code = getattr(fn, "__code__", None)
    if code is not None:
        count = code.co_argcount
        names = list(code.co_varnames[1 if hasattr(fn, "__self__") else 0 : count])
        only = list(code.co_varnames[count : count + code.co_kwonlyargcount])
        defaults = getattr(fn, "__defaults__", None) or ()
        return names, only, {*names[len(names) - len(defaults) :], *(getattr(fn, "__kwdefaults__", None) or ())}, code.co_flags
    import inspect

    names, only, optional, flags = [], [], set(), 0
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            flags |= _VARARGS if parameter.kind == parameter.VAR_POSITIONAL else _VARKEYWORDS
            continue
        (only if parameter.kind == parameter.KEYWORD_ONLY else names).append(parameter.name)
        if parameter.default is not parameter.empty:
            optional.add(parameter.name)
    return names, only, optional, flags


def _call_with_sizes(fn: Callable[..., Any], values: Mapping[str, Any], dims: Sequence[str], what: str) -> Any:
    """What a function of the sizes gives. Its parameters are names of `values`; when one without a default is none of them, those
    that are no template parameters stand for the dimensions by position, in the order in which the specs name them."""
    names, only, optional, flags = _signature(fn)
    if flags & _VARKEYWORDS and not names:
        return fn(**values)
    keywords = {name: values[name] for name in only if name in values}
    if not flags & _VARARGS and all(name in values or name in optional for name in names):
        given = [name for name in names if name in values]
        # a parameter left to its default ends what can be given by position
        plain = names[: next((i for i, name in enumerate(names) if name not in values), len(names))]
        return fn(*(values[name] for name in plain), **{name: values[name] for name in given if name not in plain}, **keywords)

    said = f"the {what} is a function of {', '.join(f'`{name}`' for name in names) or 'its arguments'}"
    sizes = [name for name in dims if name in values]
    known = ", ".join(f"`{name}`" for name in sizes) or "none"
    by_position = [name for name in names if (name in dims or name not in values) and name not in optional]
    if len(by_position) > len(sizes):
        _fail("launch_config", f"{said}; the dimensions are {known}", "name its parameters as the dimensions are named")
    for name, dim in zip(by_position, sizes, strict=False):
        if name in dims and name != dim:
            _fail(
                "launch_config",
                f"{said}, not all of them dimensions, so they stand for {known} by position: `{name}` would be `{dim}`",
                "name its parameters as the dimensions are named",
            )
    places = iter(sizes)
    arguments = []
    for name in names:
        if name in by_position:
            arguments.append(values[next(places)])
        elif name in values and name not in optional:
            arguments.append(values[name])
        else:
            break
    if flags & _VARARGS:
        arguments += [values[name] for name in places]
    return fn(*arguments, **keywords)


def _tensor(name: str, tile: Tile | None, dims: Mapping[str, int]) -> TensorSpec:
    """What the body sees of a tensor; its shape only when every dimension has its size."""
    if tile is None:
        return TensorSpec(name)
    shape = tile.resolve_shape(dict(dims)) if dims.keys() >= set(tile.symbolic_dims) else None
    return TensorSpec(name, shape, tile.dtype, tile.layout)


def _fail_not_made_for(message: str, hint: str) -> NoReturn:
    """Raises for a kernel that only text can be had of."""
    try:
        _fail("bad_declaration", message, hint)
    except PtxError as error:
        raise not_implemented(error) from None


_own_bodies = threading.local()  # kernels whose bodies this thread runs, and of which specialisation


def _is_compiling_once_torch_is_there() -> bool:
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "compiler"):
        return False
    global _is_compiling
    _is_compiling = torch.compiler.is_dynamo_compiling
    return bool(_is_compiling())


# Asked at every call, so it is one look-up and one call: torch's own function, once torch is imported.
_is_compiling: Callable[[], bool] = _is_compiling_once_torch_is_there


def _code_key(code: CodeType) -> tuple[object, ...]:
    """What a code does, without the lines where it was written."""
    return code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, identity(code.co_consts)[0]


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
        environment = kernel._environment
        try:
            functions = stable_text((environment.key if environment else (), kernel._template_key(self.template)), _code_key)
        except Unreadable:  # of another process, torch must not take it for the same
            functions = os.urandom(16).hex()
        launched = [kernel._block, kernel._cluster, kernel._smem, kernel._extern_smem, kernel._cooperative, kernel._programmatic]
        text = [kernel.__name__, kernel._arch, kernel._version, kernel._raw_params, kernel._directives, kernel._tma_by_value]
        tensors = [kernel._in_specs, kernel._out_specs, sorted(kernel._aliases.items())]
        call = [sorted(self.dims.items()), sorted(self.raw)]
        declared = kernel._in_module._content() if kernel._in_module else ""
        return repr([functions, launched, text, tensors, call, declared])


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
        module: _module.Module | None = None,
    ) -> None:
        self._fn = fn
        if module is not None:
            if not isinstance(module, _module.Module):
                _fail("argument_kind", f"`module` is `{_short(module)}`; what fits is a `Module`")
            if _target(arch) not in ("sm_90a", module.arch):
                own, its = _target(arch), module.arch
            elif _version(version) not in (None, module.version):
                own, its = version_text(_version(version)), version_text(module.version)
            else:
                own = its = ""
            if own:
                _fail(
                    "argument_kind",
                    f"kernel `{fn.__name__}` is for {own} and its module for {its}",
                    "target and version are the module's: leave `arch` and `version` out",
                )
            arch, version = module.arch, module.version
        self._in_module = module
        self._tensors, self._template = _parameters(fn)
        self.__name__ = fn.__name__
        self.__qualname__, self.__module__, self.__doc__, self.__wrapped__ = fn.__qualname__, fn.__module__, fn.__doc__, fn
        self._arch = _target(arch)
        self._version = _version(version)
        self._in_specs, self._out_specs = _tiles(in_specs, "in_specs"), _tiles(out_specs, "out_specs")
        if not (grid is None or callable(grid)):
            _dims3(grid, f"grid of kernel `{self.__name__}`")
        self._grid = grid
        self._block, self._cluster = _dims3(block, "block"), _dims3(cluster, "cluster")
        if not _is_int(smem) or not 0 <= smem < 1 << 32:
            _fail("launch_config", f"the shared memory `smem` is `{_short(smem)}`; what fits is a number of bytes")
        self._smem = int(smem)
        is_text = lambda held: isinstance(held, str)  # noqa: E731
        self._raw_params = tuple(_pairs(raw_params, "raw_params", '[("u32", "count")]', is_text))
        if not (extern_smem is None or isinstance(extern_smem, (bool, str))):
            _fail("argument_kind", f"`extern_smem` is `{_short(extern_smem)}`; what fits is True, False, or the symbol's name")
        self._extern_smem = "global_smem" if extern_smem is True else extern_smem or None
        self._directives = [
            (name, tuple(map(int, values)))
            for name, values in _pairs(raw_directives, "raw_directives", '[("maxnreg", (128,))]', _ints)
        ]
        if raw_directives is None and reqntid is not None:
            self._directives = [("reqntid", _dims3(reqntid, "reqntid")[: 1 if _is_int(reqntid) else len(reqntid)])]

        if not isinstance(tma, str) or tma not in ("address", "value"):
            _fail(
                "launch_config", f"`tma` is `{_short(tma)}`; what fits is 'address' (of a descriptor) or 'value' (the descriptor)"
            )
        self._tma_by_value = tma == "value"
        is_map = lambda held: isinstance(held, TensorMap) or callable(held)  # noqa: E731
        self._tensor_maps = _mapping(tensor_maps, "tensor_maps", str, is_map, '{"A": TensorMap.tiled(…)}')
        if unknown := [name for name in self._tensor_maps if name not in self._tensors]:
            _fail("argument_kind", f"`tensor_maps` names `{unknown[0]}`, which is not a tensor of kernel `{self.__name__}`")
        aliases = _mapping(input_output_aliases, "input_output_aliases", int, _is_int, "{0: 0}")
        self._aliases = {int(first): int(second) for first, second in aliases.items()}
        self._cooperative, self._programmatic = _flag(cooperative, "cooperative"), _flag(programmatic, "programmatic")

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
        self._environment: Environment | None = None  # what the body reads, as it was when the kernel was traced
        self._out_is_free = "out" not in {*self._template, *self._dims, *(name for _, name in self._raw_params)}
        self._number = number_of(self)
        if module is not None:
            module._add_kernel(self)
        _is_compiling()  # so that it is torch's own by now: Dynamo compiles again when it changes

    # -- what it was made from

    @property
    def in_specs(self) -> tuple[Tile, ...]:
        """The inputs' tiles; () also of a kernel that was given none."""
        return self._in_specs or ()

    @property
    def out_specs(self) -> tuple[Tile, ...]:
        """The outputs' tiles; () also of a kernel that was given none."""
        return self._out_specs or ()

    @property
    def grid(self) -> Grid:
        """Blocks: a tuple, or a function of the symbolic dimensions."""
        return self._grid

    @property
    def _block_threads(self) -> int:
        """Of a launch; 0 for a kernel that is not declared to be called: its text is launched by others."""
        return math.prod(self._block) if self._has_specs else 0

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

    def ptx(self, *, lineinfo: bool = False, **kwargs: Hashable) -> str:
        """The kernel's PTX. Template parameters and dimensions go by name; those not given keep their defaults, or stay open.

        ``lineinfo=True`` adds where each instruction was written (``.loc``), which profilers and debuggers show.
        """
        module = self.traced(**kwargs)
        return module.text_with_lines() if lineinfo else module.text

    def module(self, **kwargs: Hashable) -> ir.Module:
        """The traced module as nodes of `pyptx.ir`; `pyptx.emitter.emit` writes it. The same arguments give the same object."""
        nodes: ir.Module = self.traced(**kwargs).nodes()
        return nodes

    def traced(self, **kwargs: Any) -> Module:
        """The traced and checked module as the core has it: text, warnings, what it needs. The same arguments give the same
        object."""
        try:
            self._forget_if_changed()
            template, dims, _ = self._split(kwargs)
            return self._trace_once(dims, template)
        except BaseException as error:
            _ptx.drop_our_frames(error)
            raise

    def sass(self, **kwargs: Hashable) -> str:
        """What the hardware runs: the PTX assembled by ptxas and disassembled. Needs NVIDIA's command-line tools."""
        return _ptx.sass(self.traced(**kwargs))

    def resources(self, **kwargs: Hashable) -> dict[str, int]:
        """What ptxas makes of it: registers, spill stores and loads, shared memory."""
        return _ptx.resources(self.traced(**kwargs))

    def clear(self) -> None:
        """Forgets what was traced, so that the next call traces the body again.

        Calls see by themselves when globals, closures or helpers that the body reads have changed; this is for what they cannot
        see: a file that the body reads, a change in an installed package, in a large array or container.
        """
        self._plan, self._guards, self._environment = self._first_call, None, None
        self._modules, self._plans, self._cubin_handles = {}, {}, {}

    # -- copies. A kernel is what its definition makes it, as a function is: copies are itself, and its pickle is its name.

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self

    def __reduce__(self) -> str:
        return name_in_module(self, f"kernel `{self.__qualname__}`")

    # -- tracing

    def _forget_if_changed(self) -> None:
        """Forgets what was traced when globals, closures or helpers that the body reads are no longer what they were."""
        known = self._environment
        if known is None or known.holds():
            return
        now = known.again()
        if now.key != known.key:
            self.clear()
        else:
            self._environment, self._guards = now, now.guards

    def _environment_now(self) -> Environment:
        if self._environment:
            return self._environment
        functions = [function._fn for function in self._in_module.functions] if self._in_module else []
        return Environment([self._fn, self._grid, *self._tensor_maps.values(), *functions])

    def _keep_environment(self, before: Environment) -> None:
        """What the body read, less the places that it writes itself."""
        self._environment = before if before.holds() else before.without_written()
        self._guards = self._environment.guards

    def _template_key(self, template: Mapping[str, Any]) -> _Key:
        """A key of the template values by their whole content, which Python's equality is not."""
        parts: list[object] = []
        for name, value in template.items():  # in the order of the signature
            if type(value) is int or type(value) is str or type(value) is bool:
                parts.append((type(value), value))
                continue
            try:
                key, opaque = identity(value, self._environment_now().names if isinstance(value, ModuleType) else frozenset())
            except Unreadable as why:
                _fail(
                    "argument_kind",
                    f"template parameter `{name}` of kernel `{self.__name__}` {why}; what fits is a constant: a number, a text, "
                    "a type, a function, an object, or a collection of these",
                    "tensors are positional; a number that changes from call to call goes into `raw_params`",
                )
            if opaque:
                _ptx.warn_author(
                    f"template parameter `{name}` of kernel `{self.__name__}` has `{_short(opaque[0])}`, whose content cannot be "
                    "compared: the kernel is traced once for this object, and not again when it changes"
                )
            parts.append(key)
        return tuple(parts)

    def _split(self, kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int], dict[str, Any]]:
        """Keyword arguments as template values (with the defaults), sizes of dimensions, and values of raw parameters."""
        template, dims, raw = dict(self._template), dict[str, int](), dict[str, Any]()
        raw_names = [name for _, name in self._raw_params]
        for name, value in kwargs.items():
            if name in template:
                template[name] = value
            elif name in self._dims:
                dims[name] = self._size(name, value)
            elif name in raw_names:
                raw[name] = value
            else:
                known = [*self._template, *self._dims, *raw_names]
                has = f"it takes {', '.join(f'`{each}`' for each in known)}" if known else "it takes none"
                _fail("argument_kind", f"kernel `{self.__name__}` has no template parameter or dimension `{name}`; {has}")
        for name in self._dims:
            if name not in dims and _is_int(template.get(name)):
                dims[name] = self._size(name, template[name])
        return template, dims, raw

    def _size(self, name: str, value: Any) -> int:
        if not _is_int(value) or not 0 <= int(value) <= _MAX_SIZE:
            kind = "argument_dim" if _is_int(value) else "argument_kind"
            _fail(
                kind,
                f"dimension `{name}` of kernel `{self.__name__}` is `{_short(value)}`; what fits is an int from 0 to 2^63 - 1",
            )
        return int(value)

    def _trace_once(self, dims: Mapping[str, int], template: Mapping[str, Any]) -> Module:
        key: _Key = (tuple(sorted(dims.items())), self._template_key(template))
        modules = self._modules  # another thread that clears puts others in their place
        known = modules.get(key)
        if known is None:
            before = self._environment_now()
            own_bodies, this = _own_bodies.__dict__.setdefault("of", []), (self._number, key)
            if this in own_bodies:  # there would be no end of it
                _fail(
                    "bad_control_flow",
                    f"kernel `{self.__name__}` is asked for in its own body, while that is traced: its text is not written yet",
                    "a body writes instructions; ask for the text, or call the kernel, behind its definition",
                )
            own_bodies.append(this)
            try:
                made = self._run_trace(dims, template)
            finally:
                own_bodies.remove(this)
            if modules is self._modules:
                self._keep_environment(before)
            known = modules.setdefault(key, made)  # of two threads that made it, the first
        return known

    def _run_trace(self, dims: Mapping[str, int], template: Mapping[str, Any]) -> Module:
        parts = self._in_module._parts(self._block_threads) if self._in_module is not None else None
        module = self._finished(dims, template, parts)
        for text, file, line in module.warnings:
            warnings.warn_explicit(text, PtxWarning, file or "<kernel>", line)
        return module

    def _finished(self, dims: Mapping[str, int], template: Mapping[str, Any], parts: ModuleBuilder | None) -> Module:
        dynamic = self._smem > MAX_STATIC_SMEM
        trace = self._traced(dims, template, dynamic, parts)
        if not dynamic and trace.shared_bytes > MAX_STATIC_SMEM:
            trace = self._traced(dims, template, True, parts)
        return trace.finish()

    def _traced(
        self, dims: Mapping[str, int], template: Mapping[str, Any], dynamic_smem: bool, parts: ModuleBuilder | None = None
    ) -> Trace:
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
            module=parts,
            block_threads=self._block_threads,
        )
        with trace, self._in_module._in_body(f"kernel `{self.__name__}`") if self._in_module else nullcontext():
            result = self._fn(*tensors, **template)
        refuse_not_run("kernel", self.__name__, result)
        return trace

    def _trace(self, **kwargs: Any) -> ir.Module:
        return self.module(**kwargs)

    # -- calling

    def _resolve_grid(self, env: Mapping[str, Any]) -> Dims3:
        """The grid for these sizes; template values count as sizes of their names."""
        if self._grid is None:
            _fail("launch_config", f"kernel `{self.__name__}` has no grid", "a tuple, or a function of the symbolic dimensions")
        if callable(self._grid):
            what = f"grid of kernel `{self.__name__}`"
            return _dims3(_call_with_sizes(self._grid, env, self._dims, what), what)
        return _dims3(self._grid, f"grid of kernel `{self.__name__}`")

    def __call__(self, *arrays: Any, **kwargs: Any) -> Any:
        """Runs the kernel on numpy arrays, JAX arrays (also under jit) or torch tensors: its output, or a tuple of them.

        Keywords are template parameters, sizes of dimensions and values of scalar parameters; ``out=`` is a tensor, or a tuple of
        one for each output, that the outputs are written to (not for JAX arrays).
        """
        # Calls that need no more than the plan do not come here: see `call_through_plan` below.
        if _is_compiling():
            from .torch_support.dynamo import call_kernel_under_dynamo

            return call_kernel_under_dynamo(self, arrays, kwargs)
        out = kwargs.pop("out", None) if self._out_is_free else None
        self._forget_if_changed()
        if kwargs:
            if "jax" in sys.modules and (traced := self._jax_scalars(arrays, kwargs)):
                if out is not None:
                    _fail(
                        "argument_kind",
                        f"kernel `{self.__name__}` is called with values of JAX's and `out`; a JAX array is never written to",
                    )
                return self._call_with_jax_scalars(arrays, kwargs, traced)
            plan, scalars = self._bind(kwargs)
            return plan(*arrays, scalars=scalars, out=out)
        return self._plan(*arrays, out=out)

    def _jax_scalars(self, arrays: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
        """The scalar parameters whose values JAX has: traced, or arrays beside arrays of JAX's."""
        jax: Any = sys.modules["jax"]
        array, tracer = getattr(jax, "Array", None), getattr(getattr(jax, "core", None), "Tracer", None)
        if array is None or tracer is None:  # still being imported
            return []
        beside = any(isinstance(x, array) for x in arrays)
        return [
            name
            for _, name in self._raw_params
            if isinstance(kwargs.get(name), tracer) or (beside and isinstance(kwargs.get(name), array))
        ]

    def _call_with_jax_scalars(self, arrays: tuple[Any, ...], kwargs: dict[str, Any], traced: Sequence[str]) -> Any:
        from .jax_support.calls import call_with_traced_scalars

        plan = self._plan_for({**kwargs, **dict.fromkeys(traced, 0)})  # whose own values no launch takes
        scalars = [(dtype, name, kwargs.get(name)) for dtype, name in self._raw_params]
        return call_with_traced_scalars(plan, self.__name__, arrays, scalars)

    def _first_call(self, *arrays: Any, out: Any = None) -> Any:
        plans = self._plans
        plan = self._plan_for({})
        if plans is self._plans:  # else another thread has cleared meanwhile
            self._plan = plan
        return plan(*arrays, out=out)

    def prepare(self, *arrays: Any, device: int | None = None, **kwargs: Hashable) -> None:
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

    def variable(self, name: str, *arrays: Any, **kwargs: Any) -> memoryview:
        """The bytes of a ``.global`` or ``.const`` variable, as launches on the executor read and leave them; it may be written.

        For tensors like ``arrays``, or for the sizes given by name, as in ``prepare``: each specialisation has variables of its
        own, and kernels of the same text, which are loaded once, have theirs in common, be they of one `Module` or of two. A
        variable keeps its value from launch to launch. ``numpy.frombuffer(k.variable(counts), numpy.uint32)`` shows one as an
        array. Not while a launch runs; a GPU has its own.
        """
        import ctypes

        image = self._image_for(arrays, kwargs)
        if image is None:
            _fail("argument_dim", f"kernel `{self.__name__}` has outputs without elements for these sizes: it is never launched")
        address, size = image.variable(str(name))
        memory = (ctypes.c_ubyte * size).from_address(address)
        memory.image = image  # whose memory it is
        return memoryview(memory).cast("B")

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
        for number, x in enumerate(arrays):
            if not hasattr(x, "shape") or not hasattr(x, "dtype") or isinstance(x, type):
                name = self._tensors[number] if number < len(self._tensors) else "?"
                _fail(
                    "argument_kind",
                    f"argument {number} (`{name}`) of kernel `{self.__name__}` is `{_short(x)}`; what fits is a tensor, of which "
                    "shape and element type count",
                )
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
            _fail_not_made_for(
                f"kernel `{self.__name__}` cannot be called with arrays: it has no in_specs",
                'declare its tensors, as in `@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=…, block=…)`; '
                "of a kernel without tensors `in_specs=()` says so",
            )
        for dtype, name in self._raw_params:
            if any(part.startswith("array") for part in dtype.split(".")):
                _fail_not_made_for(
                    f"kernel `{self.__name__}` cannot be called: its parameter `{name}` ({dtype}) is not a scalar",
                    "what a call can pass are tensors, by `in_specs` and `out_specs`, and scalars such as `u32`",
                )

    def _bind(self, kwargs: Mapping[str, Any]) -> tuple[Plan, tuple[int | None, ...]]:
        """The launch plan for these keyword arguments, and the values of scalar parameters among them, which a launch takes."""
        self._require_callable()
        self._forget_if_changed()
        given = {name: kwargs[name] for _, name in self._raw_params if name in kwargs}
        scalars = _ptx.pack_scalars(self.__name__, self._raw_params, given) if given else ()  # before a plan keeps them
        return self._plan_for(kwargs), scalars

    def _plan_for(self, kwargs: Mapping[str, Any]) -> Plan:
        """The launch plan for these keyword arguments, made once. The values of scalar parameters do not count: the plan has
        those of the call that made it, and a launch brings its own."""
        self._require_callable()
        template, dims, raw = self._split(kwargs)
        key: _Key = (self._template_key(template), tuple(sorted(dims.items())), tuple(sorted(raw)))
        if known := self._plans.get(key):
            return known

        specialise = _Specialise(self, dims, template, raw)
        inputs, outputs = list(self._in_specs or ()), list(self._out_specs or ())
        plan = _ptx.Plan(self.__name__, inputs, outputs, list(self._tensors), specialise, dims)
        return self._plans.setdefault(key, plan)

    def _tensor_map(self, name: str, env: Mapping[str, Any]) -> TensorMap:
        given = self._tensor_maps[name]
        what = f"tensor map of `{name}` of kernel `{self.__name__}`"
        made = given if isinstance(given, TensorMap) else _call_with_sizes(given, env, self._dims, what)
        if not isinstance(made, TensorMap):
            _fail("bad_tile", f"the {what} is `{made!r}`; what fits is a `TensorMap`")
        return made

    def _image(self, env: Mapping[str, int], template: Mapping[str, Any], raw: Mapping[str, Any]) -> Any:
        """The launchable image for these sizes."""
        modules = self._modules
        module = self._trace_once(env, template)
        before = self._environment_now()
        values = {**template, **env, **raw}
        scalars = []
        for dtype, name in self._raw_params:
            if name not in values:
                _fail("argument_count", f"kernel `{self.__name__}` is called without its parameter `{name}` ({dtype})")
            scalars.append(values[name])
        sizes = {name: int(value) for name, value in {**template, **env}.items() if _is_int(value)}
        sizes = {name: size for name, size in sizes.items() if abs(size) <= _MAX_SIZE}
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
        if modules is self._modules:  # else another thread has cleared meanwhile
            self._keep_environment(before)  # functions of the grid may write too
        specialisation = {name: value for name, value in values.items() if name not in raw}
        self._cubin_handles[(self._arch, self._version, repr(sorted(specialisation.items())))] = image.handle
        inputs, outputs = (
            [Tile(*tile.resolve_shape(sizes), tile.dtype) for tile in specs] for specs in (self.in_specs, self.out_specs)
        )
        keep_tensors(image.handle, self.__name__, inputs, outputs, list(self._tensors))
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
    module: _module.Module | None = None,
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
    module: _module.Module | None = None,
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Makes a kernel of a function. Positional parameters are tensors, inputs first; keyword-only ones are template parameters.

    ``@kernel(in_specs=(Tile("M", f32),), out_specs=(Tile("M", f32),), grid=lambda M: M // 128, block=128)``

    ``tma="value"`` passes TMA descriptors themselves, 128 bytes each, in place of their addresses: safe and free of copies to the
    GPU. ``tensor_maps`` are descriptors of tensors by name where those made of the tiles do not do (`TensorMap.tiled`,
    `TensorMap.im2col`). ``input_output_aliases`` (input number to output number) says which inputs the kernel changes in place.
    ``cooperative`` has all blocks resident at once; ``programmatic`` lets the grid start while the one before it still runs,
    which it waits for with ``ptx.inst.griddepcontrol.wait()``. ``module`` is the `Module` that it is written into: its text has
    what that declares, and its body may call that module's functions.
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
            module=module,
        )

    return make if fn is None else make(fn)
