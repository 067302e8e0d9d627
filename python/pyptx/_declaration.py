"""What a kernel is declared with, checked: its tensors, its launch, its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NoReturn

from . import _module, _ptx
from ._arguments import as_target, as_version, fail, is_int, refuse_suspended, short, version_text
from ._ptx import TensorMap, Tile
from ._sizes import VARARGS, VARKEYWORDS, Dims3, call_with_sizes, dims3, size_of
from .errors import PtxError, not_implemented

Grid = Callable[..., Any] | Sequence[int] | int | None
TensorMaps = TensorMap | Callable[..., TensorMap]  # or a function of the symbolic dimensions


def _pairs(value: Any, what: str, example: str, second: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """A sequence of a name and something each."""
    items: Any = () if value is None else value

    def is_pair(item: Any) -> bool:
        return isinstance(item, Sequence) and not isinstance(item, (str, bytes)) and len(item) == 2

    is_list = isinstance(items, Sequence) and not isinstance(items, (str, bytes))
    if not is_list or not all(is_pair(item) and isinstance(item[0], str) and second(item[1]) for item in items):
        fail("argument_kind", f"`{what}` is `{short(value)}`; what fits is a sequence of pairs, as in `{example}`")
    return [(name, held) for name, held in items]


def _ints(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and all(map(is_int, value))


def _mapping(value: Any, what: str, key: type, fits: Callable[[Any], bool], example: str) -> dict[Any, Any]:
    if value is None:
        return {}

    def fitting(name: object) -> bool:
        return isinstance(name, key) and not isinstance(name, bool)  # True would be 1

    if not isinstance(value, Mapping) or not all(fitting(name) and fits(held) for name, held in value.items()):
        fail("argument_kind", f"`{what}` is `{short(value)}`; what fits is a dict, as in `{example}`")
    return dict(value)


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        fail("argument_kind", f"`{what}` is `{short(value)}`; what fits is True or False")
    return value


def _tiles(tiles: Sequence[Tile] | None, what: str) -> tuple[Tile, ...] | None:
    if tiles is None:
        return None
    if not isinstance(tiles, Sequence) or not all(isinstance(tile, Tile) for tile in tiles):
        fail("bad_tile", f"`{what}` is `{tiles!r}`; what fits is a sequence of `Tile`s")
    return tuple(tiles)


def _parameters(fn: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The tensors (positional) and the template parameters (keyword-only). Read off the code: `inspect` is slow to import."""
    code = getattr(fn, "__code__", None)
    if not isinstance(code, CodeType) or not isinstance(fn, FunctionType):
        fail(
            "argument_kind",
            f"`@kernel` takes a Python function, `{short(fn)}` was given",
            "its parameters are the kernel's, so they are read off a `def`; one that calls this will do",
        )
    refuse_suspended("kernel", fn.__name__, code.co_flags)
    if code.co_flags & (VARARGS | VARKEYWORDS):
        fail("bad_declaration", f"kernel `{fn.__name__}` has `*` parameters; each tensor and template parameter has its own name")
    count = code.co_argcount
    only = code.co_varnames[count : count + code.co_kwonlyargcount]
    defaults = getattr(fn, "__kwdefaults__", None) or {}
    return code.co_varnames[:count], {name: defaults.get(name) for name in only}


def _fail_not_made_for(message: str, hint: str) -> NoReturn:
    """Raises for a kernel that only text can be had of."""
    try:
        fail("bad_declaration", message, hint)
    except PtxError as error:
        raise not_implemented(error) from None


class Declaration:
    """A kernel's function and all that was said of it. It does not change; what is made of it does not stand here."""

    def __init__(
        self,
        fn: Callable[..., Any],
        arch: str,
        version: tuple[int, int] | None,
        in_specs: Sequence[Tile] | None,
        out_specs: Sequence[Tile] | None,
        grid: Grid,
        block: Sequence[int] | int,
        cluster: Sequence[int] | int,
        smem: int,
        raw_params: Sequence[tuple[str, str]] | None,
        extern_smem: bool | str,
        reqntid: Sequence[int] | None,
        raw_directives: Sequence[tuple[str, Sequence[int]]] | None,
        *,
        tma: str,
        tensor_maps: Mapping[str, TensorMaps] | None,
        input_output_aliases: Mapping[int, int] | None,
        inputs_apart: Sequence[int],
        attributes: Mapping[str, object],
        module: _module.Module | None,
    ) -> None:
        self.fn = fn
        if module is not None:
            if not isinstance(module, _module.Module):
                fail("argument_kind", f"`module` is `{short(module)}`; what fits is a `Module`")
            if as_target(arch) not in ("sm_90a", module.arch):
                own, its = as_target(arch), module.arch
            elif as_version(version) not in (None, module.version):
                own, its = version_text(as_version(version)), version_text(module.version)
            else:
                own = its = ""
            if own:
                fail(
                    "argument_kind",
                    f"kernel `{fn.__name__}` is for {own} and its module for {its}",
                    "target and version are the module's: leave `arch` and `version` out",
                )
            arch, version = module.arch, module.version
        self.in_module = module
        self.tensors, self.template = _parameters(fn)
        self.name = fn.__name__
        self.arch = as_target(arch)
        self.version = as_version(version)
        self.in_specs, self.out_specs = _tiles(in_specs, "in_specs"), _tiles(out_specs, "out_specs")
        if not (grid is None or callable(grid)):
            dims3(grid, f"grid of kernel `{self.name}`")
        self.grid = grid
        self.block, self.cluster = dims3(block, "block"), dims3(cluster, "cluster")
        if not is_int(smem) or not 0 <= smem < 1 << 32:
            kind = "launch_config" if is_int(smem) else "argument_kind"
            fail(kind, f"the shared memory `smem` is `{short(smem)}`; what fits is a number of bytes from 0 to 2^32 - 1")
        self.smem = int(smem)
        is_text = lambda held: isinstance(held, str)  # noqa: E731
        self.raw_params = tuple(_pairs(raw_params, "raw_params", '[("u32", "count")]', is_text))
        _ptx.check_params(self.raw_params)
        if not (extern_smem is None or isinstance(extern_smem, (bool, str))):
            fail("argument_kind", f"`extern_smem` is `{short(extern_smem)}`; what fits is True, False, or the symbol's name")
        self.extern_smem = "global_smem" if extern_smem is True else extern_smem or None
        self.directives = [
            (name, tuple(map(int, values)))
            for name, values in _pairs(raw_directives, "raw_directives", '[("maxnreg", (128,))]', _ints)
        ]
        if raw_directives is None and reqntid is not None:
            self.directives = [("reqntid", dims3(reqntid, "reqntid")[: 1 if is_int(reqntid) else len(reqntid)])]

        if not isinstance(tma, str) or tma not in ("address", "value"):
            fail(
                "launch_config", f"`tma` is `{short(tma)}`; what fits is 'address' (of a descriptor) or 'value' (the descriptor)"
            )
        self.tma_by_value = tma == "value"
        is_map = lambda held: isinstance(held, TensorMap) or callable(held)  # noqa: E731
        self.tensor_maps = _mapping(tensor_maps, "tensor_maps", str, is_map, '{"A": TensorMap.tiled(…)}')
        if unknown := [name for name in self.tensor_maps if name not in self.tensors]:
            fail("argument_kind", f"`tensor_maps` names `{unknown[0]}`, which is not a tensor of kernel `{self.name}`")
        aliases = _mapping(input_output_aliases, "input_output_aliases", int, is_int, "{0: 0}")
        self.aliases = {int(first): int(second) for first, second in aliases.items()}
        if isinstance(inputs_apart, str) or not all(is_int(each) for each in inputs_apart):
            fail("argument_kind", f"`inputs_apart` is `{short(inputs_apart)}`; what fits are numbers of inputs, as in (0, 1)")
        self.inputs_apart = tuple(sorted({int(each) for each in inputs_apart}))
        self.attributes = {name: _flag(value, name) for name, value in attributes.items()}

        specs = (*(self.in_specs or ()), *(self.out_specs or ()))
        self.has_specs = self.in_specs is not None or self.out_specs is not None
        if self.has_specs and len(specs) != len(self.tensors):
            fail(
                "argument_count",
                f"kernel `{self.name}` has {len(self.tensors)} tensors ({', '.join(self.tensors)}) and {len(specs)} specs",
                "one Tile for each positional parameter, inputs first, outputs after",
            )
        self.specs = specs if self.has_specs else (None,) * len(self.tensors)
        self._check_aliases()
        self.dims = tuple(dict.fromkeys(name for tile in specs for name in tile.symbolic_dims))

    def _check_aliases(self) -> None:
        for number in self.inputs_apart:
            if number < 0 or (self.has_specs and number >= len(self.in_specs or ())) or number in self.aliases:
                fail(
                    "launch_config",
                    f"`inputs_apart` is `{short(self.inputs_apart)}`; kernel `{self.name}` has no input {number} that it only "
                    f"reads: its {len(self.in_specs or ())} inputs are counted from 0",
                )
        for alias in self.aliases.items():
            for number, what, specs in zip(alias, ("input", "output"), (self.in_specs, self.out_specs), strict=True):
                if number < 0 or (self.has_specs and number >= len(specs or ())):
                    fail(
                        "launch_config",
                        f"`input_output_aliases` is `{short(self.aliases)}`; kernel `{self.name}` has no {what} {number}: "
                        f"its {len(specs or ())} {what}s are counted from 0",
                    )

    @property
    def block_threads(self) -> int:
        """Of a launch; 0 for a kernel that is not declared to be called: its text is launched by others."""
        return math.prod(self.block) if self.has_specs else 0

    @property
    def names(self) -> set[str]:
        """What a call may give by name."""
        return {*self.template, *self.dims, *(name for _, name in self.raw_params)}

    def signature(self) -> Any:
        """What a call takes, for `inspect.signature`."""
        from inspect import Parameter, Signature

        count = len(self.in_specs or ()) if self.has_specs else len(self.tensors)
        inputs = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in self.tensors[:count]]
        named: dict[str, Any] = dict(self.template)
        known = {name for tile in self.in_specs or () for name in tile.symbolic_dims}
        for name in (*self.dims, *(name for _, name in self.raw_params)):
            if name not in known:  # what the inputs' shapes say need not be given
                named.setdefault(name, Parameter.empty)
        if self.has_specs:
            named.setdefault("out", None)
        taken = set(self.tensors[:count])
        only = [Parameter(name, Parameter.KEYWORD_ONLY, default=held) for name, held in named.items() if name not in taken]
        return Signature([*inputs, *only])

    def split(self, kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int], dict[str, Any]]:
        """Keyword arguments as template values (with the defaults), sizes of dimensions, and values of raw parameters."""
        template, dims, raw = dict(self.template), dict[str, int](), dict[str, Any]()
        raw_names = [name for _, name in self.raw_params]
        for name, value in kwargs.items():
            if name in template:
                template[name] = value
            elif name in self.dims:
                dims[name] = size_of(value, name, self.name)
            elif name in raw_names:
                raw[name] = value
            else:
                known = dict.fromkeys([*self.template, *self.dims, *raw_names])
                has = f"it takes {', '.join(f'`{each}`' for each in known)}" if known else "it takes none"
                fail("argument_kind", f"kernel `{self.name}` has no template parameter or dimension `{name}`; {has}")
        for name in self.dims:
            if name not in dims and is_int(template.get(name)):
                dims[name] = size_of(template[name], name, self.name)
        return template, dims, raw

    def __str__(self) -> str:
        tensors = [name if tile is None else f"{name}: {tile}" for name, tile in zip(self.tensors, self.specs, strict=True)]
        template = [f"{name}={value!r}" for name, value in self.template.items()]
        signature = ", ".join([*tensors, *(["*", *template] if template else [])])
        grid = getattr(self.grid, "__name__", self.grid)
        return f"{self.name}({signature}) for {self.arch}, grid {grid}, block {self.block}"

    def sizes(self, arrays: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, int]:
        """Every dimension's size, by name."""
        _, sizes, _ = self.split(kwargs)
        for tile, array in zip(self.in_specs or (), arrays, strict=False):
            sizes.update(tile.extract_env(tuple(array.shape)))
        return sizes

    def resolve_grid(self, env: Mapping[str, Any]) -> Dims3:
        """The grid for these sizes; template values count as sizes of their names."""
        if self.grid is None:
            fail("launch_config", f"kernel `{self.name}` has no grid", "a tuple, or a function of the symbolic dimensions")
        if callable(self.grid):
            what = f"grid of kernel `{self.name}`"
            return dims3(call_with_sizes(self.grid, env, self.dims, what), what)
        return dims3(self.grid, f"grid of kernel `{self.name}`")

    def tensor_map(self, name: str, env: Mapping[str, Any]) -> TensorMap:
        given = self.tensor_maps[name]
        what = f"tensor map of `{name}` of kernel `{self.name}`"
        made = given if isinstance(given, TensorMap) else call_with_sizes(given, env, self.dims, what)
        if not isinstance(made, TensorMap):
            fail("bad_tile", f"the {what} is `{made!r}`; what fits is a `TensorMap`")
        return made

    def require_callable(self) -> None:
        """Raises for a kernel that only text can be had of."""
        if self.in_specs is None:
            _fail_not_made_for(
                f"kernel `{self.name}` cannot be called with arrays: it has no in_specs",
                'declare its tensors, as in `@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=…, block=…)`; '
                "of a kernel without tensors `in_specs=()` says so",
            )
        for dtype, name in self.raw_params:
            if any(part.startswith("array") for part in dtype.split(".")):
                _fail_not_made_for(
                    f"kernel `{self.name}` cannot be called: its parameter `{name}` ({dtype}) is not a scalar",
                    "what a call can pass are tensors, by `in_specs` and `out_specs`, and scalars such as `u32`",
                )
