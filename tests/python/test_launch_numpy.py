"""Calls with numpy arrays, and every way in which a call can be wrong."""

import hashlib
import importlib.util
import threading
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from launching import add, copy_kernel, one_block_too_many, repeat, scale, value_and_index, zeros_like_matmul  # noqa: E402

import pyptx  # noqa: E402
from pyptx import Tile, _ptx, kernel, ptx, reg, types  # noqa: E402
from pyptx.types import f32  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "rms_norm.py"
no_gpu = pytest.mark.skipif(_ptx.why_no_gpu() is None, reason="this machine has a GPU")


@pytest.fixture(scope="module")
def build_rms_norm():
    spec = importlib.util.spec_from_file_location("rms_norm_of_launch_tests", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build_rms_norm


@pytest.fixture(scope="module")
def rms_norm(build_rms_norm):
    return build_rms_norm(16, 512)


X, W = np.ones((16, 512), np.float32), np.ones(512, np.float32)


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 1000, block=32)
def empty_grid(X, Y):
    ptx.ret()


def ramp(n=64, dtype=np.float32):
    return np.arange(n).astype(dtype)


# -- calls


def test_rms_norm_is_right_to_float32(rms_norm):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((16, 512), np.float32), rng.standard_normal(512, np.float32)
    exact = x.astype(np.float64)
    exact = exact / np.sqrt((exact**2).mean(axis=1, keepdims=True) + 1e-6) * w
    y = rms_norm(x, w)
    assert y.dtype == np.float32 and y.shape == (16, 512)
    assert np.max(np.abs(y - exact) / np.abs(exact)) < 1e-6


def test_dimensions_are_bound_at_the_call():
    before = add._plan_for({}).specialisations
    for n in (32, 96, 32, 160):
        assert (add(ramp(n), ramp(n)) == 2 * ramp(n)).all()
    assert add._plan_for({}).specialisations - before <= 3


def test_several_outputs_are_a_tuple_each_of_its_dtype():
    y, index = value_and_index(ramp(32) * 0.5)
    assert (y == ramp(32) * 0.5).all() and y.dtype == np.float32
    assert (index == np.arange(32)).all() and index.dtype == np.uint32


DTYPES = "f16 bf16 f32 f64 s8 s16 s32 s64 u8 u16 u32 u64 b8 b16 b32 b64 e4m3 e5m2"


@pytest.mark.parametrize("dtype", DTYPES.split())
def test_every_dtype_goes_in_and_comes_out(dtype):
    ptx_type = types.from_name(dtype)
    name = _ptx.numpy_name(ptx_type)
    if not hasattr(np, name):
        ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(32).astype(getattr(np, name) if hasattr(np, name) else getattr(ml_dtypes, name))
    y = copy_kernel(ptx_type)(x)
    assert y.dtype == x.dtype
    assert y.tobytes() == x.tobytes()


def test_inputs_may_be_read_only():
    x = ramp()
    x.flags.writeable = False
    assert (add(x, x) == 2 * ramp()).all()


def test_anything_with_dlpack_is_a_tensor():
    class Box:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    assert (add(Box(ramp()), Box(ramp())) == 2 * ramp()).all()


def test_dimensions_of_outputs_are_given_by_name():
    y = repeat(ramp(32), R=3)
    assert y.shape == (3, 32)
    assert (y == ramp(32)).all()


def test_scalars_are_arguments():
    assert (scale(ramp(), factor=3.0) == 3 * ramp()).all()
    assert (scale(ramp(), factor=-2) == -2 * ramp()).all()


def constant(made):
    """Y = VALUE, an int; its body adds itself to `made` when it is traced."""

    @kernel(in_specs=(Tile(32, types.u32),), out_specs=(Tile(32, types.u32),), grid=1, block=32, raw_params=[("u32", "more")])
    def constant(X, Y, *, VALUE=1):
        made.append(VALUE)
        (y,) = ptx.global_ptrs(Y)
        value = ptx.param(types.u32, "more") + VALUE
        ptx.inst.st.global_.u32(ptx.addr(y + reg.from_(ptx.special.tid.x(), types.u32) * 4), value)
        ptx.ret()

    return constant


def test_a_call_does_not_remember_the_keywords_of_the_one_before():
    k, x, made = constant(traced := []), np.zeros(32, np.uint32), []
    for keywords in ({}, {"VALUE": 5}, {}, {"VALUE": 7}, {"VALUE": 5}, {"VALUE": 1}, {}):
        k.ptx(VALUE=9)
        made.append(int(k(x, more=0, **keywords)[31]))
    assert made == [1, 5, 1, 7, 5, 1, 1]
    assert sorted(traced) == [1, 5, 7, 9]


def test_another_value_of_a_scalar_is_the_same_kernel():
    k, x = constant(traced := []), np.zeros(32, np.uint32)
    wrong = ((0.5, "takes an integer"), (None, "is a `NoneType`"), ("3", "is a `str`; what fits is a number"))
    for value, why in wrong:
        with pytest.raises((ValueError, TypeError), match=why):
            k(x, more=value)
    assert int(k(x, more=3)[0]) == 4
    images = _ptx.registry_size()
    assert [int(k(x, more=more)[0]) for more in (2, 3, 1 << 31, -1, np.uint32(8))] == [3, 4, (1 << 31) + 1, 0, 9]
    assert traced == [1]
    plan = k._plan_for({"more": 5})
    assert (plan, plan.specialisations, _ptx.registry_size()) == (k._plan_for({"more": 6}), 1, images)
    for value, why in wrong:
        with pytest.raises((ValueError, TypeError), match=f"parameter `more` of kernel `constant`:? .*{why}"):
            k(x, more=value)


def test_an_image_has_the_scalars_that_it_is_bound_with():
    plan = constant([])._plan_for({"more": 1})
    specs, (one, two) = [((32,), "uint32")], ((1,), (2,))
    first, _ = plan.bind(specs)
    assert plan.bind(specs, (None,))[0].key == first.key != plan.bind(specs, two)[0].key
    assert plan.bind(specs, one)[0].handle == first.handle  # the values of the call that made it
    with pytest.raises(TypeError, match="has 1 scalar parameters; the launch has 2"):
        plan.bind(specs, (1, 2))
    with pytest.raises(TypeError, match="takes tensors, `out` and `scalars`, not the keyword 'more'"):
        plan(np.zeros(32, np.uint32), more=3)


def test_a_scalar_may_be_a_dimension_or_a_template_value():
    @kernel(
        in_specs=(Tile("N", types.u32),), out_specs=(Tile("N", types.u32),), grid=1, block=32,
        raw_params=[("u32", "N"), ("u32", "BM")],
    )  # fmt: skip
    def sizes(X, Y, *, BM=3):
        (y,) = ptx.global_ptrs(Y)
        ptx.inst.st.global_.u32(ptx.addr(y), ptx.param(types.u32, "N"))
        ptx.inst.st.global_.u32(ptx.addr(y, 4), ptx.param(types.u32, "BM"))
        ptx.ret()

    made = [sizes(np.zeros(n, np.uint32), **keywords)[:2].tolist() for n, keywords in ((32, {}), (64, {"BM": 5}), (96, {}))]
    assert made == [[32, 3], [64, 5], [96, 3]]


def test_many_threads_call_one_kernel():
    k = copy_kernel(f32)
    wrong = []

    def call(seed):
        x = np.random.default_rng(seed).standard_normal(32, np.float32)
        for _ in range(20):
            if not (k(x) == x).all():
                wrong.append(seed)

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert k._plan_for({}).specialisations == 1


def test_an_image_is_named_by_its_content(build_rms_norm):
    def image():
        return build_rms_norm(16, 512)._plan_for({}).bind([((16, 512), "float32"), ((512,), "float32")])[0]

    one, other = image(), image()
    assert one.key == hashlib.sha256(one.ptx.encode() + one.meta).digest() == other.key
    assert one.handle == other.handle == int.from_bytes(one.key[:8], "little") & (2**63 - 1)
    assert _ptx.find_image(one.handle).key == one.key
    assert one.ptx_bytes is one.ptx_bytes
    assert (one.entry, one.grid, one.block, one.inputs, one.outputs) == ("rms_norm", (16, 1, 1), (32, 1, 1), 2, 1)


def test_scalar_parameters_have_values_and_are_scalars():
    with pytest.raises(TypeError, match="without its parameter `factor`") as raised:
        scale(ramp())
    assert raised.value.kind == "argument_count"

    @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, raw_params=[("b8.align64.array128", "map")])
    def of_bytes(X, Y): ...

    for keywords in ({}, {"map": 3}):
        with pytest.raises(NotImplementedError, match=r"its parameter `map` \(b8.align64.array128\) is not a scalar"):
            of_bytes(ramp(32), **keywords)


# -- calls that are wrong


@pytest.mark.parametrize(
    ("call", "kind", "builtin", "says"),
    [
        pytest.param(
            lambda k: k(X.astype(np.float64), W),
            "argument_dtype",
            TypeError,
            [
                "argument 0 (`X`) of kernel `rms_norm`: the element type is float64; the kernel takes float32",
                "takes: float32[16, 512]",
                "given: float64[16, 512]",
            ],
            id="dtype",
        ),
        pytest.param(lambda k: k(X.astype(">f4"), W), "argument_dtype", TypeError, ["big-endian float32"], id="byte order"),
        pytest.param(lambda k: k(X.astype(np.complex64), W), "argument_dtype", TypeError, ["complex64"], id="complex"),
        pytest.param(lambda k: k(X, W.astype("U4")), "argument_dtype", TypeError, ["argument 1 (`W`)", "str"], id="text"),
        pytest.param(
            lambda k: k(X, W.reshape(1, 512)),
            "argument_rank",
            ValueError,
            ["argument 1 (`W`) of kernel `rms_norm`", "takes: float32[512]", "given: float32[1, 512]"],
            id="rank",
        ),
        pytest.param(
            lambda k: k(np.float32(1), W), "argument_rank", ValueError, ["argument 0 (`X`)", "given: float32[]"], id="scalar"
        ),
        pytest.param(
            lambda k: k(X[:, :256].copy(), W),
            "argument_dim",
            ValueError,
            ["argument 0 (`X`) of kernel `rms_norm`", "512", "256"],
            id="fixed dim",
        ),
        pytest.param(
            lambda k: k(np.asfortranarray(X), W),
            "argument_layout",
            ValueError,
            ["argument 0 (`X`)", "strides are (1, 16) elements; the kernel takes row-major (512, 1)", "ascontiguousarray"],
            id="layout",
        ),
        pytest.param(
            lambda k: k(X, np.ones(1024, np.float32)[::2]),
            "argument_layout",
            ValueError,
            ["argument 1 (`W`)", "strides are (2,)"],
            id="strided",
        ),
        pytest.param(
            lambda k: k(X, np.broadcast_to(np.float32(1), 512)),
            "argument_layout",
            ValueError,
            ["strides are (0,)"],
            id="broadcast",
        ),
        pytest.param(
            lambda k: k(X, np.frombuffer(bytes(2049), np.uint8)[1:].view(np.float32)),
            "argument_alignment",
            ValueError,
            ["argument 1 (`W`)", "is not a multiple of 4 bytes"],
            id="alignment",
        ),
        pytest.param(
            lambda k: k(X, 3),
            "argument_kind",
            TypeError,
            ["argument 1 (`W`) of kernel `rms_norm` is an `int`; it takes a tensor", "takes: float32[512]"],
            id="int",
        ),
        pytest.param(
            lambda k: k(None, W), "argument_kind", TypeError, ["argument 0 (`X`) of kernel `rms_norm` is a `NoneType`"], id="None"
        ),
        pytest.param(lambda k: k(X, [1.0] * 512), "argument_kind", TypeError, ["is a `list`"], id="list"),
        pytest.param(lambda k: k(X, np.ndarray), "argument_kind", TypeError, ["is a `type`"], id="a type"),
        pytest.param(
            lambda k: k(X),
            "argument_count",
            TypeError,
            ["kernel `rms_norm` takes 2 tensors (`X`, `W`); the call has 1"],
            id="too few",
        ),
        pytest.param(
            lambda k: k(X, W, X),
            "argument_count",
            TypeError,
            ["the call has 3", "outputs are returned, not passed"],
            id="too many",
        ),
        pytest.param(
            lambda k: zeros_like_matmul(np.ones((32, 8), np.float32), np.ones((4, 32), np.float32)),
            "dim_conflict",
            ValueError,
            ["argument 1 (`B`)", "conflicting sizes of dimension `K`: 4 here, 8 from argument 0 (`A`)"],
            id="symbolic dims",
        ),
        pytest.param(
            lambda k: repeat(ramp(32)),
            "dim_unbound",
            KeyError,
            ["output `Y` of kernel `repeat`", "give its size by name at the call"],
            id="unbound dim",
        ),
        pytest.param(lambda k: empty_grid(ramp()), "launch_config", ValueError, ["grid"], id="no blocks"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(rms_norm, call, kind, builtin, says):
    with pytest.raises(builtin) as raised:
        call(rms_norm)
    assert isinstance(raised.value, pyptx.PtxError)
    assert raised.value.kind == kind
    text = str(raised.value)
    for part in says:
        assert part in text
    assert len(text.splitlines()) <= 12
    if kind != "launch_config":
        assert raised.value.where[0] == __file__, text


class OnCuda:
    """A tensor that says it is on a GPU."""

    def __init__(self, array, device=(2, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **kwargs):
        return capsule_of(self.array, self.device)


def capsule_of(array, device):
    """A DLPack capsule of the array, its device changed."""
    import ctypes

    capsule = array.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointer = get(capsule, b"dltensor")
    ctypes.c_int32.from_address(pointer + 8).value = device[0]
    ctypes.c_int32.from_address(pointer + 12).value = device[1]
    return capsule


def test_tensors_on_two_devices(rms_norm):
    with pytest.raises(ValueError, match="on different devices") as raised:
        rms_norm(X, OnCuda(W, (2, 1)))
    assert raised.value.kind == "argument_device"
    assert "argument 0 (`X`) on cpu, argument 1 (`W`) on cuda:1" in str(raised.value)


def test_a_device_that_nobody_knows(rms_norm):
    with pytest.raises(ValueError, match=r"argument 0 .*DLPack device 8"):
        rms_norm(OnCuda(X, (8, 0)), W)


@no_gpu
def test_no_gpu_when_one_is_asked_for(rms_norm):
    image, _ = rms_norm._plan_for({}).bind([((16, 512), "float32"), ((512,), "float32")])
    with pytest.raises(RuntimeError) as raised:
        image.prepare(0)
    assert raised.value.kind in ("no_driver", "no_device")
    assert "CPU tensors still work" in str(raised.value)
    with pytest.raises(RuntimeError, match="CPU tensors still work"):
        _ptx.detect_arch()
    assert _ptx.device_count() == 0
    assert "CUDA" in _ptx.why_no_gpu()


def test_an_error_of_the_kernel_body_comes_through():
    @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=32)
    def broken(X, Y):
        raise ZeroDivisionError("mine")

    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="mine"):
            broken(ramp(32))


def test_the_executor_names_the_access_the_line_and_the_thread():
    with pytest.raises(RuntimeError) as raised:
        one_block_too_many(ramp(32))
    assert raised.value.kind == "out_of_bounds"
    text = str(raised.value)
    for part in ("ld.global.f32", "launching.py"):
        assert part in text


def test_a_plan_is_picky_about_what_it_is_made_of():
    with pytest.raises(TypeError):
        _ptx.Plan("k", [1], [], ["X"], lambda env: None)
    with pytest.raises(TypeError, match="2 tensor parameters; its specs describe 1 input and 0 outputs"):
        _ptx.Plan("k", [Tile(1, f32)], [], ["X", "Y"], lambda env: None)
    plan = _ptx.Plan("k", [Tile(1, f32)], [], ["X"], lambda env: None)
    assert (plan.name, plan.specialisations, repr(plan)) == ("k", 0, "<plan of kernel k>")
    with pytest.raises(TypeError, match="got None instead of an Image"):
        plan(np.ones(1, np.float32))
    with pytest.raises(TypeError, match="keyword 'into'"):
        plan(np.ones(1, np.float32), into=None)
    with pytest.raises(TypeError):
        plan.bind([((1,), 3)])


def test_a_plan_and_its_kernel_are_freed_together():
    import gc
    import weakref

    def make():
        k = copy_kernel(f32)
        k(ramp(32))
        return weakref.ref(k)

    gone = make()
    gc.collect()
    assert gone() is None


def test_an_image_checks_what_it_is_launched_on(rms_norm):
    image, _ = rms_norm._plan_for({}).bind([((16, 512), "float32"), ((512,), "float32")])
    out = np.empty((16, 512), np.float32)
    image.launch([X, W], [out])
    assert np.allclose(out, 1)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="output 0 of kernel `rms_norm` is read-only"):
        image.launch([X, W], [out])
    with pytest.raises(ValueError, match="input 0 of kernel `rms_norm` is not contiguous"):
        image.launch([np.asfortranarray(X), W], [X])
    with pytest.raises(TypeError, match="takes 2 inputs and 1 outputs; the launch has 1 and 1"):
        image.launch([X], [out])
    with pytest.raises(TypeError, match="input 1 of kernel `rms_norm` is an `int`"):
        image.launch([X, 1], [out])
