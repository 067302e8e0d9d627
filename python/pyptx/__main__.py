"""``python -m pyptx --cmake-dir`` and ``--includedir``: where a C++ project finds the library that the package brings."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import __version__

PACKAGE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m pyptx", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--cmake-dir", dest="folder", action="store_const", const="lib/cmake/ptx", help="for -Dptx_DIR=")
    what.add_argument("--includedir", dest="folder", action="store_const", const="include", help="of <ptx/...>")
    folder = PACKAGE / parser.parse_args().folder
    if not folder.is_dir():
        parser.exit(1, f"pyptx: {folder} is not there: this is a source tree, whose CMake package lies in its build folder\n")
    print(folder)


if __name__ == "__main__":
    main()
