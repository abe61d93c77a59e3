"""`triathlon harness cases`: look at the cases, print one as a story, check that they are good ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from triathlon.harness.case import Case, Suite
    from triathlon.harness.witnesses import Witness

app = typer.Typer(no_args_is_help=True, help="The case suite: list, show, lint, schema, soak.")

CASES = typer.Option(None, "--cases", metavar="DIR", help="A suite elsewhere: <DIR>/<category>/<group>.yaml.")
JSON = typer.Option(False, "--json", help="Print JSON on stdout.")
STORE = typer.Option(None, "--store", envvar="TRIATHLON_STORE", help="The result store (runs/triathlon.sqlite).")


@app.command("list")
def list_cases(
    pattern: str | None = typer.Option(None, "-k", metavar="PATTERN", help="Only these: a part of id, kind or clause."),
    split: str = typer.Option("all", "--split", help="public, held-out (not fed back to a repair) or all."),
    unconfirmed: bool = typer.Option(
        False, "--unconfirmed", help="Only cases that, by the store, the reference alone passes."
    ),
    cases: Path | None = CASES,
    store: Path | None = STORE,
    as_json: bool = JSON,
) -> None:
    """List the cases of the suite."""
    from triathlon.harness.load import load_suite
    from triathlon.harness.selection import select
    from triathlon.harness.split import part
    from triathlon.harness.story import summary

    suite = load_suite(cases)
    chosen = part(select(suite, pattern), split)
    if unconfirmed:
        chosen = _unconfirmed(chosen, suite, store)
    if as_json:
        print(json.dumps([summary(case) for case in chosen], indent=2))
        return
    width = max(len(case.id) for case in chosen)
    for case in chosen:
        print(f"{case.id:<{width}}  {case.category:<11}  {case.kind:<8}  {' '.join(case.clauses)}")
    controls = len(suite.needed(chosen))
    print(f"{len(chosen)} cases, gated by {controls} controls; suite {suite.sha256[:12]}", file=sys.stderr)


def _unconfirmed(chosen: list[Case], suite: Suite, path: Path | None) -> list[Case]:
    from triathlon.errors import NothingToDo
    from triathlon.harness.witnesses import is_unconfirmed, witnesses
    from triathlon.store import Store, default_path

    with Store(path or default_path(), create=False) as opened:
        known = witnesses(opened, suite)
    without = sum(not known[case.id] for case in chosen)
    alone = [case for case in chosen if is_unconfirmed(known[case.id])]
    print(
        f"{len(alone)} of {len(chosen)} cases unconfirmed; {without} that nobody in the store passes", file=sys.stderr
    )
    if not alone:
        raise NothingToDo("no case is passed by the reference alone")
    return alone


@app.command("show")
def show(
    case_id: str = typer.Argument(metavar="ID", help="A case or control: group/name."),
    cases: Path | None = CASES,
    store: Path | None = STORE,
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
    seen = _witnesses(case, suite, store)
    if as_json:
        print(json.dumps(record(case, suite, spec) | {"witnesses": [one.as_json() for one in seen]}, indent=2))
        return
    print(story(case, suite, spec), end="")
    if seen:
        print(f"\npassed by: {', '.join(f'{one.name} {one.tree[:12]}' for one in seen)}")


def _witnesses(case: Case, suite: Suite, path: Path | None) -> tuple[Witness, ...]:
    """Who passes it, by the store, if there is one."""
    from triathlon.harness.witnesses import witnesses
    from triathlon.store import Store, default_path

    place = path or default_path()
    if case.role != "case" or (path is None and not place.exists()):
        return ()
    with Store(place, create=False) as opened:
        return witnesses(opened, suite)[case.id]


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


@app.command("soak")
def soak_cases(
    tree: str = typer.Argument("reference", metavar="[TREE]", help="The candidate that is to pass them all."),
    seeds: int = typer.Option(20, "--seeds", min=1, help="Under how many seeds, from 0."),
    in_flight: int = typer.Option(0, "-n", "--max-samples", min=0, help="Cases in flight; 0: 8 x cores."),
    pattern: str | None = typer.Option(None, "-k", metavar="PATTERN", help="Only these, as in `evaluate`."),
    names: list[str] = typer.Option([], "--case", metavar="ID", help="Only this case or group; repeatable."),
    sandbox: str = typer.Option("namespaces", "--sandbox", envvar="TRIATHLON_SANDBOX", help="namespaces or none."),
    cases: Path | None = CASES,
    store: Path | None = STORE,
    fresh: bool = typer.Option(False, "--fresh", help="Run also what the store has."),
    as_json: bool = JSON,
) -> int:
    """Run the cases under many seeds, in random orders, at high load; list those not always passed. Exit 1 if any."""
    from triathlon import protocol
    from triathlon.harness import candidate
    from triathlon.harness.load import load_suite
    from triathlon.harness.progress import watcher
    from triathlon.harness.run import Options
    from triathlon.harness.soak import soak
    from triathlon.sandbox import provider, sweep
    from triathlon.store import Store, default_path

    loaded, suite = candidate.load(tree), load_suite(cases)
    options = Options(pattern, tuple(names), in_flight=in_flight, fresh=fresh)
    sweep()
    with provider(sandbox) as made, Store(store or default_path()) as kept:
        done = soak(
            loaded,
            suite,
            protocol.load(),
            made,
            kept,
            options,
            range(seeds),
            lambda text: print(text, file=sys.stderr, flush=True),
            watcher(),
        )
    if as_json:
        print(json.dumps(done.as_json(), indent=2))
    else:
        for one in done.unstable:
            print(
                f"{one.case}: passed {one.passed} of {done.seeds}; seeds {', '.join(map(str, one.seeds))}: {one.reason}"
            )
        for name in done.alone:
            print(f"{name}: passed only when run once more, alone")
    print(f"{len(done.unstable)} unstable of {done.cases} cases under {done.seeds} seeds", file=sys.stderr)
    return 1 if done.unstable else 0
