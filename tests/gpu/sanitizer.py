"""What compute-sanitizer says of a process, for the tables beside it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence


def answer(command: Sequence[str], tool: str | None, seconds: float) -> str:
    """`named` where the tool counts an error, `-` where it counts none, `?` where it does not say; without a tool the last word
    that the process prints, or `fails`. `no end` after so many seconds."""
    words = command if tool is None else ["compute-sanitizer", "--tool", tool, *command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return "no end"
    if tool is None:
        return done.stdout.split()[-1] if done.stdout.split() else "fails"
    summary = re.findall(r"SUMMARY: (\d+)", done.stdout)
    return "?" if not summary else "named" if any(int(count) for count in summary) else "-"
