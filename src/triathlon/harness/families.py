"""Scores in which thirty variations of one check do not weigh thirty: by family, and by clause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from triathlon.harness.case import Case


@dataclass(frozen=True)
class Score:
    """Over some sets of cases: their number, the mean of their shares passed, and how many passed whole."""

    sets: int
    score: float
    whole: int

    def as_json(self) -> dict[str, Any]:
        """As it stands in a result."""
        return {"count": self.sets, "score": self.score, "whole": self.whole}


def by_family(verdicts: Iterable[tuple[Case, bool]]) -> Score:
    """Each family (a group with its variations) counts once; the verdicts say who passed with all controls."""
    return _score((case.family, passed) for case, passed in verdicts)


def by_clause(verdicts: Iterable[tuple[Case, bool]]) -> Score:
    """Each clause that a case cites counts once; a case that cites several counts for each."""
    return _score((clause, passed) for case, passed in verdicts for clause in case.clauses)


def _score(named: Iterable[tuple[str, bool]]) -> Score:
    sets: dict[str, list[bool]] = {}
    for name, passed in named:
        sets.setdefault(name, []).append(passed)
    shares = [sum(passed) / len(passed) for passed in sets.values()]
    return Score(len(sets), sum(shares) / len(shares) if shares else 0.0, sum(all(passed) for passed in sets.values()))
