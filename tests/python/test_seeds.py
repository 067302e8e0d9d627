"""The programs of the five pages that the interface was described by, as they stand there, and the shortest programs that call
everything else they name. Whatever needs no GPU is run."""

import inspect

import numpy as np
import pytest

import pyptx
from pyptx import Kernel, Layout, Tile, jax_support, kernel, ptx, reg, smem, specs, torch_support
from pyptx.emitter import emit
from pyptx.ir import Function
from pyptx.jax_support import CubinRecord, CubinRegistry
from pyptx.kernel import TensorSpec, TmaDescriptorHandle
from pyptx.types import b32, bf16, f16, f32, pred, u32

WARP_SIZE = 32


# -- pyptx.kernel


@kernel(
    in_specs=(Tile("M", "K", bf16, Layout.ROW), Tile("K", "N", bf16, Layout.COL)),
    out_specs=(Tile("M", "N", f32, Layout.ROW),),
    grid=lambda M, N, K: (M // 128, N // 256),
    block=(128, 1, 1),
    cluster=(2, 1, 1),
    arch="sm_90a",
)
def gemm(A, B, C, *, BM=128, BN=256, BK=64): ...


def test_the_first_example() -> None:
    text = gemm.ptx(M=4096, N=4096, K=4096)
    assert text == gemm.ptx(M=4096, N=4096, K=4096, BM=128) and ".visible .entry gemm(" in text
    assert [p.name for p in gemm.module(M=4096).directives[0].params] == ["A", "B", "C"]
    assert gemm.template_params == {"BM": 128, "BN": 256, "BK": 64} and gemm.arch == "sm_90a"
    assert (gemm.block, gemm.cluster, gemm.smem) == ((128, 1, 1), (2, 1, 1), 0)
    assert gemm.grid(M=4096, N=4096, K=4096) == (32, 16) and len(gemm.in_specs) == 2 and len(gemm.out_specs) == 1


def test_the_decorator_with_and_without_arguments() -> None:
    @kernel
    def simple(): ...

    @kernel(arch="sm_100a")
    def blackwell(): ...

    @kernel(
        in_specs=(Tile("M", "K", bf16), Tile("K", "N", bf16)), out_specs=(Tile("M", "N", f32),),
        grid=lambda M, N, K: (M // 128, N // 256), block=(128, 1, 1), cluster=(2, 1, 1), arch="sm_90a",
    )  # fmt: skip
    def gemm(A, B, C, *, BM=128): ...

    assert ".target sm_90a" in simple.ptx() and ".target sm_100a" in blackwell.ptx() and "gemm" in gemm.ptx(BM=64)


def test_every_argument_of_the_constructor() -> None:
    def body(A, B, *, BM=128): ...

    tile = Tile("M", f32)
    made = Kernel(
        body, "sm_90a", (8, 6), (tile,), (tile,), lambda M: (M // 32, 1, 1), (32, 1, 1), (1, 1, 1), 1024,
        [("u32", "n"), ("u64.ptr.global.palign1", "p")], "mine", (32, 1, 1), [("maxntid", (32, 1, 1))],
    )  # fmt: skip
    text = made.ptx(M=64)
    for part in (".version 8.6", ".param .u32 n", ".param .u64 .ptr .global .align 1 p", "mine[]", ".maxntid 32, 1, 1"):
        assert part in text
    names = [
        "fn", "arch", "version", "in_specs", "out_specs", "grid", "block", "cluster", "smem", "raw_params", "extern_smem",
        "reqntid", "raw_directives",
    ]  # fmt: skip
    assert list(inspect.signature(Kernel).parameters)[: len(names)] == names
    assert list(inspect.signature(kernel).parameters)[: len(names)] == names
    assert ".reqntid 32, 1, 1" in Kernel(body, reqntid=(32, 1, 1)).ptx()
    assert "global_smem[]" in Kernel(body, extern_smem=True).ptx()


def test_tensors_at_trace_time() -> None:
    outside = TensorSpec("A")
    assert (outside.name, outside.shape, outside.dtype, outside.layout) == ("A", None, None, None)
    handle = outside.tma_desc()
    assert isinstance(handle, TmaDescriptorHandle) and handle.tensor is outside and handle.name == "A_tma_desc"
    seen = []

    @kernel(in_specs=(Tile(64, "K", bf16, tma_box=(64, 64)),), out_specs=(Tile(64, f32),), grid=1, block=32, arch="sm_90a")
    def load(A, B):
        seen.append((A.name, A.shape, A.dtype, A.layout))
        sA, bar = smem.alloc(bf16, (2, 64, 64)), smem.mbarrier(1)
        x, y = 0, reg.scalar(u32, init=0)
        ptx.cp.async_.bulk.tensor_2d(dst=sA[0], src=A.tma_desc(), coord=(x, y), mbar=bar[0])
        assert A.tma_desc() is A.tma_desc()

    text = load.ptx(K=128)
    assert seen[0] == ("A", (64, 128), bf16, Layout.ROW)
    assert text.count("ld.param.u64") == 1 and "[A_tma_desc]" in text and ".param .u64 A_tma_desc" in text
    load.ptx()
    assert seen[-1][1] is None


def test_what_ran_on_the_gpu() -> None:
    @kernel
    def simple():
        ptx.ret()

    try:
        assert "EXIT" in simple.sass()
    except RuntimeError as error:
        assert "CUDA toolkit" in str(error)


# -- the JAX runtime


def build_rms_norm(B: int, N: int, eps: float = 1e-6):
    items_per_thread = N // WARP_SIZE

    @kernel(
        in_specs=(Tile(B, N, f32), Tile(N, f32)),
        out_specs=(Tile(B, N, f32),),
        grid=(B, 1, 1),
        block=(WARP_SIZE, 1, 1),
        arch="sm_90a",
    )
    def rms_norm(X, W, Y):
        px, pw, py = ptx.global_ptrs(X, W, Y)
        row = reg.from_(ptx.special.ctaid.x(), u32)
        row_byte_off = row * (N * 4)
        px += row_byte_off
        py += row_byte_off
        tid = reg.from_(ptx.special.tid.x(), u32)
        sum_sq = reg.scalar(f32, init=0.0)
        x_vals = reg.array(f32, items_per_thread)
        for i in range(items_per_thread):
            idx = tid + i * WARP_SIZE
            ptr = px + idx * 4
            ptx.inst.ld.global_.f32(x_vals[i], ptx.addr(ptr))
            ptx.inst.fma.rn.f32(sum_sq, x_vals[i], x_vals[i], sum_sq)
        ptx.warp.reduce_sum(sum_sq)
        mean_sq = reg.scalar(f32)
        inv_n = reg.scalar(f32, init=1.0 / N)
        eps_reg = reg.scalar(f32, init=eps)
        rstd = reg.scalar(f32)
        ptx.inst.mul.f32(mean_sq, sum_sq, inv_n)
        ptx.inst.add.f32(mean_sq, mean_sq, eps_reg)
        ptx.inst.rsqrt.approx.f32(rstd, mean_sq)
        for i in range(items_per_thread):
            idx = tid + i * WARP_SIZE
            off = idx * 4
            w_val = reg.scalar(f32)
            y_val = reg.scalar(f32)
            ptx.inst.ld.global_.f32(w_val, ptx.addr(pw + off))
            ptx.inst.mul.f32(y_val, x_vals[i], rstd)
            ptx.inst.mul.f32(y_val, y_val, w_val)
            ptx.inst.st.global_.f32(ptx.addr(py + off), y_val)
        ptx.ret()

    return rms_norm


def test_rms_norm_on_numpy() -> None:
    x = np.linspace(-2, 2, 4 * 512, dtype=np.float32).reshape(4, 512)
    w = np.linspace(0, 1, 512, dtype=np.float32)
    expected = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * w
    np.testing.assert_allclose(build_rms_norm(4, 512)(x, w), expected, rtol=1e-5, atol=1e-6)


def test_rms_norm_under_jit() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    k = build_rms_norm(16, 512)

    @jax.jit
    def fn(x, w):
        return k(x, w)

    x = jnp.ones((16, 512), dtype=jnp.float32)
    w = jnp.ones((512,), dtype=jnp.float32)
    out = fn(x, w)
    np.testing.assert_allclose(out, np.ones((16, 512)), rtol=1e-5)
    assert "pyptx_launch" in fn.lower(x, w).as_text()


# -- pyptx.jax_support


def test_every_name_of_the_jax_page() -> None:
    record = CubinRecord(1, "text", "k")
    assert (record.handle, record.ptx_source, record.kernel_name) == (1, "text", "k")
    assert (CubinRecord.smem_bytes, CubinRecord.grid, CubinRecord.block) == (0, (1, 1, 1), (1, 1, 1))
    assert record.cu_function is record.module is record.cubin_bytes is None
    record.cu_function = 3  # mutable
    registry = CubinRegistry()
    handle = registry.register("text", "k", b"bytes", 64, (2, 1, 1), (32, 1, 1), None, object())
    assert registry.get(handle).cubin_bytes == b"bytes" and len(registry) == 1
    registry.clear()
    assert registry.get(handle) is None and len(registry) == 0
    assert jax_support.get_cubin_registry() is jax_support.get_cubin_registry()
    assert jax_support.shim_is_available() is True and jax_support.shim_load_error() is None

    text = ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry seeds(.param .u64 o, .param .u32 n)\n{ ret; }\n"
    handle = jax_support.get_cubin_registry().register(text, "seeds")
    jax_support.register_launch_config(handle, 0, grid=(2, 1, 1), block=(32, 1, 1), cluster=(1, 1, 1), smem_bytes=0)
    jax_support.add_scalar_param_to_shim(handle, value_bits=7, size_bytes=4)
    seen = []
    jax_support.set_mock_ffi_callback(lambda *a, **k: seen.append((a, k)))
    jax_support._pyptx_launch(1, x=2)
    jax_support.set_mock_ffi_callback(None)
    assert seen == [((1,), {"x": 2})]
    with pytest.raises(RuntimeError):
        jax_support._pyptx_launch(1)
    for name, parameters in {
        "compile_ptx_to_cubin": "ptx_source arch kernel_name dynamic_smem_bytes",
        "synthesize_tma_descriptor": "shape dtype layout box_shape placeholder_ptr",
        "synthesize_tma_descriptor_3d": "height width dtype box_major box_minor swizzle_128b padding placeholder_ptr",
        "add_tma_spec_to_shim": "handle xla_arg_index host_blob_ptr device_blob_ptr",
        "call_kernel_via_ffi": "inputs cubin_handle out_specs out_shape_env grid block cluster smem_bytes",
    }.items():
        assert list(inspect.signature(getattr(jax_support, name)).parameters) == parameters.split()


# -- calls by handle


@pytest.fixture
def handle():
    """The handle of rms_norm for 4 rows of 64, and what a call by it says."""
    k = build_rms_norm(4, 64)
    k(np.ones((4, 64), np.float32), np.ones(64, np.float32))
    (number,) = k._cubin_handles.values()
    yield {  # while k lives: a kernel that nobody holds is forgotten
        "cubin_handle": number, "out_specs": (Tile(4, "N", f32),), "out_shape_env": {"N": 64},
        "grid": (4, 1, 1), "block": (32, 1, 1),
    }  # fmt: skip


def test_a_call_through_ffi(handle) -> None:
    jax = pytest.importorskip("jax")
    assert jax_support.ensure_ffi_registered() is True
    x, w = jax.numpy.ones((4, 64)), jax.numpy.ones((64,))
    np.testing.assert_allclose(jax_support.call_kernel_via_ffi(x, w, **handle), x, rtol=1e-5)
    for wrong, said in WRONG_CALLS:
        with pytest.raises((ValueError, TypeError), match=said):
            jax_support.call_kernel_via_ffi(x, w, **{**handle, **wrong})
    with pytest.raises(TypeError, match="the element type is float16"):
        jax_support.call_kernel_via_ffi(x.astype(jax.numpy.float16), w, **handle)


WRONG_CALLS = [
    ({"grid": (3, 1, 1)}, "grid"), ({"block": (64, 1, 1)}, "block"), ({"cluster": (2, 1, 1)}, "cluster"),
    ({"smem_bytes": 64}, "dynamic shared memory"), ({"out_shape_env": {"N": 32}}, "out_specs"),
    ({"out_specs": (Tile(4, "N", f16),)}, "out_specs"),
]  # fmt: skip


def test_calls_through_torch(handle) -> None:
    torch = pytest.importorskip("torch")
    x, w = torch.ones(4, 64), torch.ones(64)
    call = torch_support.call_kernel_via_torch
    torch.testing.assert_close(call(x, w, **handle), x)
    for wrong, said in WRONG_CALLS:
        with pytest.raises((ValueError, TypeError), match=said):
            call(x, w, **{**handle, **wrong})
    for a, b, said in (
        (x.half(), w, "the element type is float16"), (x, w[:32].clone(), "argument 1"), (x[:2].clone(), w, "argument 0"),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=said):
            call(a, b, **handle)
    op = torch_support.get_or_register_torch_op(*handle.values(), (1, 1, 1), 0)
    torch.testing.assert_close(op(x, w), x)
    torch.testing.assert_close(torch_support.call_kernel_via_torch_compile(x, w, **handle), x)
    assert torch_support.is_torch_tensor(x) and not torch_support.is_torch_tensor(np.ones(1))
    assert torch_support.any_torch_tensors([1, x]) and not torch_support.any_torch_tensors([1])
    assert torch_support.extract_input_shapes([x, w]) == [(4, 64), (64,)]


def test_a_call_by_handle_in_one_graph(handle) -> None:
    torch = pytest.importorskip("torch")

    def both(x, w):
        return torch_support.call_kernel_via_torch_compile(x, w, **handle) * 2

    x, w = torch.ones(4, 64), torch.ones(64)
    torch.testing.assert_close(torch.compile(both, fullgraph=True, backend="aot_eager")(x, w), 2 * x)
    op = torch_support.get_or_register_torch_op(*handle.values(), (1, 1, 1), 0)
    torch.testing.assert_close(torch.compile(lambda x, w: op(x, w) + 1, fullgraph=True, backend="aot_eager")(x, w), x + 1)


def test_an_operator_for_a_record_of_text() -> None:
    torch = pytest.importorskip("torch")

    @kernel(in_specs=(Tile(32, f32), Tile(32, f32)), out_specs=(Tile(32, f32),), grid=1, block=32)
    def add(X, Y, Z):
        x, y, z = ptx.global_ptrs(X, Y, Z)
        at = reg.from_(ptx.special.tid.x(), u32) * 4
        a, b = reg.scalar(f32), reg.scalar(f32)
        ptx.inst.ld.global_.f32(a, ptx.addr(x + at))
        ptx.inst.ld.global_.f32(b, ptx.addr(y + at))
        ptx.inst.st.global_.f32(ptx.addr(z + at), ptx.inst.add.f32(a, a, b))

    one = (1, 1, 1)
    number = jax_support.get_cubin_registry().register(add.ptx(), "add", grid=one, block=(32, 1, 1))
    op = torch_support.get_or_register_torch_op(number, (Tile(32, f32),), {}, one, (32, 1, 1), one, 0)
    x = torch.arange(32.0)
    torch.testing.assert_close(op(x, x), 2 * x)
    torch.testing.assert_close(torch.compile(lambda x: op(x, x) * 2, fullgraph=True, backend="aot_eager")(x), 4 * x)
    with pytest.raises(KeyError, match="no kernel with handle 12345"):
        torch_support.get_or_register_torch_op(12345, (Tile(32, f32),), {}, one, (32, 1, 1), one, 0)


# -- gradients


def scaled_by_weights(rows: int, columns: int, backward: bool):
    """y = x * w, or the gradients of x and of each row's w."""
    tile = Tile(rows, columns, f32)
    more = (tile,) if backward else ()

    def body(*tensors):
        pointers = ptx.global_ptrs(*tensors)
        at = (reg.from_(ptx.special.ctaid.x(), u32) * columns + reg.from_(ptx.special.tid.x(), u32)) * 4
        load = [ptx.inst.ld.global_.f32(reg.scalar(f32), ptx.addr(p + at)) for p in pointers[: 3 if backward else 2]]
        if backward:
            x, w, dy = load
            ptx.inst.st.global_.f32(ptx.addr(pointers[3] + at), ptx.inst.mul.f32(reg.scalar(f32), dy, w))
            ptx.inst.st.global_.f32(ptx.addr(pointers[4] + at), ptx.inst.mul.f32(reg.scalar(f32), dy, x))
        else:
            ptx.inst.st.global_.f32(ptx.addr(pointers[2] + at), ptx.inst.mul.f32(reg.scalar(f32), *load))

    if backward:

        def run(X, W, DY, DX, DW):
            body(X, W, DY, DX, DW)
    else:

        def run(X, W, Y):
            body(X, W, Y)

    return kernel(in_specs=(tile, tile, *more), out_specs=(tile, *more), grid=rows, block=columns)(run)


def test_a_differentiable_kernel() -> None:
    torch = pytest.importorskip("torch")
    from pyptx.torch_support import differentiable_kernel

    M, N = 4, 32
    fwd, bwd = scaled_by_weights(M, N, False), scaled_by_weights(M, N, True)
    my_op = differentiable_kernel(
        fwd, bwd,
        save_for_backward=[0, 1],  # save inputs 0 and 1
    )  # fmt: skip
    x = torch.randn(M, N, requires_grad=True)
    w = torch.randn(M, N, requires_grad=True)
    out = my_op(x, w)
    out.sum().backward()
    torch.testing.assert_close(x.grad, w.detach())
    torch.testing.assert_close(w.grad, x.detach())
    assert my_op.forward_kernel is fwd and my_op.backward_kernel is bwd
    again = pyptx.differentiable_kernel(fwd, bwd, num_grad_inputs=1)
    (gradient,) = torch.autograd.grad(again(x, w).sum(), x)
    torch.testing.assert_close(gradient, w.detach())


# -- pyptx.specs


def test_every_name_of_the_specs_page() -> None:
    values = {"ROW": "row", "COL": "col", "TMA_128B": "tma_128b", "TMA_64B": "tma_64b", "TMA_32B": "tma_32b"}
    assert {layout.name: layout.value for layout in Layout} == {**values, "INTERLEAVED": "interleaved"}
    tile = Tile("M", "K", bf16, Layout.ROW)
    assert (tile.rank, tile.symbolic_dims, tile.shape, tile.dtype) == (2, ("M", "K"), ("M", "K"), bf16)
    assert tile.resolve_shape({"M": 4, "K": 8}) == (4, 8) and tile.extract_env((4, 8)) == {"M": 4, "K": 8}
    assert tile.matches((4, 8), "bfloat16") and not tile.matches((4,), "bfloat16") and not tile.matches((4, 8), "float32")
    assert tile == Tile("M", "K", dtype=bf16, layout=Layout.ROW) and hash(tile) == hash(Tile(bf16, "M", "K"))
    assert Tile.wgmma_a(64, 16, bf16).layout is Layout.TMA_32B
    assert Tile.wgmma_a(64, 64, bf16, tile_k=16).tma_box == (64, 16)
    assert Tile.wgmma_a(2048, 64, bf16, tile_m=64, tile_k=16).tma_box == (64, 16)
    assert Tile.wgmma_b(64, 256, bf16, tile_k=16, tile_n=64).tma_box == (16, 64)
    assert specs.unify_envs([{"M": 4, "K": 8}, {"K": 8, "N": 2}]) == {"M": 4, "K": 8, "N": 2}
    with pytest.raises(ValueError, match="conflicting"):
        specs.unify_envs([{"K": 8}, {"K": 9}])
    with pytest.raises(KeyError):
        tile.resolve_shape({"M": 4})
    with pytest.raises(ValueError, match="dtype"):
        Tile("M", "K")


def test_torch_compile_of_a_kernel() -> None:
    torch = pytest.importorskip("torch")
    k = build_rms_norm(4, 64)

    @torch.compile(backend="aot_eager", fullgraph=True)
    def fwd(x, w):
        return k(x, w)

    torch.testing.assert_close(fwd(torch.ones(4, 64), torch.ones(64)), torch.ones(4, 64))


# -- programs that call the rest of the authoring surface


def run_on(x: np.ndarray, block: int = 32, **options):
    """Runs a body over u32 words: in, out, and the thread's number."""

    def decorate(body):
        @kernel(in_specs=(Tile(*x.shape, u32),), out_specs=(Tile(*x.shape, u32),), grid=1, block=block, **options)
        def program(X, Y):
            px, py = ptx.global_ptrs(X, Y)
            tid = reg.from_(ptx.special.tid.x(), u32)
            v = reg.scalar(u32)
            ptx.inst.ld.global_.u32(v, ptx.addr(px + tid * 4))
            result = body(v, tid)
            ptx.inst.st.global_.u32(ptx.addr(py + tid * 4), v if result is None else result)
            ptx.ret()

        return program(x)

    return decorate


X = np.arange(32, dtype=np.uint32)


def test_operators_and_branches() -> None:
    @run_on(X)
    def y(v, tid):
        w = ((v + 1) * 3 - 2) & 0xFF
        w |= 0x100
        w ^= 1
        w <<= 2
        w >>= 1
        with ptx.if_(tid < 16):
            w += tid
        with ptx.else_():
            w -= 1
        return w.max(40)

    expected = ((((X + 1) * 3 - 2) & 0xFF | 0x100) ^ 1) * 4 >> 1
    assert (y == np.where(X < 16, expected + X, expected - 1)).all()


def test_loops() -> None:
    @run_on(X)
    def y(v, tid):
        i, more = reg.scalar(u32, init=0), reg.scalar(pred)
        with ptx.loop("again", pred=more):
            v += i
            i += 1
            ptx.inst.setp.lt.u32(more, i, 5)
        for k in ptx.range_(0, 3):
            ptx.inst.add.u32(v, v, k)
        ptx.kloop(4, unroll=2, body=lambda: ptx.inst.add.u32(v, v, 1))
        ptx.kloop(tid & 7, unroll=4, body=lambda: ptx.inst.add.u32(v, v, 100), loop_label="tail")
        with ptx.scope():
            inner = reg.scalar(b32)
            ptx.inst.mov.b32(inner, v)
            ptx.bra("out", pred=tid == 0)
            ptx.inst.add.u32(v, inner, 1000)
        ptx.label("out")

    assert (y == X + 10 + 3 + 4 + 100 * (X & 7) + np.where(X == 0, 0, 1000)).all()


def test_shared_memory_and_barriers() -> None:
    @run_on(np.arange(64, dtype=np.uint32), block=64)
    def y(v, tid):
        tile = smem.alloc(u32, (2, 32))
        tile[tid >> 5, tid & 31] = v
        ptx.bar.sync()
        other = tile[1, 0]
        base = smem.base(tile.name)
        swapped = smem.load(u32, ptx.addr(base + (tid ^ 32) * 4))
        ptx.bar.sync()  # both warps have read before either writes
        smem.store(u32, ptx.addr(base + tid * 4), swapped)
        ptx.named_barrier(1, count=64).sync()
        assert smem.apply_swizzle(tid, None) is tid
        return swapped + other + smem.apply_swizzle(tid * 0, "128B")

    assert (y == (np.arange(64) ^ 32) + 32).all()


def test_typed_wrappers_and_text() -> None:
    @run_on(X)
    def y(v, tid):
        d, p = reg.scalar(u32), reg.scalar(pred)
        ptx.mov(u32, d, v)
        ptx.add(u32, d, d, 1)
        ptx.sub(u32, d, d, tid)
        ptx.mul(u32, d, d, 5, mode="lo")
        ptx.mad(u32, d, d, 2, v)
        ptx.shl(b32, d, d, 2)
        ptx.shr(u32, d, d, 1)
        ptx.and_(b32, d, d, 0xFFFF)
        ptx.or_(b32, d, d, 1)
        ptx.xor_(b32, d, d, 3)
        ptx.not_(b32, d, d)
        ptx.setp("lt", u32, p, v, 8)
        ptx.selp(b32, d, d, 7, p)
        ptx.pipe(d).add.u32(d, 5).shl.b32(d, 1)
        with ptx.expr():
            ptx.raw(f"add.u32 {d.name}, {d.name}, 2;")
        return ptx.mad(d, 1, 0)

    inner = ~((((((X + 1 - X) * 5) * 2 + X) * 4 >> 1) & 0xFFFF | 1) ^ 3)
    assert (y == ((np.where(X < 8, inner, 7) + 5) * 2 + 2).astype(np.uint32)).all()


def test_warps_parameters_and_intrinsics() -> None:
    @pyptx.intrinsic
    def halves(v, by):
        return v >> by

    @kernel(
        in_specs=(Tile("N", u32),), out_specs=(Tile("N", u32),), grid=lambda size: size // 32, block=32, raw_params=[("u32", "n")]
    )
    def program(X, Y, *, shift=1):
        px, py = ptx.global_ptrs(X, Y)
        n, lane = ptx.param(u32, "n"), reg.from_(ptx.sreg("%laneid"), u32)
        at = (reg.from_(ptx.ctaid_x(), u32) * 32 + lane) * 4
        v = ptx.inst.ld.global_.u32(reg.scalar(u32), ptx.addr(px + at))
        total, least, most = (reg.from_(v, u32) for _ in range(3))
        ptx.warp.reduce_sum(total)
        ptx.warp.reduce_min(least, width=8)
        ptx.warp.reduce_max(most, width=4)
        ptx.inst.st.global_.u32(ptx.addr(py + at), halves(total, shift) + least * 1000 + most * n)

    x = np.arange(64, dtype=np.uint32)
    total = x.reshape(2, 32).sum(1).repeat(32) >> 1
    expected = total + (x & ~np.uint32(7)) * 1000 + (x | 3) * 100000
    assert (program(x, n=100000) == expected).all()
    text = program.ptx(N=64)
    assert "\t// BEGIN halves(%r" in text and "\t// END halves" in text
    (entry,) = [node for node in program.module(N=64).directives if isinstance(node, Function)]
    assert [p.name for p in entry.params] == ["X", "Y", "n"] and emit(program.module(N=64)) == text
