"""Small helpers around files: the cache folder, writing whole or not at all, JSON with or without gzip."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError


def cache_dir() -> Path:
    """Where converted models and rebuilt tokenizers are kept: $TRIATHLON_CACHE, else the user's cache folder."""
    given = os.environ.get("TRIATHLON_CACHE")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "triathlon"
    base.mkdir(parents=True, exist_ok=True)
    return base


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the place of `path` when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write JSON (gzip when the name ends in .gz, the same bytes for the same value); NaN is refused."""
    data = (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=None) + "\n").encode()
    with replacing(path) as beside:
        beside.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def read_json(path: Path, what: str) -> Any:
    """Read JSON (gzip or plain, whatever the name says); a damaged file is a UsageError."""
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return json.loads(data)
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such {what}") from error
    except (OSError, EOFError, ValueError) as error:
        raise UsageError(f"{path}: not a readable {what} ({error})") from error
