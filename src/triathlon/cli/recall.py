"""`triathlon recall`."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="recall")


@app.callback()
def root() -> None:
    """The recall commands."""
