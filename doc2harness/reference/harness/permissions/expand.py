"""What a word of a command becomes: braces, `~` and globs expanded; None where only the shell can know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from .syntax import Word

MOST = 1000  # names one word may become
Signs = list[tuple[str, bool]]  # characters, each with whether it is quoted


def values(
    word: Word, place: str, *, home: str | None = None, known: Mapping[str, str] | None = None
) -> list[str] | None:
    """The texts that `word` becomes in the folder `place`.

    `home`: what `~` stands for (None: it is not known). `known`: the variables whose values are taken for sure.
    """
    signs: Signs = []
    for piece in word.pieces:
        if piece.kind == "text":
            signs.extend((sign, piece.quoted) for sign in piece.text)
        elif piece.kind == "variable" and known and piece.text in known:
            signs.extend((sign, True) for sign in known[piece.text])
        else:
            return None
    choices = _braces(signs)
    if choices is None:
        return None
    results: list[str] = []
    for choice in choices:
        texts = _one(choice, place, home)
        if texts is None:
            return None
        results.extend(texts)
    return results if len(results) <= MOST else None


def _one(signs: Signs, place: str, home: str | None) -> list[str] | None:
    if signs and signs[0] == ("~", False):
        if home is None or (len(signs) > 1 and signs[1] != ("/", False)):
            return None  # `~name`, `~+`
        signs = [(sign, True) for sign in home] + signs[1:]
    text = "".join(sign for sign, _ in signs)
    if not any(sign in "*?[" and not quoted for sign, quoted in signs):
        return [text]
    import glob

    pattern = "".join(glob.escape(sign) if quoted else sign for sign, quoted in signs)
    if "[[:" in pattern or "[^" in pattern or "\\" in pattern:
        return None  # what the shell's patterns have and Python's do not
    # Not Path.glob: as in the shell, the names come back in the form in which they were asked for.
    return glob.glob(pattern, root_dir=place) or [text]  # noqa: PTH207


def _braces(signs: Signs) -> list[Signs] | None:
    """`a{b,c}d` as `abd` and `acd`, the innermost group first; None for ranges and for too many."""
    open_groups: list[tuple[int, list[int]]] = []
    for at, (sign, quoted) in enumerate(signs):
        if quoted:
            continue
        if sign == "{":
            open_groups.append((at, []))
        elif sign == "," and open_groups:
            open_groups[-1][1].append(at)
        elif sign == "}" and open_groups:
            start, commas = open_groups.pop()
            if not commas and re.search(r"\.\.", "".join(sign for sign, _ in signs[start:at])):
                return None
            if commas:
                return _written_out(signs, [start, *commas, at])
    return [signs]


def _written_out(signs: Signs, cuts: list[int]) -> list[Signs] | None:
    results: list[Signs] = []
    for left, right in pairwise(cuts):
        inner = _braces(signs[: cuts[0]] + signs[left + 1 : right] + signs[cuts[-1] + 1 :])
        if inner is None or len(results) + len(inner) > MOST:
            return None
        results.extend(inner)
    return results
