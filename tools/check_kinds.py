#!/usr/bin/env python3
"""Every diagnostic kind of ptx/base/kinds.def appears in a test or golden.

Kinds still without one are listed below; the list only shrinks.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXEMPT = {
    "internal",  # a fault of ours has no input that shows it
}


def main() -> int:
    kinds = re.findall(r"^PTX_KIND\((\w+),", (ROOT / "ptx/base/kinds.def").read_text(), re.MULTILINE)
    tests = [
        p
        for p in [*ROOT.glob("ptx/**/*_test.cpp"), *ROOT.glob("tests/**/*")]
        if p.is_file() and p.suffix in {".cpp", ".hpp", ".py", ".golden", ".ptx", ".txt"}
    ]
    text = "\n".join(p.read_text(errors="replace") for p in tests)
    words = set(re.findall(r"\w+", text))
    missing = [k for k in kinds if k not in words and k not in EXEMPT]
    stale = [k for k in EXEMPT if k not in kinds or (k in words and k != "internal")]
    for kind in missing:
        print(f"no test or golden shows the diagnostic kind {kind}")
    for kind in stale:
        print(f"{kind} has a test or is gone: take it off the list in tools/check_kinds.py")
    print(f"{len(kinds) - len(missing)} of {len(kinds)} kinds are shown by tests")
    return 1 if missing or stale else 0


if __name__ == "__main__":
    sys.exit(main())
