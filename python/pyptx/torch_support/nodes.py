"""Autograd nodes in C++, for gradients of the kernel library's calls: `cpp/nodes.cpp`, compiled for the torch of this process.

A node in Python costs a call 20 to 30 us more than one in C++, as much as a small kernel takes; but nodes in C++ are made for one
version of torch, with its headers and a compiler. So they are made when they are asked for, and kept in the disk cache: by
`pyptx kernels nodes --build`, or `pyptx.kernels.build_nodes()`. Processes that find them take them.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from .. import _ptx
from ..cache import get_global_cache

SOURCES = Path(__file__).parent / "cpp"
_WANTS = "a C++20 compiler, as g++ 12 or clang++ 16, that `CXX` or `PATH` leads to, and Python's headers (python3-dev)"
_module: Any = None
_is_known = False


def path_of(torch: Any) -> Path:
    """Where the library for this torch, this Python and these sources is kept."""
    parts = [torch.__version__, sysconfig.get_config_var("SOABI") or sys.version, str(torch._C._GLIBCXX_USE_CXX11_ABI)]
    texts = [source.read_text() for source in sorted(SOURCES.iterdir())]
    key = hashlib.sha256("\0".join([*parts, *texts]).encode()).hexdigest()[:32]
    return get_global_cache().cache_dir / "nodes" / f"{key}.so"


def are_kept() -> bool:
    """Whether there is a disk cache."""
    return get_global_cache().enable_disk


def module() -> Any:
    """The nodes, or None where none are made for this torch, or the disk cache is off. Warns of a file that cannot be loaded."""
    global _module, _is_known
    if not _is_known:
        import torch

        path, _is_known = path_of(torch), True
        try:
            _module = _load(path) if are_kept() and path.exists() else None
        except ImportError as why:
            _ptx.warn_author(f"autograd nodes in Python are taken, as those in C++ cannot be loaded: {why}")
    return _module


def _load(path: Path) -> Any:
    loader = importlib.machinery.ExtensionFileLoader("pyptx_nodes", str(path))
    spec = importlib.util.spec_from_file_location("pyptx_nodes", path, loader=loader)
    assert spec is not None
    found = importlib.util.module_from_spec(spec)
    loader.exec_module(found)
    return found


def build() -> Path:
    """Compiles the nodes for this torch, about 20 s, unless they are there, and has this process take them. Gives their place.
    PtxError without a compiler, with what it says, or where the disk cache is off; OSError where they cannot be kept."""
    global _module, _is_known
    import torch

    path = path_of(torch)
    if not are_kept():
        _ptx.raise_error("cache_unusable", "nodes are kept in the disk cache, which is off", "`PYPTX_CACHE_DIR` names its folder")
    try:
        found = _load(path)
    except ImportError:  # no file, or none that is whole
        _compile(torch, path)
        found = _load(path)
    _module, _is_known = found, True
    return path


def command_of(torch: Any, compiler: str, target: Path) -> list[str]:
    """What compiles them."""
    root = Path(torch.__file__).parent
    headers = [root / "include", root / "include/torch/csrc/api/include", Path(sysconfig.get_paths()["include"])]
    return [
        compiler, "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", f"-I{SOURCES}",
        *[word for folder in headers for word in ("-isystem", str(folder))], str(SOURCES / "nodes.cpp"), "-o", str(target),
        f"-L{root / 'lib'}", "-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python",
    ]  # fmt: skip


def _compile(torch: Any, path: Path) -> None:
    chosen = os.environ.get("CXX") or "g++"
    compiler = shutil.which(chosen) or shutil.which("clang++")
    if compiler is None:
        _ptx.raise_error("no_tool", f"nothing here compiles C++: `{chosen}` is not there", f"what is needed is {_WANTS}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        done = subprocess.run(command_of(torch, compiler, made), capture_output=True, text=True, check=False)
        if done.returncode:
            said = "\n".join(done.stderr.splitlines()[:12])
            what = f"{compiler} cannot compile the autograd nodes for torch {torch.__version__}:\n{said}"
            _ptx.raise_error("tool_failed", what, f"what is needed is {_WANTS}")
        made.replace(path)


__all__ = ["are_kept", "build", "command_of", "module", "path_of"]
