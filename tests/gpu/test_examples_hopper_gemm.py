"""The examples on Hopper's tensor cores, on a GPU, over torch tensors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0), reason="no Hopper GPU here"
)

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.hopper.experimental import flash_attention_hopper  # noqa: E402
from examples.hopper.experimental.flash_attention_hopper import build_flash_attention  # noqa: E402
from examples.hopper.gemm_highperf_hopper import gemm_warp_specialized  # noqa: E402
from examples.hopper.grouped_gemm import build_grouped_gemm  # noqa: E402

REPEATS = 20  # a race shows now and then only


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator("cuda").manual_seed(seed), device="cuda").to(torch.bfloat16)


def small_integers(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randint(-2, 3, shape, generator=generator, device="cuda").to(torch.bfloat16)


def error(got: torch.Tensor, expected: torch.Tensor, floor: float) -> float:
    """The largest, relative to the expected number, or to `floor` where that is larger; NaN becomes infinite."""
    relative = (got.double() - expected).abs() / expected.abs().clamp(min=floor)
    return float(relative.nan_to_num(nan=float("inf")).max())


def same_each_time(kernel, inputs, first: torch.Tensor) -> None:
    for _ in range(REPEATS):
        assert torch.equal(kernel(*inputs), first)


GROUPED = [(1, 64, 64, 64), (1, 64, 128, 64), (2, 128, 192, 128), (5, 64, 128, 1024), (3, 320, 640, 448), (8, 1024, 2048, 2048)]


@pytest.mark.parametrize(("G", "M", "N", "K"), GROUPED)
def test_grouped_gemm(G, M, N, K) -> None:
    kernel = build_grouped_gemm(G, M, N, K)
    for make in (small_integers, randn):
        a, b = make(G * M, K, seed=1), make(G * K, N, seed=2)
        c = kernel(a, b)
        expected = torch.bmm(a.double().view(G, M, K), b.double().view(G, K, N)).view(G * M, N)
        assert c.dtype == torch.float32 and c.shape == (G * M, N)
        if make is small_integers:
            assert torch.equal(c.double(), expected)  # sums of small integers are exact
        else:
            assert error(c, expected, K**0.5) < 1e-4
    same_each_time(kernel, (a, b), c)


GEMM = [
    (8, 8, 8),
    (128, 256, 64),
    (256, 256, 256),
    (256, 256, 320),  # more stages than the ring has
    (136, 264, 72),  # a little more than a tile in each direction
    (300, 520, 136),
    (1000, 1000, 1000),
    (72, 8200, 4096),
    (2048, 2048, 2048),
    (4096, 4096, 4096),
    (8192, 8192, 1024),
    (10000, 3000, 712),
]


@pytest.mark.parametrize(("M", "N", "K"), GEMM)
def test_gemm(M, N, K) -> None:
    for make in (small_integers, randn):
        a, b = make(M, K, seed=1), make(N, K, seed=2)
        c = gemm_warp_specialized(a, b)
        expected = a.double() @ b.double().T
        assert c.dtype == torch.bfloat16 and c.shape == (M, N)
        if make is small_integers:
            assert torch.equal(c, expected.to(torch.bfloat16))  # exact sums, rounded once
        else:
            assert error(c, expected, K**0.5) < 2**-8
    same_each_time(gemm_warp_specialized, (a, b), c)


def test_gemm_on_several_streams_at_once() -> None:
    problems = [(randn(512, 512, seed=i), randn(768, 512, seed=i + 100)) for i in range(4)]
    streams = [torch.cuda.Stream() for _ in problems]
    torch.cuda.synchronize()
    results = []
    for _ in range(5):
        for (a, b), stream in zip(problems, streams, strict=True):
            with torch.cuda.stream(stream):
                results.append(gemm_warp_specialized(a, b))
    torch.cuda.synchronize()
    for i, c in enumerate(results):
        a, b = problems[i % len(problems)]
        assert error(c, a.double() @ b.double().T, 512**0.5) < 2**-8


ATTENTION = [
    (1, 1, 1, 64),
    (1, 1, 64, 64),
    (1, 1, 128, 128),
    (1, 2, 100, 128),
    (2, 3, 129, 64),
    (2, 3, 256, 128),
    (2, 3, 500, 64),
    (2, 3, 640, 128),
    (3, 5, 1023, 128),
    (4, 16, 2048, 64),
    (2, 16, 4096, 128),
]


def hold_attention_to_float64(o, q, k, v, causal: bool, scale: float | None = None) -> None:
    """Of one head: errors are relative to what is summed up, P |V|."""
    S, D = q.shape
    scores = q.double() @ k.double().T * (D**-0.5 if scale is None else scale)
    if causal:
        scores.masked_fill_(torch.ones(S, S, dtype=torch.bool, device="cuda").triu(1), float("-inf"))
    weights = scores.softmax(-1)
    relative = (o.double() - weights @ v.double()).abs() / (weights @ v.double().abs())
    assert float(relative.nan_to_num(nan=float("inf")).max()) < flash_attention_hopper.TOLERANCE


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize(("B", "H", "S", "D"), ATTENTION)
def test_flash_attention(B, H, S, D, causal) -> None:
    kernel = build_flash_attention(B, H, S, D, causal)
    q, k, v = (randn(B, H, S, D, seed=i) for i in range(3))
    o = kernel(q, k, v)
    assert o.dtype == torch.bfloat16 and o.shape == q.shape
    for at in {(0, 0), (B - 1, H - 1), (B // 2, H // 2)}:
        hold_attention_to_float64(o[at], q[at], k[at], v[at], causal)
    assert torch.isfinite(o.float()).all()
    same_each_time(kernel, (q, k, v), o)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_flash_attention_of_scores_that_grow_and_shrink(causal) -> None:
    """Large scores early or late: what comes is nothing beside what was summed up before, or that has to shrink to nothing."""
    q, k, v = (randn(1, 2, 512, 64, seed=i) for i in range(3))
    k[:] = torch.linspace(-8, 8, 512, device="cuda").to(torch.bfloat16)[:, None]
    q[:, 0], q[:, 1] = 1, -1
    o = build_flash_attention(1, 2, 512, 64, causal)(q, k, v)
    for head in range(2):
        hold_attention_to_float64(o[0, head], q[0, head], k[0, head], v[0, head], causal)


def test_flash_attention_with_a_scale() -> None:
    q, k, v = (randn(1, 1, 200, 64, seed=i) for i in range(3))
    o = build_flash_attention(1, 1, 200, 64, scale=0.5)(q, k, v)
    hold_attention_to_float64(o[0, 0], q[0, 0], k[0, 0], v[0, 0], False, 0.5)


def test_as_program(capsys) -> None:
    flash_attention_hopper.main()
    assert "TFLOP/s" in capsys.readouterr().out
