"""What can be observed of one run of a candidate: requests, files, exit, output. Nothing else is ever judged.

All of it is collected outside the sandbox, where the candidate cannot touch it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triathlon.harness.places import key_of

if TYPE_CHECKING:
    from triathlon.sandbox import Entry
    from triathlon.scripted.journal import Request


@dataclass(frozen=True)
class Output:
    """What one started process wrote. Each part is cut at the protocol's `max_bytes`; `cut` names the parts cut."""

    stdout: bytes = b""
    stderr: bytes = b""
    screen: str | None = None
    """The terminal's screen at the end, one line a row with trailing blanks gone; None where there was no terminal."""
    cut: tuple[str, ...] = ()

    @property
    def stdout_text(self) -> str:
        """Standard output as text; bytes that are not UTF-8 become U+FFFD."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def stderr_text(self) -> str:
        """Standard error as text; bytes that are not UTF-8 become U+FFFD."""
        return self.stderr.decode("utf-8", "replace")


@dataclass(frozen=True)
class HttpAnswer:
    """The answer to one `http` step of the serve driver. `status` is None where none came; `error` says why."""

    status: int | None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    json: Any = None
    """The body parsed, None where it is not JSON."""
    error: str | None = None

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True)
class Spent:
    """What everything inside the sandbox used: CPU seconds (user and system), peak resident MB."""

    cpu_s: float = 0.0
    peak_mb: float = 0.0
    oom: bool = False


@dataclass
class Channels:
    """The four channels of one run, and what went wrong while it was driven.

    Shapes: `files` and `laid_out` are keyed by a place and a relative posix name: `workspace/a.txt`, `outside/x`,
    `beside/NAME/x`, `home/.bashrc`, `state/sessions/..`, `tmp/x`, `stubs/gh.log`; the places themselves are the keys
    without a slash (`workspace`). `state` is not repeated under `home`. `exits`, `outputs` and `seconds` are keyed by
    the name of a started process (`main` where a case names none).
    """

    requests: list[Request] = field(default_factory=list)
    web: list[Any] = field(default_factory=list)
    """Requests that the case's small web server saw."""
    files: dict[str, Entry] = field(default_factory=dict)
    laid_out: dict[str, Entry] = field(default_factory=dict)
    """The same places just before the first process was started."""
    exits: dict[str, int | None] = field(default_factory=dict)
    """Exit status as a shell says it (128 + signal); None where the process had to be killed by us at the end."""
    outputs: dict[str, Output] = field(default_factory=dict)
    http: dict[str, HttpAnswer] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    """What `Agent.run` returned, by the name of the call (api driver)."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall seconds from start to exit, by process name; `http` and `call` names too."""
    problems: list[str] = field(default_factory=list)
    """Each alone fails the case: script problems, a deadline, a candidate that broke the driver's terms."""
    notes: list[str] = field(default_factory=list)
    """Remarks that are no failure by themselves and may explain one."""
    late: bool = False
    """A deadline passed, and whatever else went wrong can have come from that."""
    usage: Spent = field(default_factory=Spent)
    places: dict[str, str] = field(default_factory=dict)
    """Absolute path inside the sandbox of each place, e.g. `{"state": "/home/agent/.harness"}`."""
    cut: list[str] = field(default_factory=list)
    """Channels cut at the protocol's size."""

    def key(self, path: str) -> str:
        """The key in `files` of a path, absolute inside the sandbox or relative to the workspace (globs pass through).

        A path outside every place comes back as it is, absolute: no file has such a key.
        """
        return key_of(posixpath.normpath(posixpath.join(self.places.get("workspace", "/"), path)), self.places)
