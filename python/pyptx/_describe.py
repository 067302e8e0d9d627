"""What Python's own tools ask classes of the core: defaults, read on the class, and `inspect.signature`."""

from __future__ import annotations

from typing import Any

from ._ptx import Layout, TensorSpec, Tile


class _Default:
    """A field of an object; on its class, the default."""

    def __init__(self, field: Any, default: Any) -> None:
        self._field, self._default = field, default

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self._default if instance is None else self._field.__get__(instance, owner)


class _Signature:
    """What `inspect.signature` finds: the parameters of `__init__`, each a name, its kind and perhaps its default."""

    def __init__(self, *parameters: tuple[Any, ...]) -> None:
        self._parameters = parameters

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        from inspect import Parameter, Signature

        made = [
            Parameter(name, getattr(Parameter, kind), default=default[0] if default else Parameter.empty)
            for name, kind, *default in self._parameters
        ]
        return Signature(made, return_annotation=None)


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


_describe()
