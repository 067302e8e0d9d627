"""The text as tokens. The core cuts it."""

from __future__ import annotations

from .. import _ptx
from .._own_words import speak_in_own_words
from .tokens import Token, TokenKind

_KINDS = {kind.value: kind for kind in TokenKind}


class LexError(Exception):
    """Something that is not a text was given. Every character of a text is part of a token: `tokenize` refuses none."""


def tokenize(source: str) -> list[Token]:
    """Every token of the text, with newlines and comments, and EOF last. No text is refused: what is not PTX is OTHER."""
    if not isinstance(source, str):
        raise LexError(f"`tokenize` is given {type(source).__name__} `{source!r:.40}`; what fits is a text")
    return [Token(_KINDS[kind], text, line, col, space) for kind, text, line, col, space in _ptx.tokenize(source)]


speak_in_own_words(globals(), "tokenize")
