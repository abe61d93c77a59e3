"""The audit finds each defect of the official generator in rows made to have it; baselines go through the scorer."""

from __future__ import annotations

import dataclasses
import random
from datetime import date, timedelta
from typing import Any

import pytest

from triathlon.oolong import items as shipped_items
from triathlon.oolong import official
from triathlon.oolong.audit import audit, earliest_month_share, stored_values
from triathlon.oolong.baselines import BASELINES
from triathlon.oolong.line import Item, render
from triathlon.oolong.make import make
from triathlon.oolong.questions import KINDS, Question, Subset
from triathlon.oolong.questions import render as render_question
from triathlon.oolong.windows import Row


def _row(rows: list[Item], question: Question, answer: str) -> Row:
    kind = KINDS[question.kind]
    text = {flag: "\n".join(render(item, with_label=flag) for item in rows) for flag in (False, True)}
    return Row(
        1,
        1024,
        "spam",
        text[False],
        text[True],
        render_question(question),
        kind.group,
        f"TASK_TYPE.{kind.task}",
        answer,
        f"ANSWER_TYPE.{kind.answer_type}",
        str(not question.subset.whole),
        2,
        7,
    )


def _items(*labels: str) -> list[Item]:
    return [
        Item(date(2023, 1, 1) + timedelta(days=40 * n), 10_000 + n, f"t{n}", label) for n, label in enumerate(labels)
    ]


LEAST = Question("label_least", Subset(), ("ham, spam",))


def _flags(row: Row) -> list[str]:
    return [finding.flag for finding in audit([row])]


def test_a_sound_row_is_not_flagged() -> None:
    assert _flags(_row(_items("ham", "spam", "ham"), LEAST, "['spam']")) == []


def test_a_tie_is_flagged() -> None:
    assert _flags(_row(_items("ham", "spam"), LEAST, "['ham', 'spam']")) == ["tied"]


def test_a_wrong_gold_is_flagged_with_the_right_one() -> None:
    (finding,) = audit([_row(_items("ham", "spam", "ham"), LEAST, "['ham']")])
    assert (finding.flag, finding.right) == ("wrong", "['spam']")


def test_the_cap_of_fifty_dates_is_flagged() -> None:
    rows = _items(*["ham", "spam"] * 40)
    question = Question("dates_n_times", Subset(), ("1",))
    assert _flags(_row(rows, question, "[50]")) == ["capped"]
    assert _flags(_row(rows, question, "[80]")) == []


@pytest.mark.parametrize("answer", ["spam", "[]", "[datetime.date(2023, 13, 1)]", "['a'"])
def test_a_broken_literal_is_flagged(answer: str) -> None:
    assert _flags(_row(_items("ham", "spam", "ham"), LEAST, answer)) == ["broken"]


def test_unknown_questions_missing_labels_and_short_windows_are_flagged() -> None:
    sound = _row(_items("ham", "spam", "ham"), LEAST, "['spam']")
    cases: list[tuple[str, dict[str, Any]]] = [
        ("unknown", {"question": "Who wrote this?"}),
        ("unlabelled", {"context_window_text_with_labels": sound.context_window_text}),
    ]
    for flag, change in cases:
        assert _flags(dataclasses.replace(sound, **change)) == [flag]
    march = Question("label_least", Subset(month=6), ("ham, spam",))
    assert _flags(_row(_items("ham", "spam"), march, "['spam']")) == ["short"]


def test_the_earliest_month_shortcut_is_measured() -> None:
    question = Question("month_first", Subset(), ("ham", "spam"))
    assert earliest_month_share([_row(_items("ham", "spam"), question, "['January 2023']")]) == 1.0
    assert earliest_month_share([_row(_items("spam", "ham"), question, "['February 2023']")]) == 0.0
    assert earliest_month_share([]) is None


def test_stored_dates_are_dates() -> None:
    assert stored_values("[datetime.date(2023, 1, 6), datetime.date(2023, 1, 7)]") == [
        date(2023, 1, 6),
        date(2023, 1, 7),
    ]


def _mean(rows: list[Row], name: str) -> float:
    rng = random.Random(0)
    return sum(
        official.score("synth", row.answer, row.answer_type, BASELINES[name](row, rng)).score for row in rows
    ) / len(rows)


def test_the_oracle_is_perfect_and_guessing_is_not() -> None:
    rows = [row for source in shipped_items.shipped() for row in make(source, 4096, seed=1)]
    assert _mean(rows, "oracle") == 1.0
    for name in ("random", "earliest-month", "common-word"):
        assert 0.0 < _mean(rows, name) < 0.6
