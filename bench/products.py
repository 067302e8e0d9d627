"""Matrix products of the kernel library beside torch's: what `bench/kernels.py --only gemm` measures.

Peers: torch (cuBLAS), and for products with an epilogue the same under torch.compile (max-autotune).
How it is measured: kernels.py. `python bench/products.py` shows what eager calls cost the host.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from pyptx import _ptx, kernels
from pyptx.kernels._grouped import mean_rows
from pyptx.kernels._products import Shape, padding_of, product_of, shape_of, sizes_of_product

TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2, "float8_e4m3fn": 1e-2}
SCALINGS = ("tensorwise", "rowwise", "blockwise")


class ProductCell(NamedTuple):
    m: int
    n: int
    k: int
    layout: str = "nt"  # A as it is, B transposed: x @ weight.mT
    has: tuple[str, ...] = ()  # "bias", "residual", "gated", an activation
    dtype: str = "bfloat16"
    operation: str = "gemm"

    def __str__(self) -> str:
        return f"gemm {self.m}x{self.n}x{self.k} {self.layout} {self.dtype} {' '.join(self.has)}".strip()


def product_cells() -> list[ProductCell]:
    """Cubes, few rows, odd sizes, and shapes of models."""
    found = [ProductCell(size, size, size) for size in (1024, 2048, 4096, 6144, 8192)]
    found += [ProductCell(m, 4096, 4096) for m in (1, 8, 16, 32, 64, 128)]
    found += [
        ProductCell(1, 28672, 4096), ProductCell(16, 8192, 28672), ProductCell(8, 256, 7168),
        ProductCell(4096, 2112, 7168), ProductCell(4096, 1032, 520), ProductCell(4097, 4097, 4097),
        ProductCell(1000, 4096, 4096), ProductCell(4096, 14336, 4096), ProductCell(1536, 1536, 1536),
        ProductCell(3072, 3072, 3072),
        ProductCell(4608, 12288, 3072, "nt", ("bias", "gelu_tanh")), ProductCell(8192, 8192, 28672, "nt", ("residual",)),
        ProductCell(4096, 4096, 4096, "nn"), ProductCell(4096, 4096, 4096, "tn"), ProductCell(512, 4096, 4096),
        ProductCell(256, 4096, 4096), ProductCell(16384, 16384, 16384),
        ProductCell(16384, 14336, 4096, "nt", ("gated", "silu")), ProductCell(16, 14336, 4096, "nt", ("gated", "silu")),
        ProductCell(4096, 4096, 4096, "nt", ("bias", "relu")),
        *(
            ProductCell(m, n, k, "nt", (kind,), "float8_e4m3fn")
            for m, n, k, kind in (
                (4096, 4096, 4096, "tensorwise"), (8192, 8192, 8192, "tensorwise"), (4096, 4096, 4096, "rowwise"),
                (8192, 8192, 8192, "rowwise"), (16, 14336, 4096, "rowwise"), (4096, 7168, 16384, "blockwise"),
                (64, 7168, 2048, "blockwise"), (8, 4096, 7168, "blockwise"), (16, 7168, 2048, "blockwise"),
                (64, 4096, 7168, "blockwise"), (512, 7168, 2048, "blockwise"), (4096, 4096, 7168, "blockwise"),
            )
        ),
    ]  # fmt: skip
    return found


def columns_of(cell: ProductCell) -> int:
    return 2 * cell.n if "gated" in cell.has else cell.n


def scales_of(torch: Any, cell: ProductCell) -> list[Any]:
    blocks = cell.k // 128
    shape_a, shape_b = {
        "tensorwise": ((1,), (1,)), "rowwise": ((cell.m, 1), (1, cell.n)),
        "blockwise": ((blocks, cell.m), (cell.n // 128, blocks)),
    }[cell.has[0]]  # fmt: skip
    scales = [torch.rand(shape, device="cuda") + 0.5 for shape in (shape_a, shape_b)]
    return [s.mT for s in scales] if cell.has[0] == "blockwise" else scales


def inputs_of(torch: Any, cell: ProductCell) -> list[Any]:
    """A, B, then bias and residual; A and B lie in memory as the layout says."""
    kind = getattr(torch, cell.dtype)
    is_float8 = kind == torch.float8_e4m3fn

    def matrix(rows: int, columns: int, transposed: bool) -> Any:
        shape = (columns, rows) if transposed else (rows, columns)
        made = torch.randn(shape, device="cuda", dtype=torch.bfloat16).to(kind)
        return made.mT if transposed else made

    made = [matrix(cell.m, cell.k, cell.layout[0] == "t"), matrix(cell.k, columns_of(cell), cell.layout[1] == "t")]
    if is_float8:
        made += scales_of(torch, cell)
    if "bias" in cell.has:
        made.append(torch.randn(cell.n, device="cuda", dtype=kind))
    if "residual" in cell.has:
        made.append(torch.randn(cell.m, cell.n, device="cuda", dtype=kind))
    return made


def peer_of(torch: Any, cell: ProductCell) -> Callable[..., Any]:
    functional = torch.nn.functional
    activations = {"gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"), "relu": torch.relu, "silu": functional.silu}

    if cell.dtype == "float8_e4m3fn":
        fast = cell.has[0] != "blockwise"
        return lambda a, b, s, t: torch._scaled_mm(a, b, s, t, out_dtype=torch.bfloat16, use_fast_accum=fast)

    def product(a: Any, b: Any, *more: Any) -> Any:
        rest = list(more)
        y = torch.addmm(rest.pop(0), a, b) if "bias" in cell.has else None
        if y is None and "residual" in cell.has:
            return torch.addmm(rest[0], a, b)
        y = a @ b if y is None else y
        if "gated" in cell.has:
            gate, up = y.chunk(2, -1)
            return functional.silu(gate) * up
        for word in cell.has:
            if word in activations:
                y = activations[word](y)
        return y + rest[0] if rest else y

    return product


def door_of(cell: ProductCell) -> Callable[..., Any]:
    activation = next((word for word in cell.has if word not in ("bias", "residual", "gated", *SCALINGS)), None)

    if cell.dtype == "float8_e4m3fn":
        return kernels.scaled_matmul

    def product(a: Any, b: Any, *more: Any) -> Any:
        named = dict(zip([word for word in ("bias", "residual") if word in cell.has], more, strict=True))
        if "gated" in cell.has:
            return kernels.gated_matmul(a, b, activation=activation)
        return kernels.matmul(a, b, activation=activation, **named)

    return product


def arm_of(cell: ProductCell, recipe: str) -> Callable[..., Any]:
    """A call of a recipe's kernel."""
    kernel = product_of(recipe)
    plan, packed = kernel._bind(
        sizes_of_product(kernel, shape_of((cell.m, cell.k), (cell.k, columns_of(cell)), "gated" in cell.has))
    )

    def product(a: Any, b: Any, *more: Any) -> Any:
        if "rowwise" in cell.has:
            more = tuple(x.view(-1) for x in more)
        if "blockwise" in cell.has:
            more = (more[0].mT, more[1].mT)
        return plan(a.mT if cell.layout[0] == "t" else a, b.mT if cell.layout[1] == "t" else b, *more, scalars=packed)

    return product


def words_of(cell: ProductCell) -> tuple[str, ...]:
    layout = [word for word, letter in (("a_transposed", cell.layout[0]), ("b_transposed", cell.layout[1])) if letter == "t"]
    promoted = ("promoted", "columnscales") if "blockwise" in cell.has else ()  # where torch has them, too
    return (*layout, *cell.has, *promoted)


def compare(
    torch: Any, report: dict[str, Any], arms: dict[str, Callable[..., Any]], peers: dict[str, Callable[..., Any]],
    sets: list[Any], tolerance: float, rounds: int, tools: Any,
) -> dict[str, Any]:  # fmt: skip
    """Measures arms and peers, and writes what comes out into the report."""
    launches = len(sets)
    expected = peers["torch"](*sets[0]).float()
    graphs, scale = {}, float(expected.abs().max())
    for name, call in arms.items():
        try:
            error = float((call(*sets[0]).float() - expected).abs().max()) / scale
        except Exception as failed:
            print(f"  FAILED {name}: {str(failed)[:300]}", flush=True)
            torch.cuda.synchronize()
            continue
        if not error < tolerance:
            print(f"  WRONG {name}: error {error:.1e}", flush=True)
            report.setdefault("wrong", {})[name] = error
            continue
        graphs[name] = tools.graph_of(torch, call, sets, launches)
    tools.race(torch, report, graphs, peers, sets, launches, rounds)
    return report


def measure_product(
    torch: Any, cell: ProductCell, rounds: int, chosen_alone: bool, most: int, tools: Any, only: str = ""
) -> dict[str, Any]:
    started = time.monotonic()
    sizes = (cell.m, cell.n, cell.k, 1)
    out = "bfloat16" if cell.dtype == "float8_e4m3fn" else cell.dtype
    moved, operations = _ptx.product_cost(cell.dtype, out, sizes, words_of(cell))
    count = max(2, -(-tools.ROTATED // moved))
    sets = [inputs_of(torch, cell) for _ in range(count)]
    peers: dict[str, Callable[..., Any]] = {"torch": peer_of(torch, cell)}
    if cell.has and cell.dtype != "float8_e4m3fn":
        torch._dynamo.reset()
        peers["compile"] = torch.compile(peer_of(torch, cell), mode="max-autotune-no-cudagraphs", dynamic=False)
    is_padded = any(padding_of(cell.k, cell.m, columns_of(cell), cell.layout[0] == "t", cell.layout[1] == "t"))
    arms: dict[str, Callable[..., Any]] = {"matmul": door_of(cell)}
    chosen = _ptx.choose_product(cell.dtype, out, sizes, words_of(cell))
    if not is_padded:
        found = [] if chosen_alone else _ptx.product_recipes(cell.dtype, out, sizes, words_of(cell), most)
        arms = {name: arm_of(cell, name) for name in dict.fromkeys([chosen, *found]) if only in name}
    report: dict[str, Any] = {"cell": str(cell), **cell._asdict(), "bytes": moved, "FLOP": operations, "chosen": chosen}
    compare(torch, report, arms, peers, sets, TOLERANCE[cell.dtype], rounds, tools)
    report["seconds"] = round(time.monotonic() - started, 1)
    return report


class GroupedCell(NamedTuple):
    """Rows in groups: `rows` of each on average, equal or drawn between 0 and twice as many."""

    groups: int
    rows: int
    n: int
    k: int
    equal: bool = False
    operation: str = "grouped"
    dtype: str = "bfloat16"

    def __str__(self) -> str:
        return f"grouped {self.groups} x {self.rows} {'equal' if self.equal else 'ragged'} x {self.n} x {self.k} {self.dtype}"


def grouped_cells() -> list[GroupedCell]:
    return [
        GroupedCell(8, 1024, 2048, 2048, True), GroupedCell(8, 2048, 28672, 4096), GroupedCell(128, 512, 1536, 2048),
        GroupedCell(256, 32, 4096, 7168), GroupedCell(128, 4, 5760, 2880),
    ]  # fmt: skip


def measure_grouped(torch: Any, cell: GroupedCell, rounds: int, chosen_alone: bool, most: int, tools: Any) -> dict[str, Any]:
    started = time.monotonic()
    torch.manual_seed(0)
    counts = torch.randint(0, 2 * cell.rows + 1, (cell.groups,)) if not cell.equal else torch.full((cell.groups,), cell.rows)
    offsets = counts.cumsum(0).to(torch.int32).cuda()
    total, has = int(counts.sum()), ("grouped", "b_transposed")
    moved = 2 * (int((counts > 0).sum()) * cell.n * cell.k + total * (cell.n + cell.k))
    sets = []
    for _ in range(max(2, -(-tools.ROTATED // moved))):
        a = torch.randn(total, cell.k, device="cuda", dtype=torch.bfloat16)
        sets.append((a, torch.randn(cell.groups, cell.n, cell.k, device="cuda", dtype=torch.bfloat16).mT))
    shape = Shape(total, cell.n, cell.k, cell.groups, False, (total, cell.n))
    sizes = (mean_rows(shape), cell.n, cell.k, cell.groups)

    def arm_of_groups(recipe: str) -> Callable[..., Any]:
        kernel = product_of(recipe)
        plan, packed = kernel._bind(sizes_of_product(kernel, shape))
        return lambda a, b: plan(a, b.mT, offsets, scalars=packed)

    peers: dict[str, Callable[..., Any]] = {"torch": lambda a, b: torch._grouped_mm(a, b, offs=offsets)}
    if cell.equal:
        peers["bmm"] = lambda a, b: torch.bmm(a.view(cell.groups, cell.rows, cell.k), b).view(total, cell.n)
    chosen = _ptx.choose_product(cell.dtype, cell.dtype, sizes, has)
    found = [] if chosen_alone else _ptx.product_recipes(cell.dtype, cell.dtype, sizes, has, most)
    arms = {name: arm_of_groups(name) for name in dict.fromkeys([chosen, *found])}
    report = {
        "cell": str(cell), **cell._asdict(), "bytes": moved, "FLOP": 2 * total * cell.n * cell.k, "chosen": chosen,
    }  # fmt: skip
    compare(torch, report, arms, peers, sets, TOLERANCE[cell.dtype], rounds, tools)
    report["seconds"] = round(time.monotonic() - started, 1)
    return report


def host_costs() -> int:
    """Microseconds of an eager call until it returns, the library's and torch's; medians of 7 times 300 calls."""
    try:
        import torch
    except ImportError:
        print("products: torch is not installed; nothing measured")
        return 0
    if not torch.cuda.is_available():
        print("products: there is no GPU; nothing measured")
        return 0

    def cost(call: Callable[[], Any]) -> float:
        took = []
        for _ in range(8):
            begin = time.perf_counter()
            for _ in range(300):
                call()
            took.append((time.perf_counter() - begin) / 300 * 1e6)
            torch.cuda.synchronize()
        return statistics.median(took[1:])

    for m, n, k in ((16, 256, 256), (64, 1024, 1024), (1, 4096, 4096), (512, 512, 512)):
        x, w = (torch.randn(rows, k, device="cuda", dtype=torch.bfloat16) for rows in (m, n))
        weight, bias = w.mT, torch.randn(n, device="cuda", dtype=torch.bfloat16)
        for name, own, peer in (
            ("plain", lambda x, w, b: kernels.matmul(x, w), lambda x, w, b: x @ w),
            ("bias", lambda x, w, b: kernels.matmul(x, w, bias=b), lambda x, w, b: torch.addmm(b, x, w)),
            ("bias, relu", lambda x, w, b: kernels.matmul(x, w, bias=b, activation="relu"),
             lambda x, w, b: torch.addmm(b, x, w).relu_()),
        ):  # fmt: skip
            figures = [cost(functools.partial(call, x, weight, bias)) for call in (own, peer)]
            print(f"{m} x {n} x {k}, {name}: the library {figures[0]:.1f} us, torch {figures[1]:.1f} us", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(host_costs())
