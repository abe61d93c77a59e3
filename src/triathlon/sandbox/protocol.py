"""What a sandbox is: the Protocol every provider follows and the plain data that crosses it.

The names are a subset of Inspect's `SandboxEnvironment` (exec, read_file, write_file, connection) plus what drivers
need: listening sockets made inside, processes with descriptors, and a view of the files from outside.
All paths are absolute paths *inside*. Everything may be called from any thread.
"""

from __future__ import annotations

import socket
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

UID = 1000
"""The candidate's user and group id inside, whoever runs the bench."""


@cache
def _standard() -> Mapping[str, int]:
    """The `[sandbox]` table of the frozen protocol."""
    text = (Path(__file__).parents[1] / "protocol.toml").read_text("utf-8")
    table: Mapping[str, int] = tomllib.loads(text)["sandbox"]
    return table


def _limit(name: str) -> int:
    return field(default_factory=lambda: _standard()[name])


@dataclass(frozen=True)
class Limits:
    """What a sandbox may use; the defaults are the protocol's."""

    memory_mb: int = _limit("memory_mb")
    """The whole tree with a cgroup; else each process (RLIMIT_DATA) and a watch on the resident sum."""
    tmpfs_mb: int = _limit("tmpfs_mb")
    """All writable places together; keep it below memory, so that a full disk is ENOSPC."""
    pids: int = _limit("pids")
    file_size_mb: int = _limit("file_size_mb")
    open_files: int = _limit("open_files")


@dataclass(frozen=True)
class Layer:
    """A tree of the host shown read-only inside."""

    source: Path
    target: str


@dataclass(frozen=True)
class BoxSpec:
    """What one sandbox is made of."""

    layers: tuple[Layer, ...] = ()
    listen: tuple[tuple[str, int], ...] = (("127.0.0.1", 8080),)
    """Addresses on which sockets listen inside; any port, also 80, on any 127.x.x.x."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Names for `/etc/hosts` inside, each with its 127.x.x.x address."""
    writable: tuple[str, ...] = ()
    """Further folders the candidate may write (the prefix, while installing)."""
    limits: Limits = field(default_factory=Limits)
    allow_nested: bool = False
    """Let processes inside make user namespaces (products that bring a sandbox of their own)."""
    workspace_name: str = "project"
    """The last part of the workspace's path."""


@dataclass(frozen=True)
class Entry:
    """One thing in a tree of files, as seen from outside.

    `data` holds at most the first `max_bytes` of a file (`truncated` says that there was more) and is None for what is
    no file. `sha256` is over the whole file; empty where it was not read whole (see `Sandbox.tree`).
    """

    kind: Literal["file", "dir", "link", "other"]
    mode: int
    size: int
    mtime: float
    data: bytes | None = None
    target: str | None = None
    truncated: bool = False
    sha256: str = ""


@dataclass(frozen=True)
class ExecResult:
    """What a finished command left; `returncode` as the shell says it (128 + signal if killed)."""

    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False


@dataclass(frozen=True)
class ProcessInfo:
    """A process that runs inside."""

    pid: int
    argv: tuple[str, ...]
    state: str = "?"
    """One letter, as in `/proc/PID/stat`."""


@dataclass(frozen=True)
class Usage:
    """What ran inside has used so far; our own init is not counted in `cpu_seconds`."""

    cpu_seconds: float
    peak_mb: float
    """Peak memory: of all together with a cgroup, of the largest process without."""
    oom: bool
    """Something was killed because the memory limit was reached."""
    init_seconds: float = 0.0
    """CPU seconds of our own init and of the set-up."""


class Process(Protocol):
    """A process started inside."""

    @property
    def pid(self) -> int:
        """Its process id inside."""
        ...

    def wait(self, timeout: float | None = None) -> int | None:
        """Its exit status as the shell says it (0..255; 128 + signal), or None if it still runs after `timeout` s."""
        ...

    def poll(self) -> int | None:
        """Its exit status, or None while it runs."""
        ...

    def signal(self, number: int, *, group: bool = False) -> None:
        """Send a signal to the process (or to its process group); nothing happens when it is gone."""
        ...

    def fileno(self) -> int:
        """A descriptor that becomes readable when the process has ended (for select and poll)."""
        ...


class Sandbox(Protocol):
    """One sandbox; a context manager that closes itself."""

    @property
    def listeners(self) -> Sequence[socket.socket]:
        """The listening sockets, in the order of `BoxSpec.listen`; they live until `close`."""
        ...

    @property
    def workspace(self) -> str: ...
    @property
    def outside(self) -> str: ...
    @property
    def home(self) -> str: ...
    @property
    def tmp(self) -> str: ...

    def inside(self, target: str) -> str:
        """The path processes see for an absolute path of the spec (`/opt/harness`); the same but for `none`."""
        ...

    def url(self, i: int = 0) -> str:
        """`http://host:port` of listener `i`, as seen inside."""
        ...

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        terminal: bool = False,
    ) -> Process:
        """Start a process; the descriptors are the caller's (None: /dev/null), copied, and still to be closed by it.

        The environment is built from nothing: PATH, HOME, LANG, TMPDIR, USER, with `env` on top. With `terminal` stdin
        must be the slave of a pseudo-terminal, which becomes the controlling one. A command that cannot be run ends
        with status 127 (not found) or 126, and a line on stderr. The default `cwd` is the workspace.
        """
        ...

    def exec(
        self,
        argv: Sequence[str],
        *,
        input: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        max_bytes: int = 1_048_576,
    ) -> ExecResult:
        """Run a command to its end; stdin is a file holding `input`; each output is kept up to `max_bytes`."""
        ...

    def terminal(self, rows: int = 24, columns: int = 80) -> tuple[int, int]:
        """A pseudo-terminal of the sandbox's own devpts: (master, slave), both the caller's to close."""
        ...

    def write_file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file below a writable place or in `/etc`, with its folders; a link on the way is an error."""
        ...

    def read_file(self, path: str) -> bytes:
        """A file's bytes; FileNotFoundError and the like as from `open`, no link followed."""
        ...

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        """Make a folder with its parents (an existing one only gets the mode)."""
        ...

    def symlink(self, path: str, target: str) -> None:
        """Make a symbolic link, with the folders above it."""
        ...

    def chmod(self, path: str, mode: int) -> None: ...

    def utime(self, path: str, mtime: float) -> None:
        """Set the modification time (of a link itself, if it is one)."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, link or whole folder; what is not there is no error."""
        ...

    def tree(self, path: str, *, max_bytes: int = 1_048_576, total_bytes: int = 33_554_432) -> dict[str, Entry]:
        """Everything below `path`, seen from outside, by relative posix name; no link followed, no fifo opened.

        A `path` that is not a folder (a link, a file) is the one entry `""`; one that is missing gives `{}`. Names that
        are no UTF-8 carry surrogates. `data` of all files together is at most `total_bytes`, and at most eight times
        that is read; past it the entries have no data and no `sha256`, with `truncated` set. Works when everything
        inside is dead or stopped.
        """
        ...

    def export(self, path: str, destination: Path) -> None:
        """Copy the tree at `path` out to a new folder of the host, ready to be a `Layer`; no link is followed."""
        ...

    def connect(self, port: int, host: str = "127.0.0.1", timeout: float = 5.0) -> socket.socket:
        """A socket connected to a port that something inside listens on; OSError as from `connect`."""
        ...

    def processes(self) -> list[ProcessInfo]:
        """What still runs inside, our own init left out."""
        ...

    def kill_all(self) -> None:
        """SIGKILL everything but our init, and wait until it is gone."""
        ...

    def usage(self) -> Usage: ...

    def connection(self) -> str:
        """A shell command with which a person can look inside."""
        ...

    def close(self) -> None:
        """End everything inside and remove every trace; may be called twice."""
        ...

    def __enter__(self) -> Sandbox: ...
    def __exit__(self, *exc: object) -> None: ...


class Provider(Protocol):
    """A way to make sandboxes."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """The versions of what stands in the root (python, bash, git, coreutils, ...)."""
        ...

    @property
    def marks(self) -> tuple[str, ...]:
        """What must stand beside every result made with it (`no isolation`); empty for a full sandbox."""
        ...

    @property
    def cache(self) -> Path:
        """A folder at a neutral path, whose sub-folders may be layers; kept between runs."""
        ...

    @property
    def stable(self) -> bool:
        """Paths inside are the same in every process, so an installed layer may be kept for the next run."""
        ...

    def open(self, spec: BoxSpec) -> Sandbox:
        """A fresh sandbox; SandboxError if it could not be made, SandboxUnavailable if none can be on this machine."""
        ...

    def cpu_seconds(self) -> float:
        """CPU seconds of everything run for closed sandboxes, and of the machinery outside this process."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Provider: ...
    def __exit__(self, *exc: object) -> None: ...
