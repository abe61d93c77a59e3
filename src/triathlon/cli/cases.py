"""`triathlon harness cases`: look at the cases, print one as a story, check that they are good ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import typer

app = typer.Typer(no_args_is_help=True, help="The case suite: list, show, lint, schema.")

CASES = typer.Option(None, "--cases", metavar="DIR", help="A suite elsewhere: <DIR>/<category>/<group>.yaml.")
JSON = typer.Option(False, "--json", help="Print JSON on stdout.")


@app.command("list")
def list_cases(
    pattern: str | None = typer.Option(None, "-k", metavar="PATTERN", help="Only these: a part of id, kind or clause."),
    cases: Path | None = CASES,
    as_json: bool = JSON,
) -> None:
    """List the cases of the suite."""
    from triathlon.harness.load import load_suite
    from triathlon.harness.selection import select
    from triathlon.harness.story import summary

    suite = load_suite(cases)
    chosen = select(suite, pattern)
    if as_json:
        print(json.dumps([summary(case) for case in chosen], indent=2))
        return
    width = max(len(case.id) for case in chosen)
    for case in chosen:
        print(f"{case.id:<{width}}  {case.category:<11}  {case.kind:<8}  {' '.join(case.clauses)}")
    controls = len(suite.needed(chosen))
    print(f"{len(chosen)} cases, gated by {controls} controls; suite {suite.sha256[:12]}", file=sys.stderr)


@app.command("show")
def show(
    case_id: str = typer.Argument(metavar="ID", help="A case or control: group/name."),
    cases: Path | None = CASES,
    as_json: bool = JSON,
) -> None:
    """Print a case as a story: what is laid out, what the model says, what must be seen, the words that decide it."""
    import difflib

    from triathlon.errors import UsageError
    from triathlon.harness.load import load_suite
    from triathlon.harness.spec import load_spec
    from triathlon.harness.story import record, story

    suite = load_suite(cases)
    case = suite.case(case_id)
    if case is None:
        near = difflib.get_close_matches(case_id, [c.id for c in suite.cases] + list(suite.controls), n=3, cutoff=0.4)
        raise UsageError(
            f"there is no case or control {case_id!r}" + (f": did you mean {' or '.join(near)}?" if near else "")
        )
    spec = load_spec()
    if as_json:
        print(json.dumps(record(case, suite, spec), indent=2))
    else:
        print(story(case, suite, spec), end="")


@app.command("lint")
def lint_cases(
    path: Path | None = typer.Argument(
        None, help="A suite, a category or a file of it; the benchmark's own if left out."
    ),
    show_differences: bool = typer.Option(
        False, "--differences", help="Also print the fields in which each control differs from its case."
    ),
    as_json: bool = JSON,
) -> int:
    """Check every case; each finding is one line with file and line. Exit 1 if there is one."""
    from triathlon.harness.lint import differences, lint

    suite, findings = lint(path)
    between = [(case, control, differences(case, control)) for case in suite.cases for control in suite.gating(case)]
    if as_json:
        data: dict[str, object] = {
            "cases": len(suite.cases),
            "controls": len(suite.controls),
            "suite": suite.sha256,
            "findings": [finding.record() for finding in findings],
        }
        if show_differences:
            data["differences"] = [{"case": a.id, "control": b.id, "fields": fields} for a, b, fields in between]
        print(json.dumps(data, indent=2))
    else:
        for finding in findings:
            print(finding)
        if show_differences:
            for case, control, fields in between:
                print(f"{case.id} against {control.id}: {', '.join(fields) or 'nothing'}")
    said = f"{len(findings)} findings" if len(findings) != 1 else "1 finding"
    print(f"{said} in {len(suite.cases)} cases and {len(suite.controls)} controls", file=sys.stderr)
    return 1 if findings else 0


@app.command("schema")
def print_schema() -> None:
    """Print the case format as a JSON Schema, for editors."""
    from triathlon.harness.schema import schema

    print(json.dumps(schema(), indent=2))
