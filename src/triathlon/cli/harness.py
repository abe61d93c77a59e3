"""`triathlon harness`."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="harness")


@app.callback()
def root() -> None:
    """The harness commands."""
