"""The channel of files: what stands on disk at the end, against what a case wants of it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from triathlon.harness.expect import FileMatch, TextMatch
from triathlon.harness.fixture import encode
from triathlon.harness.fresh import Fresh
from triathlon.harness.match import Missing, Result, said, shorten, spoken, within
from triathlon.harness.match_text import check_text
from triathlon.harness.places import find

if TYPE_CHECKING:
    from triathlon.harness.channels import Channels
    from triathlon.sandbox import Entry

KINDS = {"file": "file", "dir": "folder", "link": "link", "other": "special file"}


def check_files(channels: Channels, wanted: dict[str, FileMatch], fresh: Fresh) -> Iterator[Result]:
    """All that a case wants of the files."""
    for path, match in wanted.items():
        path = fresh.fill(path)
        where, key = f"files.{path}", channels.key(path)
        if "*" in key or "?" in key:
            yield from _check_several(where, key, channels, match, fresh)
        else:
            yield from _check_file(where, key, channels, match, fresh)


def _check_several(where: str, pattern: str, channels: Channels, match: FileMatch, fresh: Fresh) -> Iterator[Result]:
    """A path with `*`: all entries count for absent and present, else folders only where a folder is wanted."""
    keys = find(pattern, channels.files)
    if match.absent:
        yield Result(where, "nothing there", _listed(keys), not keys, negative=True)
        return
    if match.kind != "folder" and not match.present:
        keys = [key for key in keys if channels.files[key].kind != "dir"]
    if match.found is not None:
        yield Result(f"{where}.found", f"{spoken(match.found)} of them", _listed(keys), within(match.found, len(keys)))
    if match.model_fields_set <= {"found", "every"}:
        return
    if not keys:
        yield Result(where, said(match, fresh), "nothing there", held=False)
    elif match.every:
        for key in keys:
            yield from _check_file(f"{where} ({key})", key, channels, match, fresh)
    else:
        tried = {key: [r for r in _check_file("", key, channels, match, fresh) if not r.held] for key in keys}
        best = min(tried, key=lambda key: len(tried[key]))
        saw = f"{best}: {tried[best][0].saw}; {len(keys)} found" if tried[best] else best
        yield Result(where, said(match, fresh), saw, not tried[best])


def _listed(keys: list[str]) -> str:
    return f"{len(keys)}: {', '.join(keys[:5])}" if keys else "nothing there"


def _check_file(where: str, key: str, channels: Channels, match: FileMatch, fresh: Fresh) -> Iterator[Result]:
    entry, before = channels.files.get(key), channels.laid_out.get(key)
    if match.absent:
        yield Result(where, "nothing there", _seen(entry), entry is None, negative=True)
    if match.present:
        yield Result(where, "something there", _seen(entry), entry is not None)
    if match.same_as_laid_out:
        held = before is not None and entry is not None and _equal(before, entry)
        saw = "nothing was laid out there" if before is None else _changed(before, entry)
        yield Result(where, "as it was laid out", saw, held, negative=True)
    if match.changed:
        held = before is not None and entry is not None and not _equal(before, entry)
        yield Result(where, "changed since it was laid out", _changed(before, entry), held)
    if match.kind is not None:
        yield Result(where, f"a {match.kind}", _seen(entry), entry is not None and KINDS[entry.kind] == match.kind)
    if match.link is not None:
        target = entry.target if entry is not None and entry.kind == "link" else None
        yield from check_text(f"{where}.link", Missing(_seen(entry)) if target is None else target, match.link, fresh)
    if match.mode is not None:
        wanted = int(match.mode, 8)
        saw = _seen(entry) if entry is None else f"{entry.mode & 0o7777:04o}"
        yield Result(f"{where}.mode", f"{wanted:04o}", saw, entry is not None and entry.mode & 0o7777 == wanted)
    if match.size is not None:
        held = entry is not None and entry.kind == "file" and within(match.size, entry.size)
        yield Result(f"{where}.size", f"{spoken(match.size)} bytes", _seen(entry), held)
    yield from _check_bytes(where, key, channels, match, fresh)
    yield from _check_text(where, entry, match, fresh)


def _check_bytes(where: str, key: str, channels: Channels, match: FileMatch, fresh: Fresh) -> Iterator[Result]:
    entry = channels.files.get(key)
    if match.base64 is not None:
        data = base64.b64decode(match.base64)
        yield Result(where, f"the bytes {shorten(data.hex(' '), 80)}", _hex(entry), _holds(entry, data))
    if match.latin1 is not None:
        text = fresh.fill(match.latin1)
        yield Result(
            where, f"the Latin-1 text {shorten(text)}", _hex(entry), _holds(entry, text.encode("latin-1", "replace"))
        )
    if match.same_as is not None:
        path = fresh.fill(match.same_as)
        other = channels.files.get(channels.key(path))
        held = (
            entry is not None and other is not None and entry.kind == other.kind == "file" and _equal_data(entry, other)
        )
        yield Result(where, f"the same bytes as {path}", f"{_seen(entry)}; there {_seen(other)}", held)


def _check_text(where: str, entry: Entry | None, match: FileMatch, fresh: Fresh) -> Iterator[Result]:
    if not match.model_fields_set & TextMatch.model_fields.keys():
        return
    if entry is None or entry.kind != "file" or entry.data is None:
        yield from check_text(where, Missing(_seen(entry)), match, fresh)
        return
    try:
        text = entry.data.decode()
    except UnicodeDecodeError as error:
        if entry.truncated and error.start > len(entry.data) - 4:
            text = entry.data[: error.start].decode()
        else:
            text = entry.data.decode("utf-8", "surrogateescape")
    by_hash = entry.truncated and match.equals is not None
    if by_hash:
        # The whole of it is not here, but its hash is.
        held = _holds(entry, encode(fresh.fill(match.equals or "")))
        yield Result(where, f"equals {shorten(fresh.fill(match.equals))}", _seen(entry), held)
    skip = ("equals",) if by_hash else ()
    yield from check_text(where, text, match, fresh, whole=not entry.truncated, skip=skip)


def _holds(entry: Entry | None, data: bytes) -> bool:
    if entry is None or entry.kind != "file" or entry.size != len(data):
        return False
    if entry.truncated or entry.data is None:
        return entry.sha256 == hashlib.sha256(data).hexdigest()
    return entry.data == data


def _equal(a: Entry, b: Entry) -> bool:
    if a.kind != b.kind or (a.kind != "link" and a.mode & 0o7777 != b.mode & 0o7777):
        return False
    return a.target == b.target if a.kind == "link" else a.kind != "file" or _equal_data(a, b)


def _equal_data(a: Entry, b: Entry) -> bool:
    if a.size != b.size:
        return False
    if a.truncated or b.truncated or a.data is None or b.data is None:
        return a.sha256 != "" and a.sha256 == b.sha256
    return a.data == b.data


def _seen(entry: Entry | None) -> str:
    if entry is None:
        return "nothing there"
    if entry.kind == "link":
        return f"a link to {shorten(entry.target or '')}"
    if entry.kind != "file":
        return f"a {KINDS[entry.kind]}"
    text = (entry.data or b"")[:2000].decode("utf-8", "backslashreplace")
    return f"a file of {entry.size} bytes: {shorten(text, 100)}"


def _changed(before: Entry | None, entry: Entry | None) -> str:
    if before is None or entry is None:
        return _seen(entry) if before is None else f"{_seen(entry)}, was {_seen(before)}"
    if _equal(before, entry):
        return "unchanged"
    if before.kind == entry.kind == "file" and _equal_data(before, entry):
        return f"mode {entry.mode & 0o7777:04o}, was {before.mode & 0o7777:04o}"
    return f"{_seen(entry)}, was {_seen(before)}"


def _hex(entry: Entry | None) -> str:
    if entry is None or entry.kind != "file":
        return _seen(entry)
    return f"{entry.size} bytes: {shorten((entry.data or b'')[:400].hex(' '), 100)}"
