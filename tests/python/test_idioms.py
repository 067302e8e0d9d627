"""Idioms with one synchronisation altered (tests/idioms): each once went unnoticed, or was told of falsely when it was right."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_kernels import read

FOLDER = Path(__file__).parents[1] / "idioms"
IDIOMS = sorted(path.stem for path in FOLDER.glob("*.ptx"))
# What only some orders of blocks and warps run.
OF_SOME_ORDERS = {"flags_in_another_order"}


@pytest.mark.parametrize("name", [name for name in IDIOMS if name not in OF_SOME_ORDERS])
@pytest.mark.parametrize("schedule", ["eager", "lazy", "random"])
def test_the_mistake_is_found_in_one_run(name: str, schedule: str) -> None:
    idiom = read(FOLDER / f"{name}.ptx")
    found = idiom.rules_found("mistake", f"--schedule {schedule}")
    assert found and found <= idiom.rules


@pytest.mark.parametrize("name", sorted(OF_SOME_ORDERS))
def test_the_mistake_is_found_in_some_order(name: str) -> None:
    idiom = read(FOLDER / f"{name}.ptx")
    assert idiom.rules_found("mistake", "--seeds 32") == idiom.rules


@pytest.mark.parametrize("name", IDIOMS)
def test_the_right_kernel_is_clean(name: str) -> None:
    assert read(FOLDER / f"{name}.ptx").rules_found("mend", "--seeds 32") == set()
