"""Where something was found in the texts that `Module.raw` was given: said of the call that gave the text, and its line there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .errors import PtxError, said_at

Place = tuple[str, int]

_FOUND = re.compile(r"<text>:(\d+)(?::(\d+))?")  # as the core has it, whose line 1 is a header


class Texts:
    """The texts of a module, in order. The core counts the lines of each anew, unless they were written `apart`."""

    def __init__(self, declared: Sequence[tuple[str, Any]]) -> None:
        self._given: list[tuple[str, Place]] = [(arguments[0], arguments[1]) for what, arguments in declared if what == "raw"]

    def __len__(self) -> int:
        return len(self._given)

    def apart(self, number: int) -> str:
        """A text behind as many empty lines as those before it have, so that a line tells the text."""
        return "\n" * sum(map(_lines, (text for text, _ in self._given[:number]))) + self._given[number][0]

    def error(self, error: PtxError) -> PtxError:
        """An error, with the author's places."""
        in_text = error.where is not None and error.where[0] == "<text>"
        where = self._place(error.where[1])[0] if error.where and in_text else error.where
        return said_at(error, where, [self._with_places(note) for note in error.notes], self._with_places(str(error)))

    def warning(self, text: str, file: str, line: int) -> tuple[str, str, int]:
        """A warning, with the author's places."""
        place = self._place(line)[0] if file == "<text>" else (file, line)
        return self._with_places(text), *place

    def _place(self, line: int) -> tuple[Place, int]:
        """The call of `raw`, and the line in its text."""
        line -= 1
        for text, place in self._given[:-1]:
            if line <= _lines(text):
                return place, line
            line -= _lines(text)
        return self._given[-1][1], line

    def _with_places(self, text: str) -> str:
        def placed(found: re.Match[str]) -> str:
            (file, at), line = self._place(int(found[1]))
            column = f", column {found[2]}" if found[2] else ""
            return f"{file}:{at} (line {line}{column} of the text)"

        return _FOUND.sub(placed, text)


def is_in_text(report: str) -> bool:
    """Whether an error or a warning points into a text."""
    return _FOUND.search(report) is not None


def _lines(text: str) -> int:
    return text.count("\n") + 1
