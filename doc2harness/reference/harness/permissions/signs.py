"""Small readings of signs that the lexer needs: ANSI-C quotes, counted brackets, joined pieces."""

from __future__ import annotations

import re

from .syntax import Piece

_ANSI = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.S)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def ansi_text(inside: str) -> str:
    """The text of `$'inside'`: escapes replaced, and cut at a NUL, as the shell does."""
    return _ANSI.sub(_ansi_sign, inside).split("\0", 1)[0]


def _ansi_sign(found: re.Match[str]) -> str:
    short, four, eight, octal, control, other = found.groups()
    if code := short or four or eight:
        return chr(min(int(code, 16), 0x10FFFF))
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if control:
        return chr(ord(control) & 0x1F)
    return _ANSI_LETTERS.get(other, other if other in "\\'\"?" else "\\" + other)


def plainly_balanced(text: str, commands: bool) -> bool:
    """Whether the end of `$(( text` is the same for a shell that counts brackets without reading what is inside."""
    open_signs = 2
    for sign in text[:-1]:
        open_signs += (sign == "(") - (sign == ")")
        if sign in "'\\`\n" or (commands and sign == "#") or open_signs < 1:
            return False
    return open_signs == 1 and not (commands and "<<" in text)


def merged(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Neighbours of one kind become one piece."""
    result: list[Piece] = []
    for piece in pieces:
        last = result[-1] if result else None
        if last and last.kind == piece.kind == "text" and last.quoted == piece.quoted:
            result[-1] = Piece("text", last.text + piece.text, piece.quoted)
        else:
            result.append(piece)
    return tuple(result)
