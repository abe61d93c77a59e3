"""What an optional command needs, said in one line before it starts."""

from __future__ import annotations

from importlib.util import find_spec

from triathlon.errors import MissingExtra


def numpy_is_there(what: str = "this command") -> None:
    """Raises MissingExtra if the statistics cannot be computed here."""
    if find_spec("numpy") is None:
        raise MissingExtra(what, "report")
