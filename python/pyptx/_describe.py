"""What Python's own tools ask of the core: `inspect.signature` of its functions and classes, and defaults, read on a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _ptx
from ._ptx import Layout, TensorSpec, Tile

if TYPE_CHECKING:
    import ast
    import inspect


class _Default:
    """A field of an object; on its class, the default."""

    def __init__(self, field: Any, default: Any) -> None:
        self._field, self._default = field, default

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self._default if instance is None else self._field.__get__(instance, owner)


class _Signature:
    """What `inspect.signature` finds of a class: the parameters of `__init__`, each a name, its kind and perhaps its default."""

    def __init__(self, *parameters: tuple[Any, ...]) -> None:
        self._parameters = parameters

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        from inspect import Parameter, Signature

        made = [
            Parameter(name, getattr(Parameter, kind), default=default[0] if default else Parameter.empty)
            for name, kind, *default in self._parameters
        ]
        return Signature(made, return_annotation=None)


class _FunctionSignature:
    """`__signature__` of the types of nanobind's functions: `inspect` asks for it and reads no other text of theirs."""

    def __get__(self, function: Any, owner: Any = None) -> inspect.Signature:
        if function is None:
            raise AttributeError("__signature__")
        inner = getattr(function, "__func__", function)
        made = _signature_of(*inner.__nb_signature__[-1])
        return made if inner is function else made.replace(parameters=list(made.parameters.values())[1:])


def _signature_of(text: str, doc: str | None, defaults: tuple[Any, ...] | None) -> inspect.Signature:
    """The signature of "def name(a: int, *, b: str = 'x') -> None"; in place of a default may stand its number, `\\0`."""
    import ast
    import re
    from inspect import Parameter, Signature

    head = ast.parse(re.sub(r"\\(\d+)", r"_default(\1)", text) + ": ...").body[0]
    assert isinstance(head, ast.FunctionDef)

    def default(node: ast.expr | None) -> Any:
        if node is None:
            return Parameter.empty
        numbered = node.args[0] if isinstance(node, ast.Call) else None
        return ast.literal_eval(node) if numbered is None else (defaults or ())[ast.literal_eval(numbered)]

    def shown(node: ast.expr | None) -> Any:
        return Parameter.empty if node is None else ast.unparse(node)

    def parameter(of: ast.arg, kind: Any, standard: ast.expr | None = None) -> Parameter:
        return Parameter(of.arg, kind, default=default(standard), annotation=shown(of.annotation))

    given = head.args
    positional: list[tuple[ast.arg, Any]] = [(one, Parameter.POSITIONAL_ONLY) for one in given.posonlyargs]
    positional += [(one, Parameter.POSITIONAL_OR_KEYWORD) for one in given.args]
    standards = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    parameters = [parameter(one, kind, standard) for (one, kind), standard in zip(positional, standards, strict=True)]
    if given.vararg:
        parameters.append(parameter(given.vararg, Parameter.VAR_POSITIONAL))
    parameters += [
        parameter(one, Parameter.KEYWORD_ONLY, standard)
        for one, standard in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        parameters.append(parameter(given.kwarg, Parameter.VAR_KEYWORD))
    return Signature(parameters, return_annotation=shown(head.returns))


def _describe() -> None:
    kind = "KEYWORD_ONLY"
    defaults = {"layout": Layout.ROW, "tma_box": None, "tma_rank": 2, "tma_padding": False}
    for name, default in defaults.items():
        setattr(Tile, name, _Default(Tile.__dict__[name], default))
    options = [(name, kind, default) for name, default in {"dtype": None, **defaults}.items()]
    tile: Any = Tile
    tile.__signature__ = _Signature(("dims_and_dtype", "VAR_POSITIONAL"), *options)
    kind = "POSITIONAL_OR_KEYWORD"
    tensor: Any = TensorSpec
    tensor.__signature__ = _Signature(("name", kind), *((name, kind, None) for name in ("shape", "dtype", "layout")))
    functions: tuple[Any, ...] = (_ptx.sreg, Tile.matches, _ptx.cp.async_.bulk.commit_group)  # of a module, a class, an object
    for function_type in map(type, functions):
        _ptx.add_to_type(function_type, "__signature__", _FunctionSignature())


_describe()
