"""Kernels and device functions for numba-cuda."""

import math

import numpy as np
from numba import cuda, float32, float64, int32, int64, uint8, uint64, void
from numba.types import Tuple, UniTuple, complex64, complex128, float16


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def matmul(a, b, c):
    s = cuda.shared.array((16, 16), float32)
    t = cuda.shared.array((16, 17), float32)
    i, j = cuda.grid(2)
    r = float32(0)
    for k in range((a.shape[1] + 15) // 16):
        s[cuda.threadIdx.y, cuda.threadIdx.x] = a[i, k * 16 + cuda.threadIdx.x]
        t[cuda.threadIdx.y, cuda.threadIdx.x] = b[k * 16 + cuda.threadIdx.y, j]
        cuda.syncthreads()
        for m in range(16):
            r += s[cuda.threadIdx.y, m] * t[m, cuda.threadIdx.x]
        cuda.syncthreads()
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = r


def mandelbrot(image, width, height, limit):
    i, j = cuda.grid(2)
    if i < width and j < height:
        c = complex(3.0 * i / width - 2, 2.0 * j / height - 1)
        z = 0j
        n = 0
        while n < limit and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + c
            n += 1
        image[j, i] = n


def functions(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = (
            math.sin(v)
            + math.exp(v) * math.log(abs(v) + 1)
            + math.sqrt(v)
            + math.pow(v, 1.5)
            + math.atan2(v, 2.0)
            + math.erf(v)
            + math.lgamma(v)
            + math.fmod(v, 3.0)
            + math.floor(v)
            + math.tanh(v)
        )


def divide(a, b, o):
    i = cuda.grid(1)
    o[i] = a[i] // b[i] + a[i] % b[i] + (a[i] >> 2) - (b[i] << 1) + (~a[i] & b[i])


def atomics(x, f, d, u):
    i = cuda.grid(1)
    cuda.atomic.add(x, i, 1)
    cuda.atomic.sub(x, 0, 2)
    cuda.atomic.max(x, 1, i)
    cuda.atomic.min(x, 2, i)
    cuda.atomic.add(f, 0, 1.5)
    cuda.atomic.add(d, 0, 2.5)
    cuda.atomic.max(d, 1, 2.5)
    cuda.atomic.nanmin(f, 1, 0.5)
    cuda.atomic.and_(u, 0, 7)
    cuda.atomic.or_(u, 1, 8)
    cuda.atomic.xor(u, 2, 9)
    cuda.atomic.inc(u, 3, 100)
    cuda.atomic.dec(u, 4, 100)
    cuda.atomic.exch(x, 5, 3)
    cuda.atomic.cas(x, 6, 0, 1)


def warps(x, o):
    i = cuda.grid(1)
    v = x[i]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, d)
    v += cuda.shfl_up_sync(0xFFFFFFFF, v, 1) + cuda.shfl_down_sync(0xFFFFFFFF, v, 2) + cuda.shfl_sync(0xFFFFFFFF, v, 0)
    o[i] = v
    o[0] = (
        cuda.ballot_sync(0xFFFFFFFF, v > 0)
        + cuda.all_sync(0xFFFFFFFF, v > 0)
        + cuda.any_sync(0xFFFFFFFF, v < 0)
        + cuda.match_any_sync(0xFFFFFFFF, 3)
    )
    o[1] = cuda.popc(i) + cuda.clz(i) + cuda.ffs(i) + cuda.brev(i) + cuda.lanemask_lt() + cuda.laneid + cuda.activemask()
    cuda.syncwarp()


def barriers(x, o):
    s = cuda.shared.array(0, int32)
    s[cuda.threadIdx.x] = x[cuda.grid(1)]
    o[0] = cuda.syncthreads_count(s[0]) + cuda.syncthreads_and(s[1]) + cuda.syncthreads_or(s[2])
    cuda.threadfence()
    cuda.threadfence_block()
    cuda.threadfence_system()
    cuda.nanosleep(100)


constants = np.arange(20, dtype=np.float64).reshape(4, 5) / 7


def constant(o):
    t = cuda.const.array_like(constants)
    local = cuda.local.array(10, float64)
    i = cuda.grid(1)
    for j in range(10):
        local[j] = t[j % 4, j % 5] * i
    o[i] = local[i % 10] + t[i % 4, 2]


def halves(a, b, o):
    i = cuda.grid(1)
    x, y = a[i], b[i]
    o[i] = cuda.fp16.hfma(x, y, x) + x * y - cuda.fp16.habs(y) if x > y else cuda.fp16.hmax(x, y)


def complexes(a, o):
    i = cuda.grid(1)
    o[i] = a[i] * a[i] / (a[i] + 1j) + abs(a[i])


def grid_sync(x):
    g = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(4):
        x[i] += x[(i + 1) % x.size]
        g.sync()


def raising(x, i):
    if i > 5:
        raise ValueError("too large")
    x[i] = x[i - 1]


def printing(x):
    i = cuda.grid(1)
    print("thread", i, x[i])


def strided(x, o):
    i, j, k = cuda.grid(3)
    start = cuda.gridsize(3)
    o[i, j, k] = x[i, k] + start[0] + cuda.gridDim.y + cuda.blockDim.z


def collatz(n):
    c = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        c += 1
    return c


def pair(a, b):
    return a + b, a * 1.5, (b, a)


def intrinsics(a, b, c):
    return cuda.fma(a, b, c) + cuda.cbrt(a) + cuda.selp(a > b, a, b)


def bytes_sum(x, o):
    t = uint64(0)
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        t += x[i] ^ 0x5A
    cuda.atomic.add(o, 0, t)


def records(r, o):
    i = cuda.grid(1)
    o[i] = r[i]["a"] + r[i].b
    r[i].c[2] = 7


record = np.dtype([("a", "i4"), ("b", "f8"), ("c", "i2", (3,))], align=True)
every = [(7, 5), (8, 0), (9, 0), (12, 0)]
from numba import from_dtype  # noqa: E402

plans = [
    ("saxpy", saxpy, void(float32, float32[::1], float32[::1]), {}, [(7, 5)]),
    ("saxpy_debug", saxpy, void(float64, float64[:], float64[:]), {"debug": True, "opt": False}, [(8, 0)]),
    ("saxpy_lineinfo", saxpy, void(float32, float32[:], float32[:]), {"lineinfo": True}, [(9, 0)]),
    ("matmul", matmul, void(float32[:, :], float32[:, :], float32[:, :]), {}, [(7, 5), (8, 6)]),
    ("matmul_fast", matmul, void(float32[:, ::1], float32[:, ::1], float32[:, ::1]), {"fastmath": True}, [(9, 0)]),
    ("mandelbrot", mandelbrot, void(uint8[:, ::1], int32, int32, int32), {}, [(7, 5), (10, 0)]),
    ("mandelbrot_debug", mandelbrot, void(uint8[:, ::1], int32, int32, int32), {"debug": True, "opt": False}, [(12, 0)]),
    ("functions_float", functions, void(float32[::1], float32[::1]), {}, [(8, 0)]),
    ("functions_double", functions, void(float64[::1], float64[::1]), {}, [(9, 0)]),
    ("functions_fast", functions, void(float32[::1], float32[::1]), {"fastmath": True}, [(8, 9)]),
    ("divide_int32", divide, void(int32[:], int32[:], int32[:]), {}, [(7, 5)]),
    ("divide_int64", divide, void(int64[:], int64[:], int64[:]), {"lineinfo": True}, [(8, 0)]),
    ("divide_uint64", divide, void(uint64[:], uint64[:], uint64[:]), {}, [(12, 0)]),
    ("atomics", atomics, void(int64[:], float32[:], float64[:], uint64[:]), {}, [(7, 5), (9, 0)]),
    ("warps", warps, void(int32[:], int32[:]), {}, [(7, 5), (8, 0)]),
    ("warps_double", warps, void(float64[:], float64[:]), {}, [(9, 0)]),
    ("barriers", barriers, void(int32[:], int32[:]), {}, [(7, 5), (12, 1)]),
    ("constant", constant, void(float64[:]), {}, [(8, 0)]),
    ("constant_debug", constant, void(float64[:]), {"debug": True, "opt": False}, [(9, 0)]),
    ("halves", halves, void(float16[:], float16[:], float16[:]), {}, [(7, 5), (9, 0)]),
    ("complexes", complexes, void(complex64[:], complex64[:]), {}, [(8, 0)]),
    ("complexes_double", complexes, void(complex128[:], complex128[:]), {}, [(10, 3)]),
    ("grid_sync", grid_sync, void(float32[:]), {}, [(8, 0)]),
    ("raising", raising, void(int32[:], int32), {"debug": True, "opt": False}, [(7, 5)]),
    ("printing", printing, void(float32[:]), {}, [(8, 0), (12, 0)]),
    ("strided", strided, void(float32[:, :], float32[:, :, :]), {"lineinfo": True}, [(8, 7)]),
    ("collatz", collatz, int32(int64), {"device": True}, [(7, 5)]),
    ("collatz_c", collatz, int32(int64), {"device": True, "abi": "c"}, [(9, 0)]),
    ("pair", pair, Tuple((int32, float64, UniTuple(int32, 2)))(int32, int32), {"device": True}, [(8, 0)]),
    ("intrinsics", intrinsics, float64(float64, float64, float64), {"device": True, "abi": "c"}, [(8, 0)]),
    ("intrinsics_float", intrinsics, float32(float32, float32, float32), {"device": True}, [(9, 0)]),
    ("bytes_sum", bytes_sum, void(uint8[:], uint64[:]), {}, [(7, 5)]),
    ("records", records, void(from_dtype(record)[:], float64[:]), {}, [(8, 0), (9, 0)]),
]
