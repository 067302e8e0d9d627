"""`pyptx.kernels.explain` and `tuned`: recipes that were measured on this machine come before the library's choice.

What measures them needs a GPU: tests/gpu/test_tune.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pyptx import _ptx, kernels
from pyptx.cache import CubinCache, get_global_cache, set_global_cache
from pyptx.cli import main
from pyptx.kernels import _tuned, _tuning

X = np.linspace(-4, 4, 6 * 1000, dtype=np.float32).reshape(6, 1000)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A GPU called "A", and a disk cache of its own."""
    before = get_global_cache()
    set_global_cache(CubinCache(tmp_path))
    monkeypatch.setattr(_tuned, "device", lambda: "A")
    _tuned.reread()
    yield tmp_path / "tuned"
    set_global_cache(before)
    _tuned.reread()


def entry_of(problem: _tuned.Problem, recipe: str | None = None, **changed: str) -> _tuned.Entry:
    """Another recipe than the library's choice."""
    default, other = _tuned.recipes_of(problem)[:2]
    entry = _tuned.Entry(problem, recipe or other, default, 1.25, 3.5, "A", _ptx.version)
    return entry._replace(**changed)


def problem_of_softmax() -> _tuned.Problem:
    (explained,) = kernels.explain(kernels.softmax, X)
    return explained.problem


def test_explain_tells_of_the_calls_own_size() -> None:
    (found,) = kernels.explain(kernels.softmax, np.ones((7, 8), np.float32))
    assert found.problem[3:5] == (7, 8) and found.bytes == 2 * 7 * 8 * 4
    (same,) = kernels.explain(kernels.softmax, np.ones((4, 8), np.float32))
    assert same.recipe == found.recipe


def test_explain_says_what_is_taken_and_why() -> None:
    (found,) = kernels.explain(kernels.softmax, X)
    assert found.problem == ("rows", "softmax", "float32", 6, 1000, 16, ())
    assert found.recipe == _ptx.choose_kernel(*found.problem[1:])
    assert (found.why, found.bytes, found.floor_us) == ("the library's choice", 2 * 4 * 6 * 1000, None)
    assert "softmax 6x1000 float32" in repr(found)


def test_c_plus_plus_looks_for_the_same_words() -> None:
    """`Recipes.that_were_tuned_are_found` of ptx/kernels/kernels_test.cpp."""
    assert json.dumps(_tuned.bucket(problem_of_softmax())) == '["rows", "softmax", "float32", 4, 1000, 16, []]'
    product = ("product", "bfloat16", "bfloat16", (1500, 64, 72, 1), ("b_transposed", "bias", "gelu_tanh"))
    wanted = '["product", "bfloat16", "bfloat16", [1536, 64, 72, 1], ["b_transposed", "bias", "gelu_tanh"]]'
    assert json.dumps(_tuned.bucket(product)) == wanted


def test_a_new_call_tunes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    asked: list[tuple[int, ...]] = []
    monkeypatch.setattr(_tuning, "_is_measurable", lambda torch, args, named: True)
    monkeypatch.setattr(_tuning._tune, "tune", lambda function, *args: asked.append(tuple(args[0].shape)))
    softmax, x = _tuning.tuning(kernels.softmax), torch.from_numpy(X)
    for _ in range(2):
        assert torch.equal(softmax(x), kernels.softmax(x))
    softmax(x[:5])  # another call, the same problem
    assert asked == [(6, 1000)]
    softmax(x[:, :500].contiguous())
    assert asked == [(6, 1000), (6, 500)]

    def fails(function: object, *args: object) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(_tuning._tune, "tune", fails)
    with pytest.warns(RuntimeWarning, match="`softmax` is not tuned: no memory"):
        assert softmax(x[:, :300].contiguous()).shape == (6, 300)


def test_the_environment_has_calls_tune_themselves() -> None:
    code = (
        "import numpy; from pyptx import kernels; "
        "print(kernels.softmax.__wrapped__.__name__, kernels.softmax(numpy.eye(3, dtype='float32')).shape)"
    )
    environment = os.environ | {"PYPTX_TUNE": "1", "PYTHONPATH": str(Path(kernels.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "softmax (3, 3)"


def test_the_floor_is_that_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tuned, "device", lambda: "NVIDIA H200")
    (found,) = kernels.explain(kernels.softmax, X)
    assert found.floor_us == pytest.approx(found.bytes / 4.8e6)


def test_a_tuned_recipe_is_taken_and_computes_the_same() -> None:
    problem = problem_of_softmax()
    before = kernels.softmax(X)
    _tuned.keep(entry_of(problem))
    (found,) = kernels.explain(kernels.softmax, X)
    assert found.recipe == entry_of(problem).recipe != _tuned.library_choice(problem)
    assert found.why == "tuned here, 1.250 times as fast as the library's choice"
    np.testing.assert_allclose(kernels.softmax(X), before, rtol=1e-5)
    _tuned.drop(problem)
    (found,) = kernels.explain(kernels.softmax, X)
    assert found.recipe == _tuned.library_choice(problem) and len(kernels.tuned()) == 0


def test_plans_of_torch_are_made_anew() -> None:
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X)
    before = kernels.softmax(x)
    problem = problem_of_softmax()
    _tuned.keep(entry_of(problem))
    with _tuned.asking() as asked:
        torch.testing.assert_close(kernels.softmax(x), before)
    assert asked == [problem]


def test_a_later_process_reads_what_was_kept(machine: Path) -> None:
    problem = problem_of_softmax()
    _tuned.keep(entry_of(problem))
    _tuned.reread()
    assert list(kernels.tuned()) == [entry_of(problem)]
    assert len(list(machine.glob("*.json"))) == 1


@pytest.mark.parametrize("changed", [{"device": "B"}, {"version": "0.0.1"}])
def test_another_device_or_version_does_not_count(machine: Path, changed: dict[str, str]) -> None:
    problem = problem_of_softmax()
    _tuned.keep(entry_of(problem, **changed))
    _tuned.reread()
    assert len(kernels.tuned()) == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"problem": 1}', b"\xff", b'{"problem": ["rows"], "recipe": 1}'])
def test_a_damaged_file_counts_as_absent(machine: Path, content: bytes) -> None:
    machine.mkdir()
    (machine / "0.json").write_bytes(content)
    _tuned.reread()
    assert len(kernels.tuned()) == 0
    assert kernels.softmax(X).shape == X.shape


@pytest.mark.parametrize("recipe", ["softmax_f32_v4_t1024_x1_p1_c1", "nonsense", "rms_norm_f32_v4_t128_r1_p2_c1"])
def test_a_recipe_that_does_not_serve_is_not_taken(recipe: str) -> None:
    problem = problem_of_softmax()
    _tuned.keep(entry_of(problem, recipe))
    (found,) = kernels.explain(kernels.softmax, X)
    assert found.recipe == _tuned.library_choice(problem)


def test_nothing_is_written_where_the_cache_is_off(tmp_path: Path) -> None:
    set_global_cache(CubinCache(tmp_path, enable_disk=False))
    _tuned.reread()
    problem = problem_of_softmax()
    _tuned.keep(entry_of(problem))
    assert len(kernels.tuned()) == 1 and list(tmp_path.iterdir()) == []


MANY = [(1, 1), (255, 255), (256, 256), (257, 288), (512, 512), (513, 576), (4097, 4608), (8192, 8192)]


@pytest.mark.parametrize(("m", "stands_for"), MANY)
def test_many_rows_of_a_product_are_one_problem(m: int, stands_for: int) -> None:
    has = ("b_transposed",)
    assert _tuned.bucket(("product", "bfloat16", "bfloat16", (m, 64, 64, 1), has))[3] == (stands_for, 64, 64, 1)


def test_export_and_import(machine: Path, tmp_path: Path) -> None:
    problem = problem_of_softmax()
    _tuned.keep(entry_of(problem))
    kernels.tuned().export(tmp_path / "rows.json")
    _tuned.drop(problem)
    assert list(kernels.tuned().import_from(tmp_path / "rows.json")) == [entry_of(problem)]
    there = json.loads((tmp_path / "rows.json").read_text())
    (tmp_path / "rows.json").write_text(json.dumps([{**there[0], "device": "B"}]))
    with pytest.raises(ValueError, match=r"recipes of B, version .*; this is A"):
        kernels.tuned().import_from(tmp_path / "rows.json")
    (tmp_path / "rows.json").write_text("nothing")
    with pytest.raises(ValueError, match="is no export of tuned recipes"):
        kernels.tuned().import_from(tmp_path / "rows.json")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", "tuned"]) == 0
    assert "nothing is tuned" in capsys.readouterr().out
    problem, file = problem_of_softmax(), str(tmp_path / "rows.json")
    _tuned.keep(entry_of(problem))
    assert main(["kernels", "tuned", "--export", file]) == 0
    _tuned.drop(problem)
    assert main(["kernels", "tuned", "--import", file]) == 0
    assert "softmax 6x1000 float32: softmax_" in capsys.readouterr().out
    for words in (["--import"], ["--export", file, file], ["--what", file], ["--import", str(tmp_path / "none")]):
        assert main(["kernels", "tuned", *words]) == 2
        assert capsys.readouterr().err.startswith("pyptx: ")


def test_the_table_shows_itself() -> None:
    assert "nothing is tuned" in repr(kernels.tuned())
    _tuned.keep(entry_of(problem_of_softmax()))
    assert "softmax 6x1000 float32: softmax_" in repr(kernels.tuned()) and "1.250 times" in repr(kernels.tuned())


def test_tune_needs_tensors_on_a_gpu() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError, match="torch tensors on a CUDA device"):
        kernels.tune(kernels.softmax, X)
    with pytest.raises(RuntimeError, match=r"the arguments hold.*cpu"):
        kernels.tune(kernels.softmax, torch.from_numpy(X))
