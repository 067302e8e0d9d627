"""Programs for processes of their own, which test_jax_processes.py starts: `python jax_processes.py NAME FOLDER`."""

import pickle
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from pyptx import Kernel, _ptx, jax_support

hits: list[str] = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if "cache_hits" in event else None)


def ramp(n=64):
    return jnp.arange(n, dtype=jnp.float32)


def two_kernels() -> tuple[Kernel, Kernel]:
    """C = A + B and C = A * B, of one name, with the same shapes."""
    from launching import WARP, offset

    from pyptx import Tile, kernel, ptx, reg
    from pyptx.types import f32

    def make(instruction):
        @kernel(in_specs=(Tile("N", f32), Tile("N", f32)), out_specs=(Tile("N", f32),), grid=lambda N: N // WARP, block=WARP)
        def combine(A, B, C):
            pa, pb, pc = ptx.global_ptrs(A, B, C)
            at = offset(4)
            for pointer in (pa, pb, pc):
                pointer += at
            a, b = reg.scalar(f32), reg.scalar(f32)
            ptx.inst.ld.global_.f32(a, ptx.addr(pa))
            ptx.inst.ld.global_.f32(b, ptx.addr(pb))
            instruction(a, a, b)
            ptx.inst.st.global_.f32(ptx.addr(pc), a)
            ptx.ret()

        return combine

    return make(ptx.inst.add.f32), make(ptx.inst.mul.rn.f32)


def program(k: Kernel):
    return jax.jit(lambda a, b: k(a, b) + 1)


def first(folder: Path) -> None:
    """Fills JAX's cache and writes an exported program and a compiled one."""
    add, multiply = two_kernels()
    assert (program(add)(ramp(), ramp()) == 2 * ramp() + 1).all()
    assert (program(multiply)(ramp(), ramp()) == ramp() ** 2 + 1).all()
    assert not hits

    from jax.experimental import serialize_executable

    compiled = program(multiply).lower(ramp(96), ramp(96)).compile()
    assert (compiled(ramp(96), ramp(96)) == ramp(96) ** 2 + 1).all()
    (folder / "compiled").write_bytes(pickle.dumps(serialize_executable.serialize(compiled)))

    import jax.export

    checks = jax_support.export_safety_checks()
    exported = jax.export.export(program(multiply), platforms=["cpu", "cuda"], disabled_checks=checks)(ramp(32), ramp(32))
    assert (exported.call(ramp(32), ramp(32)) == ramp(32) ** 2 + 1).all()
    (folder / "exported").write_bytes(exported.serialize())


def from_export(folder: Path) -> None:
    """Runs the exported program, before this process has traced any kernel."""
    import jax.export

    assert jax_support.ensure_ffi_registered()
    assert _ptx.registry_size() == 0
    exported = jax.export.deserialize(bytearray((folder / "exported").read_bytes()))
    assert exported.platforms == ("cpu", "cuda")
    assert (exported.call(ramp(32), ramp(32)) == ramp(32) ** 2 + 1).all()
    assert _ptx.registry_size() == 1


def second(folder: Path) -> None:
    """Runs them, then finds the same programs in the cache, in the other order."""
    from jax.experimental import serialize_executable

    from_export(folder)
    compiled = serialize_executable.deserialize_and_load(*pickle.loads((folder / "compiled").read_bytes()))
    assert (compiled(ramp(96), ramp(96)) == ramp(96) ** 2 + 1).all()
    assert _ptx.registry_size() == 2

    add, multiply = two_kernels()
    x = ramp()
    for k, expected in ((multiply, x**2 + 1), (add, 2 * x + 1)):
        hits.clear()
        result = program(k)(x, x)
        assert len(hits) == 1, hits
        assert (result == expected).all()
    y = ramp(128)
    hits.clear()
    result = program(add)(y, y)  # another shape is another kernel
    assert not hits
    assert (result == 2 * y + 1).all()


def several_devices(folder: Path) -> None:
    """On an even number of devices: sharded inputs under jit, and `jax.shard_map` with its check of what varies and gradients."""
    from functools import partial

    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    import pyptx

    add, multiply = two_kernels()
    count = jax.device_count()
    assert count > 1 and count % 2 == 0
    auto = {"axis_types": (jax.sharding.AxisType.Auto,) * 2} if hasattr(jax.sharding, "AxisType") else {}
    mesh = jax.make_mesh((count // 2, 2), ("row", "column"), **auto)
    sharded = jax.device_put(ramp(256).reshape(4, 64), NamedSharding(mesh, P("row", "column")))
    ones = jnp.ones(32)

    for device in jax.devices():
        x = jax.device_put(ramp(), device)
        y = add(x, x)
        assert y.devices() == {device} and (y == 2 * ramp()).all()

    assert (jax.jit(jax.vmap(add))(sharded, sharded) == 2 * sharded).all()
    whole = jax.device_put(ramp(256), NamedSharding(mesh, P(("row", "column"))))
    assert (jax.jit(add)(whole, whole) == 2 * ramp(256)).all()
    assert (add(whole, whole) == 2 * ramp(256)).all()
    explicit = jax.make_mesh((count,), ("i",))  # where new versions of JAX keep shardings in types
    with jax.set_mesh(explicit):
        x = jax.device_put(ramp(256), NamedSharding(explicit, P()))
        assert (jax.jit(add)(x, x) == 2 * ramp(256)).all()

    shard_map = partial(jax.shard_map, mesh=mesh)  # check_vma is on

    @jax.jit
    @partial(shard_map, in_specs=(P("row", "column"), P(), P("column")), out_specs=P("row", "column"))
    def rows(x, everywhere, of_columns):
        """Inputs that vary over both axes, over none, over one."""
        return jax.vmap(lambda row: add(multiply(row, everywhere), of_columns))(x)

    of_columns = jax.device_put(ramp(), NamedSharding(mesh, P("column")))
    assert (rows(sharded, 3 * ones, of_columns) == 3 * sharded + ramp()).all()

    product = pyptx.differentiable_kernel(multiply, lambda a, b, dy: (multiply(b, dy), multiply(a, dy)))

    def loss(x, weight):
        @partial(shard_map, in_specs=(P("row", "column"), P("column")), out_specs=P())
        def total(x, weight):
            y = jax.vmap(product, in_axes=(0, None))(x, weight)
            return jax.lax.psum((y * y).sum(), ("row", "column"))

        return total(x, weight)

    def expected(x, weight):
        return ((x * weight) ** 2).sum()

    weight = ramp() / 64
    got = jax.jit(jax.grad(loss, argnums=(0, 1)))(sharded, weight)
    for one, other in zip(got, jax.grad(expected, argnums=(0, 1))(ramp(256).reshape(4, 64), weight), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)

    weight_by_scalars = jax.jit(jax.grad(lambda w: loss(sharded, jnp.broadcast_to(w, (64,)))))(jnp.float32(2))
    np.testing.assert_allclose(weight_by_scalars, jax.grad(lambda w: expected(sharded, w))(jnp.float32(2)), rtol=1e-5)
    try:
        jax.jit(jax.grad(lambda x: shard_map(add, in_specs=P("row"), out_specs=P("row"))(x, x).sum()))(ramp())
    except pyptx.PtxError as error:
        assert error.kind == "argument_gradient"
    else:
        raise AssertionError("a gradient without a backward")


if __name__ == "__main__":
    programs = {"first": first, "from_export": from_export, "second": second, "several_devices": several_devices}
    programs[sys.argv[1]](Path(sys.argv[2]))
