#!/usr/bin/env python3
"""docs/isa is what isagen writes now: the pages are committed, and a row or a test that changes must reach them (./dev docs)."""

import filecmp
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def pages(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.md")}


def main() -> int:
    built = [ROOT / "build" / preset / "isagen" for preset in ("release", "debug", "gpu")]
    isagen = next((path for path in built if path.exists()), None)
    if isagen is None:
        print("check_docs: no isagen in build/release or build/debug; ./dev test builds it")
        return 1
    committed = ROOT / "docs" / "isa"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([isagen, "docs", folder], cwd=ROOT, check=True)
        fresh = Path(folder)
        names = pages(fresh) | pages(committed)
        same, _, _ = filecmp.cmpfiles(fresh, committed, names, shallow=False)
    stale = sorted(names - set(same))
    for name in stale:
        print(f"docs/isa/{name} is not what the table says now; ./dev docs writes it")
    print(f"{len(names) - len(stale)} of {len(names)} pages of docs/isa are up to date")
    return 1 if stale or not names else 0


if __name__ == "__main__":
    sys.exit(main())
