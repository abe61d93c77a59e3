"""The listed root is made once for an interpreter and the host's files, tried in a sandbox, and found again later."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon.errors import SandboxUnavailable
from triathlon.sandbox import cache
from triathlon.sandbox.root.collect import Collection
from triathlon.sandbox.root.interpreter import Interpreter, interpreters

RECIPE = 1
"""Raise it when what is copied, or how, changes."""


@dataclass(frozen=True)
class Root:
    """A finished root: `path` holds `usr/`; `links` are the links beside it (`bin -> usr/bin`)."""

    path: Path
    links: Mapping[str, str]
    fingerprint: Mapping[str, str]


Trial = Callable[[Root], Mapping[str, str] | str]
"""Runs `listed.CHECK` in a sandbox with that root and returns the versions, or as a text why it failed there."""


def listed_root(trial: Trial, owner: int | None = None) -> Root:
    """The root for the interpreter that runs us, or else for the system's; made if need be (1-2 s, some 80 MB).

    `owner` is the host's uid to own the copies (root only). Sources that changed since (an upgraded git) make a new
    root. SandboxUnavailable if a needed command is missing, or no interpreter works inside.
    """
    name = hashlib.sha256(f"{RECIPE}\n{os.path.realpath(sys.executable)}\n{owner}".encode()).hexdigest()[:12]
    index = cache.place() / f"index-{name}.json"
    root = _found(index)
    if root is not None:
        return root
    with _lock():
        return _found(index) or _make(index, trial, owner)


def _found(index: Path) -> Root | None:
    """The root an index points to, if all its sources are as they were."""
    try:
        known = json.loads(index.read_text("utf-8"))
        if any(_stamp(source) != stamp for source, stamp in known["sources"].items()):
            return None
        path = cache.place() / known["folder"]
        os.utime(path)
        os.utime(index)
    except (OSError, ValueError, KeyError):
        return None
    return Root(path, known["links"], known["fingerprint"])


def _make(index: Path, trial: Trial, owner: int | None) -> Root:
    reasons = []
    for interpreter in interpreters():
        new = cache.temporary("new")
        try:
            collection = _copy(interpreter, new, owner)
            made = Root(new, collection.links, {})
            versions = trial(made)
            if isinstance(versions, str):
                reasons.append(f"Python of the {interpreter.origin}: {versions}")
                continue
            fingerprint = {**versions, "python_from": interpreter.origin, "recipe": str(RECIPE)}
            return _keep(index, collection, Root(new, made.links, fingerprint))
        finally:
            cache.discard(new)
    raise SandboxUnavailable("no interpreter works in the listed root: " + "; ".join(reasons))


def _copy(interpreter: Interpreter, new: Path, owner: int | None) -> Collection:
    collection = Collection(new)
    collection.add_commands()
    collection.add_git()
    collection.add_interpreter(interpreter)
    collection.add_libraries()
    collection.add_locale_and_terminals()
    collection.finish(owner)
    return collection


def _keep(index: Path, collection: Collection, root: Root) -> Root:
    sources = {source: _stamp(source) for source in collection.sources}
    content: dict[str, Any] = {"sources": sources, "links": dict(root.links), "fingerprint": dict(root.fingerprint)}
    folder = "root-" + hashlib.sha256(f"{index.name}{json.dumps(content)}".encode()).hexdigest()[:12]
    path = cache.place() / folder
    if path.exists():
        cache.discard(path)
    root.path.rename(path)
    text = json.dumps({"folder": folder, **content}, indent=1)
    fresh = index.with_suffix(".new")
    fresh.write_text(text, "utf-8")
    fresh.rename(index)
    return Root(path, root.links, root.fingerprint)


def _stamp(source: str) -> list[int]:
    found = Path(source).stat()
    return [found.st_size, found.st_mtime_ns]


@contextmanager
def _lock() -> Iterator[None]:
    """Only one process makes a root; the others wait for it and find it."""
    descriptor = os.open(cache.place() / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
