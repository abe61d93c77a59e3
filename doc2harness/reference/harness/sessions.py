"""All sessions of a state folder: finding one, listing, exporting, deleting."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import records
from .history import effective, repaired
from .session import Session, key_of, new_id
from .types import Stop


@dataclass
class Entry:
    """A line of `sessions list`; `time` is that of the last line, `turns` the number of prompts."""

    id: str
    time: str
    workspace: str
    prompt: str | None
    turns: int


def new(state: Path, workspace: Path, persist: bool = True) -> Session:
    """A session that is not on disk yet."""
    id = new_id()
    return Session(id, workspace, _file(state, workspace, id) if persist else None)


def find(state: Path, id: str) -> Path:
    """The file of the session with this id, or the only one whose id begins so. Stop: none, or several."""
    files = _files(state)
    exact = [file for file in files if file.stem == id]
    fitting = exact or [file for file in files if len(id) >= 4 and file.stem.startswith(id)]
    if len(fitting) != 1:
        raise Stop(1, "error", f"{'no' if not fitting else 'more than one'} session has the id {id}")
    return fitting[0]


def newest(state: Path, workspace: Path) -> Path:
    """The file of this workspace that was last appended to. Stop if there is none."""
    files = list((state / "sessions" / key_of(workspace)).glob("*.jsonl"))
    if not files:
        raise Stop(1, "error", f"there is no session of {workspace}")
    return max(files, key=_last_time)


def load(path: Path, here: Path, warn: Callable[[str], None]) -> Session:
    """Read a session; `here` is the folder the harness was started in. Stop if the workspace is gone."""
    session = Session(path.stem, _workspace(path, here), path)
    if not session.workspace.is_dir():
        raise Stop(1, "error", f"the session's workspace {session.workspace} is gone")
    session.load(warn)
    return session


def fork(state: Path, old: Session, persist: bool = True) -> Session:
    """A new session with the old one's history; the old file is not touched."""
    id = new_id()
    session = Session(id, old.workspace, _file(state, old.workspace, id) if persist else None, list(old.records))
    session.head["parent"] = old.id
    return session


def unkept(old: Session) -> Session:
    """The same session, of which nothing will be written."""
    return Session(old.id, old.workspace, None, list(old.records))


def entries(state: Path, workspace: Path | None = None) -> list[Entry]:
    """All sessions, or those of one workspace; newest last append first."""
    files = _files(state) if workspace is None else list((state / "sessions" / key_of(workspace)).glob("*.jsonl"))
    return [entry(file) for file in sorted(files, key=_last_time, reverse=True)]


def entry(path: Path) -> Entry:
    lines, _ = records.read(path)
    prompts = [
        line["message"]["content"] for line in effective(lines) if line["type"] == "message" and "prompt" in line
    ]
    return Entry(path.stem, _last_time(path), _stated_workspace(path) or "", next(iter(prompts), None), len(prompts))


def messages(session: Session) -> list[dict[str, Any]]:
    """Every message that was not taken back, those that a compaction summed up too."""
    return repaired(record["message"] for record in effective(session.records) if record["type"] == "message")


def markdown(session: Session) -> str:
    """Every prompt and reply text, in order."""
    parts = [f"# Session {session.id}", f"Workspace: {session.workspace}"]
    for message in messages(session):
        if message["role"] == "user":
            parts.append(f"## User\n\n{message['content']}")
        elif message["role"] == "assistant":
            names = "".join(f"\n\n*calls {call['function']['name']}*" for call in message.get("tool_calls") or [])
            parts.append(f"## Assistant\n\n{message['content'] or ''}{names}")
    return "\n\n".join(parts)


def delete(state: Path, path: Path) -> None:
    """Remove the file and its checkpoints. Stop if it is in use."""
    import shutil

    if records.in_use(path):
        raise Stop(1, "error", f"session {path.stem} is in use")
    path.unlink()
    shutil.rmtree(state / "checkpoints" / path.stem, ignore_errors=True)


def listing(state: Path, as_json: bool) -> str:
    """`sessions list`: one line a session, or a JSON array."""
    found = entries(state)
    if as_json:
        return json.dumps([asdict(one) for one in found], indent=2)
    return "\n".join(line(one) for one in found)


def line(one: Entry) -> str:
    first = " ".join((one.prompt or "").split())
    return f"{one.id}  {one.time}  {one.workspace}  {one.turns}  {first[:200]}"


def export(path: Path, format: str, warn: Callable[[str], None]) -> str:
    """`sessions export`: Markdown, or one JSON object."""
    session = Session(path.stem, Path(_stated_workspace(path) or ""), path)
    session.load(warn)
    if format == "md":
        return markdown(session)
    exported = {"id": session.id, "workspace": str(session.workspace), "messages": messages(session)}
    return json.dumps(exported, indent=2)


def _file(state: Path, workspace: Path, id: str) -> Path:
    return state / "sessions" / key_of(workspace) / f"{id}.jsonl"


def _files(state: Path) -> list[Path]:
    return [file for file in (state / "sessions").glob("*/*.jsonl") if file.is_file()]


def _last_time(path: Path) -> str:
    """When the file was last appended to, as its last line says; a file without any readable line is the oldest."""
    line = records.last(path) or {}
    return str(line.get("time") or "")


def _workspace(path: Path, here: Path) -> Path:
    """The session's workspace; if its first line is broken, the one whose key its folder has."""
    stated = _stated_workspace(path)
    if stated is None and path.parent.name == key_of(here):
        return here
    if stated is None:
        raise Stop(1, "error", f"the first line of {path} is broken: start the harness in the session's workspace")
    return Path(stated)


def _stated_workspace(path: Path) -> str | None:
    """What the first line says, or the first line of a session beside it (they share the workspace)."""
    for file in (path, *sorted(path.parent.glob("*.jsonl"))):
        with file.open("rb") as lines:
            first = records.parse(lines.readline())
        if first and first["type"] == "session" and isinstance(first.get("workspace"), str):
            return str(first["workspace"])
    return None
