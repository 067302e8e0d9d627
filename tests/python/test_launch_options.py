"""What a kernel says of its launch besides grid and block, and what a call says besides its tensors: `out=`, tensors changed in
place, TMA descriptors by value, cooperative and programmatic launches, `prepare`. On the CPU: tests/gpu has the rest."""

import gc
import re
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from launching import WARP, add, offset, repeat, scale, value_and_index  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, _ptx, kernel, ptx, reg  # noqa: E402
from pyptx.specs import Layout  # noqa: E402
from pyptx.types import bf16, f32, u32  # noqa: E402


def ramp(n=64):
    return np.arange(n, dtype=np.float32)


def torch_ramp(n=64):
    return pytest.importorskip("torch").arange(n, dtype=pytest.importorskip("torch").float32)


def increment_kernel(**more):
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // WARP, block=WARP, **more)
    def increment(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        at = offset(4)
        px += at
        py += at
        x = reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(px))
        ptx.inst.add.f32(x, x, 1.0)
        ptx.inst.st.global_.f32(ptx.addr(py), x)
        ptx.ret()

    return increment


both = pytest.mark.parametrize("make", [ramp, torch_ramp], ids=["numpy", "torch"])


# -- out=


@both
def test_outputs_are_written_where_the_caller_wants(make):
    x, y = make(), make()
    for _ in range(2):  # the second call is the fast one
        y[:] = -1
        assert add(x, x, out=y) is y
        assert (y == 2 * x).all()
        assert add(x, x, out=(y,)) is y
    assert add(x, x, out=None) is not y


@both
def test_several_outputs_are_a_tuple(make):
    x = make(32)
    y, index = value_and_index(x)
    y[:] = -1
    got = value_and_index(x, out=[y, index])
    assert isinstance(got, tuple) and got[0] is y and got[1] is index
    assert (y == x).all()


@both
def test_keywords_beside_out(make):
    x, y = make(32), make(32)
    assert scale(x, factor=3.0, out=y) is y
    assert (y == 3 * x).all()
    rows = repeat(x, R=2)
    assert repeat(x, R=2, out=rows) is rows


@both
def test_an_output_may_be_an_input(make):
    increment, x = increment_kernel(), make()
    assert increment(x, out=x) is x
    assert (x == make() + 1).all()


def test_a_first_call_may_have_out():
    increment, x = increment_kernel(), ramp()
    y = np.empty_like(x)
    assert increment(x, out=y) is y
    assert (y == x + 1).all()


def test_a_template_parameter_named_out_is_one():
    @kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile(WARP, f32),), grid=1, block=WARP)
    def write(X, Y, *, out=1.0):
        (py,) = ptx.global_ptrs(Y)
        ptx.inst.st.global_.f32(ptx.addr(py + offset(4)), reg.scalar(f32, init=out))
        ptx.ret()

    assert (write(ramp(32), out=5.0) == 5).all()
    assert (write(ramp(32)) == 1).all()


@both
@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        pytest.param(lambda y: 3, TypeError, "output 0 (`C`) of kernel `add` is an `int`; `out` takes a tensor", id="kind"),
        pytest.param(lambda y: (y, y), TypeError, "kernel `add` has 1 output; `out` has 2 tensors", id="count"),
        pytest.param(lambda y: y[:32], ValueError, "output 0 (`C`) of kernel `add`: the tensor has another shape", id="shape"),
        pytest.param(lambda y: y.reshape(8, 8), ValueError, "the tensor has 2 dimensions; the kernel writes 1", id="rank"),
        pytest.param(
            lambda y: y.repeat(2)[::2], ValueError, "strides are (2,) elements; the kernel writes row-major", id="strides"
        ),
    ],
)
def test_an_out_that_does_not_fit(make, wrong, error, says):
    for _ in range(2):
        with pytest.raises(error, match=re.escape(says)) as raised:
            add(make(), make(), out=wrong(make()))
        assert isinstance(raised.value, pyptx.PtxError)
        add(make(), make())


def test_an_out_of_another_type_or_without_permission():
    with pytest.raises(TypeError, match=r"output 0 .* element type is float64; the kernel writes float32"):
        add(ramp(), ramp(), out=np.empty(64))
    frozen = ramp()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="the tensor is read-only"):
        add(ramp(), ramp(), out=frozen)


@both
def test_an_out_that_overlaps_an_input(make):
    memory = make(65)
    with pytest.raises(ValueError, match=r"output 0 .*: the tensor overlaps argument 0 \(`A`\) .* without being it"):
        add(memory[:64], make(), out=memory[1:])


@both
def test_outputs_that_share_memory(make):
    y, index = value_and_index(make(32))
    for wrong in ((y, y.view(index.dtype)), (y[:], y.view(index.dtype))):
        with pytest.raises(ValueError, match=r"output 1 .* shares memory with output 0"):
            value_and_index(make(32), out=wrong)
    value_and_index(make(32), out=(y, index))


def test_an_out_list_that_makes_its_tensors_as_they_are_asked_for():
    class Fresh(list):
        def __iter__(self):
            return iter([ramp()])

    assert (add(ramp(), ramp(), out=Fresh([None])) == 2 * ramp()).all()


def test_a_call_without_inputs_runs_on_the_host():
    @kernel(in_specs=(), out_specs=(Tile(WARP, f32),), grid=1, block=WARP)
    def ones(Y):
        (py,) = ptx.global_ptrs(Y)
        ptx.inst.st.global_.f32(ptx.addr(py + offset(4)), reg.scalar(f32, init=1.0))
        ptx.ret()

    y = ramp(32)
    assert ones(out=y) is y and (y == 1).all()
    assert (ones() == 1).all()


def test_a_lazily_negated_element_is_not_read_as_it_lies():
    torch = pytest.importorskip("torch")

    @kernel(in_specs=(Tile(1, f32),), out_specs=(Tile(1, f32),), grid=1, block=1)
    def copy(X, Y):
        px, py = ptx.global_ptrs(X, Y)
        x = reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(px))
        ptx.inst.st.global_.f32(ptx.addr(py), x)
        ptx.ret()

    plain = torch.tensor([2.0])
    negated = torch.tensor(1 + 2j).conj().imag.reshape(1)
    assert negated.is_neg() and negated.item() == -2
    for _ in range(2):
        assert copy(plain).item() == 2
        with pytest.raises(ValueError, match=r"resolve_neg"):
            copy(negated)
        with pytest.raises(ValueError, match=r"resolve_neg"):
            copy(plain, out=negated)


def test_an_out_that_requires_a_gradient():
    torch = pytest.importorskip("torch")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="`out` of kernel `add` requires a gradient"):
            add(torch_ramp(), torch_ramp(), out=torch_ramp().requires_grad_())
        with torch.no_grad():
            add(torch_ramp(), torch_ramp(), out=torch_ramp().requires_grad_())


def test_autograd_notices_what_a_kernel_writes_to():
    torch = pytest.importorskip("torch")
    x, w = torch_ramp(), torch_ramp().requires_grad_()
    for write in (lambda: add(torch_ramp(), torch_ramp(), out=x), lambda: increment_kernel(input_output_aliases={0: 0})(x)):
        version, loss = x._version, (w * x).sum()
        write()
        assert x._version == version + 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
    with torch.inference_mode():
        assert add(torch_ramp(), torch_ramp(), out=torch_ramp()) is not None


def test_jax_arrays_are_never_written_to():
    jnp = pytest.importorskip("jax.numpy")
    with pytest.raises(TypeError, match="is called with JAX arrays and `out`; a JAX array is never written to"):
        add(jnp.asarray(ramp()), jnp.asarray(ramp()), out=ramp())


# -- tensors that a kernel changes


@both
def test_a_kernel_that_changes_its_input(make):
    increment, x = increment_kernel(input_output_aliases={0: 0}), make()
    assert increment.input_output_aliases == {0: 0}
    for step in (1, 2, 3):
        assert increment(x) is x
        assert (x == make() + step).all()
    assert increment(x, out=x) is x
    with pytest.raises(ValueError, match=r"output 0 .* is written where argument 0 .* lies; the call gives another tensor"):
        increment(x, out=make())


def test_a_changed_array_must_be_writable():
    x = ramp()
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"argument 0 .*: the kernel writes it, and it is read-only"):
        increment_kernel(input_output_aliases={0: 0})(x)


@pytest.mark.parametrize(
    "aliases, missing", [({0: 1}, "output 1"), ({1: 0}, "input 1"), ({-1: 0}, "input -1"), ({0: -1}, "output -1")], ids=str
)
def test_aliases_of_what_is_not_there(aliases, missing):
    with pytest.raises(ValueError, match=f"kernel `increment` has no {missing}: its 1 .*s are counted from 0"):
        increment_kernel(input_output_aliases=aliases)


@both
def test_inputs_that_no_output_may_be(make):
    increment, x = increment_kernel(inputs_apart=[0]), make()
    assert increment.inputs_apart == (0,)
    assert (increment(x) == x + 1).all()
    assert (increment(x, out=make()) == x + 1).all()
    with pytest.raises(ValueError, match=r"output 0 .* lies where argument 0 .* does, which the kernel reads again when parts"):
        increment(x, out=x)
    assert increment_kernel()(x, out=x) is x


@pytest.mark.parametrize("wrong, says", [
    ({"inputs_apart": (1,)}, "has no input 1 that it only reads: its 1 inputs"), ({"inputs_apart": (-1,)}, "has no input -1"),
    ({"inputs_apart": (0,), "input_output_aliases": {0: 0}}, "has no input 0 that it only reads"),
    ({"inputs_apart": "A"}, "`inputs_apart` is `'A'`"),
])  # fmt: skip
def test_inputs_apart_that_are_not_there(wrong, says):
    with pytest.raises((ValueError, TypeError), match=says):
        increment_kernel(**wrong)


def test_a_kernel_that_changes_its_input_has_no_gradient():
    torch = pytest.importorskip("torch")
    increment = increment_kernel(input_output_aliases={0: 0})
    with pytest.raises(RuntimeError, match="kernel `increment` changes its inputs and cannot have a gradient"):
        pyptx.differentiable_kernel(increment, increment_kernel())(torch.ones(32, requires_grad=True))


def test_an_alias_has_the_size_of_its_input():
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile(WARP, f32),), grid=1, block=WARP, input_output_aliases={0: 0})
    def shorter(X, Y):
        ptx.ret()

    with pytest.raises(ValueError, match=r"output 0 .* is written where argument 0 .* lies, and is 128 bytes; .* is 256"):
        shorter(ramp(64))


# -- nothing to compute


@both
def test_tensors_without_elements(make):
    y = add(make(0), make(0))
    assert y.shape == (0,) and y.dtype == make().dtype
    out = make(0)
    assert add(make(0), make(0), out=out) is out


# -- TMA descriptors


def described(**more):
    @kernel(in_specs=(Tile(64, 64, bf16, Layout.TMA_128B),), out_specs=(Tile(64, 64, bf16),), grid=1, block=WARP, **more)
    def copied(X, Y):
        reg.from_(Y.tma_desc(), pyptx.types.u64)
        reg.from_(X.tma_desc(), pyptx.types.u64)
        ptx.ret()

    return copied


def test_descriptors_by_value():
    text = described(tma="value").ptx()
    assert ".param .align 128 .b8 Y_tma_desc[128]" in text
    assert [line.strip() for line in text.splitlines() if "tma_desc" in line and ".param ." not in line] == [
        "mov.b64 %rd0, Y_tma_desc;",
        "mov.b64 %rd2, X_tma_desc;",
    ]
    assert text.index("cvta.param.u64 %rd2, %rd2;") < text.index("mov.u64 %rd")
    assert ".param .u64 Y_tma_desc" in described().ptx()
    with pytest.raises(ValueError, match="`tma` is `'pointer'`; what fits is 'address'"):
        described(tma="pointer")


def test_descriptors_of_the_authors_own():
    own = _ptx.TensorMap.tiled((64, 64), bf16, (8, 64), swizzle="128B", fill="nan")
    for given in (own, lambda: own):
        k = described(tma="value", tensor_maps={"X": given})
        image = k._image_for((), {})
        assert dict(image.descriptors)[0] == own
        assert dict(image.descriptors)[1].swizzle == "NONE"
    with pytest.raises(ValueError, match=r"tensor map of `X` of kernel `copied` is `3`"):
        described(tensor_maps={"X": lambda: 3})._image_for((), {})
    with pytest.raises(TypeError, match="`tensor_maps` names `Z`, which is not a tensor of kernel `copied`"):
        described(tensor_maps={"Z": own})


def test_maps_that_no_copy_takes():
    for wrong, says in (
        (lambda: _ptx.TensorMap.tiled((64, 64), bf16, (8, 128), swizzle="128B"), "swizzle 128B takes at most 128"),
        (lambda: _ptx.TensorMap.tiled((64, 64), bf16, (8,)), "the box has 1 dimensions, the tensor 2"),
        (
            lambda: _ptx.TensorMap.tiled((64, 64), bf16, (8, 8), swizzle="16B"),
            "`swizzle` of a tensor map is `16B`; what fits is `NONE`",
        ),
        (lambda: _ptx.TensorMap.tiled((64, 64), bf16, (8, 8), strides=(100,)), "a tensor map needs a multiple of 16"),
        (lambda: _ptx.TensorMap.tiled((64, 64), bf16, (8, 8), strides=(128, 2)), "has 1 strides, not 2"),
        (lambda: _ptx.TensorMap.tiled((), bf16, ()), "1 to 5 dimensions, not 0"),
        (lambda: _ptx.TensorMap.im2col((2, 8, 8, 64), bf16, (-1,), (-1,), 64, 128), "has 2 of space"),
        (lambda: _ptx.TensorMap.im2col((2, 8, 8, 64), bf16, (-1, -1), (-1, -9), 64, 128), "is empty in a dimension of 8"),
    ):
        with pytest.raises(ValueError, match=re.escape(says)):
            wrong()


@pytest.mark.parametrize("dtype", [t for t in _ptx.TYPES if _ptx.numpy_name(t)], ids=str)
def test_every_type_of_tensors_has_a_map(dtype):
    made = _ptx.TensorMap.of(Tile(64, 64, dtype))
    assert made.shape == (64, 64)
    assert made.box_bytes == 64 * 64 * max(8, dtype.bits) // 8


# -- ways of launching


def test_ways_of_launching_belong_to_the_image():
    plain = increment_kernel()._image_for((), {"N": 64})
    cooperative = increment_kernel(cooperative=True)._image_for((), {"N": 64})
    assert not plain.cooperative and cooperative.cooperative and not cooperative.programmatic
    assert plain.handle != cooperative.handle


def test_a_programmatic_launch_waits():
    with pytest.raises(
        ValueError, match="kernel `increment` is launched before the kernel ahead of it has ended, and never waits"
    ):
        increment_kernel(programmatic=True)(ramp())

    @kernel(in_specs=(Tile(WARP, f32),), out_specs=(Tile(WARP, f32),), grid=1, block=WARP, programmatic=True)
    def waits(X, Y):
        ptx.inst.griddepcontrol.wait()
        ptx.ret()

    assert waits._image_for((), {}).programmatic


# -- prepare


def test_prepare_needs_every_size_and_a_gpu():
    with pytest.raises(KeyError, match="dimension `N` of kernel `add` has no size"):
        add.prepare()
    if _ptx.why_no_gpu() is not None:
        with pytest.raises(RuntimeError) as raised:
            add.prepare(N=64)
        assert raised.value.kind in ("no_driver", "no_device")
        with pytest.raises(RuntimeError, match="CUDA driver"):
            add.prepare(ramp(), ramp())
    add.prepare(ramp(0), ramp(0))  # nothing is ever launched


# -- what a dropped kernel leaves


def test_a_dropped_kernel_leaves_no_image():
    gc.collect()
    before = _ptx.registry_size()
    handle = increment_kernel()._image_for((), {"N": 96}).handle
    gc.collect()
    assert _ptx.find_image(handle) is None
    assert _ptx.registry_size() <= before


def test_what_jax_has_compiled_stays():
    jax = pytest.importorskip("jax")
    increment = increment_kernel()
    compiled = jax.jit(increment).lower(ramp(160)).compile()
    handle = increment._image_for((), {"N": 160}).handle
    del increment
    gc.collect()
    assert _ptx.find_image(handle) is not None
    assert (compiled(ramp(160)) == ramp(160) + 1).all()


def test_a_kernel_shows_its_python_call_to_tools():
    assert type(add).__call__.__doc__.startswith("Runs the kernel on numpy arrays")
    assert callable(add)
    with pytest.raises(TypeError, match="no template parameter or dimension `M`"):
        add(ramp(), ramp(), M=3)


def test_another_call_may_be_put_in_its_place(calls_go_to):
    increment = increment_kernel()
    assert (increment(ramp()) == ramp() + 1).all()
    undo = calls_go_to(type(increment), lambda self, x: "mine")
    assert increment(ramp()) == "mine"
    undo()
    assert (increment(ramp()) == ramp() + 1).all()
    with pytest.raises(TypeError) as error:
        increment(5)
    assert [entry.path for entry in error.traceback] == [Path(__file__)]  # calls go by the plan again

    class Louder(type(increment)):
        def __call__(self, *arrays, **more):
            return 10 * super().__call__(*arrays, **more)

    louder = Louder(increment.__wrapped__, in_specs=increment.in_specs, out_specs=increment.out_specs, grid=2, block=WARP)
    for _ in range(2):
        assert (louder(ramp()) == 10 * (ramp() + 1)).all()


def test_a_call_refuses_what_it_does_not_know():
    u = ramp().astype(np.uint32)
    with pytest.raises(TypeError, match="float32"):
        add(u, u)
    assert u32.bits == 32


# -- save


def test_a_kernel_in_a_file(tmp_path):
    path = tmp_path / "scale.ptxk"
    scale.save(path, N=64, factor=3.0, targets=[])
    image = _ptx.load(str(path))
    x, y = ramp(), np.empty_like(ramp())
    image.launch([x], [y])
    assert (y == 3 * x).all()
    assert image.handle == scale._image_for((), {"N": 64, "factor": 3.0}).handle
    add.save(path, ramp(96), ramp(96), targets=[])
    assert _ptx.load(str(path)).entry == "add"
    with pytest.raises(KeyError, match="dimension `N` of kernel `add` has no size"):
        add.save(path)
    with pytest.raises(ValueError, match="there is nothing to save"):
        add.save(path, N=0)
    with pytest.raises(OSError, match="cannot"):
        add.save(tmp_path / "no" / "such" / "folder", N=64, targets=[])
