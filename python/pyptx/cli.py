"""The command line: ``pyptx check kernel.ptx``, ``python -m pyptx isa ld.global``. The commands are the core's; here are the
streams, and where a C++ project finds the library that the package brings."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

from . import _ptx

PACKAGE = Path(__file__).parent
FOLDERS = {"--cmake-dir": "lib/cmake/ptx", "--includedir": "include"}
USAGE = """\
  pyptx --cmake-dir | --includedir
      where a C++ project finds the library ptx: -Dptx_DIR=, and the folder of <ptx/...>
  pyptx kernels tuned [--export FILE | --import FILE]
      recipes that `pyptx.kernels.tune` found on this machine; as JSON, to and from a file
  pyptx kernels nodes [--build]
      where the autograd nodes in C++ are, for the torch that is installed; makes them, which takes a C++ compiler and some 20 s
"""


class _Unwritable(Exception):
    """The standard output takes nothing: a full disk, or it is closed."""


def main(arguments: list[str] | None = None) -> int:
    """Runs a command line, that of the process without `arguments`; returns the exit status."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except _Unwritable as why:
        _write(sys.stderr, f"pyptx: error: cannot write the standard output: {why}\n".encode())
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left must not fail again at the end
        return 2


def _run(words: list[str]) -> int:
    if len(words) == 1 and words[0] in FOLDERS:
        return _folder(PACKAGE / FOLDERS[words[0]])
    if words[:1] == ["kernels"]:
        return _kernels(words[1:])
    given = [os.fsencode(word) for word in words]  # names of files are bytes
    status, out, err = _ptx.run_tool(given, _shows_colour(sys.stdout), _shows_colour(sys.stderr), "pyptx", _say)
    if words in ([], ["help"], ["-h"], ["--help"]):
        usage = USAGE.encode()
        out, err = (out + usage, err) if words else (out, err + usage)
    _say(out)
    _write(sys.stderr, err)
    return status


def _shows_colour(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _kernels(words: list[str]) -> int:
    if words in ([*of, word] for of in ([], ["tuned"], ["nodes"]) for word in ("-h", "--help")):
        _say(USAGE[USAGE.index("  pyptx kernels") :].encode())
        return 0
    if words[:1] == ["nodes"] and words[1:] in ([], ["--build"]):
        return _nodes(build=len(words) == 2)
    if words[:1] == ["tuned"] and (not words[1:] or (len(words) == 3 and words[1] in ("--export", "--import"))):
        return _tuned(words[1:])
    print(f"pyptx: usage:\n{USAGE[USAGE.index('  pyptx kernels') :]}", end="", file=sys.stderr)
    return 2


def _nodes(*, build: bool) -> int:
    from .torch_support import nodes

    try:
        import torch

        path = nodes.build() if build else nodes.path_of(torch)
    except ImportError as why:
        print(f"pyptx: error: there are nodes for torch alone: {why}", file=sys.stderr)
        return 2
    except OSError as why:
        print(f"pyptx: error: {why}; `PYPTX_CACHE_DIR` names the folder where nodes are kept", file=sys.stderr)
        return 2
    except RuntimeError as why:
        print(f"pyptx: error: {why}", file=sys.stderr)
        return 2
    if nodes.module() is not None:
        _say(os.fsencode(f"{path}\n"))
        return 0
    where = f"--build makes {path}" if nodes.are_kept() else "they are kept in the disk cache, which is off"
    print(f"pyptx: none for torch {torch.__version__}: nodes in Python are taken; {where}", file=sys.stderr)
    return 1


def _tuned(words: list[str]) -> int:
    from .kernels import tuned

    try:
        if not words:
            _say(f"{tuned()!r}\n".encode())
        elif words[0] == "--export":
            tuned().export(words[1])
        else:
            _say(f"{tuned().import_from(words[1])!r}\n".encode())
    except (OSError, ValueError) as why:
        print(f"pyptx: error: {why}", file=sys.stderr)
        return 2
    return 0


def _folder(folder: Path) -> int:
    if folder.is_dir():
        _say(os.fsencode(f"{folder}\n"))
        return 0
    print(f"pyptx: {folder} is not there: this is a source tree, whose CMake package lies in its build folder", file=sys.stderr)
    return 1


def _say(text: bytes) -> None:
    """Onto the standard output."""
    if sys.stdout is None and text:
        raise _Unwritable("it is closed")
    try:
        _write(sys.stdout, text)
    except BrokenPipeError:
        raise
    except OSError as why:
        raise _Unwritable(why.strerror) from None


def _write(stream: object, text: bytes) -> None:
    """PTX is bytes: what was read in some encoding is written in the same. Nothing goes to a stream that is closed."""
    if stream is None:
        return
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # a stream of str alone, as tests put there
        stream.write(text.decode(errors="replace"))  # type: ignore[attr-defined]
        return
    buffer.write(text)
    buffer.flush()


def entry_point() -> None:
    """What the console script `pyptx` calls."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)  # as shells say it
    except BrokenPipeError:  # `pyptx isa | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)


if __name__ == "__main__":
    entry_point()
