"""Automatic faults that no case notices, and why that is right: `doc2harness/mutants/survivors.toml`.

A fault may come to the same as the reference, or change only what the specification leaves free. Each gets a sentence
under its id; one without a sentence asks for a case.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from triathlon.errors import UsageError
from triathlon.mutants.catalogue import folder

FILE = "survivors.toml"


def explained(root: Path | None = None) -> dict[str, str]:
    """The sentence of each explained survivor, by id. Raises UsageError for a file of another form."""
    path = (root or folder()) / FILE
    if not path.is_file():
        return {}
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from error
    table = data.get("survivors", {})
    if set(data) - {"survivors"} or not all(isinstance(why, str) and why.strip() for why in table.values()):
        raise UsageError(f"{path}: it has one table `survivors`, a sentence for each id")
    return dict(table)
