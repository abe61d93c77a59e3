"""Which shell commands only look, and only inside the roots (PERM-22)."""

from __future__ import annotations

from .expand import values
from .operands import take_apart
from .paths import Roots, forms
from .syntax import Piece, Word

_SPEAKERS = frozenset({"pwd", "echo", "which"})  # their words are no paths
_LOOKERS = frozenset({"ls", "cat", "head", "tail", "wc", "grep", "stat", "diff"})
_GIT = frozenset({"status", "diff", "log", "show"})
_GIT_NOT = ("--output", "--ext-diff", "--textconv")
_UNKNOWN = Word("", (Piece("opaque", "\0", True),))


def is_read_only(words: tuple[Word, ...], places: frozenset[str], roots: Roots) -> bool:
    """Whether the command, run in any of `places`, is one of those that run at once."""
    if not words or not all(roots.hold(form) for place in places for form in forms(place, "/")):
        return False
    name = words[0].literal
    if name in _SPEAKERS:
        return True
    if name not in _LOOKERS and name != "git":
        return False
    return all(_stays_inside(name, words[1:], place, roots) for place in places)


def _stays_inside(name: str, words: tuple[Word, ...], place: str, roots: Roots) -> bool:
    expanded: list[Word] = []
    for word in words:
        texts = values(word, place)
        if texts is None and not word.text.startswith("-") and all(piece.quoted for piece in word.pieces):
            expanded.append(_UNKNOWN)  # one word, whatever it is
        elif texts is None:
            return False
        else:
            expanded.extend(Word(text, (Piece("text", text, True),)) for text in texts)
    paths = _git_paths(expanded) if name == "git" else _paths(name, expanded)
    return paths is not None and all(
        "\0" not in path and all(roots.hold(form) for form in forms(path, place)) for path in paths
    )


def _paths(name: str, words: list[Word]) -> list[str]:
    arguments = take_apart(name, tuple(words))
    operands = arguments.operands
    if name == "grep" and not arguments.has("e", "f", "regexp", "file"):
        operands = operands[1:]
    paths = [word.text for word in operands if word.text != "-"]
    for option, value in arguments.options:
        if _looks_like_path(value) or (name == "grep" and option in ("f", "file")):
            paths.append(value)
    # A value may also hang on a letter of which we do not know that it takes one: `-f/etc/x`.
    paths.extend(word.text[2:] for word in words if _is_short_option(word.text) and "/" in word.text)
    return paths


def _git_paths(words: list[Word]) -> list[str] | None:
    if not words or words[0].text not in _GIT:
        return None
    paths, options = [], True
    for word in words[1:]:
        text = word.text
        if text == "--":
            options = False
        elif options and text.startswith("-"):
            name, _, value = text.partition("=")
            if "\0" in text or (len(name) > 4 and name != "--text" and any(full.startswith(name) for full in _GIT_NOT)):
                return None
            if _looks_like_path(value):
                paths.append(value)
            if _is_short_option(text) and "/" in text:
                paths.append(text[2:])
        elif "\0" in text or text.startswith(("/", "~")) or ".." in text.split("/"):
            paths.append(text)
    return paths


def _is_short_option(text: str) -> bool:
    return text.startswith("-") and not text.startswith("--")


def _looks_like_path(value: str) -> bool:
    return "/" in value or value.startswith("~") or value == ".."
