"""The words every part of the harness shares: a call, a decision, a user, a context."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from .settings import Settings

T = TypeVar("T")
Mode = Literal["default", "plan", "accept-edits", "bypass", "dont-ask"]


class ToolError(Exception):
    """A tool could not do what it was asked; the message becomes the result `error: <message>`.

    A message that begins `refused: ` says that the call was not allowed; it is listed among the run's denials.
    """


class Interrupted(Exception):
    """The user, a signal or a limit ended the turn; `reason` is the one given to `Cancel.set`."""


class Stop(Exception):
    """The run ends here: exit code, result subtype (HEAD-07) and a sentence for stderr."""

    def __init__(self, code: int, subtype: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.subtype = subtype
        self.message = message


class UsageError(Stop):
    """A flag, a setting or the input is wrong: exit 2, nothing was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(2, "error", message)


@dataclass
class Call:
    """One tool call of the model.

    `arguments` is None when `raw` is not a JSON object or the reply was cut; `problem` then says why.
    """

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str
    problem: str | None = None


@dataclass
class Decision:
    """What the permission engine says of one call.

    `reason` names the rule or the mode. `parts` are the rules that "always" would save. `target` is what a person is
    shown: the path after links, or the whole command.
    """

    verdict: Literal["allow", "ask", "deny"]
    reason: str
    rule: str | None = None
    parts: list[str] = field(default_factory=list)
    target: str = ""


class Permissions(Protocol):
    """The one place where a permission is decided (`permissions.engine.Engine`)."""

    mode: Mode

    def decide(self, tool: str, arguments: Mapping[str, Any], cwd: Path) -> Decision: ...
    def hidden_tools(self, names: list[str]) -> set[str]: ...
    def narrowed(self, rules: Mapping[str, list[str]]) -> Permissions: ...
    def allow_for_session(self, rules: list[str]) -> None: ...
    def may_read(self, path: str) -> bool: ...


@dataclass
class Answer:
    """A person's answer to an approval: `reason` goes to the model with a no; "unanswered": nobody came in time."""

    verdict: Literal["yes", "session", "always", "no", "unanswered"]
    reason: str = ""


class User(Protocol):
    """Somebody who can answer while a turn runs: the terminal, or a client of `harness serve`."""

    def approve(self, call: Call, decision: Decision) -> Answer: ...
    def question(self, text: str, choices: list[str], secret: bool) -> str | None: ...
    def plan(self, text: str) -> Answer: ...


class Tool(Protocol):
    """A thing the model can call. `parameters` is a JSON schema; `reads` tools may run side by side."""

    name: str
    description: str
    parameters: dict[str, Any]
    reads: bool

    def run(self, context: Context, arguments: dict[str, Any]) -> str: ...


class Cancel:
    """One switch that ends whatever runs now: a request, a wait, a command.

    `set` may be called from any thread (not from a signal handler: it takes a lock) and runs the callbacks once.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next = 0

    def set(self, reason: str) -> None:
        with self._lock:
            if self.reason is None:
                self.reason = reason
            callbacks = list(self._callbacks.values())
            self._event.set()
        for callback in callbacks:
            callback()

    def is_set(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise Interrupted if the switch was thrown."""
        if self._event.is_set():
            raise Interrupted(self.reason or "interrupted")

    def wait(self, seconds: float) -> None:
        """Sleep, or raise Interrupted as soon as the switch is thrown."""
        self._event.wait(seconds)
        self.check()

    def wait_for(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises; it cannot be ended, but it is not waited for once the switch is thrown."""
        done: list[T] = []
        failed: list[Exception] = []

        def run() -> None:
            try:
                done.append(work())
            except Exception as error:  # handed to the caller
                failed.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.05)
            self.check()
        if failed:
            raise failed[0]
        return done[0]

    def on_set(self, callback: Callable[[], None]) -> int:
        """Call `callback` when the switch is thrown (at once if it is already); returns a handle for `forget`."""
        with self._lock:
            self._next += 1
            handle = self._next
            self._callbacks[handle] = callback
            thrown = self._event.is_set()
        if thrown:
            callback()
        return handle

    def forget(self, handle: int) -> None:
        with self._lock:
            self._callbacks.pop(handle, None)


class FileMemory:
    """What this conversation last saw of each file: resolved path -> sha256 of its bytes (None: seen as absent)."""

    def __init__(self, record: Callable[[str, str | None], None] | None = None) -> None:
        self.seen: dict[str, str | None] = {}
        self.record = record

    def saw(self, path: Path, data: bytes | None) -> None:
        """Remember the bytes of the resolved `path`; the session keeps it for a resume."""
        import hashlib

        digest = None if data is None else hashlib.sha256(data).hexdigest()
        key = str(path)
        if key in self.seen and self.seen[key] == digest:
            return
        self.seen[key] = digest
        if self.record is not None:
            self.record(key, digest)

    def knows(self, path: Path) -> bool:
        return self.seen.get(str(path)) is not None

    def matches(self, path: Path, data: bytes) -> bool:
        import hashlib

        return self.seen.get(str(path)) == hashlib.sha256(data).hexdigest()


@dataclass
class Context:
    """What a tool may look at and use while it runs; one a conversation, subagents have their own."""

    workspace: Path
    roots: list[Path]  # the workspace first, then the added folders
    state: Path  # $HARNESS_HOME
    session_id: str
    settings: Settings
    permissions: Permissions
    cwd: Path  # where the next shell command starts
    warn: Callable[[str], None]
    before_change: Callable[[Path, bytes], None]  # (resolved path, new bytes): called right before a file is written
    spawn: Callable[[str, str], str]  # (agent, prompt) -> final text; raises ToolError
    env: dict[str, str]  # for commands, hooks and servers; no secret of ours in it
    files: FileMemory = field(default_factory=FileMemory)
    trusted: bool = False  # whether the project's own settings, hooks and servers count
    user: User | None = None  # None: nobody to ask
    asking: threading.Lock = field(default_factory=threading.Lock)  # held while the user is asked
    cancel: Cancel = field(default_factory=Cancel)
    todo: list[dict[str, str]] = field(default_factory=list)
    background: dict[str, Any] = field(default_factory=dict)  # what bash_output and bash_kill find by id

    def shown(self, path: Path) -> str:
        """A path as results name it: relative inside the workspace, absolute elsewhere."""
        import os

        normal = os.path.normpath(self.workspace / path)
        inside = normal == str(self.workspace) or normal.startswith(f"{self.workspace}/")
        return os.path.relpath(normal, self.workspace) if inside else normal
