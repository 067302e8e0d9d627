"""RMS norm, one warp a row: y[row] = x[row] * w / sqrt(mean(x[row]**2) + eps).

The kernel of the specification's JAX page. It runs as it stands from numpy arrays, under jax.jit and on torch tensors, on a GPU
or, without one, on the executor. ``python examples/rms_norm.py`` prints its PTX and checks it against float64.
"""

from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32

WARP_SIZE = 32


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
        for i in range(items_per_thread):  # a Python loop is an unrolled PTX loop
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


def reference(x, w, eps: float = 1e-6):
    """The same in float64 numpy."""
    import numpy as np

    x64, w64 = np.asarray(x, np.float64), np.asarray(w, np.float64)
    return x64 * w64 / np.sqrt((x64 * x64).mean(axis=-1, keepdims=True) + eps)


def main() -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.standard_normal((16, 512), dtype=np.float32)
    w = rng.standard_normal(512, dtype=np.float32)
    k = build_rms_norm(16, 512)
    print(k.ptx())
    expected = reference(x, w)
    error = np.max(np.abs(k(x, w) - expected) / np.abs(expected))
    print(f"largest relative error against float64: {error:.2e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
