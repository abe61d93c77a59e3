"""`triathlon export`: the results in other people's forms."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from triathlon.report.data import Report
    from triathlon.store import Store

app = typer.Typer(no_args_is_help=True, help="The results as CSV, Parquet, JUnit XML, Markdown or Inspect logs.")

STORE = typer.Option(None, "--store", envvar="TRIATHLON_STORE", help="The store (runs/triathlon.sqlite).")
CASES = typer.Option(None, "--cases", envvar="TRIATHLON_CASES", help="A folder of cases of your own.")
BUILDS = typer.Option(None, "--builds", envvar="TRIATHLON_BUILDS", help="A TOML file: which tree is whose build.")
OUT = typer.Option(None, "--out", "-o", help="Write to this file instead of standard output.")
TABLE = typer.Option("verdicts", "--table", help="models, candidates, categories, cases or verdicts.")
CANDIDATE = typer.Option(None, "--candidate", help="Only this one: a name, a folder or the first digits of its hash.")


@app.callback()
def root() -> None:
    """The results in other people's forms."""


@contextmanager
def _opened(store: Path | None, cases: Path | None, builds: Path | None) -> Iterator[tuple[Report, Store]]:
    from triathlon.cli.needs import numpy_is_there

    numpy_is_there("an export")
    from triathlon.harness.load import load_suite
    from triathlon.report.gather import gather
    from triathlon.store import Store, default_path

    with Store(store or default_path(), create=False) as opened:
        yield gather(opened, load_suite(cases), builds), opened


def _write(body: bytes, out: Path | None) -> None:
    if out is None:
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(body)
    print(out, file=sys.stderr)


def _rows(report: Report, table: str) -> list[dict[str, object]]:
    from triathlon.errors import UsageError
    from triathlon.report.export.tables import TABLES

    if table not in TABLES:
        raise UsageError(f"--table {table}: known are {', '.join(TABLES)}")
    return TABLES[table](report)


@app.command()
def csv(
    table: str = TABLE,
    out: Path | None = OUT,
    store: Path | None = STORE,
    cases: Path | None = CASES,
    builds: Path | None = BUILDS,
) -> None:
    """One table as CSV."""
    from triathlon.report.export.tables import as_csv

    with _opened(store, cases, builds) as (report, _):
        _write(as_csv(_rows(report, table)).encode(), out)


@app.command()
def parquet(
    out: Path = typer.Option(..., "--out", "-o", help="The file to write."),
    table: str = TABLE,
    store: Path | None = STORE,
    cases: Path | None = CASES,
    builds: Path | None = BUILDS,
) -> None:
    """One table as Parquet."""
    from triathlon.report.export.tables import as_parquet

    with _opened(store, cases, builds) as (report, _):
        out.parent.mkdir(parents=True, exist_ok=True)
        as_parquet(_rows(report, table), out)
    print(out, file=sys.stderr)


@app.command()
def junit(
    candidate: str | None = CANDIDATE,
    out: Path | None = OUT,
    store: Path | None = STORE,
    cases: Path | None = CASES,
    builds: Path | None = BUILDS,
) -> None:
    """JUnit XML: cases as tests, the story of a case in its failure."""
    from triathlon.population.against import find
    from triathlon.report.export.junit import as_junit

    with _opened(store, cases, builds) as (report, _):
        at = None if candidate is None else find(report.population, candidate)
        _write(as_junit(report, at), out)


@app.command()
def markdown(
    out: Path | None = OUT,
    store: Path | None = STORE,
    cases: Path | None = CASES,
    builds: Path | None = BUILDS,
) -> None:
    """A summary in Markdown."""
    from triathlon.report.export.markdown import as_markdown

    with _opened(store, cases, builds) as (report, _):
        _write(as_markdown(report).encode(), out)


@app.command()
def inspect(
    out: Path = typer.Option(..., "--out", "-o", help="The folder to write to; `inspect view --log-dir` shows it."),
    store: Path | None = STORE,
    cases: Path | None = CASES,
    builds: Path | None = BUILDS,
) -> None:
    """Inspect `.eval` logs, one a candidate."""
    from triathlon.report.export.inspect import write_logs

    with _opened(store, cases, builds) as (report, opened):
        for path in write_logs(report, opened, out):
            print(path, file=sys.stderr)
