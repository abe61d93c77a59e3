"""`triathlon store`."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="store")


@app.callback()
def root() -> None:
    """The store commands."""
