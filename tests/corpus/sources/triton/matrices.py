"""Matrix products, attention, block-scaled products, copies through tensor descriptors, warp specialisation."""

import triton
import triton.language as tl


@triton.jit
def matmul(
    a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PREC: tl.constexpr, ACC: tl.constexpr
):
    pid = tl.program_id(0)
    tiles = tl.cdiv(M, BM)
    i = (pid % tiles) * BM + tl.arange(0, BM)
    j = (pid // tiles) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + i[:, None] * sa + k[None, :]
    pb = b + k[:, None] * sb + j[None, :]
    acc = tl.zeros((BM, BN), ACC)
    for step in range(tl.cdiv(K, BK)):
        left = K - step * BK
        acc = tl.dot(
            tl.load(pa, k[None, :] < left, other=0.0),
            tl.load(pb, k[:, None] < left, other=0.0),
            acc,
            input_precision=PREC,
            out_dtype=acc.dtype,
        )
        pa += BK
        pb += BK * sb
    tl.store(c + i[:, None] * sc + j[None, :], acc.to(c.dtype.element_ty), (i[:, None] < M) & (j[None, :] < N))


@triton.jit
def scaled(
    a,
    sa,
    b,
    sb,
    c,
    K,
    FA: tl.constexpr,
    FB: tl.constexpr,
    PA: tl.constexpr,
    PB: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + i[:, None] * (K // PA) + k // PA + tl.arange(0, BK // PA)[None, :])
        y = tl.load(b + j[None, :] * (K // PB) + k // PB + tl.arange(0, BK // PB)[:, None])
        u = tl.load(sa + i[:, None] * (K // 32) + k // 32 + tl.arange(0, BK // 32)[None, :])
        v = tl.load(sb + j[:, None] * (K // 32) + k // 32 + tl.arange(0, BK // 32)[None, :])
        acc = tl.dot_scaled(x, u, FA, y, v, FB, acc)
    tl.store(c + i[:, None] * 4096 + j[None, :], acc)


@triton.jit
def attention(q, k, v, o, scale, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.program_id(1) * n * D
    d = tl.arange(0, D)
    x = tl.load(q + head + i[:, None] * D + d[None, :])
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        j = start + tl.arange(0, BN)
        s = tl.dot(x, tl.load(k + head + j[None, :] * D + d[:, None])) * scale
        if CAUSAL:
            s = tl.where(i[:, None] >= j[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype.element_ty), tl.load(v + head + j[:, None] * D + d[None, :]), acc * shrink[:, None])
        top = new
    tl.store(o + head + i[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty))


@triton.jit
def through_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    y = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    z = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(x.load([i, k]), y.load([j, k]).T, acc)
    z.store([i, j], acc.to(c.dtype.element_ty))


@triton.jit
def persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    y = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    z = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True, warp_specialize=SPECIALIZE):
        i, j = t % tl.cdiv(M, BM) * BM, t // tl.cdiv(M, BM) * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(x.load([i, k]), y.load([j, k]).T, acc)
        z.store([i, j], acc.to(c.dtype.element_ty))


@triton.jit
def reduce_through_descriptors(a, b, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [M, N], [N, 1], [BM, BN])
    y = tl.make_tensor_descriptor(b, [M, N], [N, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    v = x.load([i, j])
    y.atomic_add([i, j], v)
    y.atomic_max([j, i], v)


every = [80, 90, 100, 120]
tile = {"BM": 64, "BN": 64, "BK": 32, "PREC": "tf32", "ACC": tl.float32}
large = {"BM": 128, "BN": 128, "BK": 64, "PREC": "tf32", "ACC": tl.float32}
dims = " i32 i32 i32 i32 i32 i32"
plans = [
    ("matmul_fp16", matmul, "*fp16 *fp16 *fp16" + dims, large, {"num_stages": 3, "num_warps": 4}, [75, *every]),
    ("matmul_bf16", matmul, "*bf16 *bf16 *fp32" + dims, tile, {"num_stages": 4}, every),
    ("matmul_tf32", matmul, "*fp32 *fp32 *fp32" + dims, tile, {"num_stages": 2}, every),
    ("matmul_tf32x3", matmul, "*fp32 *fp32 *fp32" + dims, {**tile, "PREC": "tf32x3"}, {}, [80, 90]),
    ("matmul_ieee", matmul, "*fp32 *fp32 *fp32" + dims, {**tile, "BM": 32, "BN": 32, "PREC": "ieee"}, {}, [75, 100]),
    ("matmul_fp8", matmul, "*fp8e4nv *fp8e4nv *fp16" + dims, large, {"num_warps": 8}, [89, 90, 100, 120]),
    ("matmul_fp8e5", matmul, "*fp8e5 *fp8e5 *fp32" + dims, tile, {}, [80, 90, 100]),
    ("matmul_int8", matmul, "*i8 *i8 *i32" + dims, {**tile, "ACC": tl.int32}, {}, [80, 90, 120]),
    (
        "matmul_fp64",
        matmul,
        "*fp64 *fp64 *fp64" + dims,
        {**tile, "BM": 16, "BN": 16, "BK": 16, "PREC": "ieee", "ACC": tl.float64},
        {},
        [80, 90],
    ),
    (
        "matmul_one_warp",
        matmul,
        "*fp16 *fp16 *fp32" + dims,
        {**tile, "BM": 16, "BN": 16, "BK": 16},
        {"num_warps": 1, "num_stages": 1},
        [80, 100],
    ),
    (
        "attention",
        attention,
        "*fp16 *fp16 *fp16 *fp16 fp32 i32",
        {"BM": 64, "BN": 64, "D": 64, "CAUSAL": False},
        {"num_stages": 2},
        every,
    ),
    (
        "attention_causal",
        attention,
        "*bf16 *bf16 *bf16 *bf16 fp32 i32",
        {"BM": 128, "BN": 64, "D": 128, "CAUSAL": True},
        {"num_warps": 8, "num_stages": 3},
        every,
    ),
    (
        "scaled_mxfp8",
        scaled,
        "*fp8e4nv *u8 *fp8e4nv *u8 *fp32 i32",
        {"FA": "e4m3", "FB": "e4m3", "PA": 1, "PB": 1, "BM": 128, "BN": 128, "BK": 128},
        {},
        [90, 100, 120],
    ),
    (
        "scaled_mxfp4",
        scaled,
        "*u8 *u8 *u8 *u8 *fp32 i32",
        {"FA": "e2m1", "FB": "e2m1", "PA": 2, "PB": 2, "BM": 128, "BN": 128, "BK": 128},
        {},
        [80, 90, 100, 120],
    ),
    (
        "scaled_mixed",
        scaled,
        "*fp8e5 *u8 *u8 *u8 *fp32 i32",
        {"FA": "e5m2", "FB": "e2m1", "PA": 1, "PB": 2, "BM": 128, "BN": 64, "BK": 64},
        {},
        [90, 100],
    ),
    (
        "descriptors",
        through_descriptors,
        "*fp16 *fp16 *fp16 i32 i32 i32",
        {"BM": 128, "BN": 128, "BK": 64},
        {"num_stages": 3},
        [80, 90, 100, 120],
    ),
    (
        "persistent",
        persistent,
        "*fp16 *fp16 *fp16 i32 i32 i32",
        {"BM": 128, "BN": 128, "BK": 64, "SPECIALIZE": False},
        {"num_stages": 3},
        [90, 100],
    ),
    (
        "persistent_specialized",
        persistent,
        "*bf16 *bf16 *bf16 i32 i32 i32",
        {"BM": 128, "BN": 128, "BK": 64, "SPECIALIZE": True},
        {"num_stages": 3},
        [90, 100],
    ),
    ("descriptors_reduce", reduce_through_descriptors, "*i32 *i32 i32 i32", {"BM": 32, "BN": 64}, {}, [90, 100]),
    ("matmul_clusters", matmul, "*fp16 *fp16 *fp16" + dims, large, {"num_ctas": 2}, [90, 100]),
]
