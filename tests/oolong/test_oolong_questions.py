"""Question texts go out and come back; golds are counted alike in two ways."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon.oolong import gold
from triathlon.oolong.line import Item, items, parse, render
from triathlon.oolong.questions import COUNTING, KINDS, Question, Subset
from triathlon.oolong.questions import parse as parse_question
from triathlon.oolong.questions import render as render_question

LABELS = ("ham", "spam", "eggs")
_item = st.builds(
    Item,
    day=st.integers(0, 200).map(lambda n: date(2023, 1, 1) + timedelta(days=n)),
    user=st.integers(10_000, 10_005),
    text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(lambda t: " ".join(t.split()) or "x"),
    label=st.sampled_from(LABELS),
)
_subset = st.one_of(
    st.just(Subset()),
    st.lists(st.integers(10_000, 10_005), min_size=1, max_size=3, unique=True).map(lambda u: Subset(users=tuple(u))),
    st.integers(1, 12).map(lambda m: Subset(month=m)),
    st.tuples(st.integers(0, 100), st.integers(0, 100)).map(
        lambda p: Subset(days=(date(2023, 1, 1) + timedelta(days=p[0]), date(2023, 1, 1) + timedelta(days=sum(p))))
    ),
)
_ARGUMENTS = {
    "labels": "ham, spam, eggs",
    "a": "ham",
    "b": "spam",
    "n": "2",
    "day": "2023-03-01",
    "u": "10000",
    "v": "10001",
}


def _question(kind: str, subset: Subset | None = None) -> Question:
    return Question(kind, subset or Subset(), tuple(_ARGUMENTS[name] for name in KINDS[kind].fields))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_back_from_its_text(kind: str) -> None:
    assert parse_question(render_question(_question(kind))) == _question(kind)


@given(kind=st.sampled_from(COUNTING), subset=_subset)
def test_counting_kinds_come_back_with_their_subset(kind: str, subset: Subset) -> None:
    assert parse_question(render_question(_question(kind, subset))) == _question(kind, subset)


def test_the_published_wording_is_read() -> None:
    text = (
        "In which month did the label 'ham first occur more often than the label 'spam'? Give your final answer in the "
        "form 'Answer: [month] [year]', where [month] is the name of the month and [year] is the four-digit year where "
        "'ham' first occured more often than 'spam.'"
    )
    assert parse_question(text) == Question("month_first", Subset(), ("ham", "spam"))


@given(st.text())
def test_any_text_is_read_or_not_known(text: str) -> None:
    parse_question(text)
    parse(text)


@given(st.lists(_item, min_size=1, max_size=30))
def test_lines_come_back(rows: list[Item]) -> None:
    text = "\n".join(render(row, with_label=True) for row in rows)
    # A text that itself holds the separators cannot be told apart; `make` keeps such texts out.
    if not any(" || " in row.text for row in rows):
        assert list(items(text)) == rows


@given(rows=st.lists(_item, min_size=1, max_size=40), kind=st.sampled_from(sorted(KINDS)), subset=_subset)
def test_two_ways_of_counting_agree(rows: list[Item], kind: str, subset: Subset) -> None:
    question = _question(kind, subset)
    table = gold.Table(rows)
    try:
        assert gold.count(rows, question) == table.query(question)
    finally:
        table.close()


def test_a_tie_shows_all_its_values() -> None:
    rows = [Item(date(2023, 1, d), 1, "x", label) for d, label in ((1, "ham"), (2, "spam"))]
    answer = gold.count(rows, _question("label_least"))
    assert answer.tied and answer.values == ("ham", "spam")
