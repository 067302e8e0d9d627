"""The text as tokens. The core cuts it."""

from __future__ import annotations

from .. import _ptx
from .tokens import Token, TokenKind

_KINDS = {kind.value: kind for kind in TokenKind}


def tokenize(source: str) -> list[Token]:
    """Every token of the text, with newlines and comments, and EOF last. No text is refused: what is no PTX is OTHER."""
    return [Token(_KINDS[kind], text, line, col, space) for kind, text, line, col, space in _ptx.tokenize(source)]
