"""What the kernels of triton_kernels.py are called with, and what they have to give: by torch, without Triton."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

TARGETS = ("sm_80", "sm_90a", "sm_100a")
Arguments = dict[str, Any]


@dataclass
class Descriptor:
    """A tensor that a kernel takes as a descriptor of the host, and the block that it moves."""

    tensor: torch.Tensor
    block: Sequence[int]


@dataclass
class Case:
    """A call of a kernel. `arguments` makes them, equal every time; `check` fails unless they hold what they should."""

    kernel: str
    arguments: Callable[[], Arguments]
    check: Callable[[Arguments], None]
    grid: tuple[int, ...] = (1,)
    meta: dict[str, Any] = field(default_factory=dict)
    targets: Sequence[str] = TARGETS
    name: str = ""
    scratch: bool = False  # the kernel wants memory of Triton's allocator

    def __str__(self) -> str:
        return self.name


def storages(arguments: Arguments) -> list[torch.Tensor]:
    """The tensors among the arguments, one of each storage, in their order."""
    found: dict[int, torch.Tensor] = {}

    def walk(value: Any) -> None:
        if isinstance(value, Descriptor):
            walk(value.tensor)
        elif isinstance(value, torch.Tensor):
            found.setdefault(value.untyped_storage().data_ptr(), value)
        elif isinstance(value, (list, tuple)):
            for each in value:
                walk(each)

    walk(list(arguments.values()))
    return list(found.values())


def close(got: torch.Tensor, wanted: torch.Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(got.double(), wanted.double(), rtol=tolerance, atol=tolerance)


def numbers(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def integers(*shape: int, seed: int = 0, low: int = 0, high: int = 64, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def _add() -> Arguments:
    return {"x": numbers(1000), "y": numbers(1000, seed=1), "out": torch.zeros(1000), "n": 1000}


def _softmax() -> Arguments:
    x = numbers(9, 200)
    return {"x": x, "out": torch.zeros_like(x), "rows": 9, "columns": 200, "stride": 200}


def _check_dropout(a: Arguments) -> None:
    zero = a["out"] == 0
    close(a["out"][~zero], a["x"][~zero] / 0.75)
    assert 0.2 < zero.float().mean() < 0.3


def _layer_norm() -> Arguments:
    x = numbers(6, 300, dtype=torch.float16)
    return {
        "x": x, "weight": numbers(300, seed=1), "bias": numbers(300, seed=2), "out": torch.zeros_like(x),
        "mean_out": torch.zeros(6), "scale_out": torch.zeros(6), "columns": 300, "epsilon": 1e-5,
    }  # fmt: skip


def _check_layer_norm(a: Arguments) -> None:
    x = a["x"].float()
    close(a["mean_out"], x.mean(1))
    close(a["out"], torch.nn.functional.layer_norm(x, (300,), a["weight"], a["bias"], 1e-5), 1e-2)


def _layer_norm_backward() -> Arguments:
    x = numbers(8, 200)
    mean, scale = x.mean(1), (x.var(1, correction=0) + 1e-5).rsqrt()
    return {
        "x": x, "weight": numbers(200, seed=1), "grad": numbers(8, 200, seed=2), "mean_in": mean, "scale_in": scale,
        "dx": torch.zeros_like(x), "dweight": torch.zeros(2, 200), "dbias": torch.zeros(2, 200),
        "locks": torch.zeros(4, dtype=torch.int32), "columns": 200,
    }  # fmt: skip


def _check_layer_norm_backward(a: Arguments) -> None:
    x, weight = a["x"].clone().requires_grad_(), a["weight"].clone().requires_grad_()
    bias = torch.zeros(200, requires_grad=True)
    torch.nn.functional.layer_norm(x, (200,), weight, bias, 1e-5).backward(a["grad"])
    assert x.grad is not None and weight.grad is not None and bias.grad is not None
    close(a["dx"], x.grad, 1e-4)
    close(a["dweight"].sum(0), weight.grad, 1e-4)
    close(a["dbias"].sum(0), bias.grad, 1e-4)


def _matrices(m: int, n: int, k: int, dtype: torch.dtype, out: torch.dtype) -> Callable[[], Arguments]:
    def make() -> Arguments:
        if dtype == torch.int8:
            a, b = integers(m, k, low=-9, high=9, dtype=dtype), integers(k, n, seed=1, low=-9, high=9, dtype=dtype)
        else:
            a, b = numbers(m, k).to(dtype), numbers(k, n, seed=1).to(dtype)
        return {"a": a, "b": b, "c": torch.zeros(m, n, dtype=out), "M": m, "N": n, "K": k}

    return make


def _product(tolerance: float) -> Callable[[Arguments], None]:
    return lambda a: close(a["c"], a["a"].double() @ a["b"].double(), tolerance)


def _of_descriptors() -> Arguments:
    a = _matrices(128, 128, 96, torch.float16, torch.float16)()
    return {"a": Descriptor(a["a"], (64, 32)), "b": Descriptor(a["b"], (32, 64)), "c": Descriptor(a["c"], (64, 64)), "K": 96}


_COPIED = (torch.uint8, torch.int16, torch.int32, torch.float16, torch.bfloat16, torch.float32)


def _copied(dtype: torch.dtype) -> Callable[[], Arguments]:
    def make() -> Arguments:
        x = numbers(64, 96, dtype=dtype) if dtype.is_floating_point else integers(64, 96, dtype=dtype)
        return {"x": Descriptor(x, (32, 32)), "out": Descriptor(torch.zeros_like(x), (32, 32))}

    return make


def _check_copied(a: Arguments) -> None:
    assert torch.equal(a["out"].tensor, a["x"].tensor + a["x"].tensor)


def _check_descriptors(a: Arguments) -> None:
    close(a["c"].tensor, a["a"].tensor.double() @ a["b"].tensor.double(), 2e-2)


def _groups() -> Arguments:
    sizes = [(32, 64, 32), (64, 32, 64)]
    matrices = []
    for number, (m, n, k) in enumerate(sizes):
        matrices += [
            numbers(m, k, seed=number, dtype=torch.float16),
            numbers(k, n, seed=number + 9, dtype=torch.float16),
            torch.zeros(m, n, dtype=torch.float16),
        ]
    addresses = torch.tensor([matrix.data_ptr() for matrix in matrices])
    return {"addresses": addresses, "sizes": torch.tensor(sizes, dtype=torch.int32), "groups": 2, "kept": matrices}


def _check_groups(a: Arguments) -> None:
    for left, right, out in zip(*[iter(a["kept"])] * 3, strict=True):
        close(out, left.double() @ right.double(), 2e-2)


def _attention() -> Arguments:
    q, k, v = (numbers(64, 32, seed=s, dtype=torch.float16) for s in range(3))
    return {"q": q, "k": k, "v": v, "out": torch.zeros_like(q), "sums": torch.zeros(64), "length": 64, "scale": 0.25}


def _attended(a: Arguments, causal: bool) -> torch.Tensor:
    scores = a["q"].double() @ a["k"].double().T * 0.25
    if causal:
        scores = scores.masked_fill(torch.ones(64, 64).triu(1).bool(), -torch.inf)
    return torch.softmax(scores, 1) @ a["v"].double()


def _attention_backward() -> Arguments:
    q, k, v, grad = (numbers(64, 32, seed=s, dtype=torch.float16) for s in range(4))
    scores = q.double() @ k.double().T * 0.25
    out = torch.softmax(scores, 1) @ v.double()
    sums = (torch.logsumexp(scores, 1) / torch.log(torch.tensor(2.0))).float()
    made = {name: torch.zeros(64, 32) for name in ("dq", "dk", "dv")}
    deltas = (out * grad.double()).sum(1).float()
    return {"q": q, "k": k, "v": v, "grad": grad, "sums": sums, "deltas": deltas, **made, "length": 64, "scale": 0.25}


def _check_attention_backward(a: Arguments) -> None:
    q, k, v = (a[name].double().requires_grad_() for name in "qkv")
    (torch.softmax(q @ k.T * 0.25, 1) @ v).backward(a["grad"].double())
    for name, of in (("dq", q), ("dk", k), ("dv", v)):
        assert of.grad is not None
        close(a[name], of.grad, 2e-2)


def _library() -> Arguments:
    x = numbers(500).clamp(-1, 1)
    return {"x": x, "out": torch.zeros(500), "n": 500}


def _check_library(a: Arguments) -> None:
    x = a["x"].double()
    close(a["out"], x.asin() + x.erf() * x.sign() * x.abs() ** (1 / 3), 1e-5)


def _check_atomics(a: Arguments) -> None:
    sums = torch.zeros(16).index_add(0, a["index"].long(), a["x"])
    close(a["sums"], sums, 1e-4)
    close(a["tops"], torch.zeros(16).scatter_reduce(0, a["index"].long(), a["x"], "amax"))
    assert a["turns"].item() == 4


def _check_integers(a: Arguments) -> None:
    for x, y, got in zip(a["x"].tolist(), a["y"].tolist(), a["out"].tolist(), strict=True):
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        high = (x % 2**64) * (y % 2**64) >> 64
        wanted = quotient ^ (x - quotient * y) ^ (x >> (y & 31)) ^ (high - 2**64 if high >> 63 else high)
        assert got == wanted, (x, y)


def _variance() -> Arguments:
    return {"x": numbers(5, 100), "out": torch.zeros(5, 2), "where": torch.zeros(5, dtype=torch.int32), "columns": 100}


def _check_variance(a: Arguments) -> None:
    close(a["out"], torch.stack([a["x"].mean(1), a["x"].var(1, correction=0)], 1), 1e-5)
    assert torch.equal(a["where"].long(), a["x"].argmax(1))


def _conversions() -> Arguments:
    dtypes = {"half": torch.float16, "brain": torch.bfloat16, "small": torch.float8_e5m2, "numbers": torch.int16}
    return {"x": numbers(500), **{name: torch.zeros(500, dtype=dtype) for name, dtype in dtypes.items()}, "n": 500}


def _check_conversions(a: Arguments) -> None:
    for name in ("half", "brain", "small"):
        assert torch.equal(a[name].float(), a["x"].to(a[name].dtype).float()), name
    assert torch.equal(a["numbers"], (a["x"] * 1000).to(torch.int16))


def _check_transpose(a: Arguments) -> None:
    wanted = torch.stack([a["x"], a["x"] + 1], 2).permute(1, 0, 2).reshape(64, 64)
    assert torch.equal(a["out"], wanted)


def _scaled() -> Arguments:
    return {
        "a": numbers(32, 64).to(torch.float8_e5m2), "a_scale": integers(32, 2, low=125, high=130, dtype=torch.uint8),
        "b": numbers(64, 32, seed=1).to(torch.float8_e5m2),
        "b_scale": integers(32, 2, seed=1, low=125, high=130, dtype=torch.uint8),
        "c": torch.zeros(32, 32),
    }  # fmt: skip


def _check_scaled(a: Arguments) -> None:
    left = a["a"].double() * (2.0 ** (a["a_scale"].double() - 127)).repeat_interleave(32, 1)
    right = a["b"].double() * (2.0 ** (a["b_scale"].double() - 127)).repeat_interleave(32, 1).T
    close(a["c"], left @ right, 1e-3)


_BLOCKS = {"BM": 32, "BN": 32, "BK": 32}
_MATMUL = {**_BLOCKS, "GROUP": 2, "PRECISION": "ieee"}
_F16, _F32 = torch.float16, torch.float32


def _matmul(name: str, dtype: torch.dtype, out: torch.dtype, tolerance: float, **meta: Any) -> Case:
    grid = (-(-80 // meta.get("BM", 32)) * -(-96 // meta.get("BN", 32)),)
    targets = meta.pop("targets", TARGETS)
    accumulator = "int32" if dtype == torch.int8 else "float32"
    settings = {**_MATMUL, "ACCUMULATOR": accumulator, **meta}
    return Case("matmul", _matrices(80, 96, 72, dtype, out), _product(tolerance), grid, settings, targets, name)


CASES = [
    Case("vector_add", _add, lambda a: close(a["out"], a["x"] + a["y"], 0), (8,), {"BLOCK": 128}),
    Case("softmax", _softmax, lambda a: close(a["out"], torch.softmax(a["x"], 1)), (4,),
         {"BLOCK": 256, "STAGES": 2, "num_warps": 4}),
    Case("dropout", lambda: {"x": numbers(2000), "out": torch.zeros(2000), "n": 2000, "probability": 0.25, "seed": 7},
         _check_dropout, (4,), {"BLOCK": 512}),
    Case("layer_norm", _layer_norm, _check_layer_norm, (6,), {"BLOCK": 512}),
    Case("layer_norm_backward", _layer_norm_backward, _check_layer_norm_backward, (8,), {"GROUPS": 2, "BLOCK": 256}),
    _matmul("matmul_f16", _F16, _F16, 2e-2),
    _matmul("matmul_f16_wide", _F16, _F32, 1e-3, BM=64, BN=64, num_warps=4),
    _matmul("matmul_f8", torch.float8_e5m2, _F32, 1e-2),
    _matmul("matmul_f8_wide", torch.float8_e4m3fn, _F32, 1e-2, BM=64, BN=64, targets=("sm_90a", "sm_100a")),
    _matmul("matmul_f32", _F32, _F32, 1e-4),
    _matmul("matmul_tf32", _F32, _F32, 3e-2, PRECISION="tf32"),
    _matmul("matmul_i8", torch.int8, torch.int32, 0),
    Case("matmul_persistent", _matrices(96, 64, 64, _F16, _F16), _product(2e-2), (4,), {**_BLOCKS, "PROGRAMS": 4}),
    *[Case("twice_by_descriptors", _copied(dtype), _check_copied, (2, 3), {"ROWS": 32, "COLUMNS": 32},
           name=f"descriptors_{str(dtype).removeprefix('torch.')}") for dtype in _COPIED],
    Case("matmul_descriptors", _of_descriptors, _check_descriptors, (2, 2), {"BM": 64, "BN": 64, "BK": 32, "num_warps": 4}),
    Case("matmul_own_descriptors", _matrices(128, 64, 96, _F16, _F16), _product(2e-2), (2, 1),
         {"BM": 64, "BN": 64, "BK": 32, "num_warps": 4}, scratch=True),
    Case("grouped_matmul", _groups, _check_groups, (2,), {**_BLOCKS, "PROGRAMS": 2}),
    Case("attention", _attention, lambda a: close(a["out"], _attended(a, False), 2e-2), (2,),
         {"BM": 32, "BN": 32, "D": 32, "CAUSAL": False}),
    Case("attention", _attention, lambda a: close(a["out"], _attended(a, True), 2e-2), (2,),
         {"BM": 32, "BN": 32, "D": 32, "CAUSAL": True}, name="attention_causal"),
    Case("attention_backward", _attention_backward, _check_attention_backward, (2,), {"BM": 32, "BN": 32, "D": 32}),
    Case("library_functions", _library, _check_library, (2,), {"BLOCK": 256}),
    Case("histogram", lambda: {"x": integers(512), "out": torch.zeros(64, dtype=torch.int32)},
         lambda a: close(a["out"], torch.bincount(a["x"], minlength=64), 0), meta={"N": 512, "BINS": 64}),
    Case("scans", lambda: {"x": numbers(16, 64), "sums": torch.zeros(16, 64), "largest": torch.zeros(16, 64)},
         lambda a: (close(a["sums"], a["x"].cumsum(1), 1e-4), close(a["largest"], a["x"].cummax(0)[0], 0))[0],
         meta={"M": 16, "N": 64}),
    Case("sort_and_gather",
         lambda: {"x": numbers(256), "index": integers(256, high=256), "ordered": torch.zeros(256), "picked": torch.zeros(256)},
         lambda a: (close(a["ordered"], a["x"].sort(descending=True)[0], 0), close(a["picked"], a["x"][a["index"].long()], 0))[0],
         meta={"N": 256}),
    Case("atomics", lambda: {"x": numbers(512).abs(), "index": integers(512, high=16), "sums": torch.zeros(16),
                             "tops": torch.zeros(16), "turns": torch.zeros(1, dtype=torch.int32)},
         _check_atomics, (4,), {"N": 128}),
    Case("variance", _variance, _check_variance, (5,), {"BLOCK": 128}),
    Case("conversions", _conversions, _check_conversions, (2,), {"BLOCK": 256}),
    Case("integers", lambda: {"x": integers(300, low=-2**62, high=2**62, dtype=torch.int64),
                              "y": integers(300, seed=1, low=1, high=2**40, dtype=torch.int64),
                              "out": torch.zeros(300, dtype=torch.int64), "n": 300}, _check_integers, (3,), {"BLOCK": 128}),
    Case("transpose", lambda: {"x": numbers(32, 64), "out": torch.zeros(64, 64)}, _check_transpose, meta={"M": 32, "N": 64}),
    Case("scaled_matmul", _scaled, _check_scaled, meta={"M": 32, "N": 32, "K": 64}),
]  # fmt: skip
for _case in CASES:
    _case.name = _case.name or _case.kernel
