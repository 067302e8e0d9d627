"""docs/performance.md says what the newest run in bench/history measured, and no other figures."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    specification = importlib.util.spec_from_file_location("kernel_figures", ROOT / "bench" / "kernel_figures.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def arm(us: float, ratio: float) -> dict[str, float]:
    return {"us": us, "ratio": ratio, "from": ratio - 0.01, "to": ratio + 0.01, "TB/s": 1.0}


def run_of(*ratios: float, date: str = "2026-01-01 10:00", device: str = "NVIDIA H200") -> dict[str, Any]:
    cells = [
        {
            "cell": f"softmax {number}x8 float32", "operation": "softmax", "dtype": "float32", "rows": number, "columns": 8,
            "has": [], "bytes": 64, "chosen": "fast", "best_peer": "torch", "recipes": {"slow": 9.0},
            "arms": {"fast": arm(1.0, ratio), "slow": arm(9.0, 0.1), "compile": arm(2.0, 0.5), "torch": arm(1.0, 1.0)},
        }
        for number, ratio in enumerate(ratios)
    ]  # fmt: skip
    return {
        "date": date,
        "commit": "abc",
        "device": device,
        "torch": "2",
        "cuda": "13",
        "driver": "580",
        "command": "c",
        "cells": cells,
    }


def test_the_page_is_made_of_the_newest_run(figures: ModuleType) -> None:
    page = figures.PAGE.read_text()
    assert figures.with_section(page, figures.page_of(figures.history()[-1])) == page


def test_a_run_is_kept_without_the_recipes_that_were_only_tried(figures: ModuleType) -> None:
    kept = figures.kept(run_of(1.5), "abc")
    assert set(kept["cells"][0]["arms"]) == {"fast", "compile", "torch"} and "recipes" not in kept["cells"][0]


def test_a_mean_and_the_cell_that_does_worst(figures: ModuleType) -> None:
    said = figures.summary("Rows", run_of(2.0, 0.5)["cells"])
    assert said == "Rows: 2 shapes, geometric mean **1.000**, least 0.500 (1x8 f32)"


@pytest.mark.parametrize(
    ("now", "device", "found"), [(1.2, "NVIDIA H200", True), (1.29, "NVIDIA H200", False), (1.2, "NVIDIA H100", False)]
)
def test_what_fell_below_the_best_run_on_such_a_device(figures: ModuleType, now: float, device: str, found: bool) -> None:
    fallen = figures.fallen(run_of(now), [run_of(1.3, device=device), run_of(0.9, device=device)])
    assert bool(fallen) == found


def test_each_kind_of_cell_has_a_group(figures: ModuleType) -> None:
    product = {"operation": "gemm", "dtype": "bfloat16", "m": 1024, "has": []}
    cells = [
        {"operation": "cross_entropy", "rows": 1}, {"operation": "softmax_backward", "rows": 1},
        {"operation": "softmax", "rows": 1},
        {"operation": "grouped", "rows": 1, "groups": 2}, product, {**product, "m": 1}, {**product, "has": ["bias"]},
        {**product, "dtype": "float8_e4m3fn"},
    ]  # fmt: skip
    assert list(figures.groups_of({"cells": cells})) == [
        "Losses", "Backward", "Rows", "Groups of rows", "Products", "Products of few rows", "Products with epilogues",
        "Products of 8 bits",
    ]  # fmt: skip


def test_pictures_of_every_group(figures: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figures, "PICTURES", tmp_path)
    product = {"cell": "p", "operation": "gemm", "dtype": "bfloat16", "m": 1024, "n": 1024, "k": 1024, "layout": "nt", "has": []}
    arms = {name: {**arm(1.0, 1.0), "TFLOP/s": 500.0} for name in ("fast", "torch")}
    run = run_of(1.1)
    run["cells"].append({**product, "bytes": 1 << 20, "FLOP": 1 << 31, "chosen": "fast", "best_peer": "torch", "arms": arms})
    figures.draw(run, [run, run])
    pictures = {path.stem: path.read_text() for path in tmp_path.glob("*.svg")}
    assert set(pictures) == {"ratios", "roofline", "history"} and "softmax 0x8 f32" in pictures["ratios"]
