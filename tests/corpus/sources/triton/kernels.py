"""Element-wise, reducing and scanning kernels."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(z + i, tl.load(x + i, m) + tl.load(y + i, m), m)


@triton.jit
def activations(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n, other=0.0).to(tl.float32)
    r = (
        tl.where(v > 0, v, tl.exp(v) - 1)
        + tl.sigmoid(v) * v
        + libdevice.tanh(v)
        + tl.erf(v)
        + tl.sqrt(tl.abs(v))
        + tl.rsqrt(v * v + 1)
    )
    r += (
        tl.cos(v) * tl.sin(v)
        + tl.log2(tl.abs(v) + 1)
        + tl.exp2(v)
        + tl.floor(v)
        + tl.fma(v, v, r)
        + libdevice.pow(v, 3.5)
        + tl.div_rn(v, r)
        + tl.sqrt_rn(v)
    )
    tl.store(y + i, r.to(y.dtype.element_ty), i < n)


@triton.jit
def softmax(x, y, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * stride + i, i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * stride + i, e / tl.sum(e, 0), i < n)


@triton.jit
def layer_norm(x, y, w, b, mean, inv, stride, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    s = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        s += tl.load(x + row * stride + i, i < n, other=0.0).to(tl.float32)
    m = tl.sum(s, 0) / n
    s = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        d = tl.where(i < n, tl.load(x + row * stride + i, i < n, other=0.0).to(tl.float32) - m, 0.0)
        s += d * d
    r = 1 / tl.sqrt(tl.sum(s, 0) / n + eps)
    tl.store(mean + row, m)
    tl.store(inv + row, r)
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        v = tl.load(x + row * stride + i, i < n, other=0.0, eviction_policy="evict_first").to(tl.float32)
        tl.store(y + row * stride + i, (v - m) * r * tl.load(w + i, i < n) + tl.load(b + i, i < n), i < n)


@triton.jit
def multiply_add(a, b):
    return a * 31 + b


@triton.jit
def affine(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def scans(x, y, z, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, tl.cumsum(v, 0) + tl.cumprod(v, 0, reverse=True))
    a, b = tl.associative_scan((v, v + 1), 0, affine)
    tl.store(z + i, a + b)
    tl.store(z + B, tl.reduce(v, 0, multiply_add))


@triton.jit
def rows(x, y, z, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + i)
    tl.store(y + tl.arange(0, M), tl.argmax(v, 1))
    tl.store(z + tl.arange(0, N), tl.min(v, 0) + tl.xor_sum(v.to(tl.int32, bitcast=True), 0))
    tl.store(z + N + i, tl.sort(v, 1))
    tl.store(y + M + tl.arange(0, M * N), tl.ravel(tl.trans(v)).to(tl.int32))


@triton.jit
def histogram(x, y, n, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    h = tl.histogram(tl.load(x + i, i < n, other=0), BINS)
    tl.atomic_add(y + tl.arange(0, BINS), h)


@triton.jit
def atomics(x, f, h, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.atomic_max(x + i, i, m)
    tl.atomic_min(x + i + 1, i, m, sem="release", scope="cta")
    tl.atomic_and(x + i, 7, m, sem="acquire", scope="sys")
    tl.atomic_or(x, 8)
    tl.atomic_xor(x + 3, 9, sem="relaxed")
    old = tl.atomic_cas(x + 4, 0, 1)
    tl.atomic_xchg(x + 5, old, sem="acq_rel")
    tl.atomic_add(f + i, 1.5, m, sem="relaxed")
    tl.atomic_add(h + i, (i * 0.5).to(h.dtype.element_ty), m)
    tl.atomic_max(f + i, 2.5, m)


@triton.jit
def dropout(x, y, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    keep = tl.rand(seed, i) > p
    tl.store(y + i, tl.where(keep, tl.load(x + i, i < n) / (1 - p) + tl.randn(seed, i), 0.0), i < n)


@triton.jit
def printing(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, i < n)
    tl.device_print("v", v)
    tl.device_assert(v < 100, "too large")
    tl.debug_barrier()


@triton.jit
def integers(x, y, z, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = (
        a // b
        + a % b
        + tl.umulhi(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32)
        + (a >> 3)
        + (a << (b & 7))
        + tl.minimum(a, b)
        + tl.clamp(a * 1.0, -3.0, 3.0).to(tl.int32)
        + tl.cdiv(a, b)
    )
    r += (
        libdevice.popc(a)
        + libdevice.clz(b)
        + libdevice.brev(a)
        + libdevice.mulhi(a, b)
        + (a.to(tl.int64) * b).to(tl.int32)
        + a.to(tl.int8).to(tl.int32)
        + (a != b).to(tl.int32)
    )
    tl.store(z + i, r)


@triton.jit
def convert(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, i < n).to(y.dtype.element_ty), i < n)


@triton.jit
def inline(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    r = tl.inline_asm_elementwise(
        "{ .reg .b32 t; shl.b32 t, $1, 3; xor.b32 $0, t, $2; }", "=r,r,r", [v, v + 1], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(y + i, r, cache_modifier=".cs")


@triton.jit
def transpose(x, y, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tl.store(y + j[:, None] * M + i[None, :], tl.trans(tl.load(x + i[:, None] * N + j[None, :], cache_modifier=".cg")))


@triton.jit
def gather(x, index, y, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + i, tl.gather(tl.load(x + i), tl.load(index + i), 1))
    a, b = tl.split(tl.reshape(tl.load(x + i), (M, N // 2, 2)))
    tl.store(y + i, tl.interleave(b, a))


every = [80, 90, 100, 120]
plans = [
    ("add", add, "*fp32 *fp32 *fp32 i32", {"B": 1024}, {}, [75, 90]),
    ("add_half_unaligned", add, "*fp16 *fp16 *fp16 i64", {"B": 512}, {"unaligned": True, "num_warps": 8}, [80]),
    ("add_bf16", add, "*bf16 *bf16 *bf16 i32", {"B": 2048}, {"num_warps": 8}, [86, 100]),
    ("add_i8", add, "*i8 *i8 *i8 i32", {"B": 1024}, {}, [80]),
    ("add_fp64", add, "*fp64 *fp64 *fp64 i32", {"B": 256}, {"num_warps": 2}, [120]),
    ("activations", activations, "*fp32 *fp32 i32", {"B": 512}, {}, every),
    ("activations_half", activations, "*fp16 *bf16 i32", {"B": 256}, {"num_warps": 1}, [80, 90]),
    ("activations_double", activations, "*fp64 *fp8e5 i32", {"B": 128}, {}, [89]),
    ("softmax", softmax, "*fp32 *fp32 i32 i32", {"B": 1024}, {}, every),
    ("softmax_small", softmax, "*fp32 *fp32 i32 i32", {"B": 64}, {"num_warps": 1}, [80]),
    ("layer_norm", layer_norm, "*fp16 *fp16 *fp32 *fp32 *fp32 *fp32 i32 i32 fp32", {"B": 1024}, {"num_warps": 8}, every),
    ("scans", scans, "*i32 *i32 *i32", {"B": 512}, {}, [80, 120]),
    ("scans_float", scans, "*fp32 *fp32 *fp32", {"B": 256}, {"num_warps": 2}, [90]),
    ("rows", rows, "*fp32 *i32 *fp32", {"M": 32, "N": 64}, {}, [80, 100]),
    ("histogram", histogram, "*i32 *i32 i32", {"B": 512, "BINS": 128}, {}, [80, 90]),
    ("atomics", atomics, "*i32 *fp32 *fp16 i32", {"B": 256}, {}, every),
    ("atomics_bf16", atomics, "*i64 *fp64 *bf16 i32", {"B": 256}, {}, [90]),
    ("dropout", dropout, "*fp32 *fp32 i32 fp32 i32", {"B": 512}, {}, [80, 90]),
    ("printing", printing, "*fp32 i32", {"B": 128}, {"debug": True}, [80, 120]),
    ("integers", integers, "*i32 *i32 *i32", {"B": 256}, {}, [80, 90]),
    ("convert_fp32_fp8e4", convert, "*fp32 *fp8e4nv i32", {"B": 512}, {}, [89, 100]),
    ("convert_fp8e4_bf16", convert, "*fp8e4nv *bf16 i32", {"B": 512}, {}, [90, 120]),
    ("convert_fp8e5_fp16", convert, "*fp8e5 *fp16 i32", {"B": 512}, {}, [80, 90]),
    ("convert_bf16_fp8e5", convert, "*bf16 *fp8e5 i32", {"B": 512}, {}, [80, 100]),
    ("convert_i64_fp16", convert, "*i64 *fp16 i32", {"B": 128}, {}, [80]),
    ("convert_fp32_i8", convert, "*fp32 *i8 i32", {"B": 128}, {}, [120]),
    ("inline", inline, "*i32 *i32", {"B": 256}, {}, [80]),
    ("transpose", transpose, "*fp16 *fp16", {"M": 64, "N": 64}, {}, every),
    ("gather", gather, "*fp32 *i32 *fp32", {"M": 16, "N": 32}, {}, [80, 100]),
]
