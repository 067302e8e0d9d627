"""The tokens of PTX."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class TokenKind(Enum):
    """What a token is. The values are the words by which the core names them."""

    INTEGER = "integer"
    FLOAT = "float"
    STRING = "string"
    IDENTIFIER = "identifier"
    REGISTER = "register"
    DIRECTIVE = "directive"
    LBRACE = "{"
    RBRACE = "}"
    LPAREN = "("
    RPAREN = ")"
    LBRACKET = "["
    RBRACKET = "]"
    COMMA = ","
    SEMICOLON = ";"
    COLON = ":"
    AT = "@"
    BANG = "!"
    PLUS = "+"
    MINUS = "-"
    PIPE = "|"
    LESS = "<"
    GREATER = ">"
    EQUALS = "="
    STAR = "*"
    SLASH = "/"
    TILDE = "~"
    AMPERSAND = "&"
    CARET = "^"
    QUESTION = "?"
    PERCENT = "%"
    NEWLINE = "newline"
    COMMENT = "comment"
    OTHER = "other"
    """A character that no PTX has."""
    EOF = "eof"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: lines and columns count from 1."""

    kind: TokenKind
    text: str
    line: int
    col: int
    leading_whitespace: str = ""
