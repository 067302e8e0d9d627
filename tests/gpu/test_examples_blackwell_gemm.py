"""The examples on Blackwell's tensor cores, on a GPU, over torch tensors. No such GPU has run them yet."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() != (10, 0), reason="no B200 here"
)

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.blackwell.gemm_highperf_blackwell import build_gemm, build_gemm_2sm  # noqa: E402
from examples.blackwell.grouped_gemm import build_grouped_gemm  # noqa: E402

REPEATS = 20  # a race shows now and then only
SIZES = [(8, 8, 8), (128, 256, 64), (256, 256, 512), (136, 264, 72), (1000, 1000, 1000), (4096, 4096, 4096), (8192, 8192, 1024)]
GROUPED = [(1, 128, 64, 64), (1, 128, 128, 64), (3, 384, 640, 448), (8, 1024, 2048, 2048)]


def inputs(a_shape, b_shape, small_integers: bool):
    generator = torch.Generator("cuda").manual_seed(sum(a_shape + b_shape))
    if small_integers:
        return [torch.randint(-2, 3, s, generator=generator, device="cuda").to(torch.bfloat16) for s in (a_shape, b_shape)]
    return [torch.randn(s, generator=generator, device="cuda").to(torch.bfloat16) for s in (a_shape, b_shape)]


def hold(kernel, a, b, expected, K: int, small_integers: bool) -> None:
    c = kernel(a, b)
    if small_integers:
        assert torch.equal(c, expected.to(c.dtype))  # sums of small integers are exact, rounded once
    else:
        relative = (c.double() - expected).abs() / expected.abs().clamp(min=K**0.5)
        assert float(relative.nan_to_num(nan=float("inf")).max()) < (1e-4 if c.dtype == torch.float32 else 2**-8)
    for _ in range(REPEATS):
        assert torch.equal(kernel(a, b), c)


@pytest.mark.parametrize("small_integers", [True, False], ids=["integers", "normal"])
@pytest.mark.parametrize("build", [build_gemm, build_gemm_2sm])
@pytest.mark.parametrize(("M", "N", "K"), SIZES)
def test_gemm(build, M, N, K, small_integers) -> None:
    a, b = inputs((M, K), (N, K), small_integers)
    hold(build(M, N, K), a, b, a.double() @ b.double().T, K, small_integers)


@pytest.mark.parametrize("small_integers", [True, False], ids=["integers", "normal"])
@pytest.mark.parametrize(("G", "M", "N", "K"), GROUPED)
def test_grouped_gemm(G, M, N, K, small_integers) -> None:
    a, b = inputs((G * M, K), (G * K, N), small_integers)
    expected = torch.bmm(a.double().view(G, M, K), b.double().view(G, K, N)).view(G * M, N)
    hold(build_grouped_gemm(G, M, N, K), a, b, expected, K, small_integers)
