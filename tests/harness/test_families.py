"""Scores by family and by clause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from case_help import CASE, HEAD, suite_of

from triathlon.harness.case import Case
from triathlon.harness.families import by_clause, by_family

ONE = CASE.removeprefix("cases:\n")


def cases(tmp_path: Path, group: str, size: int, clauses: str = "[PERM-01]") -> tuple[Case, ...]:
    body = "".join(ONE.replace("id: one", f"id: c{n}") for n in range(size))
    return suite_of(tmp_path / group, f"{HEAD.replace('[PERM-01]', clauses)}cases:\n{body}").cases


def test_many_variations_weigh_as_one_family(tmp_path: Path) -> None:
    many = cases(tmp_path, "many", 9)
    single = replace(cases(tmp_path, "single", 1)[0], id="other/c0")
    score = by_family([*((case, True) for case in many), (single, False)])
    assert (score.sets, score.score, score.whole) == (2, 0.5, 1)


def test_a_family_counts_by_its_share(tmp_path: Path) -> None:
    four = cases(tmp_path, "four", 4)
    score = by_family([(case, n > 0) for n, case in enumerate(four)])
    assert (score.sets, score.score, score.whole) == (1, 0.75, 0)


def test_a_case_counts_for_each_of_its_clauses(tmp_path: Path) -> None:
    both = cases(tmp_path, "both", 1, "[PERM-01, PERM-02]")
    one = cases(tmp_path, "one", 1)
    score = by_clause([(both[0], True), (one[0], False)])
    assert (score.sets, score.score, score.whole) == (2, 0.75, 1)


def test_nothing_is_no_score() -> None:
    assert by_family([]).as_json() == {"count": 0, "score": 0.0, "whole": 0}
