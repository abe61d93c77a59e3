"""File names and words for pages: names that come from candidates never choose a path."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNDEFINED = "undefined"


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A file name for each, of letters, digits, dots and dashes, different for different names on any file system."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name.replace("/", "--")).strip(".-")[:100] or "x"
        slug, number = plain, 2
        while slug.lower() in taken:
            slug, number = f"{plain}-{number}", number + 1
        taken.add(slug.lower())
        found[name] = slug
    return found


def percent(value: float | None, digits: int = 1) -> str:
    """A share as percent without the sign; the word where it is undefined."""
    return UNDEFINED if value is None else f"{100 * value:.{digits}f}"


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many digits; the word where it is undefined."""
    return UNDEFINED if value is None else f"{value:.{digits}f}"


def plain_rate(mean: float | None, sd: float | None) -> str:
    """Mean ± deviation in percent."""
    return percent(mean, 2) + (f" ± {100 * sd:.2f}" if mean is not None and sd is not None else "")
