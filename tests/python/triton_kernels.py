"""Kernels for Triton, in the manner of its tutorials. What they are called with is in triton_cases.py."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, rows, columns, stride, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        j = tl.arange(0, BLOCK)
        values = tl.load(x + row * stride + j, mask=j < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * stride + j, powers / tl.sum(powers, axis=0), mask=j < columns)


@triton.jit
def dropout(x, out, n, probability, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, i) >= probability
    tl.store(out + i, tl.where(kept, tl.load(x + i, mask=i < n) / (1 - probability), 0.0), mask=i < n)


@triton.jit
def layer_norm(x, weight, bias, out, mean_out, scale_out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    inside = j < columns
    values = tl.load(x + row * columns + j, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    result = centred * scale * tl.load(weight + j, mask=inside) + tl.load(bias + j, mask=inside)
    tl.store(out + row * columns + j, result.to(out.dtype.element_ty), mask=inside)
    tl.store(mean_out + row, mean)
    tl.store(scale_out + row, scale)


@triton.jit
def layer_norm_backward(
    x, weight, grad, mean_in, scale_in, dx, dweight, dbias, locks, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr
):
    """The rows of a group add up their parts of the parameters' gradients, one after the other."""
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    inside = j < columns
    values = tl.load(x + row * columns + j, mask=inside, other=0.0).to(tl.float32)
    outer = tl.load(grad + row * columns + j, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(scale_in + row)
    normal = tl.where(inside, (values - tl.load(mean_in + row)) * scale, 0.0)
    scaled = tl.where(inside, tl.load(weight + j, mask=inside, other=0.0) * outer, 0.0)
    along = tl.sum(normal * scaled, axis=0) / columns
    mean = tl.sum(scaled, axis=0) / columns
    tl.store(dx + row * columns + j, ((scaled - normal * along - mean) * scale).to(dx.dtype.element_ty), mask=inside)
    group = row % GROUPS
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    seen = tl.load(locks + GROUPS + group)
    of_weight, of_bias = outer * normal, outer
    if seen == 0:
        tl.atomic_xchg(locks + GROUPS + group, 1)
    else:
        of_weight += tl.load(dweight + group * columns + j, mask=inside)
        of_bias += tl.load(dbias + group * columns + j, mask=inside)
    tl.store(dweight + group * columns + j, of_weight, mask=inside)
    tl.store(dbias + group * columns + j, of_bias, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    PRECISION: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    """Blocks in groups of GROUP rows, so that neighbours share what the cache holds."""
    program = tl.program_id(0)
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = program // (GROUP * across) * GROUP
    size = min(down - first, GROUP)
    m = first + program % (GROUP * across) % size
    n = program % (GROUP * across) // size
    i, j, k = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=ACCUMULATOR)
    for at in range(0, K, BK):
        left = tl.load(a + i[:, None] * K + (at + k)[None, :], mask=(i < M)[:, None] & (at + k < K)[None, :], other=0.0)
        right = tl.load(b + (at + k)[:, None] * N + j[None, :], mask=(at + k < K)[:, None] & (j < N)[None, :], other=0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=ACCUMULATOR)
    tl.store(c + i[:, None] * N + j[None, :], total.to(c.dtype.element_ty), mask=(i < M)[:, None] & (j < N)[None, :])


@triton.jit
def matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, PROGRAMS, flatten=True):
        i, j, k = tile // across * BM + tl.arange(0, BM), tile % across * BN + tl.arange(0, BN), tl.arange(0, BK)
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for at in range(0, K, BK):
            left = tl.load(a + i[:, None] * K + (at + k)[None, :])
            right = tl.load(b + (at + k)[:, None] * N + j[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + i[:, None] * N + j[None, :], total.to(c.dtype.element_ty))


@triton.jit
def matmul_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The descriptors are the host's."""
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        total = tl.dot(a.load([i, at]), b.load([at, j]), total)
    c.store([i, j], total.to(tl.float16))


@triton.jit
def twice_by_descriptors(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Elements of whatever type the host's descriptors have."""
    i, j = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    tile = x.load([i, j])
    out.store([i, j], tile + tile)


@triton.jit
def add_atomically(out, x):
    tl.atomic_add(out, tl.load(x))


@triton.jit
def matmul_own_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The kernel makes its descriptors."""
    left = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    right = tl.make_tensor_descriptor(b, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    out = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        total = tl.dot(left.load([i, at]), right.load([at, j]), total)
    out.store([i, j], total.to(tl.float16))


@triton.jit
def grouped_matmul(addresses, sizes, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    """A table of addresses: a, b, c of each problem; and M, N, K of each."""
    tile, behind = tl.program_id(0), 0
    for group in range(groups):
        M, N, K = tl.load(sizes + group * 3), tl.load(sizes + group * 3 + 1), tl.load(sizes + group * 3 + 2)
        across = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * across
        while tile >= behind and tile < behind + tiles:
            a = tl.load(addresses + group * 3).to(tl.pointer_type(tl.float16))
            b = tl.load(addresses + group * 3 + 1).to(tl.pointer_type(tl.float16))
            c = tl.load(addresses + group * 3 + 2).to(tl.pointer_type(tl.float16))
            i = (tile - behind) // across * BM + tl.arange(0, BM)
            j = (tile - behind) % across * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for at in range(0, K, BK):
                total = tl.dot(
                    tl.load(a + i[:, None] * K + (at + k)[None, :]), tl.load(b + (at + k)[:, None] * N + j[None, :]), total
                )
            tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16))
            tile += PROGRAMS
        behind += tiles


@triton.jit
def attention(q, k, v, out, sums, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    """One head: a block of queries meets the keys block by block; row maxima and sums are carried along. `sums` are log2."""
    i, d, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    query = tl.load(q + i[:, None] * D + d[None, :])
    largest = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    result = tl.zeros((BM, D), dtype=tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else length
    for at in range(0, end, BN):
        j = at + n
        scores = tl.dot(query, tl.trans(tl.load(k + j[:, None] * D + d[None, :]))) * (scale * 1.4426950408889634)
        if CAUSAL:
            scores = tl.where(i[:, None] >= j[None, :], scores, -float("inf"))
        now = tl.maximum(largest, tl.max(scores, axis=1))
        shrunk = tl.exp2(largest - now)
        powers = tl.exp2(scores - now[:, None])
        total = total * shrunk + tl.sum(powers, axis=1)
        result = tl.dot(powers.to(tl.float16), tl.load(v + j[:, None] * D + d[None, :]), result * shrunk[:, None])
        largest = now
    tl.store(out + i[:, None] * D + d[None, :], (result / total[:, None]).to(tl.float16))
    tl.store(sums + i, largest + tl.log2(total))


@triton.jit
def attention_backward(
    q, k, v, grad, sums, deltas, dq, dk, dv, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr
):
    """A block of keys meets all queries; what it adds to their gradient is added atomically."""
    j, d, m = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, D), tl.arange(0, BM)
    key, value = tl.load(k + j[:, None] * D + d[None, :]), tl.load(v + j[:, None] * D + d[None, :])
    of_key, of_value = tl.zeros((BN, D), dtype=tl.float32), tl.zeros((BN, D), dtype=tl.float32)
    for at in range(0, length, BM):
        i = at + m
        query, outer = tl.load(q + i[:, None] * D + d[None, :]), tl.load(grad + i[:, None] * D + d[None, :])
        scores = tl.dot(query, tl.trans(key)) * (scale * 1.4426950408889634)
        powers = tl.exp2(scores - tl.load(sums + i)[:, None])
        of_value += tl.dot(tl.trans(powers.to(tl.float16)), outer)
        slopes = (powers * (tl.dot(outer, tl.trans(value)) - tl.load(deltas + i)[:, None]) * scale).to(tl.float16)
        of_key += tl.dot(tl.trans(slopes), query)
        tl.atomic_add(dq + i[:, None] * D + d[None, :], tl.dot(slopes, key))
    tl.store(dk + j[:, None] * D + d[None, :], of_key)
    tl.store(dv + j[:, None] * D + d[None, :], of_value)


@triton.jit
def library_functions(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, libdevice.asin(value) + libdevice.erf(value) * libdevice.cbrt(value), mask=i < n)


@triton.jit
def histogram(x, out, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))


@triton.jit
def scans(x, sums, largest, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    values = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(values, axis=1))
    tl.store(largest + at, tl.associative_scan(values, 0, larger))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def sort_and_gather(x, index, ordered, picked, N: tl.constexpr):
    i = tl.arange(0, N)
    values = tl.load(x + i)
    tl.store(ordered + i, tl.sort(values, descending=True))
    tl.store(picked + i, tl.gather(values, tl.load(index + i), 0))


@triton.jit
def atomics(x, index, sums, tops, turns, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    values, at = tl.load(x + i), tl.load(index + i)
    tl.atomic_add(sums + at, values)
    tl.atomic_max(tops + at, values)
    tl.atomic_add(turns, 1)


@triton.jit
def combine(mean_a, square_a, count_a, mean_b, square_b, count_b):
    apart = mean_b - mean_a
    count = count_a + count_b
    share = tl.where(count == 0, 0.0, count_b / count)
    return mean_a + apart * share, square_a + square_b + apart * apart * count_a * share, count


@triton.jit
def variance(x, out, where, columns, BLOCK: tl.constexpr):
    """A reduction of three values at once, and an argmax."""
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    inside = j < columns
    values = tl.load(x + row * columns + j, mask=inside, other=0.0)
    mean, square, count = tl.reduce((values, tl.zeros_like(values), inside.to(tl.float32)), 0, combine)
    tl.store(out + row * 2, mean)
    tl.store(out + row * 2 + 1, square / count)
    tl.store(where + row, tl.argmax(tl.where(inside, values, -float("inf")), axis=0))


@triton.jit
def conversions(x, half, brain, small, numbers, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n)
    tl.store(half + i, values.to(tl.float16), mask=i < n)
    tl.store(brain + i, values.to(tl.bfloat16), mask=i < n)
    tl.store(small + i, values.to(tl.float8e5), mask=i < n)
    tl.store(numbers + i, (values * 1000).to(tl.int16), mask=i < n)


@triton.jit
def integers(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i, mask=i < n), tl.load(y + i, mask=i < n, other=1)
    mixed = (a // b) ^ (a % b) ^ (a >> (b & 31)) ^ tl.umulhi(a.to(tl.uint64), b.to(tl.uint64)).to(tl.int64)
    tl.store(out + i, mixed, mask=i < n)


@triton.jit
def transpose(x, out, M: tl.constexpr, N: tl.constexpr):
    values = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    twice = tl.join(values, values + 1).permute(1, 0, 2).reshape(N, 2 * M)
    tl.store(out + tl.arange(0, N)[:, None] * (2 * M) + tl.arange(0, 2 * M)[None, :], twice)


@triton.jit
def scaled_matmul(a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Eight-bit elements in blocks of 32 along K, each with a power of two."""
    i, j, k, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    left, right = tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + j[None, :])
    of_left = tl.load(a_scale + i[:, None] * (K // 32) + s[None, :])
    of_right = tl.load(b_scale + j[:, None] * (K // 32) + s[None, :])
    total = tl.dot_scaled(left, of_left, "e5m2", right, of_right, "e5m2")
    tl.store(c + i[:, None] * N + j[None, :], total)


@triton.jit
def add_bug(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, load_without_mask(x, i), mask=i < n)


@triton.jit
def load_without_mask(x, i):
    return tl.load(x + i)


@triton.jit
def speak(x, n):
    value = tl.load(x)
    tl.device_print("value", value)
    tl.device_assert(value < n, "too large")


@triton.jit
def tuples(values, scale, out):
    tl.store(out, tl.load(values[0]) + values[1])
    if scale is not None:
        tl.store(out + 1, tl.load(values[0]) * scale)


@triton.autotune(configs=[triton.Config({"BLOCK": size}, num_warps=warps) for size, warps in ((64, 1), (1024, 4))], key=["n"])
@triton.jit
def tuned_copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)
