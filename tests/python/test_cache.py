"""pyptx.cache: keys that mean the same in every process, entries that are whole or absent. And the folder of the launch path."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pyptx import cache
from pyptx.cache import CacheEntry, CacheKey, CubinCache
from pyptx.types import f32

KEY = CacheKey("mod.rms_norm", {"BM": 64, "eps": 1e-6}, ((64, 128), (128,)), "sm_90a")
ENTRY = CacheEntry(KEY, ".version 8.5\n// µ", b"\x7fELF\0cubin", {"registers": 32})


def another_process(code: str, **variables: str) -> str:
    package = str(Path(cache.__file__).parent.parent)
    env = {**os.environ, "PYTHONPATH": package, **variables}
    return subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout


def test_a_key_is_the_same_in_every_process() -> None:
    code = f"from pyptx.cache import CacheKey; print({KEY!r}.hash())"
    assert another_process(code, PYTHONHASHSEED="7").strip() == KEY.hash()
    assert len(KEY.hash()) == 32
    assert int(KEY.hash(), 16) >= 0


@pytest.mark.parametrize(
    "other",
    [
        CacheKey("mod.other", {"BM": 64, "eps": 1e-6}, ((64, 128), (128,)), "sm_90a"),
        CacheKey("mod.rms_norm", {"BM": 65, "eps": 1e-6}, ((64, 128), (128,)), "sm_90a"),
        CacheKey("mod.rms_norm", {"BM": "64", "eps": 1e-6}, ((64, 128), (128,)), "sm_90a"),
        CacheKey("mod.rms_norm", {"BM": 64, "eps": 1e-6}, ((64, 128, 128),), "sm_90a"),
        CacheKey("mod.rms_norm", {"BM": 64, "eps": 1e-6}, ((64, 128), (128,)), "sm_100a"),
    ],
)
def test_other_parts_are_another_key(other: CacheKey) -> None:
    assert other.hash() != KEY.hash()
    assert other != KEY


def test_the_order_of_arguments_does_not_count() -> None:
    same = CacheKey("mod.rms_norm", {"eps": 1e-6, "BM": 64}, [[64, 128], [128]], "sm_90a")
    assert same.hash() == KEY.hash()
    assert {KEY: 1}[CacheKey("mod.rms_norm", {"eps": 1e-6, "BM": 64}, ((64, 128), (128,)), "sm_90a")] == 1


def test_a_key_is_frozen_and_takes_types_and_functions() -> None:
    with pytest.raises(AttributeError):
        KEY.arch = "sm_80"  # type: ignore[misc]
    key = CacheKey("k", {"dtype": f32, "fn": test_a_key_is_frozen_and_takes_types_and_functions, "s": {1, 2}}, (), "sm_90a")
    assert key.hash() == key.hash()
    for nameless in (object(), lambda: 1):
        with pytest.raises(TypeError, match="no text that is the same in every process"):
            CacheKey("k", {"x": nameless}, (), "sm_90a").hash()


def test_memory_then_disk(tmp_path: Path) -> None:
    first = CubinCache(tmp_path)
    assert first.get(KEY) is None
    assert KEY not in first
    first.put(ENTRY)
    assert first.get(KEY) is ENTRY
    assert len(first) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{KEY.hash()}.{suffix}" for suffix in ("cubin", "json", "ptx")]
    second = CubinCache(tmp_path)
    assert len(second) == 0
    assert KEY in second
    assert second.get(KEY) == ENTRY
    assert len(second) == 1


def test_an_entry_without_a_cubin(tmp_path: Path) -> None:
    CubinCache(tmp_path).put(CacheEntry(KEY, "text", None))
    found = CubinCache(tmp_path).get(KEY)
    assert found is not None
    assert found.cubin_bytes is None
    assert found.metadata == {}


@pytest.mark.parametrize("suffix", ["ptx", "cubin", "json"])
@pytest.mark.parametrize("damage", ["gone", "cut", "other"])
def test_a_damaged_entry_is_absent_and_is_replaced(tmp_path: Path, suffix: str, damage: str) -> None:
    CubinCache(tmp_path).put(ENTRY)
    path = tmp_path / f"{KEY.hash()}.{suffix}"
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-3] if damage == "cut" else b"[1]")
    damaged = CubinCache(tmp_path)
    assert damaged.get(KEY) is None
    damaged.put(ENTRY)
    assert CubinCache(tmp_path).get(KEY) == ENTRY


def test_without_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = CubinCache(tmp_path, enable_disk=False)
    memory.put(ENTRY)
    assert memory.get(KEY) is ENTRY
    assert list(tmp_path.iterdir()) == []
    for off in ("", "off"):
        monkeypatch.setenv("PYPTX_CACHE_DIR", off)
        assert not CubinCache().enable_disk


def test_a_folder_that_cannot_be_written_is_tolerated(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    in_a_file = CubinCache(tmp_path / "file" / "cache")
    in_a_file.put(ENTRY)
    assert in_a_file.get(KEY) is ENTRY
    in_a_file.clear(disk=True)
    assert in_a_file.get(KEY) is None
    if os.geteuid() != 0:  # for whom no folder is read-only
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
        read_only = CubinCache(tmp_path)
        read_only.put(ENTRY)
        tmp_path.chmod(stat.S_IRWXU)
        assert read_only.get(KEY) is ENTRY


def test_a_full_disk_is_tolerated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    CubinCache(tmp_path).put(ENTRY)
    assert list(tmp_path.iterdir()) == []


def test_metadata_must_be_json(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        CubinCache(tmp_path).put(CacheEntry(KEY, "text", b"", {"x": object()}))
    assert list(tmp_path.iterdir()) == []


def test_clear_leaves_other_files(tmp_path: Path) -> None:
    filled = CubinCache(tmp_path)
    filled.put(ENTRY)
    (tmp_path / "notes.json").write_text("mine")
    (tmp_path / "ab").mkdir()
    filled.clear()
    assert len(filled) == 0
    assert KEY in filled
    filled.clear(disk=True)
    assert KEY not in filled
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ab", "notes.json"]


def test_threads_and_processes_share_a_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from pyptx.cache import *\n"
        f"key = {KEY!r}\n"
        f"entry = CacheEntry(key, {ENTRY.ptx_source!r}, {ENTRY.cubin_bytes!r}, {ENTRY.metadata})\n"
        "for i in range(20): CubinCache(sys.argv[1]).put(entry)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(cache.__file__).parent.parent)}
    others = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=env) for _ in range(2)]
    wrong: list[object] = []

    def read() -> None:
        for _ in range(50):
            found = CubinCache(tmp_path).get(KEY)
            if found is not None and found != ENTRY:
                wrong.append(found)
            CubinCache(tmp_path).put(ENTRY)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.wait() for other in others] == [0, 0]
    assert wrong == []
    assert CubinCache(tmp_path).get(KEY) == ENTRY
    assert len(list(tmp_path.iterdir())) == 3


def test_the_global_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    cache.set_global_cache(None)
    assert cache.get_global_cache() is cache.get_global_cache()
    assert cache.get_global_cache().cache_dir == tmp_path
    mine = CubinCache(tmp_path / "mine")
    cache.set_global_cache(mine)
    assert cache.get_global_cache() is mine
    cache.set_global_cache(None)


def test_the_default_folder() -> None:
    code = "from pyptx.cache import DEFAULT_CACHE_DIR; print(DEFAULT_CACHE_DIR)"
    assert another_process(code, PYPTX_CACHE_DIR="/somewhere") == "/somewhere\n"
    assert another_process(code, PYPTX_CACHE_DIR="off", XDG_CACHE_HOME="/caches") == "/caches/pyptx\n"
    assert another_process(code, PYPTX_CACHE_DIR="off", XDG_CACHE_HOME="", HOME="/home/me") == "/home/me/.cache/pyptx\n"


class Made:
    def __init__(self, number):
        self.number = number

    def __repr__(self):
        return f"Made({self.number})"

    def build(self):
        return self.number

    @classmethod
    def make(cls):
        return cls(0)


class Unnamed(Made):
    __repr__ = object.__repr__


def test_methods_of_two_objects_are_two_functions():
    def key(function):
        return CacheKey("mod.k", {"build": function}, ((64,),), "sm_90a").hash()

    assert key(Made(1).build) == key(Made(1).build)
    assert len({key(Made(1).build), key(Made(2).build), key(Made.build), key(Made.make), key(Unnamed.make)}) == 5
    with pytest.raises(TypeError, match="no text that is the same in every process"):
        key(Unnamed(1).build)
    assert key(len) != key(max)
