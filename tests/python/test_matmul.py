"""Matrix products of the kernel library on the executor, with all checks on, against float64."""

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyptx import PtxTypeError, PtxValueError, _ptx, executor, kernels
from pyptx.kernels._products import Shape, product_of, sizes_of_product

Array = np.ndarray[Any, Any]
TYPES = {"float16": np.dtype("float16"), "bfloat16": np.dtype(ml_dtypes.bfloat16), "float32": np.dtype("float32")}
TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-6}


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    with executor.checking() as findings:
        yield
    assert not findings


def drawn(shape: tuple[int, ...], dtype: str = "bfloat16", seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(TYPES[dtype])


def lying(x: Array, transposed: bool) -> Array:
    return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2) if transposed else x


def hold(result: Array, expected: Array, dtype: str = "bfloat16") -> None:
    assert result.shape == expected.shape and result.dtype == TYPES[dtype]
    assert float(np.abs(result.astype(np.float64) - expected).max()) < TOLERANCE[dtype] * float(np.abs(expected).max())


def wide(*arrays: Array) -> Any:
    return [x.astype(np.float64) for x in arrays]


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 128), (7, 130, 72), (65, 257, 33), (200, 136, 200), (33, 1, 7), (128, 128, 1)])
def test_means_what_float64_does(m: int, n: int, k: int, layout: str) -> None:
    a, b = lying(drawn((m, k)), layout[0] == "t"), lying(drawn((k, n), seed=1), layout[1] == "t")
    wide_a, wide_b = wide(a, b)
    hold(kernels.matmul(a, b), wide_a @ wide_b)
    hold(kernels.matmul(a, b, out_dtype=np.float32), wide_a @ wide_b, "float32")


CLASSES = [
    "m128_n256_s4_d2_x1_k1_boxes", "m128_n64_s4_d2_x2_k1_boxes", "m64_n64_s3_d1_x4_k1_boxes", "m192_n176_s4_d1_x2_k1_boxes",
    "m192_n80_s2_d1_x1_k1_boxes", "m64_n96_s4_d1_x1_k1_pairs", "m128_n64_s4_d1_x1_k4_pairs", "m64_n8_s4_d1_x1_k8_pairs",
    "m128_n16_s8_d1_x1_k4_pairs_swapped", "m64_n16_s4_d2_x1_k1_pairs_swapped", "m64_n24_s4_d1_x1_k1_singles",
    "m128_n176_s3_d1_x1_k1_boxes_pingpong", "m64_n64_s3_d2_x1_k1_boxes_pingpong", "m192_n112_s2_d1_x2_k1_boxes_pingpong",
]  # fmt: skip


def parted(recipe: str) -> tuple[str, str]:
    """What stands in front of the layout in a recipe's name, and what behind it."""
    words = recipe.split("_")
    return "_".join(words[:7]), "".join(f"_{word}" for word in words[7:])


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("recipe", CLASSES)
def test_each_class_of_recipes(recipe: str, layout: str) -> None:
    geometry, words = parted(recipe)
    kernel = product_of(f"matmul__bf16_bf16_{geometry}_{layout}{words}_bias_residual_relu")
    m, n, k = 296, 200, 584  # two tiles and a ragged edge each way, the ring more than once round
    a, b, bias, residual = drawn((m, k)), drawn((k, n), seed=1), drawn((n,), seed=2), drawn((m, n), seed=3)
    wide_a, wide_b, wide_bias, wide_residual = wide(a, b, bias, residual)
    arrays = [lying(a, layout[0] == "t"), lying(b, layout[1] == "t")]
    arrays = [x.T if letter == "t" else x for x, letter in zip(arrays, layout, strict=True)]
    sizes = sizes_of_product(kernel, Shape(m, n, k, 1, False, (m, n)))
    hold(kernel(*arrays, bias, residual, **sizes), np.maximum(wide_a @ wide_b + wide_bias, 0) + wide_residual)


@pytest.mark.parametrize("blocks", [1, 2, 3, 8])
@pytest.mark.parametrize("k", [40, 136, 520])
def test_two_warpgroups_take_turns(blocks: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a block's tiles: one alone, an even and an odd number of them; K shorter and longer than the ring."""
    monkeypatch.setattr(_ptx, "product_grid", lambda *_: (blocks, 1, 1))
    kernel = product_of.__wrapped__("matmul__bf16_bf16_m64_n64_s4_d1_x1_k1_boxes_nt_pingpong")
    m, n = 300, 72
    a, b = drawn((m, k)), drawn((n, k), seed=1)
    found = kernel(a, b, **sizes_of_product(kernel, Shape(m, n, k, 1, False, (m, n))))
    hold(found, wide(a)[0] @ wide(b)[0].T)


@pytest.mark.parametrize("seed", range(4))
def test_results_do_not_depend_on_the_schedule(seed: int) -> None:
    kernel = product_of("matmul__bf16_bf16_m128_n64_s2_d2_x1_k1_boxes_nt")
    a, b = drawn((300, 264)), drawn((136, 264), seed=1)
    outputs, findings = kernel.simulate(a, b, schedule="random", seed=seed)
    assert not findings
    hold(outputs[0] if isinstance(outputs, tuple) else outputs, wide(a)[0] @ wide(b)[0].T)


@pytest.mark.parametrize("activation", ["relu", "silu", "gelu", "gelu_tanh", None])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_epilogues(dtype: str, activation: str | None) -> None:
    a, b, bias, residual = (drawn(s, dtype, i) for i, s in enumerate([(2, 9, 40), (40, 24), (24,), (2, 9, 24)]))
    wide_a, wide_b, wide_bias, wide_residual = wide(a, b, bias, residual)
    x = wide_a @ wide_b + wide_bias
    erf = np.vectorize(__import__("math").erf)
    expected = {
        "relu": np.maximum(x, 0), "silu": x / (1 + np.exp(-x)), "gelu": x * 0.5 * (1 + erf(x / 2**0.5)), None: x,
        "gelu_tanh": 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))),
    }[activation]  # fmt: skip
    named = {"bias": bias, "activation": activation}
    hold(kernels.matmul(a, b, **named, residual=residual), expected + wide_residual, dtype)
    hold(kernels.matmul(a, b, **named, out_dtype="float32"), expected, "float32")


def test_batches() -> None:
    a, b = drawn((3, 2, 70, 40)), drawn((3, 2, 40, 72), seed=1)
    wide_a, wide_b = wide(a, b)
    for transposed in (False, True):
        hold(kernels.matmul(a, lying(b, transposed)), wide_a @ wide_b)
    hold(kernels.matmul(a, b[0, 0]), wide_a @ wide_b[0, 0])


def test_not_a_number_and_infinity_stay_in_their_rows_and_columns() -> None:
    a, b = drawn((130, 72)), drawn((72, 136), seed=1)
    a[3, 5], b[7, 9] = np.nan, np.inf
    result = kernels.matmul(a, b, activation="relu").astype(np.float32)
    assert np.isnan(result[3]).all()
    odd = np.ones(result.shape, dtype=bool)
    odd[3], odd[:, 9] = False, False
    assert np.isfinite(result[odd.nonzero()]).all()
    column = np.delete(a[:, 7].astype(np.float32), 3)
    assert ((np.delete(result[:, 9], 3) == np.inf) == (column > 0)).all()


def test_large_numbers_are_summed_in_f32() -> None:
    a, b = np.full((8, 1024), 1e4, np.float16), np.full((1024, 8), 1e-2, np.float16)
    hold(kernels.matmul(a, b, out_dtype="float32"), wide(a)[0] @ wide(b)[0], "float32")
    assert np.isinf(kernels.matmul(a, b)).all()  # 102,400 is no f16


def test_says_what_fits() -> None:
    a, b = drawn((4, 16)), drawn((16, 8))
    wrong: list[tuple[type[Exception], str, Any]] = [
        (PtxValueError, r"columns of 8 elements", lambda: kernels.matmul(a, b.T)),
        (PtxTypeError, "one element type", lambda: kernels.matmul(a, b.astype(np.float16))),
        (PtxTypeError, "bf16 or f16", lambda: kernels.matmul(a.astype(np.float32), b.astype(np.float32))),
        (PtxTypeError, "to the same type or to f32", lambda: kernels.matmul(a, b, out_dtype="float16")),
        (PtxValueError, r"`bias` of shape \(8,\)", lambda: kernels.matmul(a, b, bias=drawn((4,)))),
        (PtxValueError, r"`residual` of shape \(4, 8\)", lambda: kernels.matmul(a, b, residual=drawn((8, 4)))),
        (PtxTypeError, "relu, silu, gelu", lambda: kernels.matmul(a, b, activation="tanh")),
        (PtxValueError, "two dimensions or more", lambda: kernels.matmul(a[0], b)),
        (PtxValueError, "one batch for both", lambda: kernels.matmul(drawn((2, 4, 16)), drawn((3, 16, 8)))),
    ]
    for kind, text, call in wrong:
        with pytest.raises(kind, match=text):
            call()


def test_sizes_without_elements() -> None:
    assert kernels.matmul(drawn((0, 16)), drawn((16, 8))).shape == (0, 8)
    assert kernels.matmul(drawn((4, 16)), drawn((16, 0))).shape == (4, 0)


@pytest.mark.usefixtures("ptxas_path")
def test_ptxas_spills_nothing_and_serialises_nothing() -> None:
    for recipe in CLASSES:
        geometry, words = parted(recipe)
        kernel = product_of(f"matmul__bf16_bf16_{geometry}_nt{words}_bias_gelutanh")
        resources = kernel.resources()
        assert resources["spill_stores"] == resources["spill_loads"] == resources["stack_frame"] == 0, recipe


@pytest.mark.usefixtures("ptxas_path")
def test_what_is_chosen_spills_nothing() -> None:
    """Of sizes that models have, and all that a product may have beside it: a warp that loads has few registers, too."""
    halves = ("bfloat16", "bfloat16")
    with_words = [
        (*halves, ()), (*halves, ("bias", "gelu_tanh")), (*halves, ("residual",)), (*halves, ("gated", "silu")),
        (*halves, ("batched",)), (*halves, ("grouped",)), ("bfloat16", "float32", ("residual", "wide")),
        ("float8_e4m3fn", "bfloat16", ("tensorwise",)), ("float8_e4m3fn", "bfloat16", ("rowwise", "bias")),
        ("float8_e4m3fn", "bfloat16", ("promoted", "blockwise")),
    ]  # fmt: skip
    sizes = [(4, 4096, 4096), (64, 7168, 2048), (512, 1536, 2048), (2048, 28672, 4096), (4096, 4096, 4096), (8192, 8192, 1024)]
    chosen = {
        _ptx.choose_product(dtype, out, (m, n, k, 8 if {"batched", "grouped"} & set(has) else 1), ("b_transposed", *has))
        for m, n, k in sizes
        for dtype, out, has in with_words
    }
    assert any("pingpong_grouped" in recipe for recipe in chosen)
    for recipe in sorted(chosen):
        resources = product_of(recipe).resources()
        assert resources["spill_stores"] == resources["spill_loads"] == resources["stack_frame"] == 0, recipe


def test_recipes_by_name() -> None:
    names = _ptx.product_recipes("bfloat16", "bfloat16", (2048, 2048, 2048, 1), ("b_transposed",))
    assert len(names) == 24 and _ptx.choose_product("bfloat16", "bfloat16", (2048, 2048, 2048, 1), ("b_transposed",)) in names
    with pytest.raises(PtxTypeError):
        product_of("matmul__bf16")


@pytest.mark.parametrize("layout", ["nn", "nt", "tn"])
@pytest.mark.parametrize(("m", "n", "k"), [(7, 48, 72), (65, 130, 40), (130, 33, 64)])
def test_gated(m: int, n: int, k: int, layout: str) -> None:
    a, b = lying(drawn((m, k)), layout[0] == "t"), lying(drawn((k, 2 * n), seed=1), layout[1] == "t")
    gate, up = wide(a)[0] @ wide(b)[0][:, :n], wide(a)[0] @ wide(b)[0][:, n:]
    hold(kernels.gated_matmul(a, b), gate / (1 + np.exp(-gate)) * up)
    hold(kernels.gated_matmul(a, b, activation=None, out_dtype="float32"), gate * up, "float32")


@pytest.mark.parametrize("layout", ["nn", "nt"])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 16, 31, 32, 33])
def test_gated_products_of_few_columns(n: int, layout: str) -> None:
    a, b = drawn((5, 72)), lying(drawn((72, 2 * n), seed=1), layout[1] == "t")
    gate, up = np.split(a.astype(np.float64) @ b.astype(np.float64), 2, -1)
    hold(kernels.gated_matmul(a, b), gate / (1 + np.exp(-gate)) * up)


def test_gated_classes_of_recipes() -> None:
    a, gate_up = drawn((296, 264)), drawn((400, 264), seed=1)
    x = wide(a)[0] @ wide(gate_up)[0].T
    for geometry in ("m128_n256_s4_d2_x1_k1_boxes", "m128_n64_s4_d2_x2_k1_boxes", "m192_n96_s3_d1_x2_k1_pairs"):
        kernel = product_of(f"matmul__bf16_bf16_{geometry}_nt_gated_relu")
        sizes = sizes_of_product(kernel, Shape(296, 200, 264, 1, False, (296, 200)))
        hold(kernel(a, gate_up, **sizes), np.maximum(x[:, :200], 0) * x[:, 200:])
    kernel = product_of("matmul__bf16_bf16_m128_n256_s4_d2_x1_k1_boxes_nn_gated_relu")
    sizes = sizes_of_product(kernel, Shape(296, 200, 264, 1, False, (296, 200)))
    hold(kernel(a, np.ascontiguousarray(gate_up.T), **sizes), np.maximum(x[:, :200], 0) * x[:, 200:])


def test_gated_says_what_fits() -> None:
    with pytest.raises(PtxValueError, match="an even number"):
        kernels.gated_matmul(drawn((4, 16)), drawn((16, 9)))


@pytest.mark.parametrize("geometry", ["m64_n64_s3_d1_x1_k1_boxes_nt", "m64_n48_s3_d1_x1_k1_pairs_nt",
                                      "m64_n16_s4_d1_x1_k4_pairs_nt_swapped"])  # fmt: skip
def test_alpha_comes_before_the_bias(geometry: str) -> None:
    kernel = product_of(f"matmul__bf16_bf16_{geometry}_alpha_bias")
    a, b, bias = drawn((70, 264)), drawn((200, 264), seed=1), drawn((200,), seed=2)
    result = kernel(a, b, bias, alpha=-0.25, **sizes_of_product(kernel, Shape(70, 200, 264, 1, False, (70, 200))))
    wanted = -0.25 * (a.astype(np.float64) @ b.astype(np.float64).T) + bias.astype(np.float64)
    assert float(np.abs(result.astype(np.float64) - wanted).max()) < 8e-3 * float(np.abs(wanted).max())


@pytest.mark.parametrize("transposed", [False, True])
def test_a_sum_of_nothing_is_zero(transposed: bool) -> None:
    b = np.zeros((16, 0), ml_dtypes.bfloat16).T if transposed else np.zeros((0, 16), ml_dtypes.bfloat16)
    bias = drawn((16,))
    assert (kernels.matmul(np.zeros((3, 0), ml_dtypes.bfloat16), b, bias=bias) == bias).all()
    assert not kernels.matmul(np.zeros((3, 0), ml_dtypes.bfloat16), b, alpha=2, out_dtype="float32").any()
