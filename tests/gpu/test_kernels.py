"""The kernel library on a GPU against float64: products of any size and layout, rows, NaN and infinities, bits that stay."""

from __future__ import annotations

from typing import Any

import pytest

from pyptx import kernels
from pyptx.kernels import _tuned
from pyptx.kernels._products import Shape, product_of, sizes_of_product

torch = pytest.importorskip("torch")
HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
products = pytest.mark.skipif(not HOPPER, reason="products are for sm_90a")


def drawn(*shape: int, dtype: Any = None, seed: int = 0) -> Any:
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(*shape, device="cuda", generator=generator).to(dtype or torch.bfloat16)


def lying(x: Any, transposed: bool) -> Any:
    return x.mT.contiguous().mT if transposed else x


def hold(result: Any, expected: Any, tolerance: float = 8e-3) -> None:
    assert result.shape == expected.shape
    assert not result.isnan().any()
    error = float((result.double() - expected).abs().max()) if result.numel() else 0.0
    assert error <= tolerance * float(expected.abs().max() if result.numel() else 1.0)


SIZES = [
    (1, 64, 128), (7, 130, 72), (65, 257, 33), (33, 1, 7), (128, 128, 1), (129, 4096, 4096), (1000, 1032, 520), (4097, 513, 1025),
    (16, 8192, 2048), (1, 28672, 4096), (3000, 3000, 3000), (256, 256, 65536),
]  # fmt: skip


@products
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_products(size: tuple[int, int, int], layout: str) -> None:
    m, n, k = size
    a, b = lying(drawn(m, k), layout[0] == "t"), lying(drawn(k, n, seed=1), layout[1] == "t")
    expected = a.double() @ b.double()
    hold(kernels.matmul(a, b), expected)
    hold(kernels.matmul(a, b, out_dtype=torch.float32), expected, 1e-5)


@products
@pytest.mark.parametrize(("m", "n", "k"), [(296, 200, 584), (2000, 1544, 328)])
def test_every_recipe_of_a_product(m: int, n: int, k: int) -> None:
    """Not only what is chosen: each means the same, with its epilogue."""
    a, weight, bias, residual = drawn(m, k), drawn(n, k, seed=1), drawn(n, seed=2), drawn(m, n, seed=3)
    has = ("b_transposed", "bias", "residual", "silu")
    expected = torch.nn.functional.silu(a.double() @ weight.double().mT + bias.double()) + residual.double()
    recipes = _tuned.recipes_of(("product", "bfloat16", "bfloat16", (m, n, k, 1), has), 40)
    assert len(recipes) > 20
    for recipe in recipes:
        kernel = product_of(recipe)
        hold(kernel(a, weight, bias, residual, **sizes_of_product(kernel, Shape(m, n, k, 1, False, (m, n)))), expected)


@products
def test_batches_gates_and_groups() -> None:
    a, b = drawn(5, 100, 72), drawn(5, 72, 264, seed=1)
    hold(kernels.matmul(a, b), a.double() @ b.double())
    gate, up = (a[0].double() @ b[0].double()).chunk(2, -1)
    hold(kernels.gated_matmul(a[0], b[0]), torch.nn.functional.silu(gate) * up)
    for sizes in ([37], [5, 0, 130, 64, 1], [0, 0, 7, 0], [i % 4 for i in range(128)]):
        ends = torch.tensor(sizes, device="cuda").cumsum(0).int()
        rows, factors = drawn(int(ends[-1]), 72), drawn(len(sizes), 72, 136, seed=1)
        begins = [0, *ends.tolist()[:-1]]
        parts = [rows[x:y].double() @ f.double() for x, y, f in zip(begins, ends.tolist(), factors, strict=True)]
        hold(kernels.grouped_matmul(rows, factors, ends), torch.cat(parts))


@products
@pytest.mark.parametrize("kind", ["tensorwise", "rowwise", "blockwise"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 128), (130, 257, 272), (1024, 2048, 1920)])
def test_products_of_8_bits(m: int, n: int, k: int, kind: str) -> None:
    blocks = -(-k // 128)
    shapes = {"tensorwise": ((), (1,)), "rowwise": ((m, 1), (1, n)), "blockwise": ((m, blocks), (blocks, -(-n // 128)))}[kind]
    a, b = drawn(m, k, dtype=torch.float8_e4m3fn), drawn(n, k, dtype=torch.float8_e4m3fn, seed=1).mT
    scale_a, scale_b = (torch.rand(shape, device="cuda") + 0.5 for shape in shapes)
    of_a, of_b = scale_a.double(), scale_b.double()
    if kind == "blockwise":
        of_a = of_a.repeat_interleave(128, 1)[:, :k]
        of_b = of_b.repeat_interleave(128, 0)[:k].repeat_interleave(128, 1)[:, :n]
    expected = (a.double() * of_a) @ (b.double() * of_b)
    hold(kernels.scaled_matmul(a, b, scale_a, scale_b), expected)
    if kind == "blockwise":  # as torch has them; with M a multiple of 4 they are read where they lie
        hold(kernels.scaled_matmul(a, b, scale_a.mT.contiguous().mT, scale_b), expected)


@products
@pytest.mark.parametrize("geometry", ["m128_n128_s4_d2_x1_k1_boxes_nt", "m64_n64_s4_d1_x2_k1_boxes_nt_pingpong"])
def test_groups_in_clusters(geometry: str) -> None:
    offsets = torch.tensor([0, 130, 131, 700, 1000], device="cuda", dtype=torch.int32)
    a, weight = drawn(1003, 320), drawn(5, 264, 320, seed=1)
    kernel = product_of(f"matmul__bf16_bf16_{geometry}_grouped")
    sizes = sizes_of_product(kernel, Shape(1003, 264, 320, 5, False, (1003, 264)))
    begins = [0, *offsets.tolist()]
    parts = [a[begin:end].float() @ w.mT.float() for begin, end, w in zip(begins, begins[1:], weight, strict=False)]
    hold(kernel(a, weight, offsets, **sizes)[:1000], torch.cat(parts))


@products
@pytest.mark.parametrize("geometry", ["m128_n256_s4_d2_x1", "m128_n192_s4_d1_x2"])
def test_groups_along_k_in_clusters(geometry: str) -> None:
    """The gradient of a grouped product's factor."""
    ends = [0, 130, 131, 700, 1000]
    a, dy = drawn(1003, 520), drawn(1003, 264, seed=1)
    kernel = product_of(f"matmul__bf16_bf16_{geometry}_k1_boxes_tn_ragged")
    sizes = sizes_of_product(kernel, Shape(520, 264, 1003, 5, True, (5, 520, 264)))
    result = kernel(a, dy, torch.tensor(ends, device="cuda", dtype=torch.int32), **sizes)
    parts = [a[begin:end].float().mT @ dy[begin:end].float() for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    hold(result, torch.stack(parts))


@products
@pytest.mark.parametrize(("m", "n", "k"), [(3, 520, 72), (300, 257, 519), (4000, 1032, 520)])
def test_factors_whose_rows_lie_apart(m: int, n: int, k: int) -> None:
    def apart(rows: int, columns: int, seed: int) -> Any:
        whole = torch.full((rows, -(-columns // 8) * 8 + 40), float("nan"), device="cuda", dtype=torch.bfloat16)
        whole[:, 8 : 8 + columns] = drawn(rows, columns, seed=seed)
        return whole[:, 8 : 8 + columns]

    for a in (apart(m, k, 1), apart(k, m, 1).mT):
        for b in (apart(k, n, 2), apart(n, k, 2).mT, drawn(k, n)):
            for _ in range(2):
                hold(kernels.matmul(a, b), a.double() @ b.double())
    heads = drawn(50, 6, 72).transpose(0, 1)  # matrices lie nearer than rows
    hold(kernels.matmul(heads, heads.mT), heads.double() @ heads.double().mT)


@products
def test_what_is_no_number_stays_in_its_row_and_column() -> None:
    a, b = drawn(200, 320), drawn(320, 264, seed=1)
    a[3, 5], a[150, 319], b[17, 200] = float("nan"), float("inf"), float("-inf")
    expected = a.float() @ b.float()
    result = kernels.matmul(a, b)
    assert torch.equal(result.isnan(), expected.isnan())
    assert torch.equal(result.isinf(), expected.bfloat16().isinf())


@products
def test_the_same_bits_each_time_and_nothing_outside() -> None:
    """Guards around the result, and recipes that share a tile among blocks: sums are in a fixed order."""
    m, n, k = 64, 136, 8192
    a, weight = drawn(m, k), drawn(n, k, seed=1)
    kernel = product_of("matmul__bf16_bf16_m64_n8_s4_d1_x1_k8_pairs_nt")
    guarded = torch.full((m + 2, n), 7.0, device="cuda", dtype=torch.bfloat16)
    sizes = sizes_of_product(kernel, Shape(m, n, k, 1, False, (m, n)))
    kernel(a, weight, out=guarded[1:-1], **sizes)
    first = guarded.clone()
    for _ in range(20):
        kernel(a, weight, out=guarded[1:-1], **sizes)
        assert torch.equal(guarded, first)
    assert (guarded[[0, -1]] == 7).all()
    hold(guarded[1:-1], a.double() @ weight.double().mT)


@pytest.mark.parametrize("columns", [1, 3, 31, 33, 127, 1000, 1023, 4097, 8193, 65536, 262144])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_rows(columns: int, dtype: Any) -> None:
    x, weight, bias = drawn(5, columns, dtype=dtype), drawn(columns, dtype=dtype, seed=1), drawn(columns, dtype=dtype, seed=2)
    tolerance = 2e-5 if dtype == torch.float32 else 8e-3
    wide, functional = x.double(), torch.nn.functional
    hold(kernels.softmax(x), wide.softmax(-1), tolerance)
    hold(kernels.rms_norm(x, weight), functional.rms_norm(wide, (columns,), weight.double(), 1e-6), tolerance)
    if columns > 1:
        hold(
            kernels.layer_norm(x, weight, bias),
            functional.layer_norm(wide, (columns,), weight.double(), bias.double()),
            tolerance,
        )
    hold(kernels.swiglu(x, x), functional.silu(wide) * wide, tolerance)


@products
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("rows", "k", "classes", "chunk"), [(700, 264, 5001, 256), (512, 512, 50264, None), (1, 64, 8, None)])
def test_linear_cross_entropy(rows: int, k: int, classes: int, chunk: int | None, reduction: str) -> None:
    x, weight, bias = drawn(rows, k), drawn(classes, k, seed=1) * k**-0.5, drawn(classes, seed=2)
    target = torch.randint(0, classes, (rows,), device="cuda")
    target[rows // 2] = -100 if rows > 1 else 3
    own_inputs = [each.requires_grad_() for each in (x, weight, bias)]
    inputs = [each.detach().double().requires_grad_() for each in own_inputs]
    options = {"reduction": reduction, "label_smoothing": 0.1}
    own = kernels.linear_cross_entropy(x, weight, target, bias=bias, chunk=chunk, **options)
    expected = torch.nn.functional.cross_entropy(torch.nn.functional.linear(*inputs), target, **options)
    hold(own, expected.detach(), 2e-3)
    gradients = torch.autograd.grad(own.sum(), own_inputs)
    for mine, theirs in zip(gradients, torch.autograd.grad(expected.sum(), inputs), strict=True):
        hold(mine, theirs, 1.2e-2)
    torch._dynamo.reset()
    compiled = torch.compile(kernels.linear_cross_entropy, fullgraph=True)
    hold(compiled(x, weight, target, bias=bias, chunk=chunk, **options), expected.detach(), 2e-3)


@pytest.mark.parametrize("columns", [7, 1000, 50257, 128256, 201088, 262144])
def test_cross_entropy_in_place(columns: int) -> None:
    from pyptx.kernels._loss import Loss
    from pyptx.kernels._torch_loss import losses_of

    logits, target = drawn(37, columns) * 3, torch.randint(0, columns, (37,), device="cuda", dtype=torch.int32)
    target[5] = -100
    wide = logits.double().requires_grad_()
    expected = torch.nn.functional.cross_entropy(wide, target.long(), reduction="none")
    scale = torch.rand(37, device="cuda")
    losses, gradient = losses_of(Loss(-100, 0.0, 0.0), logits, target, scale, in_place=True)
    assert gradient.data_ptr() == logits.data_ptr()
    hold(losses, expected.detach(), 1e-5)
    hold(gradient, torch.autograd.grad((expected * scale).sum(), wide)[0])


@pytest.mark.parametrize("columns", [131_072, 262_144])
def test_gradients_of_the_longest_rows(columns: int) -> None:
    x, w, b = (torch.randn(*shape, device="cuda", requires_grad=True) for shape in ((40, columns), (columns,), (columns,)))
    g = torch.randn(40, columns, device="cuda")
    mine = torch.autograd.grad((kernels.layer_norm(x, w, b) * g).sum(), (x, w, b))
    wanted = torch.autograd.grad(
        (torch.nn.functional.layer_norm(x.double(), (columns,), w.double(), b.double()) * g).sum(), (x, w, b)
    )
    for own, expected in zip(mine, wanted, strict=True):
        assert float((own - expected).abs().max()) < 1e-4 * max(1.0, float(expected.abs().max()))


def test_rows_in_groups_and_torch_func() -> None:
    x = torch.randn(5, 33, 1200, device="cuda")
    view, target = x[:, :-1, :1000], torch.randint(0, 1000, (5, 32), device="cuda")

    def expected(logits: Any) -> Any:
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())

    own, wanted = (torch.func.grad_and_value(f)(view) for f in (lambda each: kernels.cross_entropy(each, target), expected))
    assert float((own[1] - wanted[1]).abs()) < 1e-5 and float((own[0] - wanted[0]).abs().max()) < 1e-6
    assert float((kernels.softmax(view) - view.softmax(-1)).abs().max()) < 1e-6
