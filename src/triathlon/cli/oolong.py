"""`triathlon oolong`."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="oolong")


@app.callback()
def root() -> None:
    """The oolong commands."""
