"""Patterns for paths: `*`, `?`, `[ ]`, `{a,b}` and `**`, made into regular expressions."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

MOST_ALTERNATIVES = 500


def has_signs(pattern: str) -> bool:
    """Whether the pattern can mean more than one name."""
    return any(sign in pattern for sign in "*?[{\\")


def split_plain(pattern: str) -> tuple[str, str]:
    """The folders a pattern begins with before its first sign, and the rest; without a sign all of it is plain."""
    parts = pattern.split("/")
    plain = next((index for index, part in enumerate(parts) if has_signs(part)), len(parts))
    return "/".join(parts[:plain]) or ("/" if pattern.startswith("/") else ""), "/".join(parts[plain:])


def escaped(text: str) -> str:
    """`text` as a pattern that means just itself."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", text)


def alternatives(pattern: str) -> list[str]:
    """The pattern with its `{a,b}` written out; braces without a comma, and escaped ones, are plain signs."""
    found = _first_braces(pattern)
    if found is None:
        return [pattern]
    start, commas, end = found
    cuts = [start, *commas, end]
    results: list[str] = []  # the inside of a group may hold no other one: groups are taken from the inside out
    for left, right in pairwise(cuts):
        results.extend(alternatives(pattern[:start] + pattern[left + 1 : right] + pattern[end + 1 :]))
        if len(results) > MOST_ALTERNATIVES:
            return results[:MOST_ALTERNATIVES]
    return results


def _first_braces(pattern: str) -> tuple[int, list[int], int] | None:
    """Where the `{`, its own commas and the `}` stand of the group with a comma that is closed first."""
    open_groups: list[tuple[int, list[int]]] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif sign == "{":
            open_groups.append((at, []))
        elif sign == "," and open_groups:
            open_groups[-1][1].append(at)
        elif sign == "}" and open_groups:
            start, commas = open_groups.pop()
            if commas:
                return start, commas, at
        at += 1
    return None


@lru_cache(maxsize=1024)
def regex(pattern: str, *, dots: bool = True) -> str:
    """The regular expression of a whole path, its parts joined by `/`; braces are not looked at.

    `**` as a whole part is any number of parts. With `dots` false a part's first sign matches a leading dot only if it
    is one.
    """
    parts = pattern.split("/")
    guard = "" if dots else r"(?!\.)"
    result = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**" and not last and parts[index + 1] == "**":
            continue
        if part == "**":
            result.append(f"(?:{guard}[^/]+/)*" + (f"{guard}[^/]+" if last else ""))
        else:
            result.append((guard if part[:1] in ("*", "?", "[") else "") + _part(part) + ("" if last else "/"))
    return "".join(result)


def _part(part: str) -> str:
    result, at = [], 0
    while at < len(part):
        sign = part[at]
        at += 1
        if sign == "*":
            result.append("[^/]*")
            while part[at : at + 1] == "*":
                at += 1
        elif sign == "?":
            result.append("[^/]")
        elif sign == "\\" and at < len(part):
            result.append(re.escape(part[at]))
            at += 1
        elif sign == "[" and (found := _SET.match(part, at - 1)):
            inverted = "^" if found[1] else ""
            result.append(f"(?!/)[{inverted}{_set_body(found[2])}]")
            at = found.end()
        else:
            result.append(re.escape(sign))
    return "".join(result)


_SET = re.compile(r"\[([!^]?)(\]?[^\]/]*)\]")


def _set_body(body: str) -> str:
    """The inside of `[ ]`: a range with its ends the wrong way round means nothing and must not be an error."""
    pieces = re.split(r"(.-.)", re.sub(r"\\(.)", r"\1", body), flags=re.S)
    kept = []
    for piece in pieces:
        if len(piece) == 3 and piece[1] == "-":
            kept.append(f"{re.escape(piece[0])}-{re.escape(piece[2])}" if piece[0] <= piece[2] else "")
        else:
            kept.append(re.escape(piece))
    return "".join(kept) or r"\0"
