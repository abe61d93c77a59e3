"""The result of a run: from rows to verdicts, rates, categories, and the object that `--json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from triathlon.harness.families import by_clause, by_family
from triathlon.harness.gate import Gated, gate
from triathlon.harness.spec import load_spec

if TYPE_CHECKING:
    from triathlon.harness.case import Case
    from triathlon.harness.run import Report
    from triathlon.store import Row

Status = Literal["passed", "failed", "gated", "error"]


@dataclass(frozen=True)
class CaseResult:
    """The verdict on one case over all repetitions.

    `passed`: it and its controls passed every time. `gated`: it passed every time, a control did not. `error`: some
    repetition has no verdict through a fault of ours, and the others give no reason to fail it.
    """

    case: Case
    status: Status
    ungated: bool
    reasons: tuple[str, ...]
    seconds: float
    """Wall seconds, the mean over repetitions."""
    rows: int
    rows_passed: int
    """Repetitions with a verdict, and those in which it passed with its controls."""

    @property
    def unstable(self) -> bool:
        """It passed in some repetitions and failed in others."""
        return 0 < self.rows_passed < self.rows

    def as_json(self) -> dict[str, Any]:
        """As it stands in `results`."""
        return {
            "case": self.case.id,
            "category": self.case.category,
            "kind": self.case.kind,
            "clauses": list(self.case.clauses),
            "status": self.status,
            "reasons": list(self.reasons),
            "seconds": round(self.seconds, 3),
            "rows": self.rows,
            "rows_passed": self.rows_passed,
        }


@dataclass(frozen=True)
class Result:
    """All verdicts of a run."""

    report: Report
    cases: tuple[CaseResult, ...]

    @property
    def passed(self) -> int:
        """Cases that passed with all their controls."""
        return sum(result.status == "passed" for result in self.cases)

    @property
    def pass_rate(self) -> float:
        """Share of the cases that have a verdict; 0 where none has."""
        return _rate(self.cases, gated=True)

    @property
    def ungated_pass_rate(self) -> float:
        """The same with controls left aside."""
        return _rate(self.cases, gated=False)

    @property
    def failed(self) -> list[CaseResult]:
        """Every case that did not pass."""
        return [result for result in self.cases if result.status != "passed"]

    def categories(self) -> dict[str, list[CaseResult]]:
        """The cases by category, in the suite's order."""
        found: dict[str, list[CaseResult]] = {}
        for result in self.cases:
            found.setdefault(result.case.category, []).append(result)
        return found

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        plan, report = self.report.plan, self.report
        return {
            "candidate": {"name": plan.candidate.name, "tree_sha256": plan.candidate.sha256},
            "protocol": plan.protocol.sha256,
            "spec": load_spec().version,
            "suite": plan.suite.sha256,
            "runner": next(iter(report.rows.values())).key.runner if report.rows else None,
            "triathlon": plan.facts["triathlon"],
            "provider": plan.provider.name,
            "root": {"sha256": plan.facts["root"], "versions": plan.facts["versions"]},
            "seed": plan.protocol["evaluate.seed"],
            "repetitions": plan.protocol["evaluate.repetitions"],
            "standard": not plan.facts["non_standard"],
            "non_standard": plan.facts["non_standard"],
            "cases": len(self.cases),
            "controls": len(plan.controls),
            "passed": self.passed,
            "pass_rate": self.pass_rate,
            "ungated_pass_rate": self.ungated_pass_rate,
            "errors": len(report.errors),
            "unstable": [result.case.id for result in self.cases if result.unstable],
            "rows_executed": report.executed,
            "rows_from_store": report.from_store,
            "seconds": round(report.seconds, 3),
            "categories": {name: _category(results) for name, results in self.categories().items()},
            "families": by_family(self._verdicts()).as_json(),
            "clauses": by_clause(self._verdicts()).as_json(),
            "controls_failed": self._failed_controls(),
            "results": [result.as_json() for result in self.cases],
        }

    def _verdicts(self) -> list[tuple[Case, bool]]:
        """Every case that has a verdict, with whether it passed."""
        return [(result.case, result.status == "passed") for result in self.cases if result.status != "error"]

    def _failed_controls(self) -> list[dict[str, Any]]:
        ids = {control.id for control in self.report.plan.controls}
        found: dict[str, list[str]] = {}
        for row in self.report.rows.values():
            if row.case_id in ids and not row.passed:
                found.setdefault(row.case_id, list(row.reasons))
        return [{"control": name, "reasons": reasons} for name, reasons in found.items()]


def result_of(report: Report) -> Result:
    """Gate every case of a run in every repetition."""
    return Result(report, tuple(_case_result(report, case) for case in report.plan.cases))


def _case_result(report: Report, case: Case) -> CaseResult:
    plan = report.plan
    verdicts: list[Gated] = []
    reasons: list[str] = []
    seconds: list[float] = []
    errors = 0
    repetitions = plan.protocol["evaluate.repetitions"]
    for n in range(1, repetitions + 1):
        rows = {unit.id: report.rows.get(plan.key(unit, n)) for unit in (case, *plan.suite.gating(case))}
        own = rows[case.id]
        present = {name: row for name, row in rows.items() if row is not None}
        if own is None or len(present) < len(rows):
            errors += 1
            missing = [name for name, row in rows.items() if row is None]
            reasons += _numbered(
                n, repetitions, [f"no verdict on {name}: it was not run to its end" for name in missing]
            )
            continue
        verdict = gate(case, {name: row.passed for name, row in present.items()})
        verdicts.append(verdict)
        seconds.append(own.seconds)
        reasons += _numbered(n, repetitions, _reasons(own, verdict, present))
    return CaseResult(
        case=case,
        status=_status(verdicts, errors),
        ungated=bool(verdicts) and all(verdict.ungated for verdict in verdicts),
        reasons=tuple(reasons),
        seconds=sum(seconds) / len(seconds) if seconds else 0.0,
        rows=len(verdicts),
        rows_passed=sum(verdict.passed for verdict in verdicts),
    )


def _status(verdicts: Sequence[Gated], errors: int) -> Status:
    statuses = {verdict.status for verdict in verdicts}
    if "failed" in statuses:
        return "failed"
    if "gated" in statuses:
        return "gated"
    return "error" if errors or not verdicts else "passed"


def _reasons(own: Row, verdict: Gated, rows: Mapping[str, Row]) -> list[str]:
    reasons = list(own.reasons)
    for name in verdict.failed_controls:
        first = next(iter(rows[name].reasons), "no reason given")
        reasons.append(f"control {name} failed: {first}")
    return reasons


def _numbered(n: int, repetitions: int, reasons: Iterable[str]) -> list[str]:
    return [f"repetition {n}: {reason}" if repetitions > 1 else reason for reason in reasons]


def _rate(results: Iterable[CaseResult], *, gated: bool) -> float:
    counted = [result for result in results if result.status != "error"]
    good = sum(result.status == "passed" if gated else result.ungated for result in counted)
    return good / len(counted) if counted else 0.0


def _category(results: Sequence[CaseResult]) -> dict[str, Any]:
    return {
        "cases": len(results),
        "passed": sum(result.status == "passed" for result in results),
        "pass_rate": _rate(results, gated=True),
        "ungated_pass_rate": _rate(results, gated=False),
    }
