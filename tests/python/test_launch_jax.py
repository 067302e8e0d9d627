"""Calls with JAX arrays: eager, under jit, vmap and export, by handle. On the CPU: tests/gpu has the rest."""

import hashlib
import threading
import warnings

import pytest

jax = pytest.importorskip("jax")
np = pytest.importorskip("numpy")

import jax.numpy as jnp  # noqa: E402
from launching import WARP, add, copy_kernel, one_block_too_many, scale, value_and_index  # noqa: E402

import pyptx  # noqa: E402
from pyptx import PtxWarning, Tile, _ptx, jax_support, kernel, types  # noqa: E402
from pyptx.jax_support import ffi, lowering  # noqa: E402
from pyptx.types import f32  # noqa: E402

CPU = jax.devices("cpu")[0]


@pytest.fixture(autouse=True)
def on_cpu():
    with jax.default_device(CPU):
        yield


def ramp(n=64):
    return jnp.arange(n, dtype=jnp.float32)


def image_of_add(n=64):
    return add._plan_for({}).bind([((n,), "float32"), ((n,), "float32")])[0]


# -- calls


def test_eager_and_jitted():
    assert (add(ramp(), ramp()) == 2 * ramp()).all()
    f = jax.jit(lambda a, b: add(a, b) * 2)
    assert (f(ramp(), ramp()) == 4 * ramp()).all()
    assert (f(ramp(96), ramp(96)) == 4 * ramp(96)).all()


def test_each_call_has_its_scalars():
    for factor in (3.0, -2.0, 3.0):
        assert (scale(ramp(), factor=factor) == factor * ramp()).all()
        assert (jax.jit(lambda a: scale(scale(a, factor=factor), factor=0.5))(ramp()) == factor / 2 * ramp()).all()  # noqa: B023


def test_numpy_arrays_beside_jax_arrays():
    assert (add(ramp(), np.arange(64, dtype=np.float32)) == 2 * ramp()).all()


def test_several_outputs_are_a_tuple():
    y, index = jax.jit(value_and_index)(ramp(32))
    assert (y == ramp(32)).all()
    assert index.dtype == jnp.uint32 and index.tolist() == list(range(32))


@pytest.mark.parametrize("dtype", ["f16", "bf16", "s8", "s16", "s32", "u8", "u16", "u32", "e4m3", "e5m2"])
def test_dtypes(dtype):
    ptx_type = types.from_name(dtype)
    x = jnp.arange(32).astype(_ptx.numpy_name(ptx_type))
    y = jax.jit(copy_kernel(ptx_type))(x)
    assert y.dtype == x.dtype
    assert np.asarray(y).tobytes() == np.asarray(x).tobytes()


def test_the_program_carries_the_kernel():
    text = jax.jit(add).lower(ramp(), ramp()).as_text()
    image = image_of_add()
    for part in (
        "pyptx_launch",
        f"cubin_handle = {image.handle} : i64",
        f"abi = {_ptx.launch_abi} : i32",
        "key =",
        "meta =",
        "add.f32",
    ):
        assert part in text
    assert text == jax.jit(add).lower(ramp(), ramp()).as_text()


def test_a_transposed_operand_is_laid_out_first():
    square = ramp().reshape(8, 8)
    f = jax.jit(lambda a: add(a.T.reshape(-1), a.T.reshape(-1)))
    assert (f(square) == 2 * square.T.reshape(-1)).all()


def test_vmap_runs_one_after_the_other():
    a = jnp.stack([ramp(), ramp() + 1, ramp() + 2])
    assert (jax.vmap(add)(a, a) == 2 * a).all()
    assert (jax.vmap(add, in_axes=(0, None))(a, ramp()) == a + ramp()).all()


def test_inside_shard_map():
    mesh = jax.make_mesh((1,), ("i",), devices=[CPU])
    spec = jax.sharding.PartitionSpec("i")
    f = jax.jit(jax.shard_map(add, mesh=mesh, in_specs=(spec, spec), out_specs=spec))
    x = jax.device_put(ramp(), jax.sharding.NamedSharding(mesh, spec))
    assert (np.asarray(f(x, x)) == 2 * ramp()).all()


def test_tensors_without_elements():
    for f in (add, jax.jit(add)):
        y = f(ramp(0), ramp(0))
        assert y.shape == (0,) and y.dtype == jnp.float32
    assert jax.vmap(add)(jnp.zeros((3, 0)), jnp.zeros((3, 0))).shape == (3, 0)
    assert jax.vmap(add)(jnp.zeros((0, 32)), jnp.zeros((0, 32))).shape == (0, 32)


def test_many_threads():
    wrong = []

    def call(n):
        with jax.default_device(CPU):
            for _ in range(10):
                for f in (add, jax.jit(add)):
                    if not (f(ramp(n), ramp(n)) == 2 * ramp(n)).all():
                        wrong.append(n)

    threads = [threading.Thread(target=call, args=(32 * (10 + i % 3),)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# -- an output over an input


# C is the memory of A.
add_in_place = kernel(in_specs=add.in_specs, out_specs=add.out_specs, grid=add.grid, block=WARP, input_output_aliases={0: 0})(
    add.__wrapped__
)


def test_an_input_that_is_written_over_stays_as_it_was():
    f = add_in_place
    x, y = ramp(), ramp()
    assert "output_operand_alias" in jax.jit(f).lower(x, y).as_text()
    for call in (f, jax.jit(f)):
        assert (call(x, y) == 2 * ramp()).all()
        assert (call(x, x) == 2 * ramp()).all()
        assert (x == ramp()).all() and not x.is_deleted()
    assert (jax.jit(lambda a: f(f(a, a), a) + a)(x) == 4 * ramp()).all()  # used afterwards
    rows = jnp.stack([x, x + 1])
    assert (jax.vmap(f)(rows, rows) == 2 * rows).all()
    assert (jax.lax.fori_loop(0, 10, lambda _, a: f(a, y), x) == 11 * ramp()).all()


def test_a_donated_input_gives_its_memory():
    f = jax.jit(add_in_place, donate_argnums=0)
    x, y = ramp(), ramp()
    address = x.unsafe_buffer_pointer()
    z = f(x, y)
    assert x.is_deleted() and not y.is_deleted()
    assert z.unsafe_buffer_pointer() == address
    assert (z == 2 * ramp()).all()


# -- calls that are wrong


@pytest.mark.parametrize("wrap", [lambda k: k, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("call", "kind", "builtin", "says"),
    [
        pytest.param(
            lambda k: k(ramp().astype(jnp.int32), ramp()),
            "argument_dtype",
            TypeError,
            ["argument 0 (`A`)", "int32", "float32"],
            id="dtype",
        ),
        pytest.param(
            lambda k: k(ramp().reshape(8, 8), ramp()),
            "argument_rank",
            ValueError,
            ["argument 0 (`A`)", "float32[8, 8]"],
            id="rank",
        ),
        pytest.param(
            lambda k: k(ramp(), ramp(32)),
            "dim_conflict",
            ValueError,
            ["argument 1 (`B`)", "32 here, 64 from argument 0 (`A`)"],
            id="dims",
        ),
        pytest.param(
            lambda k: k(ramp()), "argument_count", TypeError, ["takes 2 tensors (`A`, `B`); the call has 1"], id="count"
        ),
    ],
)
def test_a_wrong_call_says_what_is_wrong(wrap, call, kind, builtin, says):
    with pytest.raises(builtin) as raised:
        call(wrap(add))
    assert isinstance(raised.value, pyptx.PtxError)
    assert raised.value.kind == kind
    for part in says:
        assert part in str(raised.value)


def test_an_int_beside_a_jax_array():
    with pytest.raises(TypeError, match=r"argument 1 .* is an `int`"):
        add(ramp(), 3)


def test_a_torch_tensor_beside_a_jax_array():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"argument 1 .* is a torch tensor, and argument 0 a JAX array; a call takes one kind"):
        add(ramp(), torch.ones(64))


def test_64_bits():
    copy = copy_kernel(types.f64)
    with pytest.raises(TypeError, match=r"takes float64") as raised:
        copy(jnp.arange(32.0))
    assert raised.value.kind == "argument_dtype" and "jax_enable_x64" in str(raised.value)
    assert any("jax_enable_x64" in note for note in raised.value.notes)
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        y = jax.jit(copy)(jnp.arange(32.0))
        assert y.dtype == jnp.float64 and (y == jnp.arange(32.0)).all()
        with pytest.raises(TypeError) as raised:
            copy(jnp.arange(32, dtype=jnp.float32))
        assert "jax_enable_x64" not in str(raised.value)

    narrowed = lowering.Call("copy", {}, (((32,), np.dtype("float64")),), {})
    with pytest.raises(TypeError, match="output 0 of kernel `copy` is float64; JAX has no 64-bit types"):
        lowering.check_x64(narrowed, [jnp.arange(32, dtype=jnp.float32)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lowering.check_x64(narrowed, [np.arange(32.0)])


def test_a_device_that_no_kernel_runs_on(monkeypatch):
    class Device:
        platform = "tpu"

    x = ramp()
    monkeypatch.setattr(type(x), "devices", lambda self: {Device()})
    with pytest.raises(ValueError, match="argument 0 of kernel `add` is a JAX array on tpu") as raised:
        add(x, x)
    assert raised.value.kind == "argument_device"


def refusing_jaxlib(message):
    def register(*args, **kwargs):
        raise RuntimeError(message)

    return register


def test_a_jaxlib_of_another_ffi(monkeypatch):
    import jaxlib

    says = (
        "XLA FFI handler registration for pyptx_launch on platform HOST failed because the handler's API version (0.4) is "
        "incompatible with the framework's API version ({}). Minimum supported API version is (1.0)."
    )
    monkeypatch.setattr(ffi, "_registered", False)
    for theirs, whom in (("1.2", "pyptx"), ("0.7", "pyptx"), ("0.0", "jaxlib")):
        monkeypatch.setattr(jax.ffi, "register_ffi_target", refusing_jaxlib(says.format(theirs)))
        with pytest.raises(RuntimeError) as raised:
            add(ramp(), ramp())
        expected = (
            f"jaxlib {jaxlib.__version__} speaks XLA FFI {theirs}; this pyptx {_ptx.version} knows 0.1 to 0.4: upgrade {whom}"
        )
        assert str(raised.value) == expected
    monkeypatch.setattr(jax.ffi, "register_ffi_target", refusing_jaxlib("something else"))
    with pytest.raises(RuntimeError, match=r"^something else$"):
        add(ramp(), ramp())


def test_a_program_of_another_abi():
    image = image_of_add()
    theirs = _ptx.launch_abi + 1
    attributes = {"abi": np.int32(theirs), "key": image.key, "meta": image.meta, "ptx": image.ptx_bytes}
    jax_support.ensure_ffi_registered()
    f = jax.ffi.ffi_call("pyptx_launch", jax.ShapeDtypeStruct((64,), jnp.float32))
    says = f"made for launch ABI {theirs}; this process has ABI {_ptx.launch_abi}"
    with pytest.raises(Exception, match=says):
        jax.jit(lambda a, b: f(a, b, **attributes)).lower(ramp(), ramp()).compile()


def test_lowered_and_compiled_ahead():
    compiled = jax.jit(add).lower(jax.ShapeDtypeStruct((64,), "float32"), ramp()).compile()
    assert (compiled(ramp(), ramp()) == 2 * ramp()).all()
    assert "pyptx_launch" in compiled.as_text()


def test_a_fault_of_the_kernel_is_an_error_of_the_program():
    with pytest.raises(Exception, match="out_of_bounds") as raised:
        jax.block_until_ready(jax.jit(one_block_too_many)(ramp(32)))
    assert "launching.py" in str(raised.value)


# -- by handle


def by_handle(handle, n=64):
    specs = {"out_specs": (Tile("N", f32),), "out_shape_env": {"N": n}, "grid": (n // 32, 1, 1), "block": (32, 1, 1)}
    return lambda a, b: jax_support.call_kernel_via_ffi(a, b, cubin_handle=handle, **specs)


def test_calls_by_handle():
    call = by_handle(image_of_add().handle)
    assert (call(ramp(), ramp()) == 2 * ramp()).all()
    assert (jax.jit(call)(ramp(), ramp()) == 2 * ramp()).all()
    with pytest.raises(ValueError, match="has the grid"):
        by_handle(image_of_add().handle, 96)(ramp(96), ramp(96))


def test_an_unknown_handle_lowers_and_then_says_so():
    lowered = jax.jit(by_handle(42)).lower(ramp(), ramp())
    text = lowered.as_text()
    assert "pyptx_launch" in text and "cubin_handle = 42 : i64" in text
    with pytest.raises(Exception, match="no kernel with handle 42 is registered in this process"):
        lowered.compile()


def test_a_text_lowers_and_runs():
    image = image_of_add()
    handle = jax_support.get_cubin_registry().register("// a text\n" + image.ptx, "add", grid=(2, 1, 1), block=(32, 1, 1))
    lowered = jax.jit(by_handle(handle)).lower(ramp(), ramp())
    assert "// a text" in lowered.as_text()
    assert jnp.array_equal(lowered.compile()(ramp(), ramp()), 2 * ramp())


def test_attributes_keep_every_byte():
    """XLA's CPU compiler writes attributes as text and reads them again. The handler finds the key wrong if one byte of 256 is
    lost."""
    meta = image_of_add().meta
    text = b".version 8.5\n.target sm_90a\n// " + bytes(range(256)) + bytes(reversed(range(256)))

    def compiled(key):
        attributes = {"abi": np.int32(_ptx.launch_abi), "key": key, "meta": meta, "ptx": text}
        jax_support.ensure_ffi_registered()
        f = jax.ffi.ffi_call("pyptx_launch", jax.ShapeDtypeStruct((64,), jnp.float32))
        return jax.jit(lambda a, b: f(a, b, **attributes)).lower(ramp(), ramp()).compile()

    key = hashlib.sha256(text + meta).digest()
    with pytest.raises(Exception, match="is not PTX that can run"):
        compiled(key)
    with pytest.raises(Exception, match="do not have the key that the call names"):
        compiled(key[::-1])


def test_a_stand_in_for_a_kernel_lowers_and_fails_when_it_is_run():
    stand_in = jax_support.get_cubin_registry().register("// no kernel yet", "stand_in")
    launch = {"out_specs": (Tile("N", f32),), "out_shape_env": {"N": 8}, "grid": (1, 1, 1), "block": (32, 1, 1)}
    f = jax.jit(lambda x: jax_support.call_kernel_via_ffi(x, cubin_handle=stand_in, **launch))
    with pytest.warns(PtxWarning, match="cannot be launched: the text of kernel `stand_in` is not PTX"):
        assert "pyptx_launch" in f.lower(jnp.zeros(8)).as_text()
    with pytest.raises(Exception, match="no kernel with handle"):
        f(jnp.zeros(8))


def test_registering_twice_is_once():
    assert jax_support.ensure_ffi_registered() and jax_support.ensure_ffi_registered()


def test_one_bytes_object_for_each_attribute():
    image = image_of_add()
    outputs = (((64,), np.dtype("float32")),)
    one, other = (lowering.call_of(each, outputs).attributes for each in (image, _ptx.find_image(image.handle)))
    assert all(one[name] is other[name] for name in one)
