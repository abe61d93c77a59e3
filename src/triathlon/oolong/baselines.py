"""Answers without a model: random, oracle, earliest month, most common word. Always drawn beside a score.

Every baseline gives the text a model would give, so that it goes through the same scorer.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from datetime import date

from triathlon.oolong import gold
from triathlon.oolong.audit import stored_values
from triathlon.oolong.line import MONTH_NAMES, items
from triathlon.oolong.questions import Question, parse
from triathlon.oolong.windows import LABELS, Row

Baseline = Callable[[Row, random.Random], str]
_WORD = re.compile(r"[a-z]{4,}")


def phrase(question: Question | None, value: object) -> str:
    """A value in the form a question demands."""
    if isinstance(value, date):
        return f"Date: {value:%m/%d/%Y}"
    if question is None:
        return f"Answer: {value}"
    if question.kind in ("label_most", "label_least"):
        return f"Label: {value}"
    if question.kind == "label_compare":
        return f"Answer: {question.arguments[0]} is {value} {question.arguments[1]}"
    if question.kind == "label_before":
        return f"Answer: {question.arguments[0]} is {value} before {question.arguments[1]}"
    return f"User: {value}" if question.kind.startswith("user_") else f"Answer: {value}"


def labels_of(row: Row) -> tuple[str, ...]:
    """The labels of a row's source: known by name, else as its question or its labelled text names them."""
    question = parse(row.question)
    if question is not None and question.kind in ("label_most", "label_least"):
        return tuple(part.strip() for part in question.arguments[0].split(", "))
    if row.dataset in LABELS:
        return LABELS[row.dataset]
    return tuple(sorted({item.label for item in items(row.context_window_text_with_labels) if item.label}))


def guess(row: Row, rng: random.Random) -> str:
    """A random answer of the right kind: what a reader who has only the question and the lines' heads would guess."""
    question = parse(row.question)
    kind = row.answer_type.removeprefix("ANSWER_TYPE.")
    seen = list(items(row.context_window_text))
    if kind == "LABEL":
        return phrase(question, rng.choice(labels_of(row)))
    if kind == "COMPARISON":
        return phrase(question, rng.choice(_words(question)))
    if kind == "NUMERIC":
        subset = gold.select(seen, question.subset) if question else seen
        return phrase(question, round(len(subset) / max(1, row.num_labels)))
    if kind == "USER":
        users = sorted({item.user for item in seen}) or [0]
        if question is not None and question.kind == "user_label_versus":
            users = [int(user) for user in question.arguments[1:]]
        return phrase(question, rng.choice(users))
    day = rng.choice(sorted({item.day for item in seen}) or [date(2023, 1, 1)])
    return phrase(question, day if kind == "DATE" else f"{MONTH_NAMES[day.month - 1]} {day.year}")


def _words(question: Question | None) -> tuple[str, str, str]:
    if question is not None and question.kind == "label_before":
        return ("more common", "less common", "the same frequency")
    return ("more common than", "less common than", "same frequency as")


def oracle(row: Row, rng: random.Random) -> str:
    """The right answer counted from the labelled text: 100 % but for flagged rows."""
    question = parse(row.question)
    if question is None:
        return ""
    values = gold.count(list(items(row.context_window_text_with_labels)), question).values
    return phrase(question, values[0]) if values else ""


def earliest_month(row: Row, rng: random.Random) -> str:
    """Names the window's earliest month where a month is asked, else guesses: a shortcut of the official rows."""
    if row.answer_type != "ANSWER_TYPE.MONTH_YEAR":
        return guess(row, rng)
    first = min((item.day for item in items(row.context_window_text)), default=date(2023, 1, 1))
    return f"Answer: {MONTH_NAMES[first.month - 1]} {first.year}"


def common_word(row: Row, rng: random.Random) -> str:
    """The label whose words occur most often in the window, where a label is asked, else a guess."""
    if row.answer_type != "ANSWER_TYPE.LABEL":
        return guess(row, rng)
    words = Counter(word for item in items(row.context_window_text) for word in _WORD.findall(item.text.lower()))
    labels = labels_of(row)
    best = max(labels, key=lambda label: (sum(words[word] for word in _WORD.findall(label.lower())), label))
    return phrase(parse(row.question), best)


BASELINES: dict[str, Baseline] = {
    "random": guess,
    "oracle": oracle,
    "earliest-month": earliest_month,
    "common-word": common_word,
}


def stored(row: Row) -> str:
    """The stored answer in the demanded form: what a perfect reader of the answer column would say."""
    return phrase(parse(row.question), stored_values(row.answer)[0])
