"""The shapes of a parsed shell command."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

BRACES = re.compile(r"\{[^{}]*(,|\.\.)[^{}]*\}")


class Piece(NamedTuple):
    """A stretch of a word: plain text, a plain `$NAME` (text is the name), or what only the shell can know."""

    kind: Literal["text", "variable", "opaque"]
    text: str
    quoted: bool


class Word(NamedTuple):
    """One word. `source` is as written; `scripts` are the commands of its substitutions."""

    source: str
    pieces: tuple[Piece, ...]
    scripts: tuple[Node, ...] = ()

    @property
    def text(self) -> str:
        """The word without its quotes; what the shell would replace stays as written."""
        return "".join(f"${piece.text}" if piece.kind == "variable" else piece.text for piece in self.pieces)

    @property
    def literal(self) -> str | None:
        """The word's value, or None if the shell would still change it (variable, substitution, glob, braces, `~`)."""
        if self.tilde or self.glob or self.braces or any(piece.kind != "text" for piece in self.pieces):
            return None
        return self.text

    @property
    def tilde(self) -> bool:
        first = self.pieces[0] if self.pieces else None
        return first is not None and first.kind == "text" and not first.quoted and first.text.startswith("~")

    @property
    def glob(self) -> bool:
        return any(sign in piece.text for piece in self._bare() for sign in "*?[")

    @property
    def braces(self) -> bool:
        return bool(BRACES.search("".join(piece.text if not piece.quoted else "_" for piece in self.pieces)))

    def _bare(self) -> list[Piece]:
        return [piece for piece in self.pieces if piece.kind == "text" and not piece.quoted]


class Redirect(NamedTuple):
    """`operator` is one of `< > >> >| <> <& >& &> &>> << <<- <<<`.

    `body` are the substitutions in a here-document's body, which is read after the rest of its line.
    """

    operator: str
    target: Word
    body: list[Node]


class Simple(NamedTuple):
    """Assignments, words and redirects: what the shell runs at once."""

    assignments: tuple[Word, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


class Joined(NamedTuple):
    """Commands joined by operators: `operators[i]`, one of `&& || | |& ; &` or nothing, stands behind `items[i]`."""

    items: tuple[Node, ...]
    operators: tuple[str, ...]


class Block(NamedTuple):
    """A compound command. `words` are those of a `for`, `select` or `case`; `redirects` hold for all of it.

    `bodies`: subshell and group have one; `if` has its conditions and branches in order; a loop has its condition
    (if any) and its body; `case` one a branch; a function its body.
    """

    kind: Literal["subshell", "group", "if", "loop", "case", "function"]
    bodies: tuple[Node, ...]
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


Node = Simple | Joined | Block


class Script(NamedTuple):
    """A whole command; `problem` says why it could not be understood, and then `body` is None."""

    body: Node | None
    problem: str | None = None
