"""`triathlon store`: look at result stores and join them."""

from __future__ import annotations

import json
from pathlib import Path

import typer

app = typer.Typer(no_args_is_help=True, help="Result stores: what is in them, and joining the shards of a run.")

PATH = typer.Option(None, "--store", envvar="TRIATHLON_STORE", help="The store (runs/triathlon.sqlite).")
JSON = typer.Option(False, "--json", help="Print JSON on standard output.")


@app.callback()
def root() -> None:
    """Result stores."""


@app.command()
def info(store: Path | None = PATH, as_json: bool = JSON) -> None:
    """Print what a store holds."""
    from triathlon.store import Store, default_path

    with Store(store or default_path(), create=False) as opened:
        facts = opened.info()
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    for name, value in facts.items():
        print(f"{name:<14} {value}")


@app.command("list")
def list_runs(store: Path | None = PATH, as_json: bool = JSON) -> None:
    """Print one line for each candidate under each condition; different specs and suites are never put together."""
    from triathlon.store import Store, default_path

    with Store(store or default_path(), create=False) as opened:
        runs = opened.runs()
    if as_json:
        print(json.dumps(runs, indent=2))
        return
    for run in runs:
        print(
            f"{run['last']}  {run['candidate']} {run['tree'][:12]}  {run['case_rows_passed']}/{run['case_rows']} cases"
            f" (ungated)  spec {run['spec']}  suite {run['suite'][:8]}  protocol {run['protocol'][:8]}"
            f"  runner {run['runner'][:8]}  {run['provider']} {run['root'][:8]}  seed {run['seed']}"
            f"  {run['repetitions']} repetition{'s' * (run['repetitions'] != 1)}"
        )


@app.command()
def merge(
    out: Path = typer.Argument(..., metavar="OUT", help="The store to write to; made if it is not there."),
    sources: list[Path] = typer.Argument(..., metavar="IN...", help="Stores to take rows from; they stay as they are."),
    as_json: bool = JSON,
) -> None:
    """Join stores by key. Of two rows with the same key the newer one stays."""
    from triathlon.errors import UsageError
    from triathlon.store import Store

    for source in sources:
        if source.resolve() == out.resolve():
            raise UsageError(f"{source}: a store cannot be merged into itself")
    opened = [Store(source, create=False) for source in sources]
    counts = {"taken": 0, "same": 0, "differ": 0}
    with Store(out) as target:
        for store in opened:
            with store:
                for name, count in target.merge(store).items():
                    counts[name] += count
        rows = target.info()["rows"]
    if as_json:
        print(json.dumps({"out": str(out), "rows": rows, **counts}, indent=2))
    else:
        differ = f"; {counts['differ']} were in both with another verdict" if counts["differ"] else ""
        print(f"{out}: {rows} rows, {counts['taken']} taken over, {counts['same']} already there{differ}")
