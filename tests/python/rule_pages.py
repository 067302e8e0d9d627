"""tools/docs/rules.py, which makes the pages of the executor's rules, for tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def _loaded() -> Any:
    path = Path(__file__).parents[2] / "tools" / "docs" / "rules.py"
    spec = importlib.util.spec_from_file_location("docs_of_rules", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DOCS = _loaded()
