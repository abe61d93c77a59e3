"""Trusted folders: whose project files may do more than forbid."""

from __future__ import annotations

import json
from pathlib import Path


def is_trusted(state: Path, folder: Path) -> bool:
    """Whether `folder` or one above it is listed in `trust.json` of the state folder."""
    listed = {Path(name).resolve() for name in _folders(state)}
    place = folder.resolve()
    return any(parent in listed for parent in (place, *place.parents))


def trust(state: Path, folder: Path) -> None:
    """Add a folder to the list."""
    from .textfile import write_atomically

    names = _folders(state)
    if str(folder) not in names:
        state.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"folders": [*names, str(folder)]}, indent=2) + "\n"
        write_atomically(state / "trust.json", text.encode())


def _folders(state: Path) -> list[str]:
    """The list; a file that cannot be read trusts nothing."""
    try:
        folders = json.loads((state / "trust.json").read_bytes())["folders"]
        return [name for name in folders if isinstance(name, str)]
    except (OSError, ValueError, LookupError, TypeError):
        return []
