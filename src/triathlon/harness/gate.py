"""The gate: a case counts as passed only if it passes and every control that gates it passes.

Controls never count themselves: they stand in no denominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from triathlon.harness.case import Case

Status = Literal["passed", "failed", "gated"]


@dataclass(frozen=True)
class Gated:
    """The verdict on one case. `gated`: it passes, but a control that gates it does not."""

    case: str
    status: Status
    ungated: bool
    """Whether the case itself passes, controls left aside."""
    failed_controls: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether it counts as passed."""
        return self.status == "passed"


def gate(case: Case, passed: Mapping[str, bool]) -> Gated:
    """The verdict on a case from the verdicts on it and its controls, by id. KeyError if one of them was not run."""
    alone = passed[case.id]
    failed = tuple(name for name in case.controls if not passed[name])
    status: Status = "failed" if not alone else "gated" if failed else "passed"
    return Gated(case.id, status, alone, failed)


@dataclass(frozen=True)
class Rates:
    """Both pass rates over some cases."""

    cases: int
    passed: int
    ungated: int

    @property
    def pass_rate(self) -> float:
        """Passed with all their controls; 0 over no case."""
        return self.passed / self.cases if self.cases else 0.0

    @property
    def ungated_pass_rate(self) -> float:
        """Passed, controls left aside; 0 over no case."""
        return self.ungated / self.cases if self.cases else 0.0


def rates(verdicts: Iterable[Gated]) -> Rates:
    """Both rates."""
    all_of_them = list(verdicts)
    return Rates(len(all_of_them), sum(v.passed for v in all_of_them), sum(v.ungated for v in all_of_them))
