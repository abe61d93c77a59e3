"""A summary in Markdown, for a pull request or a job's page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from triathlon.report.data import Report
from triathlon.report.names import number, percent, plain_rate

MOST_FAILURES = 30


def as_markdown(report: Report) -> str:
    """Ranking, categories, reliability, conditions; with one candidate also what failed."""
    data = report.data
    names = [row["category"] for row in data["categories"] if row["category"] != "all"]
    lines = ["# Doc2Harness results", ""]
    head = ["rank", "model", "builds", "pass rate, %", "95 % interval", *names]
    rows = [
        [
            number(row["rank"], 1).removesuffix(".0"),
            row["model"],
            str(row["builds"]),
            plain_rate(row["rate"], row["sd"]),
            f"{percent(row['low'])} to {percent(row['high'])}" if row["low"] is not None else "undefined",
            *(percent(row["category"].get(name, {}).get("mean")) for name in names),
        ]
        for row in data["models"]
    ]
    lines += _table(head, rows)
    lines += ["", "## Categories", ""]
    head = ["category", "cases", "mean, %", "strong-weak gap", "floor", "ceiling", "discriminating"]
    lines += _table(
        head,
        [
            [
                row["category"],
                str(row["cases"]),
                percent(row["mean"]),
                percent(row["gap"]),
                *(str(row[name]) for name in ("floor", "ceiling", "discriminating")),
            ]
            for row in data["categories"]
        ],
    )
    found = data["reliability"]
    lines += ["", f"KR-20 {number(found['kr20'])} over cases, {number(found['kr20_by_family'])} over case groups."]
    if len(report.population.seen) == 1:
        lines += _failures(report)
    lines += ["", "## Measured with", ""]
    for name, values in data["foot"]["conditions"].items():
        mixed = " **(not the same for all)**" if name in data["foot"]["mixed"] else ""
        shown = ", ".join(value[:12] if re.fullmatch(r"[0-9a-f]{64}", value) else value for value in values)
        lines.append(f"- {name}: {_cell(shown or 'standard')}{mixed}")
    lines += [f"- left out: {_cell(line)}" for line in data["foot"]["left_out"]]
    return "\n".join(lines) + "\n"


def _failures(report: Report) -> list[str]:
    population = report.population
    one = population.seen[0]
    failed = [
        (case, verdict)
        for case, verdict in zip(population.suite.cases, population.verdicts[0], strict=True)
        if verdict in ("failed", "gated")
    ]
    lines = ["", f"## Not passed: {len(failed)}", ""]
    for case, verdict in failed[:MOST_FAILURES]:
        row = one.telling(case.id)
        reason = next(iter(row.reasons), "") if row and verdict == "failed" else "a control failed"
        lines.append(f"- `{case.id}` ({', '.join(case.clauses)}): {_cell(reason)[:300]}")
    if len(failed) > MOST_FAILURES:
        lines.append(f"- and {len(failed) - MOST_FAILURES} more")
    return lines


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]


def _cell(text: str) -> str:
    """Text that cannot leave its cell, nor become markup."""
    plain = " ".join(text.split()).encode("utf-8", "replace").decode()
    return re.sub(r"([\\`*_\[\]<>|#!])", r"\\\1", plain)
