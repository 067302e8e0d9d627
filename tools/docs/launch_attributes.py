#!/usr/bin/env python3
"""The guide's table of launch attributes, in docs/guide/launching.md, is written from ptx/tile/launch_attributes.inc."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "launching.md"
HEAD = "## Launch attributes\n\n| argument | meaning |\n|---|---|\n"


def with_table(page: str, attributes: Mapping[str, tuple[str, str]]) -> str:
    """The page with a row for each attribute, which has what it says and what the guide says of it."""
    rows = "".join(f"| `{name}=True` | {guide} |\n" for name, (_, guide) in attributes.items())
    made, count = re.subn(re.escape(HEAD) + r"(\|.*\n)*", lambda _: HEAD + rows, page)
    if count != 1:
        raise ValueError(f"{PAGE} has {count} tables of launch attributes, not one")
    return made


if __name__ == "__main__":
    from pyptx import _ptx

    PAGE.write_text(with_table(PAGE.read_text(), _ptx.launch_attributes))
