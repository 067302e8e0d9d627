"""Image.save and _ptx.load: a kernel in a file; what ptxas says of it; and the C++ cache below it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from pyptx import PtxError, PtxWarning, Tile, _ptx, kernel, ptx, reg
from pyptx.types import f32, u32, u64

SPILLS = """cat <<END
ptxas info    : Compiling entry function 'twice' for 'sm_90a'
ptxas info    : Function properties for twice
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
END
"""


@kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=(1, 1, 1), block=(32, 1, 1))
def twice(x, y):  # type: ignore[no-untyped-def]
    px, py = ptx.global_ptrs(x, y)
    at = reg.scalar(u32)
    ptx.inst.mov.u32(at, ptx.special.tid.x())
    offset = reg.scalar(u64)
    ptx.inst.mul.wide.u32(offset, at, 4)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(px + offset))
    ptx.inst.add.f32(value, value, value)
    ptx.inst.st.global_.f32(ptx.addr(py + offset), value)
    ptx.ret()


@pytest.fixture
def image() -> _ptx.Image:
    return _ptx.Image(twice.traced(), block=(32, 1, 1), inputs=1, outputs=1)


@pytest.fixture(autouse=True)
def fake_ptxas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script in ptxas's place, and a cache of the test's own."""
    for name in ("PYPTX_JIT", "PYPTX_NO_COMPILE", "PYPTX_STRICT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))
    tool = tmp_path / "ptxas"
    monkeypatch.setenv("PYPTX_PTXAS", str(tool))
    install(tool)
    return tool


def install(tool: Path, says: str = "") -> None:
    out = 'for word; do if [ "$last" = -o ]; then out=$word; fi; last=$word; done\n'
    version = 'if [ "$1" = --version ]; then echo "release 13.0"; exit 0; fi\n'
    tool.write_text(f"#!/bin/sh\n{version}{out}{says}printf '\\177ELF code' > \"$out\"\n")
    tool.chmod(0o700)


def run(image: _ptx.Image) -> None:
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    image.launch([x], [y])
    np.testing.assert_array_equal(y, 2 * x)


def test_a_file_holds_a_kernel(image: _ptx.Image, tmp_path: Path) -> None:
    path = str(tmp_path / "twice.ptxk")
    image.save(path, tiles=[*(twice.in_specs or ()), *(twice.out_specs or ())])
    content = Path(path).read_bytes()
    assert content.startswith(b"ptxsaved")
    assert b"\x7fELF code" in content
    key = image.key
    loaded = _ptx.load(path)
    assert loaded.key == key
    assert (loaded.entry, loaded.block, loaded.inputs, loaded.outputs) == ("twice", (32, 1, 1), 1, 1)
    run(loaded)
    loaded.show_load_warnings()


def test_targets_are_its_own_or_those_named_or_none(image: _ptx.Image, tmp_path: Path, fake_ptxas: Path) -> None:
    path = str(tmp_path / "twice.ptxk")
    with pytest.raises(PtxError, match="which cannot be compiled for `sm_100a`"):
        image.save(path, targets=["sm_100a"])
    fake_ptxas.unlink()
    with pytest.raises(PtxError, match="PYPTX_PTXAS is"):
        image.save(path)
    assert not Path(path).exists()
    image.save(path, targets=[])
    assert b"ELF" not in Path(path).read_bytes()
    run(_ptx.load(path))


def test_what_ptxas_says_is_a_warning_at_the_authors_line(
    image: _ptx.Image, tmp_path: Path, fake_ptxas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(fake_ptxas, SPILLS)
    path = str(tmp_path / "twice.ptxk")
    for _ in range(2):  # the second time from the cache
        with pytest.warns(PtxWarning, match="kernel `twice`: there are not enough registers") as caught:
            image.save(path)
        assert [Path(each.filename).name for each in caught] == ["test_saved.py"]
        first = twice.__wrapped__.__code__.co_firstlineno
        assert first < caught[0].lineno <= first + 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PtxWarning):
            image.save(path)
    monkeypatch.setenv("PYPTX_STRICT", "1")
    with pytest.raises(PtxError) as error:
        image.save(path)
    assert error.value.kind == "register_spill"


def test_no_compile_names_the_kernel_and_the_folder(image: _ptx.Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "twice.ptxk")
    monkeypatch.setenv("PYPTX_NO_COMPILE", "1")
    with pytest.raises(PtxError, match="kernel `twice` would have to be compiled for `sm_90a`") as error:
        image.save(path)
    assert error.value.kind == "compile_needed"
    assert str(tmp_path / "cache") in str(error.value)
    monkeypatch.delenv("PYPTX_NO_COMPILE")
    image.save(path)
    monkeypatch.setenv("PYPTX_NO_COMPILE", "1")
    image.save(path)


def test_bad_files_and_bad_settings(image: _ptx.Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "twice.ptxk"
    with pytest.raises(PtxError, match="No such file") as error:
        _ptx.load(str(path))
    assert error.value.kind == "file_error"
    image.save(str(path))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="is cut off"):
        _ptx.load(str(path))
    path.write_text("print('hello')")
    with pytest.raises(ValueError, match="is not one"):
        _ptx.load(str(path))
    with pytest.raises(PtxError, match="what fits is one such as `f32`"):
        image.save(str(path), scalar_types=["float"])
    with pytest.raises(PtxError, match="1 tiles"):
        image.save(str(path), tiles=[Tile(32, f32)])
    monkeypatch.setenv("PYPTX_NO_COMPILE", "yes")
    with pytest.raises(PtxError, match="PYPTX_NO_COMPILE is `yes`; what fits is `1` or `0`"):
        image.save(str(path))
