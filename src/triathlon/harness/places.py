"""The places of a run inside its sandbox, and what stands in them as seen from outside."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triathlon.sandbox import Entry, Sandbox

STATE = ".harness"
"""The harness's state folder, under the home: `$HARNESS_HOME`."""


def places_of(box: Sandbox) -> dict[str, str]:
    """Absolute path inside of each place, by its name in `Channels.files`."""
    parent = posixpath.dirname(box.workspace)
    return {
        "workspace": box.workspace,
        "outside": box.outside,
        "beside": parent,
        "home": box.home,
        "state": posixpath.join(box.home, STATE),
        "tmp": box.tmp,
        "stubs": posixpath.join(parent, "stubs"),
    }


def roots(places: Mapping[str, str]) -> list[str]:
    """The places that lie in no other: reading these reads all."""
    paths = set(places.values())
    return sorted(p for p in paths if not any(p != other and p.startswith(other + "/") for other in paths))


def collect(box: Sandbox, places: Mapping[str, str], max_bytes: int) -> dict[str, Entry]:
    """Everything in all places, keyed `workspace/a.txt`; the place itself is `workspace`."""
    found: dict[str, Entry] = {}
    for root in roots(places):
        for name, entry in box.tree(root, max_bytes=max_bytes).items():
            found[key_of(posixpath.join(root, name) if name else root, places)] = entry
    return found


def key_of(path: str, places: Mapping[str, str]) -> str:
    """The key of an absolute path: that of the innermost place; the path itself where it is in none."""
    best, length = "", 0
    for name, at in places.items():
        if len(at) > length and (path == at or path.startswith(at + "/")):
            best, length = name, len(at)
    return best + path[length:] if best else path


def find(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a pattern matches, sorted: `*` and `?` within one name, `**` over folders."""
    matches = _pattern(pattern).fullmatch
    return sorted(name for name in names if matches(name))


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(signs.get(part) or re.escape(part) for part in parts), re.DOTALL)
