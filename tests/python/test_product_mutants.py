"""Matrix products of the library: one synchronisation less in a kernel of each class is found out, by the checker, by a run with
all checks on, or by its results; or it is listed, with the reason why it is harmless."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from mutants import mutants, overlooked

import pyptx
from pyptx import _ptx, executor
from pyptx.kernels._products import Shape, product_of, sizes_of_product

HARMLESS = {
    "fence.mbarrier_init.release.cluster;": "the threads meet behind it by a barrier that releases the initialisation, too"
}
CONVERGED = {"bar.warp.sync 4294967295;": "behind wgmma's wait a warp is converged, and what its lanes have loaded they have"}
LAST_STAGE = {
    "@%p0 mbarrier.arrive.shared.b64 %rd12, [%r95];": "a block has one tile: nobody waits for the stage that it reads last"
}


class Class(NamedTuple):
    recipe: str
    m: int
    n: int
    k: int
    blocks: int = 0  # of the launch, so that a block has several tiles; 0: as many as the library launches
    groups: int = 1
    harmless: dict[str, str] = HARMLESS


CLASSES = {
    "alone": Class("bf16_bf16_m64_n64_s2_d1_x1_k1_boxes_nt", 192, 64, 320, 1),
    "boxes in turn": Class("bf16_bf16_m64_n128_s2_d1_x1_k1_boxes_tt_bias_residual_relu", 192, 128, 320, 1),
    "from registers": Class("bf16_bf16_m128_n48_s2_d1_x1_k1_pairs_nn", 256, 48, 320, 1),
    "clusters": Class("bf16_bf16_m128_n64_s2_d2_x2_k1_boxes_nt", 512, 128, 320, 4),
    "splits": Class("bf16_bf16_m128_n16_s2_d1_x1_k2_pairs_nt_swapped", 16, 128, 512, harmless=HARMLESS | LAST_STAGE),
    "gated": Class("bf16_bf16_m64_n64_s2_d1_x1_k1_boxes_nt_gated_silu", 192, 32, 320, 1),
    "grouped": Class("bf16_bf16_m64_n64_s2_d1_x1_k1_boxes_nt_grouped", 150, 64, 320, 1, 3),
    "grouped in clusters": Class("bf16_bf16_m64_n64_s2_d2_x1_k1_boxes_nt_grouped", 150, 64, 320, 2, 3),
    "ragged": Class("bf16_bf16_m128_n64_s2_d1_x1_k1_boxes_tn_ragged", 128, 64, 230, 1, 3),
    "ragged in clusters": Class("bf16_bf16_m64_n64_s2_d2_x1_k1_boxes_tn_ragged", 128, 64, 230, 2, 3),
    "pingpong": Class("bf16_bf16_m64_n64_s3_d1_x1_k1_boxes_nt_pingpong", 320, 64, 320, 1),
    "pingpong in clusters": Class("bf16_bf16_m128_n64_s2_d2_x1_k1_boxes_nn_pingpong_bias", 768, 64, 192, 2),
    "promoted": Class("e4m3_bf16_m128_n64_s2_d1_x1_k1_boxes_nt_promoted_blockwise", 256, 64, 640, 1),
    "scales copied": Class(
        "e4m3_bf16_m128_n64_s2_d1_x1_k1_boxes_nt_promoted_columnscales_blockwise",
        256,
        64,
        640,
        1,
        harmless=HARMLESS | CONVERGED,
    ),
    "promoted in parts": Class("e4m3_bf16_m64_n256_s2_d1_x1_k1_boxes_nt_promoted_blockwise", 128, 256, 640, 1),
}


def drawn(shape: tuple[int, ...], seed: int, dtype: Any) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def inputs_of(case: Class) -> list[Any]:
    is_float8 = case.recipe.startswith("e4m3")
    kind = ml_dtypes.float8_e4m3fn if is_float8 else ml_dtypes.bfloat16
    columns = 2 * case.n if "gated" in case.recipe else case.n
    outer = (case.groups,) if "grouped" in case.recipe else ()
    a, b = (case.m, case.k), (columns, case.k)
    a_lies, b_lies = case.recipe.split("_")[9]  # "nt"
    found = [drawn(a if a_lies == "n" else a[::-1], 1, kind), drawn((*outer, *(b if b_lies == "t" else b[::-1])), 2, kind)]
    found += [
        drawn(shape, 3, kind) for word, shape in (("bias", (case.n,)), ("residual", (case.m, case.n))) if word in case.recipe
    ]
    if case.groups > 1:
        rows = case.k if "ragged" in case.recipe else case.m
        found.append(np.linspace(rows // case.groups, rows, case.groups).astype(np.int32))
    if is_float8:
        blocks = -(-case.k // 128)
        shapes = [(blocks, case.m) if "columnscales" in case.recipe else (case.m, blocks), (-(-case.n // 128), blocks)]
        found += [np.random.default_rng(i).uniform(0.5, 2, shape).astype(np.float32) for i, shape in enumerate(shapes)]
    return found


def image_of(case: Class, monkeypatch: pytest.MonkeyPatch) -> Any:
    if case.blocks:
        monkeypatch.setattr(_ptx, "product_grid", lambda *_: (case.blocks, 1, 1))
    kernel = product_of.__wrapped__(f"matmul__{case.recipe}")
    shape = Shape(case.m, case.n, case.k, case.groups, False, (case.m, case.n))
    return kernel._image_for(inputs_of(case), sizes_of_product(kernel, shape))


def run(image: Any, case: Class, schedule: executor.Schedule, seed: int = 0) -> tuple[Any, list[pyptx.PtxError]]:
    outer = (case.groups,) if "ragged" in case.recipe else ()
    output = np.zeros((*outer, case.m, case.n), ml_dtypes.bfloat16)
    with executor.scheduling(schedule, seed), executor.checking() as findings:
        image.launch(inputs_of(case), [output])
    return output, findings


@pytest.mark.parametrize("name", CLASSES)
def test_one_synchronisation_less_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPTX_MAX_INSTRUCTIONS", "20000000")
    case = CLASSES[name]
    image = image_of(case, monkeypatch)
    wanted, findings = run(image, case, "eager")
    assert findings == [] == run(image, case, "lazy")[1]
    changed = list(mutants(image.ptx))

    def is_noticed(mutant: Any) -> bool:
        for schedule in ("eager", "lazy", "random"):
            result, findings = run(mutant, case, schedule)
            if findings or result.tobytes() != wanted.tobytes():
                return True
        return False

    assert len(changed) >= 8
    assert set(overlooked(changed, image.meta, tmp_path, is_noticed)) == set(case.harmless)
