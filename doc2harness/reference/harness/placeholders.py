"""Arguments of commands and skills: `$ARGUMENTS` and `$1` to `$9`, put in once and literally."""

from __future__ import annotations

import re

_PLACE = re.compile(r"\$(ARGUMENTS|[1-9])")
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s"']|["'])+""")
_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")


def has_place(text: str) -> bool:
    return _PLACE.search(text) is not None


def put_in(text: str, arguments: str) -> str:
    """The text with its places filled; what has no argument becomes empty."""
    arguments = arguments.strip()
    words = [_QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or "", word) for word in _WORD.findall(arguments)]

    def value(place: re.Match[str]) -> str:
        if place[1] == "ARGUMENTS":
            return arguments
        number = int(place[1])
        return words[number - 1] if number <= len(words) else ""

    return _PLACE.sub(value, text)
