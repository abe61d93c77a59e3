"""The official scorer against recorded outputs of the official code, and against random text."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triathlon.oolong import lenient, official

VECTORS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "vectors.jsonl").read_text().splitlines()
]
#: The day on which the recorded outputs were made, as far as their clock-dependent parses tell.
RECORDED = date(2026, 1, 20)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['id']}-{v['kind']}")
def test_agrees_with_the_official_code(vector: dict[str, Any]) -> None:
    want = vector["official"]
    got = official.score(vector["scorer"], vector["answer"], vector["answer_type"], vector["response"], today=RECORDED)
    if want["raises"] is not None:
        assert got.score == 0.0
        assert got.reason is not None and want["raises"] in got.reason
        return
    assert got.reason is None
    assert got.score == pytest.approx(want["score"], abs=1e-9)
    assert got.parse == want["attempted_parse"]
    assert got.confidence == want["parse_confidence"]


def test_there_are_as_many_vectors_as_were_recorded() -> None:
    assert len(VECTORS) == 246


@given(
    response=st.one_of(st.none(), st.text(), st.from_regex(r"(Answer|Date|User|Label): .{0,30}")),
    answer=st.sampled_from(["['spam']", "[7]", "[datetime.date(2023, 1, 6)]", "[]", "x", "['more common than']"]),
    kind=st.sampled_from(["LABEL", "NUMERIC", "DATE", "COMPARISON", "USER", "MONTH_YEAR"]),
    scorer=st.sampled_from(["synth", "dnd"]),
)
def test_never_raises_and_stays_in_range(response: str | None, answer: str, kind: str, scorer: str) -> None:
    strict = official.score(scorer, answer, f"ANSWER_TYPE.{kind}", response)
    assert 0.0 <= strict.score <= 1.0
    loose = lenient.score(scorer, answer, f"ANSWER_TYPE.{kind}", response)
    assert strict.score <= loose <= 1.0


def test_an_unknown_scorer_scores_zero_with_a_reason() -> None:
    got = official.score("judge", "['a']", None, "a")
    assert (got.score, got.reason) == (0.0, "unknown scorer 'judge': synth or dnd")


@pytest.mark.parametrize(
    ("answer", "kind", "response"),
    [
        ("['spam']", "LABEL", "**Label:** spam"),
        ("['spam']", "LABEL", "Label: `Spam`."),
        ("[7]", "NUMERIC", "Answer: 7 messages"),
        ("[1234]", "NUMERIC", "Answer: 1,234"),
        ("[datetime.date(2022, 3, 15)]", "DATE", "Date: 03/15/2022 (a Tuesday)"),
        ("['more common than']", "COMPARISON", "Answer: ham is More common than spam."),
        ("['March 2024']", "MONTH_YEAR", "Answer: Mar 2024"),
        ("[76063]", "USER", "User: [76063] with 7 messages"),
    ],
)
def test_lenient_sees_through_the_form(answer: str, kind: str, response: str) -> None:
    assert lenient.score("synth", answer, f"ANSWER_TYPE.{kind}", response, today=RECORDED) == 1.0
    assert official.score("synth", answer, f"ANSWER_TYPE.{kind}", response, today=RECORDED).score < 1.0


@pytest.mark.parametrize(
    ("answer", "kind", "response"),
    [
        ("['spam']", "LABEL", "Label: ham, although spam is close"),
        ("[7]", "NUMERIC", "I saw 7 at first. Answer: none of them"),
        ("['less common than']", "COMPARISON", "Answer: ham is more common than spam, not less common"),
        ("[datetime.date(2022, 3, 15)]", "DATE", "Date: March 15"),
        ("[76063]", "USER", "User: 24151, not 76063"),
    ],
)
def test_lenient_still_wants_the_right_answer(answer: str, kind: str, response: str) -> None:
    assert lenient.score("synth", answer, f"ANSWER_TYPE.{kind}", response, today=RECORDED) == 0.0
