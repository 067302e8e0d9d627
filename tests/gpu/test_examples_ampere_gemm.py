"""The Ampere matrix product on a GPU, over torch tensors: on any from Ampere on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (8, 0), reason="no GPU here that has sm_80"
)

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.ampere import gemm  # noqa: E402
from examples.ampere.gemm import build_gemm  # noqa: E402

from pyptx.types import bf16, f32  # noqa: E402

REPEATS = 20  # a race shows now and then only
SIZES = [
    (128, 128, 32),  # less than the ring
    (128, 128, 96),  # as long as the copies reach ahead
    (128, 128, 128),  # the ring
    (128, 128, 160),  # a little more
    (256, 128, 64),
    (128, 384, 64),
    (384, 640, 1056),
    (1024, 1024, 1024),
    (4096, 2048, 4096),
    (8192, 8192, 512),
]


def inputs(M: int, N: int, K: int, small_integers: bool):
    generator = torch.Generator("cuda").manual_seed(M + N + K)
    if small_integers:
        make = lambda *shape: torch.randint(-2, 3, shape, generator=generator, device="cuda")  # noqa: E731
    else:
        make = lambda *shape: torch.randn(shape, generator=generator, device="cuda")  # noqa: E731
    return make(M, K).to(torch.bfloat16), make(K, N).to(torch.bfloat16)


@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
@pytest.mark.parametrize(("M", "N", "K"), SIZES)
def test_gemm(M, N, K, dtype) -> None:
    kernel = build_gemm(M, N, K, dtype=dtype)
    for small_integers in (True, False):
        a, b = inputs(M, N, K, small_integers)
        c = kernel(a, b)
        expected = a.double() @ b.double()
        assert c.dtype == (torch.float32 if dtype == f32 else torch.bfloat16) and c.shape == (M, N)
        if small_integers:
            assert torch.equal(c, expected.to(c.dtype))  # sums of small integers are exact, rounded once
        else:
            relative = (c.double() - expected).abs() / expected.abs().clamp(min=K**0.5)
            assert float(relative.nan_to_num(nan=float("inf")).max()) < (1e-4 if dtype == f32 else 2**-8)
    for _ in range(REPEATS):
        assert torch.equal(kernel(a, b), c)


def test_as_program(capsys) -> None:
    gemm.main()
    assert "TFLOP/s" in capsys.readouterr().out
