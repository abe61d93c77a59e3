"""Null runs: what the four channels hold if the candidate does nothing at all and exits with 0, 1 or 2.

An expectation that holds on one of them can be met by doing nothing: it is a *must not*.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
from dataclasses import dataclass

from triathlon.harness.case import Case
from triathlon.harness.channels import Channels, Output
from triathlon.harness.fixture import Change, FixtureFile
from triathlon.harness.fresh import Fresh
from triathlon.harness.judge import results
from triathlon.harness.layout import SERVERS_FILE, SETTINGS
from triathlon.harness.match import Result
from triathlon.harness.places import find
from triathlon.harness.setup import Setup
from triathlon.sandbox import Entry

EXITS = (0, 1, 2)
PLACES = {
    "workspace": "/work/null",
    "outside": "/work/outside",
    "beside": "/work",
    "home": "/home/agent",
    "state": "/home/agent/.harness",
    "tmp": "/tmp",
    "stubs": "/work/stubs",
}


@dataclass(frozen=True)
class NullRun:
    """One null run: every atomic expectation with its result there."""

    exit: int
    results: tuple[Result, ...]

    @property
    def passes(self) -> bool:
        """Whether a harness that does nothing would pass."""
        return all(result.held for result in self.results)


def null_runs(case: Case) -> tuple[NullRun, ...]:
    """The case judged on its null runs. Raises UnknownPlaceholder if its set-up has one."""
    fresh = Fresh("null", case.id, {**PLACES, "workspace_name": "null", "endpoint": "http://127.0.0.1:8080/v1"})
    before = laid_out(fresh.fill(case.setup))
    after = _after_steps(case, dict(before), fresh)
    runs = []
    for status in EXITS:
        channels = Channels(
            files=after,
            laid_out=before,
            exits={start.name: status for start in case.starts},
            outputs={start.name: Output(screen="" if start.driver == "terminal" else None) for start in case.starts},
            seconds={start.name: 0.0 for start in case.starts},
            places=PLACES,
        )
        runs.append(NullRun(status, tuple(results(case.expect, channels, fresh))))
    return tuple(runs)


def must_nots(runs: tuple[NullRun, ...]) -> tuple[Result, ...]:
    """The expectations that hold on some null run, each once, in order.

    An exit of 0 is not counted: nearly every case wants it, and says nothing by it that must not be.
    """
    held = {
        (result.where, result.wanted): result
        for run in runs
        for result in run.results
        if result.held and not (run.exit == 0 and _is_exit(result))
    }
    return tuple(held.values())


def _is_exit(result: Result) -> bool:
    return result.where == "exit" or result.where.startswith("exit.")


def laid_out(setup: Setup) -> dict[str, Entry]:
    """The files of a set-up whose placeholders are filled in, as the sandbox would show them.

    Of a git repository only what a case may speak of without git: HEAD and the branch.
    """
    entries: dict[str, Entry] = {name: _folder() for name in PLACES}
    for place in ("workspace", "outside", "beside", "home", "state"):
        for path, file in getattr(setup, place).items():
            _put(entries, place, path, file)
    for source in setup.settings.model_fields_set if setup.settings else ():
        place, path = SETTINGS[source]
        _put(entries, place, path, _text(json.dumps(getattr(setup.settings, source), indent=2) + "\n"))
    for name, stub in setup.stubs.items():
        _put(entries, "stubs", name, FixtureFile(text=stub.script or "", mode="0755"))
    if setup.servers:
        _put(entries, "workspace", SERVERS_FILE, _text("{}\n"))
    if setup.git is not None:
        _put(entries, "workspace", ".git/HEAD", _text(f"ref: refs/heads/{setup.git.branch}\n"))
        for path in (f".git/refs/heads/{setup.git.branch}", ".git/index", ".git/logs/HEAD"):
            _put(entries, "workspace", path, _text("0" * 40 + "\n"))
        for path, file in setup.git.changed.items():
            _put(entries, "workspace", path, file)
    return entries


def _text(text: str) -> FixtureFile:
    return FixtureFile(text=text)


def _folder(mode: int = 0o755) -> Entry:
    return Entry("dir", mode, 0, 0.0)


def _put(entries: dict[str, Entry], place: str, path: str, file: FixtureFile) -> None:
    key = posixpath.join(place, posixpath.normpath(path))
    parent = posixpath.dirname(key)
    while parent and parent not in entries:
        entries[parent] = _folder()
        parent = posixpath.dirname(parent)
    if file.kind == "folder":
        entries[key] = _folder(file.bits)
    elif file.kind == "link":
        entries[key] = Entry("link", 0o777, len(file.link or ""), 0.0, target=file.link)
    else:
        entries[key] = _entry(file.data(), file.bits)


def _entry(data: bytes, mode: int) -> Entry:
    return Entry("file", mode, len(data), 0.0, data=data, sha256=hashlib.sha256(data).hexdigest())


def _after_steps(case: Case, entries: dict[str, Entry], fresh: Fresh) -> dict[str, Entry]:
    """The files after what the steps change from outside; what needs a capture or an absent file is passed over."""
    names = {f"{{{{{step.capture.name}}}}}" for step in case.steps if step.capture is not None}
    where = Channels(places=PLACES)
    for step in case.steps:
        for path, change in (step.change or {}).items():
            if any(name in path or name in change.model_dump_json() for name in names):
                continue
            key = where.key(fresh.fill(path))
            _change(entries, (find(key, entries) if "*" in key or "?" in key else [key]), fresh.fill(change))
    return entries


def _change(entries: dict[str, Entry], keys: list[str], change: Change) -> None:
    for key in keys:
        place, _, path = key.partition("/")
        old = entries.get(key)
        if change.absent:
            for name in [name for name in entries if name == key or name.startswith(key + "/")]:
                del entries[name]
        elif change.file is not None:
            _put(entries, place, path, change.file)
        elif old is not None and old.data is not None:
            try:
                entries[key] = _entry(change.apply(old.data), old.mode)
            except ValueError:
                continue
