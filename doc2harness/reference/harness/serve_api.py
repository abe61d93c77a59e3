"""What the server can do, apart from HTTP: paths and bodies in, status and objects out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from . import output, sessions
from .options import Options
from .serve_session import ANSWERS, Busy, Live
from .session import Session
from .sources import check_flags, state_folder
from .types import Answer, Stop, UsageError

Body = Callable[[], dict[str, Any]]
Reply = tuple[int, Any]


class Problem(Exception):
    """A request that cannot be answered as asked: HTTP status and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """The sessions of the state folder, and those of them that are at work here."""

    def __init__(self, options: Options, here: Path) -> None:
        self.options = options
        self.here = here
        self.state = state_folder()
        self._live: dict[str, Live] = {}
        self._lock = threading.Lock()

    def handle(self, method: str, parts: list[str], body: Body) -> Reply | Callable[[], Iterator[Any]]:
        """Answer a request; a stream of events is returned as the function that gives them. Raises Problem."""
        match parts:
            case ["sessions"]:
                routes: dict[str, Callable[[], Any]] = {"GET": self._list, "POST": lambda: self._create(body())}
            case ["sessions", id]:
                routes = {"GET": lambda: self._show(id), "DELETE": lambda: self._delete(id)}
            case ["sessions", id, "messages"]:
                routes = {"POST": lambda: self._message(id, body())}
            case ["sessions", id, "events"]:
                routes = {"GET": lambda: self._session(id).feed.follow}
            case ["sessions", id, "abort"]:
                routes = {"POST": lambda: self._abort(id)}
            case ["sessions", id, "approvals", approval]:
                routes = {"POST": lambda: self._approve(id, approval, body())}
            case _:
                raise Problem(404, "there is no such path")
        if method not in routes:
            raise Problem(405, f"{method} is not possible here, only {', '.join(routes)}")
        return routes[method]()  # type: ignore[no-any-return]

    def close(self, reason: str) -> None:
        """End all turns and whatever was started."""
        ends = [threading.Thread(target=live.abort, args=(reason, 4.0)) for live in self._live.values()]
        for end in ends:
            end.start()
        for end in ends:
            end.join()
        for live in self._live.values():
            live.close()

    def _list(self) -> Reply:
        return 200, [asdict(entry) | {"state": self._state(entry.id)} for entry in sessions.entries(self.state)]

    def _create(self, body: dict[str, Any]) -> Reply:
        workspace = Path(self.here, _text(body, "workspace", ".")).resolve()
        if not workspace.is_dir():
            raise Problem(400, f"the workspace {workspace} is not a folder")
        options = self._options(_text(body, "permission_mode", ""), _text(body, "model", ""))
        live = self._start(sessions.new(self.state, workspace), options)
        live.conversation.session.open(output.warn)
        live.conversation.session.close()
        return 201, self._entry(live.conversation.session.id)

    def _show(self, id: str) -> Reply:
        path = self._file(id)
        session = Session(id, self.here, path)
        session.load(output.warn)
        return 200, self._entry(id) | {"messages": sessions.messages(session)}

    def _delete(self, id: str) -> Reply:
        path = self._file(id)
        if self._state(id) == "busy":
            raise Problem(409, "a turn of this session is running")
        try:
            sessions.delete(self.state, path)
        except Stop as stop:
            raise Problem(409, stop.message) from stop
        with self._lock:
            live = self._live.pop(id, None)
        if live is not None:
            live.close()
        return 200, {"deleted": id}

    def _message(self, id: str, body: dict[str, Any]) -> Reply:
        if "prompt" not in body:
            raise Problem(400, "prompt is missing")
        prompt = _text(body, "prompt", "")
        try:
            return 200, self._session(id).message(prompt)
        except Busy as busy:
            raise Problem(409, "a turn of this session is running") from busy

    def _abort(self, id: str) -> Reply:
        self._file(id)
        live = self._live.get(id)
        if live is not None:
            live.abort()
        return 200, {"state": self._state(id)}

    def _approve(self, id: str, approval: str, body: dict[str, Any]) -> Reply:
        self._file(id)
        given, reason = _text(body, "answer", ""), _text(body, "reason", "")
        if given not in ANSWERS:
            raise Problem(400, f"answer must be one of {', '.join(ANSWERS)}")
        live = self._live.get(id)
        if live is None or not live.answer(approval, Answer(ANSWERS[given], reason)):  # type: ignore[arg-type]
            raise Problem(404, "there is no approval of this id that waits")
        return 200, {"answer": given}

    def _session(self, id: str) -> Live:
        """The session at work; one that only has a file is taken up."""
        path = self._file(id)
        live = self._live.get(id)
        if live is None:
            try:
                live = self._start(sessions.load(path, self.here, output.warn), self.options)
            except UsageError as error:
                raise Problem(400, error.message) from error
            except Stop as stop:
                raise Problem(409, stop.message) from stop
        return live

    def _start(self, session: Session, options: Options) -> Live:
        try:
            live = Live(session, options, output.warn)
        except UsageError as error:
            raise Problem(400, error.message) from error
        with self._lock:
            return self._live.setdefault(session.id, live)

    def _options(self, mode: str, model: str) -> Options:
        """The server's flags with what one session has of its own."""
        settings = dict(self.options.settings)
        if mode:
            settings["permissions"] = {**settings.get("permissions", {}), "mode": mode}
        if model:
            settings["model"] = model
        try:
            check_flags(settings)
        except UsageError as error:
            raise Problem(400, error.message) from error
        return replace(self.options, mode=mode or self.options.mode, settings=settings)

    def _file(self, id: str) -> Path:
        try:
            path = sessions.find(self.state, id)
        except Stop as stop:
            raise Problem(404, stop.message) from stop
        if path.stem != id:
            raise Problem(404, f"there is no session {id}")
        return path

    def _entry(self, id: str) -> dict[str, Any]:
        return asdict(sessions.entry(self._file(id))) | {"state": self._state(id)}

    def _state(self, id: str) -> str:
        live = self._live.get(id)
        return "idle" if live is None else live.state


def _text(body: dict[str, Any], field: str, default: str) -> str:
    value = body.get(field, default)
    if not isinstance(value, str):
        raise Problem(400, f"{field} must be a string")
    return value
