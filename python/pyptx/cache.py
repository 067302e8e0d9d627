"""A cache of compiled kernels for programs that compile by themselves: text and machine code under a key of the caller's.

Launches do not need it. They have a cache of their own, in C++ (``ptx/cuda/disk_cache.hpp``): every kernel that a GPU loads,
from Python, from XLA or from C++, is looked up there by its text, its target and the version of ptxas, in ``<2 hex digits>/``
below the same folder. What is `put` here is not launched, and what was launched is not found here.

The folder is ``$PYPTX_CACHE_DIR``; without it ``$XDG_CACHE_HOME/pyptx``, else ``~/.cache/pyptx``. ``PYPTX_CACHE_DIR=off``, or an
empty one, keeps both caches off the disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["DEFAULT_CACHE_DIR", "CacheEntry", "CacheKey", "CubinCache", "get_global_cache", "set_global_cache"]

_OFF = ("", "off")
_NAME = re.compile(r"[0-9a-f]{32}\.(ptx|cubin|json)(\.\w+\.tmp)?")


def _default_folder() -> Path:
    chosen = os.environ.get("PYPTX_CACHE_DIR", "")
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    below = caches if caches.is_absolute() else Path("~/.cache")
    folder = Path(chosen) if chosen not in _OFF else below / "pyptx"
    try:
        return folder.expanduser()
    except RuntimeError:  # nobody's home
        return folder


DEFAULT_CACHE_DIR = _default_folder()
"""The folder, as the environment named it when this module was imported."""


def _canonical(value: Any) -> Any:
    """The value as JSON that is the same in every process. Raises TypeError for one that has no such form."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Mapping):
        return {"map": sorted([_canonical(key), _canonical(each)] for key, each in value.items())}
    if isinstance(value, tuple | list):
        return [_canonical(each) for each in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(json.dumps(_canonical(each), sort_keys=True) for each in value)}
    name = getattr(value, "__qualname__", "<")
    if callable(value) and "<" not in name:  # of lambdas and local functions there are many of one name
        named: dict[str, Any] = {"name": f"{value.__module__}.{name}"}
        bound = getattr(value, "__self__", None)
        if bound is not None and not isinstance(bound, ModuleType):  # two objects' methods are two functions
            named["of"] = _canonical(bound)
        return named
    text = repr(value)
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        raise TypeError(f"a cache key cannot hold an array, as {type(value).__qualname__}: its text leaves numbers out")
    if " at 0x" in text:
        raise TypeError(f"a cache key cannot hold {text}: it has no text that is the same in every process")
    return {type(value).__qualname__: text}


@dataclass(frozen=True)
class CacheKey:
    """What a kernel was compiled from: which function, with which template arguments, for which shapes and target."""

    fn_id: str
    template_kwargs: Any
    """A mapping, or a tuple of pairs."""
    input_shapes: Any
    arch: str

    def hash(self) -> str:
        """32 hex digits, the same in every process. TypeError when a value has no text that is."""
        parts = _canonical((self.fn_id, self.template_kwargs, self.input_shapes, self.arch))
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    def __hash__(self) -> int:
        return int(self.hash(), 16) & 0x7FFF_FFFF_FFFF_FFFF


@dataclass
class CacheEntry:
    """A compiled kernel. ``metadata`` is what JSON can hold."""

    key: CacheKey
    ptx_source: str
    cubin_bytes: bytes | None
    metadata: dict[str, Any] = field(default_factory=dict)


def _replace(path: Path, content: bytes) -> None:
    """Writes beside the file and puts it in place: others see the old one or the new one. OSError leaves nothing behind."""
    number, name = tempfile.mkstemp(prefix=path.name + ".", suffix=".tmp", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class CubinCache:
    """Entries in memory and, unless ``enable_disk`` is off, in a folder: ``<hash>.ptx``, ``.cubin`` and ``.json``.

    A folder that cannot be written costs nothing but the next process's time; a file that is damaged counts as absent. Threads
    and processes may share a folder.
    """

    def __init__(self, cache_dir: str | os.PathLike[str] | None = None, enable_disk: bool = True) -> None:
        self.cache_dir = Path(cache_dir) if cache_dir is not None else _default_folder()
        self.enable_disk = enable_disk and (cache_dir is not None or os.environ.get("PYPTX_CACHE_DIR", "on") not in _OFF)
        self._entries: dict[str, CacheEntry] = {}
        self._lock = threading.Lock()

    def _path(self, name: str, suffix: str) -> Path:
        return self.cache_dir / f"{name}.{suffix}"

    def _read(self, key: CacheKey, name: str) -> CacheEntry | None:
        """From disk. The ``.json`` comes last when an entry is written, and says what the other files hold."""
        try:
            described = json.loads(self._path(name, "json").read_bytes())
            ptx = self._path(name, "ptx").read_bytes()
            cubin = self._path(name, "cubin").read_bytes() if described["cubin"] is not None else None
            whole = described["ptx"] == _digest(ptx) and (cubin is None or described["cubin"] == _digest(cubin))
            metadata = described["metadata"]
            if not whole or not isinstance(metadata, dict):
                return None
            return CacheEntry(key, ptx.decode(), cubin, metadata)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def get(self, key: CacheKey) -> CacheEntry | None:
        """The entry, from memory or else from disk; None when there is none."""
        name = key.hash()
        with self._lock:
            entry = self._entries.get(name)
        if entry is None and self.enable_disk:
            entry = self._read(key, name)
            if entry is not None:
                with self._lock:
                    entry = self._entries.setdefault(name, entry)
        return entry

    def put(self, entry: CacheEntry) -> None:
        """Keeps an entry in place of one of the same key. TypeError for metadata that JSON cannot hold."""
        name = entry.key.hash()
        ptx = entry.ptx_source.encode()
        cubin = None if entry.cubin_bytes is None else bytes(entry.cubin_bytes)
        described = json.dumps(
            {
                "fn_id": entry.key.fn_id,
                "arch": entry.key.arch,
                "ptx": _digest(ptx),
                "cubin": None if cubin is None else _digest(cubin),
                "metadata": entry.metadata,
            },
            indent=1,
        )
        with self._lock:
            self._entries[name] = entry
        if not self.enable_disk:
            return
        with contextlib.suppress(OSError):  # a full or read-only disk: the entry is in memory
            self.cache_dir.mkdir(parents=True, exist_ok=True)
            _replace(self._path(name, "ptx"), ptx)
            if cubin is not None:
                _replace(self._path(name, "cubin"), cubin)
            _replace(self._path(name, "json"), described.encode())

    def clear(self, *, disk: bool = False) -> None:
        """Forgets the entries in memory; with ``disk`` also removes this class's files, and no others, from the folder."""
        with self._lock:
            self._entries.clear()
        if not disk or not self.enable_disk:
            return
        with contextlib.suppress(OSError):
            for path in list(self.cache_dir.iterdir()):
                if _NAME.fullmatch(path.name):
                    with contextlib.suppress(OSError):
                        path.unlink()

    def __len__(self) -> int:
        """How many entries are in memory."""
        with self._lock:
            return len(self._entries)

    def __contains__(self, key: CacheKey) -> bool:
        return self.get(key) is not None


_global: CubinCache | None = None
_global_lock = threading.Lock()


def get_global_cache() -> CubinCache:
    """The process's cache, in the default folder until `set_global_cache` names another."""
    global _global
    with _global_lock:
        if _global is None:
            _global = CubinCache()
        return _global


def set_global_cache(cache: CubinCache | None) -> None:
    """Makes ``cache`` the process's; None brings back the default."""
    global _global
    with _global_lock:
        _global = cache
