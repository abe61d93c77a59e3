"""A forgiving reading of an answer, under its own name: what the official parser's strictness hides.

`format loss` is lenient minus official. A lenient score is never below the official one: it starts from it. It looks at
the last place in the response where an answer of the right type stands, ignoring markdown, boxes, quotes, case, notes
after the answer and a trailing period. It is not comparable with any published number.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

from triathlon.oolong import official
from triathlon.oolong.line import MONTH_NAMES

NAME, VERSION = "lenient", "1"

_PREFIX = re.compile(r"(?:final\s+answer|answer|label|user|date)\s*(?:is)?\s*[:=]\s*", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,_]*(?:\.\d+)?(?![\w])")
_MARKS = re.compile(r"[*`\[\]\"“”’{}$]|\\boxed|\\text")


def score(
    scorer: str, answer: Any, answer_type: str | None, response: str | None, *, today: date | None = None
) -> float:
    """The forgiving score in 0..1 of one response."""
    strict = official.score(scorer, answer, answer_type, response, today=today)
    if strict.score >= 1.0 or response is None or strict.gold is None:
        return strict.score
    try:
        found = _dnd(strict.gold, response) if scorer == "dnd" else _synth(strict.gold, answer_type or "", response)
    except (
        ValueError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ):  # gold of another kind than its column
        found = 0.0
    return max(strict.score, found)


def _place(response: str) -> str:
    """Where the answer stands: after the last answer word, else the last line that says something."""
    clean = _MARKS.sub("", response)
    prefixes = list(_PREFIX.finditer(clean))
    if prefixes:
        return clean[prefixes[-1].end() :].split("\n", 1)[0]
    lines = [line for line in clean.split("\n") if line.strip()]
    return lines[-1] if lines else ""


def _bare(text: str) -> str:
    return " ".join(text.strip().strip(".!,;'").casefold().split())


def _synth(gold: Any, answer_type: str, response: str) -> float:
    place, kind = _place(response), answer_type.removeprefix("ANSWER_TYPE.")
    if kind in ("NUMERIC", "USER"):
        value = _number(place)
        if value is None:
            return 0.0
        return float(value == int(gold)) if kind == "USER" else _partial(int(gold), value)
    if kind == "COMPARISON":
        phrases = [phrase for phrase in official.COMPARISONS if phrase in place.casefold()]
        return float(len(phrases) == 1 and phrases[0] in str(gold))
    if kind == "DATE":
        return float(_day(place) == gold.date())
    if kind == "MONTH_YEAR":
        month = _month_year(place)
        return float(month is not None and month == _month_year(str(gold)))
    wanted = _bare(str(gold))
    return float(_bare(place) == wanted or _bare(place).startswith(wanted + " ("))


def _number(text: str) -> int | None:
    """The first number of a place, if it is whole."""
    found = _NUMBER.search(text)
    if found is None:
        return None
    value = float(found[0].replace(",", "").replace("_", ""))
    return int(value) if value == int(value) else None


def _partial(gold: int, value: int) -> float:
    return float(0.75 ** min(abs(gold - value), 5000))


def _month_year(text: str) -> tuple[int, int] | None:
    year = re.search(r"\b(\d{4})\b", text)
    months = [i for i, name in enumerate(MONTH_NAMES) if re.search(rf"\b{name[:3]}(?:{name[3:]})?\b", text, re.I)]
    return (int(year[1]), months[0]) if year and len(months) == 1 else None


def _day(place: str) -> date | None:
    """The day a place names; None unless day, month and year all stand there (two clocks must agree)."""
    from dateutil import parser as dateutil

    text = re.sub(r"\(.*?\)", "", place).strip().strip(".")
    try:
        days = {dateutil.parse(text, default=datetime(*clock), fuzzy=True).date() for clock in _CLOCKS}
    except (ValueError, OverflowError, TypeError):
        return None
    return days.pop() if len(days) == 1 else None


_CLOCKS = ((2001, 1, 1), (2002, 2, 2))


def _dnd(gold: Any, response: str) -> float:
    boxed, confidence = official.parse_dnd(response)
    text = _place(response)
    if confidence == "high":
        text = ", ".join(boxed) if isinstance(boxed, list) else str(boxed)
    if isinstance(gold, int):
        value = _number(text)
        return 0.0 if value is None else _partial(gold, value)
    if isinstance(gold, list):
        wanted, given = {_bare(part) for part in gold}, {_bare(part) for part in text.split(",")}
        return len(wanted & given) / len(wanted) if wanted else 0.0
    return float(_bare(text) == _bare(str(gold)))
