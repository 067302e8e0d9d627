"""Mesh axes: what a call's values vary over under `jax.shard_map`, which a custom call has to say of its results."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any


def _axes(x: Any) -> frozenset[Any]:
    """The mesh axes that a value varies over, as it knows under `jax.shard_map`. JAX 0.10 gave them another name."""
    abstract = import_module("jax").typeof(x)
    manual = getattr(abstract, "manual_axis_type", None)
    return frozenset((getattr(abstract, "vma", None) if manual is None else manual.varying) or ())


def axes_of(inputs: Sequence[Any]) -> frozenset[Any]:
    """The mesh axes that any of the values varies over."""
    return frozenset().union(*map(_axes, inputs))


def varying_result(shape: tuple[int, ...], dtype: Any, axes: frozenset[Any]) -> Any:
    """What a result is, which varies over these mesh axes."""
    jax: Any = import_module("jax")
    if not axes:
        return jax.ShapeDtypeStruct(shape, dtype)
    if hasattr(jax.sharding, "ManualAxisType"):  # which goes with a mesh that has the axes
        sharding = jax.sharding.NamedSharding(jax.sharding.get_abstract_mesh(), jax.sharding.PartitionSpec())
        varying = jax.sharding.ManualAxisType(varying=axes)
        return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding, manual_axis_type=varying)
    return jax.ShapeDtypeStruct(shape, dtype, vma=axes)


def all_varying(inputs: Sequence[Any]) -> Sequence[Any]:
    """The inputs, each varying over all the mesh axes that any of them does, as a custom call needs. Going back through this,
    the gradient of a value that was the same on every device is the sum of theirs."""
    axes = axes_of(inputs)
    if not axes:
        return inputs
    jax: Any = import_module("jax")

    def widened(x: Any) -> Any:
        missing = tuple(sorted(axes - _axes(x), key=str))
        if not missing:
            return x
        return jax.lax.pcast(x, missing, to="varying") if hasattr(jax.lax, "pcast") else jax.lax.pvary(x, missing)

    return [widened(x) for x in inputs]
