"""Removals that need a person's word in every mode and under every rule (PERM-32)."""

from __future__ import annotations

import os

from .expand import values
from .operands import take_apart
from .paths import forms, lies_in
from .syntax import Piece, Word


def is_guarded_removal(words: tuple[Word, ...], places: frozenset[str] | None, home: str, workspace: str) -> bool:
    """Whether `rm` or `rmdir` would remove `/`, the home folder, the workspace or one of its parents, or might."""
    name = (words[0].literal or "").rpartition("/")[2] if words else ""
    if name not in ("rm", "rmdir"):
        return False
    operands = take_apart(name, words[1:]).operands
    if any(_globs_right_under_a_variable(word) for word in operands):
        return True
    starts = places if places is not None else frozenset(("/nowhere",))
    return any(_removes_guarded(word, place, home, workspace) for word in operands for place in starts)


def _globs_right_under_a_variable(word: Word) -> bool:
    """`"$D"/*`: with an empty variable it is `/*`."""
    before = ""
    for piece in word.pieces:
        if piece.kind != "text":
            before = "$"
        elif before == "$" or before == "$/":
            if not piece.quoted and (before + piece.text).startswith(("$/*", "$/?", "$/[")):
                return True
            before = before + piece.text if piece.text in ("", "/") else ""
    return False


def _removes_guarded(word: Word, place: str, home: str, workspace: str) -> bool:
    texts = values(word, place, home=home, known={"HOME": home, "PWD": place})
    if texts is None:
        return False
    for form in (form for text in texts if text for form in forms(text, place)):
        if form in forms(home, "/") or any(lies_in(folder, form) for folder in forms(workspace, "/")):
            return True
    # What `/*` or `~/*` becomes is found on the disk, and may be nothing there; it is meant all the same.
    source = _glob_source(word, place, home)
    return source is not None and any(form in ("/", *forms(home, "/")) for form in forms(source, place))


def _glob_source(word: Word, place: str, home: str) -> str | None:
    """The folder whose entries a last part `*` stands for."""
    last = word.pieces[-1] if word.pieces else None
    if last is None or last.kind != "text" or last.quoted or last.text.rpartition("/")[2] not in ("*", ".*"):
        return None
    folder = last.text.rpartition("/")[0] + ("/" if "/" in last.text else "")
    pieces = (*word.pieces[:-1], Piece("text", folder, False))
    texts = values(Word(word.source, pieces), place, home=home, known={"HOME": home, "PWD": place})
    return None if texts is None or len(texts) != 1 else os.path.join(place, texts[0])
