"""A result for a person: the table by category, and what failed with the clause words that decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from triathlon.harness.spec import load_spec

if TYPE_CHECKING:
    from triathlon.harness.result import CaseResult, Result

MOST_REASONS = 6
MOST_FAILURES = 40
CLAUSE_WORDS = 400


def show(result: Result, console: Console) -> None:
    """Print failures, table and marks."""
    failures = result.failed
    for failure in failures[:MOST_FAILURES]:
        _failure(failure, console)
    if len(failures) > MOST_FAILURES:
        console.print(Text(f"... and {len(failures) - MOST_FAILURES} more that did not pass; --json lists all\n"))
    console.print(_table(result))
    report = result.report
    console.print(Text(_facts(result)), style="dim")
    for mark in report.plan.facts["non_standard"]:
        console.print(Text(f"non-standard: {mark}"), style="yellow")
    for unstable in (case for case in result.cases if case.unstable):
        console.print(
            Text(f"unstable: {unstable.case.id} passed {unstable.rows_passed} of {unstable.rows}"), style="red"
        )
    if report.stopped:
        console.print(Text("stopped at the first failure (-x): not all was run"), style="yellow")
    if report.errors:
        words = f"{len(report.errors)} errors of triathlon's own: no verdicts; the same command runs them again"
        console.print(Text(words), style="red")


def _facts(result: Result) -> str:
    plan, report = result.report.plan, result.report
    facts = (
        f"{plan.candidate.name} {plan.candidate.sha256[:12]}",
        f"spec {load_spec().version}",
        f"suite {plan.suite.sha256[:12]}",
        plan.protocol.label,
        f"provider {plan.provider.name}",
        f"seed {plan.protocol['evaluate.seed']}",
        f"{len(plan.controls)} controls",
        f"{report.executed} run",
        f"{report.from_store} from the store",
        f"{report.seconds:.1f} s",
    )
    return ", ".join(facts)


def _table(result: Result) -> Table:
    table = Table(title=None, show_footer=True)
    table.add_column("category", footer="all")
    for name, footer in (
        ("cases", str(len(result.cases))),
        ("passed", str(result.passed)),
        ("pass rate", f"{result.pass_rate:.1%}"),
        ("ungated", f"{result.ungated_pass_rate:.1%}"),
    ):
        table.add_column(name, footer=footer, justify="right")
    numbers = result.as_json()["categories"]
    for name, row in numbers.items():
        rates = (f"{row['pass_rate']:.1%}", f"{row['ungated_pass_rate']:.1%}")
        table.add_row(name, str(row["cases"]), str(row["passed"]), *rates)
    return table


def _failure(failure: CaseResult, console: Console) -> None:
    case = failure.case
    console.print(Text(f"{case.id}: {failure.status}"), style="bold red")
    for reason in failure.reasons[:MOST_REASONS]:
        console.print(Text(f"  {reason}"))
    if len(failure.reasons) > MOST_REASONS:
        console.print(Text(f"  ... and {len(failure.reasons) - MOST_REASONS} more"))
    for words in case.cite:
        console.print(Text(f"  decided by: {' '.join(words.split())}"), style="dim")
    clauses = load_spec().clauses
    for name in case.clauses:
        clause = clauses.get(name)
        if clause is not None:
            text = " ".join(clause.text.split())
            more = " ..." if len(text) > CLAUSE_WORDS else ""
            console.print(Text(f"  {name}: {text[:CLAUSE_WORDS]}{more}"), style="dim")
    console.print()
