"""`triathlon report` and `triathlon view`: the results as pages."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import typer

STORE = typer.Option(None, "--store", envvar="TRIATHLON_STORE", help="The store (runs/triathlon.sqlite).")
CASES = typer.Option(None, "--cases", envvar="TRIATHLON_CASES", help="A folder of cases of your own.")
BUILDS = typer.Option(None, "--builds", envvar="TRIATHLON_BUILDS", help="A TOML file: which tree is whose build.")
OUT = typer.Option(Path("runs/site"), "--out", "-o", envvar="TRIATHLON_SITE", help="The folder of the site.")


def report(
    out: Path = OUT,
    store: Path | None = STORE,
    cases: Path | None = CASES,
    builds: Path | None = BUILDS,
    as_json: bool = typer.Option(False, "--json", help="Print the numbers as JSON instead of writing pages."),
) -> None:
    """Write a static site of the store that opens from the file system."""
    from triathlon.cli.needs import numpy_is_there

    numpy_is_there("the report")
    from triathlon.harness.load import load_suite
    from triathlon.report.gather import gather
    from triathlon.report.site import write_site
    from triathlon.store import Store, default_path

    with Store(store or default_path(), create=False) as opened:
        made = gather(opened, load_suite(cases), builds)
        if as_json:
            print(json.dumps(made.data, indent=2, allow_nan=False))
            return
        for line in made.data["foot"]["left_out"]:
            print(f"left out: {line}", file=sys.stderr)
        print(write_site(made, opened, out))


def view(
    port: int = typer.Option(0, "--port", min=0, max=65535, envvar="TRIATHLON_VIEW_PORT", help="0: any free one."),
    out: Path = OUT,
    store: Path | None = STORE,
    cases: Path | None = CASES,
    builds: Path | None = BUILDS,
) -> None:
    """Serve the site on this machine and keep it up to date while a run goes on."""
    from triathlon.cli.needs import numpy_is_there

    numpy_is_there("the report")
    from triathlon.errors import UsageError
    from triathlon.harness.load import load_suite
    from triathlon.report.gather import gather
    from triathlon.report.site import write_site
    from triathlon.report.view import Viewer
    from triathlon.store import Store, default_path

    path, suite = store or default_path(), load_suite(cases)

    def write() -> None:
        with Store(path, create=False) as opened:
            write_site(gather(opened, suite, builds), opened, out)

    def state() -> object:
        with Store(path, create=False) as opened:
            return opened.info()["rows"]

    try:
        viewer = Viewer(out, write, state, port)
    except OSError as error:
        raise UsageError(f"--port {port}: cannot listen there: {error.strerror}") from error
    print(viewer.url)
    viewer.serve()
