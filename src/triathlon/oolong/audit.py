"""Recompute every gold from the labelled text and say which rows cannot be trusted: `triathlon oolong audit`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from triathlon.oolong import gold
from triathlon.oolong.line import Item, items
from triathlon.oolong.questions import Question, parse
from triathlon.oolong.windows import Row

#: The official generator counts only this many of the most common dates.
DATE_CAP = 50
FLAGS = ("tied", "capped", "wrong", "broken", "unlabelled", "short", "unknown")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a row's gold.

    `flag` is one of: tied (several right answers), capped (dates counted among the most common only), wrong (another
    answer is right), broken (the answer column is no literal), unlabelled (the labelled text has no labels), short (the
    window has nothing the question asks about), unknown (a question of no known form).
    """

    id: str
    flag: str
    stored: str
    right: str
    kind: str | None = None


def audit(rows: Iterable[Row]) -> Iterator[Finding]:
    """Findings of rows, window after window; rows without a finding give none."""
    window: tuple[int, str, list[Item]] | None = None
    for row in rows:
        if window is None or window[0] != row.context_window_id or window[1] != row.context_window_text_with_labels:
            window = (
                row.context_window_id,
                row.context_window_text_with_labels,
                list(items(row.context_window_text_with_labels)),
            )
        finding = audit_row(row, window[2])
        if finding is not None:
            yield finding


def audit_row(row: Row, labelled: list[Item]) -> Finding | None:
    """The finding of one row, or None where its gold is the one right answer."""
    question = parse(row.question)
    kind = question.kind if question else None
    try:
        stored = stored_values(row.answer)
    except ValueError as error:
        return Finding(row.key, "broken", row.answer, str(error), kind)
    if question is None:
        return Finding(row.key, "unknown", row.answer, "", None)
    if not labelled or any(item.label is None for item in labelled):
        return Finding(row.key, "unlabelled", row.answer, "", kind)
    right = gold.count(labelled, question)
    if not right.values:
        return Finding(row.key, "short", row.answer, "", kind)
    if right.tied:
        return Finding(row.key, "tied", row.answer, right.literal, kind)
    if stored != [_plain(value) for value in right.values]:
        flag = "capped" if _is_capped(question, labelled, stored) else "wrong"
        return Finding(row.key, flag, row.answer, right.literal, kind)
    return None


def stored_values(answer: str) -> list[Any]:
    """The values of an answer column; dates as `date`. ValueError where it is no such literal."""
    if "datetime" in answer:
        parts = answer.strip().removeprefix("[").removesuffix("]").split("datetime.date")
        try:
            return [
                date(*(int(number) for number in part.strip(" ,()").split(","))) for part in parts if part.strip(" ,()")
            ]
        except (ValueError, TypeError):
            raise ValueError(f"no list of dates: {answer[:80]}") from None
    try:
        value = ast.literal_eval(answer)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"no Python literal: {answer[:80]}") from None
    if not isinstance(value, list) or not value:
        raise ValueError(f"no list with an answer: {answer[:80]}")
    return [_plain(part) for part in value]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, float) and value == int(value):
        return int(value)
    # Users stand as numbers or as text in the published rows.
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _is_capped(question: Question, labelled: list[Item], stored: list[Any]) -> bool:
    """True where the stored number is what counting only the most common dates gives."""
    if question.kind != "dates_n_times":
        return False
    common = Counter(item.day for item in labelled).most_common(DATE_CAP)
    return stored == [sum(count == int(question.arguments[0]) for _, count in common)]


def earliest_month_share(rows: Iterable[Row]) -> float | None:
    """Share of `first month` questions whose gold is the earliest month of the window: 1.0 in the official rows."""
    hits = total = 0
    for row in rows:
        question = parse(row.question)
        if question is None or question.kind != "month_first":
            continue
        first = min((item.day for item in items(row.context_window_text)), default=None)
        total += 1
        hits += first is not None and stored_values(row.answer) == [first.strftime("%B %Y")]
    return hits / total if total else None
