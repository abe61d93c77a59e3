"""`triathlon harness`: grade a harness, look at its form, look at the cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from triathlon.cli import cases, mutants

if TYPE_CHECKING:
    from triathlon.harness.result import Result
    from triathlon.store import Store

app = typer.Typer(no_args_is_help=True, help="Grade a coding-agent harness: no model, no key, no network.")
app.add_typer(cases.app, name="cases")
app.add_typer(mutants.app, name="mutants")

TREE = typer.Argument(..., metavar="TREE", help="A folder of code, or `reference` or `skeleton`.")
JSON = typer.Option(False, "--json", help="Print one JSON object on standard output.")


@app.callback()
def root() -> None:
    """Grade a coding-agent harness."""


@app.command()
def check(
    tree: str = TREE,
    as_json: bool = JSON,
    sandbox: str = typer.Option("namespaces", "--sandbox", envvar="TRIATHLON_SANDBOX", help="namespaces or none."),
) -> int:
    """Look at a tree's form only: compiles, installs, has the commands, flags and interfaces, has no stub left."""
    from dataclasses import asdict

    from triathlon.harness import candidate, contract
    from triathlon.sandbox import provider, sweep

    loaded = candidate.load(tree)
    sweep()
    with provider(sandbox) as made:
        findings = contract.check(loaded.tree, made)
    if as_json:
        listed = [asdict(finding) for finding in findings]
        print(json.dumps({"candidate": loaded.name, "tree_sha256": loaded.sha256, "findings": listed}, indent=2))
    else:
        for finding in findings:
            print(finding)
        print(f"{loaded.name}: {len(findings) or 'no'} finding{'s' * (len(findings) != 1)}", file=sys.stderr)
    return 1 if findings else 0


@app.command()
def evaluate(
    tree: str = TREE,
    in_flight: int = typer.Option(
        0, "-n", "--max-samples", min=0, envvar="TRIATHLON_MAX_SAMPLES", help="Cases in flight; 0: 3 x cores."
    ),
    pattern: str | None = typer.Option(
        None, "-k", envvar="TRIATHLON_K", help="Only cases with this in id, kind or clauses; a,b is or, !a is not."
    ),
    names: list[str] = typer.Option(
        [], "--case", metavar="ID", envvar="TRIATHLON_CASE", help="Only this case or group; repeatable."
    ),
    limit: int | None = typer.Option(
        None, "--limit", min=1, envvar="TRIATHLON_LIMIT", help="Only the first so many cases."
    ),
    lite: bool = typer.Option(
        False, "--lite", envvar="TRIATHLON_LITE", help="Only so many cases that every clause is cited: a first look."
    ),
    stop: bool = typer.Option(False, "-x", "--exitfirst", envvar="TRIATHLON_EXITFIRST", help="Stop at a failure."),
    sandbox: str = typer.Option("namespaces", "--sandbox", envvar="TRIATHLON_SANDBOX", help="namespaces or none."),
    case_timeout: float | None = typer.Option(
        None, "--case-timeout", min=0.1, envvar="TRIATHLON_CASE_TIMEOUT", help="Seconds a case may take (900)."
    ),
    seed: int | None = typer.Option(
        None, "--seed", envvar="TRIATHLON_SEED", help="Decides marker words and secrets (0)."
    ),
    repeat: int | None = typer.Option(
        None, "--repeat", min=1, envvar="TRIATHLON_REPEAT", help="Run each case so often (1)."
    ),
    shard: str | None = typer.Option(None, "--shard", envvar="TRIATHLON_SHARD", help="i/n: the i-th of n parts."),
    store: Path | None = typer.Option(
        None, "--store", envvar="TRIATHLON_STORE", help="The result store (runs/triathlon.sqlite)."
    ),
    fresh: bool = typer.Option(False, "--fresh", envvar="TRIATHLON_FRESH", help="Run also what the store has."),
    keep: Path | None = typer.Option(
        None, "--keep", envvar="TRIATHLON_KEEP", help="Unpack the channels of all into a folder."
    ),
    fail_under: float | None = typer.Option(
        None, "--fail-under", min=0.0, max=1.0, envvar="TRIATHLON_FAIL_UNDER", help="Exit 1 below this pass rate."
    ),
    suite: Path | None = typer.Option(None, "--cases", envvar="TRIATHLON_CASES", help="A folder of cases of your own."),
    as_json: bool = JSON,
) -> int:
    """Run the cases against a harness and say what is right and what is wrong. The same command again resumes."""
    from triathlon import protocol
    from triathlon.harness import candidate, result, run
    from triathlon.harness.load import load_suite
    from triathlon.harness.progress import watcher
    from triathlon.harness.selection import parse_shard
    from triathlon.sandbox import provider, sweep
    from triathlon.store import Store, default_path

    loaded = candidate.load(tree)
    numbers = (
        protocol.load()
        .change("evaluate.case_timeout_s", case_timeout)
        .change("evaluate.seed", seed)
        .change("evaluate.repetitions", repeat)
    )
    options = run.Options(
        pattern, tuple(names), limit, parse_shard(shard) if shard is not None else None, in_flight, fresh, stop, lite
    )
    cases_there = load_suite(suite)
    if keep is not None:
        _make_folder(keep)
    sweep()
    with provider(sandbox) as made, Store(store or default_path()) as kept:
        planned = run.plan(loaded, cases_there, numbers, made, options)
        try:
            done = result.result_of(run.evaluate(planned, kept, watcher()))
        except KeyboardInterrupt:
            print(f"what was finished is in {kept.path}; the same command goes on from there", file=sys.stderr)
            raise
        if keep is not None:
            _unpack(done, kept, keep)
    if as_json:
        print(json.dumps(done.as_json(), indent=2))
    else:
        from rich.console import Console

        from triathlon.harness.table import show

        show(done, Console())
    if done.report.errors:
        return 3
    if fail_under is not None and done.pass_rate < fail_under:
        print(f"triathlon: pass rate {done.pass_rate:.4f} is under {fail_under:g}", file=sys.stderr)
        return 1
    return 0


def _make_folder(folder: Path) -> None:
    """Made before the run, so that a wrong `--keep` is not found out at its end."""
    from triathlon.errors import UsageError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--keep {folder}: no folder can be made there: {error.strerror}") from error


def _unpack(done: Result, kept: Store, folder: Path) -> None:
    """The channels of every row of this run, one folder a case and repetition."""
    from dataclasses import replace

    from triathlon.harness.record import unpack

    for row in done.report.rows.values():
        for attempt in range(row.key.attempt + 1):
            number = f"{row.key.repetition}" + (f".again-{attempt}" if attempt else "")
            unpack(kept.channels(replace(row.key, attempt=attempt)), folder / row.case_id / number)
