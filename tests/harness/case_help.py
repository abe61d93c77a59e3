"""Small suites, requests and channels for the tests of cases, judge and lint."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from textwrap import dedent
from typing import Any

from triathlon.harness.case import Case, Suite
from triathlon.harness.channels import Channels, Output
from triathlon.harness.fresh import Fresh
from triathlon.harness.load import load_suite
from triathlon.sandbox import Entry
from triathlon.scripted.chat import Chat
from triathlon.scripted.journal import Request

CLAUSES = ("PERM-01", "PERM-02", "FILE-01")
PLACES = {
    "workspace": "/work/w",
    "outside": "/work/outside",
    "beside": "/work",
    "home": "/home/agent",
    "state": "/home/agent/.harness",
    "tmp": "/tmp",
    "stubs": "/work/stubs",
}

CASE = """\
cases:
  - id: one
    kind: ordinary
    origin: {spec: PERM-01}
    run: {prompt: go}
    script: [{call: {write: {path: a.txt, content: "{{marker}}"}}}, {say: done}]
    expect: {files: {a.txt: "{{marker}}"}}
"""
HEAD = "group: small\nabout: A small group.\nclauses: [PERM-01]\n"


def put(root: Path, text: str, name: str = "small", category: str = "permissions") -> Path:
    """Write one case file into a suite."""
    file = root / category / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dedent(text), encoding="utf-8")
    return file


def suite_of(root: Path, text: str) -> Suite:
    """A suite of one file."""
    put(root, text)
    return load_suite(root, CLAUSES)


def case_of(root: Path, text: str) -> Case:
    """The first case of one file."""
    return suite_of(root, text).cases[0]


def fresh(**values: str) -> Fresh:
    """Fresh values with places."""
    return Fresh(0, "small/one", {**PLACES, "workspace_name": "w", **values})


def file(data: bytes | str, mode: int = 0o644) -> Entry:
    """A file as seen from outside."""
    data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    return Entry("file", mode, len(data), 0.0, data=data, sha256=hashlib.sha256(data).hexdigest())


def link(target: str) -> Entry:
    """A link as seen from outside."""
    return Entry("link", 0o777, len(target), 0.0, target=target)


def folder() -> Entry:
    """A folder as seen from outside."""
    return Entry("dir", 0o755, 0, 0.0)


def channels(files: dict[str, Entry] | None = None, **more: Any) -> Channels:
    """Channels of a run that exited with 0 and said nothing."""
    given: dict[str, Any] = {"exits": {"main": 0}, "outputs": {"main": Output()}, "seconds": {"main": 0.5}, **more}
    return Channels(files=files or {}, places=PLACES, **given)


def request(index: int, *messages: dict[str, Any], lane: str = "main", time: float = 0.0, **body: Any) -> Request:
    """A request as the journal keeps it."""
    whole: dict[str, Any] = {"model": "default", "stream": True, "messages": list(messages), **body}
    raw = json.dumps(whole).encode()
    made = Request(index, time, "POST", "/v1/chat/completions", {"authorization": "Bearer k"}, raw, whole, lane=lane)
    made.ask, _ = Chat().read(whole, made.path)
    made.stream = made.ask.stream
    made.done = time
    return made


def user(text: str) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": text}


def call(name: str, args: str | dict[str, Any], id: str = "c1") -> dict[str, Any]:
    """A call inside an assistant message."""
    arguments = args if isinstance(args, str) else json.dumps(args)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def result(text: str, id: str = "c1") -> dict[str, Any]:
    """A tool message."""
    return {"role": "tool", "tool_call_id": id, "content": text}
