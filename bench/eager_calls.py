"""What eager calls of the kernel library cost at small shapes, beside the torch calls that they replace.

python bench/eager_calls.py [--nodes] [--only WORD …] [--rounds N] [--json FILE]

Two times of each call, in microseconds: until it returns (the host's part; bursts of calls, the GPU idle when one begins), and
until its result is there (call, then wait, again and again). The arms take turns, in the other order every second round; medians,
and the ratio is the median of the rounds' torch over library: above 1 the library is the faster one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = Callable[[], Any]
CALLS = 100  # of a burst
EPS = 1e-6


def rows(torch: Any, kernels: Any) -> dict[str, tuple[Call, Call]]:
    """Norms, softmax, gated products, losses."""
    functional, found = torch.nn.functional, {}
    for m, n, dtype in ((64, 1024, torch.float32), (64, 1024, torch.bfloat16), (1, 4096, torch.bfloat16)):
        x, r, w, b = (torch.randn(shape, device="cuda", dtype=dtype) for shape in ((m, n), (m, n), (n,), (n,)))
        wide = torch.randn(m, 2 * n, device="cuda", dtype=dtype)
        deep = torch.randn(2, m, n, device="cuda", dtype=dtype)
        target = torch.randint(0, n, (m,), device="cuda")
        like = f"{m}x{n} {str(dtype).removeprefix('torch.')}"

        def added(x: Any = x, r: Any = r, w: Any = w, n: int = n) -> Any:
            total = x + r
            return functional.rms_norm(total, (n,), w, EPS), total

        found |= {
            f"rms_norm {like}": (
                lambda x=x, w=w: kernels.rms_norm(x, w), lambda x=x, w=w, n=n: functional.rms_norm(x, (n,), w, EPS)),
            f"rms_norm residual {like}": (lambda x=x, r=r, w=w: kernels.rms_norm(x, w, residual=r), added),
            f"rms_norm 3d {like}": (
                lambda x=deep, w=w: kernels.rms_norm(x, w), lambda x=deep, w=w, n=n: functional.rms_norm(x, (n,), w, EPS)),
            f"layer_norm {like}": (
                lambda x=x, w=w, b=b: kernels.layer_norm(x, w, b),
                lambda x=x, w=w, b=b, n=n: functional.layer_norm(x, (n,), w, b)),
            f"softmax {like}": (lambda x=x: kernels.softmax(x), lambda x=x: torch.softmax(x, -1)),
            f"softmax 3d {like}": (lambda x=deep: kernels.softmax(x), lambda x=deep: torch.softmax(x, -1)),
            f"log_softmax {like}": (lambda x=x: kernels.log_softmax(x), lambda x=x: torch.log_softmax(x, -1)),
            f"swiglu {like}": (lambda x=x, r=r: kernels.swiglu(x, r), lambda x=x, r=r: functional.silu(x) * r),
            f"swiglu packed {like}": (
                lambda x=wide: kernels.swiglu(x), lambda x=wide, n=n: functional.silu(x[:, :n]) * x[:, n:]),
            f"geglu {like}": (
                lambda x=x, r=r: kernels.geglu(x, r), lambda x=x, r=r: functional.gelu(x, approximate="tanh") * r),
            f"cross_entropy none {like}": (
                lambda x=x, t=target: kernels.cross_entropy(x, t, reduction="none"),
                lambda x=x, t=target: functional.cross_entropy(x, t, reduction="none")),
            f"cross_entropy sum {like}": (
                lambda x=x, t=target: kernels.cross_entropy(x, t, reduction="sum"),
                lambda x=x, t=target: functional.cross_entropy(x, t, reduction="sum")),
            f"cross_entropy mean {like}": (
                lambda x=x, t=target: kernels.cross_entropy(x, t), lambda x=x, t=target: functional.cross_entropy(x, t)),
        }  # fmt: skip
        leaf = x.clone().requires_grad_()

        def of_torch(x: Any = leaf, t: Any = target) -> Any:
            loss = functional.cross_entropy(x, t)
            return loss, torch.autograd.grad(loss, x)

        found[f"cross_entropy_and_gradient {like}"] = (
            lambda x=x, t=target: kernels.cross_entropy_and_gradient(x, t), of_torch)  # fmt: skip
    return found


def gradients(torch: Any, kernels: Any) -> dict[str, tuple[Call, Call]]:
    """Forward and backward, with torch's autograd."""
    functional, found = torch.nn.functional, {}
    m, n = 64, 1024
    x, r, w, b = (torch.randn(s, device="cuda", dtype=torch.bfloat16).requires_grad_() for s in ((m, n), (m, n), (n,), (n,)))
    weight = torch.randn(n, n, device="cuda", dtype=torch.bfloat16).requires_grad_()
    dy, target = torch.randn(m, n, device="cuda", dtype=torch.bfloat16), torch.randint(0, n, (m,), device="cuda")

    def pair(name: str, own: Call, peer: Call, *wanted: Any, loss: bool = False) -> None:
        def both(call: Call) -> Call:
            return lambda: torch.autograd.grad(call(), wanted, None if loss else dy)

        found[f"gradient of {name} {m}x{n} bfloat16"] = both(own), both(peer)

    pair("rms_norm", lambda: kernels.rms_norm(x, w), lambda: functional.rms_norm(x, (n,), w, 1e-6), x, w)
    pair("layer_norm", lambda: kernels.layer_norm(x, w, b), lambda: functional.layer_norm(x, (n,), w, b), x, w, b)
    pair("softmax", lambda: kernels.softmax(x), lambda: torch.softmax(x, -1), x)
    pair("swiglu", lambda: kernels.swiglu(x, r), lambda: functional.silu(x) * r, x, r)
    pair("cross_entropy", lambda: kernels.cross_entropy(x, target), lambda: functional.cross_entropy(x, target), x, loss=True)
    pair("matmul", lambda: kernels.matmul(x, weight.mT), lambda: x @ weight.mT, x, weight)
    pair("linear", lambda: kernels.matmul(x, weight.mT, bias=b), lambda: functional.linear(x, weight, b), x, weight, b)
    pair("linear_cross_entropy", lambda: kernels.linear_cross_entropy(x, weight, target),
         lambda: functional.cross_entropy(functional.linear(x, weight), target), x, weight, loss=True)  # fmt: skip
    return found


def products(torch: Any, kernels: Any) -> dict[str, tuple[Call, Call]]:
    functional, found = torch.nn.functional, {}
    for m, n, k in ((16, 256, 256), (64, 1024, 1024), (1, 4096, 4096)):
        x, w = (torch.randn(each, k, device="cuda", dtype=torch.bfloat16) for each in (m, n))
        wide, bias = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for shape in ((2 * n, k), (n,)))
        added, into = (torch.randn(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        batch_a, batch_b = (torch.randn(4, each, k, device="cuda", dtype=torch.bfloat16) for each in (m, n))
        longer = torch.randn(m, 2 * k, device="cuda", dtype=torch.bfloat16)[:, :k]
        deep, target = x.view(1, m, k), torch.randint(0, n, (m,), device="cuda")
        ends = torch.tensor([m // 4, m // 2, m // 2, m], device="cuda", dtype=torch.int32)
        like = f"{m}x{n}x{k}"

        def gated(x: Any = x, w: Any = wide, n: int = n) -> Any:
            y = x @ w.mT
            return functional.silu(y[:, :n]) * y[:, n:]

        found |= {
            f"matmul {like}": (lambda x=x, w=w: kernels.matmul(x, w.mT), lambda x=x, w=w: x @ w.mT),
            f"matmul 3d {like}": (lambda x=deep, w=w: kernels.matmul(x, w.mT), lambda x=deep, w=w: x @ w.mT),
            f"matmul rows apart {like}": (lambda x=longer, w=w: kernels.matmul(x, w.mT), lambda x=longer, w=w: x @ w.mT),
            f"matmul batched {like}": (
                lambda x=batch_a, w=batch_b: kernels.matmul(x, w.mT), lambda x=batch_a, w=batch_b: x @ w.mT),
            f"matmul bias {like}": (
                lambda x=x, w=w, b=bias: kernels.matmul(x, w.mT, bias=b), lambda x=x, w=w, b=bias: torch.addmm(b, x, w.mT)),
            f"matmul bias relu {like}": (
                lambda x=x, w=w, b=bias: kernels.matmul(x, w.mT, bias=b, activation="relu"),
                lambda x=x, w=w, b=bias: torch.addmm(b, x, w.mT).relu_()),
            f"matmul residual {like}": (
                lambda x=x, w=w, r=added: kernels.matmul(x, w.mT, residual=r), lambda x=x, w=w, r=added: torch.addmm(r, x, w.mT)),
            f"matmul alpha {like}": (
                lambda x=x, w=w: kernels.matmul(x, w.mT, alpha=0.5), lambda x=x, w=w: x @ w.mT * 0.5),
            f"matmul out {like}": (
                lambda x=x, w=w, o=into: kernels.matmul(x, w.mT, out=o), lambda x=x, w=w, o=into: torch.matmul(x, w.mT, out=o)),
            f"gated_matmul {like}": (lambda x=x, w=wide: kernels.gated_matmul(x, w.mT), gated),
            f"grouped_matmul {like}": (
                lambda x=x, w=batch_b, e=ends: kernels.grouped_matmul(x, w.mT, e),
                lambda x=x, w=batch_b, e=ends: torch._grouped_mm(x, w.mT, offs=e)),
            f"linear_cross_entropy {like}": (
                lambda x=x, w=w, t=target: kernels.linear_cross_entropy(x, w, t),
                lambda x=x, w=w, t=target: functional.cross_entropy(x @ w.mT, t)),
        }  # fmt: skip
        a8, b8 = (y.to(torch.float8_e4m3fn) for y in (x, w))
        one, two = (torch.tensor(0.5, device="cuda") for _ in range(2))
        by_rows, by_columns = torch.rand(m, 1, device="cuda"), torch.rand(1, n, device="cuda")
        of_blocks, of_b = torch.rand(k // 128, m, device="cuda").mT, torch.rand(n // 128, k // 128, device="cuda").mT
        for name, s, t, fast in (
            ("tensorwise", one, two, True), ("rowwise", by_rows, by_columns, True), ("blockwise", of_blocks, of_b, False),
        ):  # fmt: skip
            found[f"scaled_matmul {name} {like}"] = (
                lambda a=a8, b=b8, s=s, t=t: kernels.scaled_matmul(a, b.mT, s, t),
                lambda a=a8, b=b8, s=s, t=t, fast=fast: torch._scaled_mm(
                    a, b.mT, s, t, out_dtype=torch.bfloat16, use_fast_accum=fast
                ),
            )
    return found


def burst(torch: Any, call: Call) -> float:
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin) / CALLS * 1e6


def one_by_one(torch: Any, call: Call) -> float:
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
        torch.cuda.synchronize()
    return (time.perf_counter() - begin) / CALLS * 1e6


def measured(torch: Any, own: Call, peer: Call, rounds: int) -> dict[str, Any]:
    for call in (own, peer):
        burst(torch, call)
    report = {}
    for name, time_of in (("returns", burst), ("done", one_by_one)):
        pairs = []
        for number in range(rounds):
            if number % 2:
                second = time_of(torch, peer)
                pairs.append((time_of(torch, own), second))
            else:
                first = time_of(torch, own)
                pairs.append((first, time_of(torch, peer)))
        ratios = sorted(theirs / ours for ours, theirs in pairs)
        report[name] = {
            "us": round(statistics.median(ours for ours, _ in pairs), 2),
            "torch us": round(statistics.median(theirs for _, theirs in pairs), 2),
            "ratio": round(statistics.median(ratios), 3),
            "from": round(ratios[len(ratios) // 10], 3), "to": round(ratios[len(ratios) * 9 // 10], 3),
        }  # fmt: skip
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="calls whose names have one of these words (default: all)")
    parser.add_argument("--rounds", type=int, default=11, help="(default %(default)s)")
    parser.add_argument("--nodes", action="store_true", help="make the autograd nodes in C++ first (kernels.build_nodes)")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("eager_calls: torch is not installed; nothing measured")
        return 0
    if not torch.cuda.is_available():
        print("eager_calls: there is no GPU; nothing measured")
        return 0
    from pyptx import kernels
    from pyptx.torch_support import nodes

    if options.nodes:
        kernels.build_nodes()
    is_hopper = torch.cuda.get_device_capability() == (9, 0)
    calls = rows(torch, kernels) | (products(torch, kernels) | gradients(torch, kernels) if is_hopper else {})
    language = "Python" if nodes.module() is None else "C++"
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, autograd nodes in {language}; "
          "us of the library, of torch, and torch / library")  # fmt: skip
    reports = {}
    for name, (own, peer) in calls.items():
        if options.only and not any(word in name for word in options.only):
            continue
        try:
            reports[name] = measured(torch, own, peer, options.rounds)
        except Exception as error:  # one that fails leaves the others
            print(f"{name:46} FAILED: {type(error).__name__}: {str(error)[:200]}", flush=True)
            continue
        text = [
            f"{what} {r['us']:7.2f} {r['torch us']:7.2f}  {r['ratio']:5.2f} ({r['from']:.2f} to {r['to']:.2f})"
            for what, r in reports[name].items()
        ]
        print(f"{name:46} " + "   ".join(text), flush=True)
        if options.json:
            options.json.write_text(json.dumps(reports, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
