"""Lays a case out inside its sandbox: files in their places, settings, stubs, tool servers, a git repository."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from triathlon.errors import SandboxError
from triathlon.harness import inside
from triathlon.harness.fixture import Change, FixtureFile
from triathlon.harness.setup import Git, Server, Stub

if TYPE_CHECKING:
    from triathlon.harness.setup import Setup
    from triathlon.sandbox import Sandbox

SETTINGS = {
    "user": ("state", "settings.json"),
    "project": ("workspace", ".harness/settings.json"),
    "local": ("workspace", ".harness/settings.local.json"),
    "managed": ("beside", "managed/settings.json"),
}
MANAGED = "HARNESS_MANAGED_SETTINGS"
SERVERS_FILE = ".harness/mcp.json"
WHEN = "2024-01-01T00:00:00Z"
"""Author and commit date of a case's repository: its ids depend on the content alone."""
GIT_ENV = {
    "GIT_AUTHOR_DATE": WHEN,
    "GIT_COMMITTER_DATE": WHEN,
    "GIT_AUTHOR_NAME": "Case",
    "GIT_AUTHOR_EMAIL": "case@example.org",
    "GIT_COMMITTER_NAME": "Case",
    "GIT_COMMITTER_EMAIL": "case@example.org",
}


def lay_out(setup: Setup, box: Sandbox, places: Mapping[str, str]) -> dict[str, str]:
    """Lay out a set-up whose placeholders are filled in.

    Returns the environment that it adds for every started process. Raises SandboxError if the sandbox refuses
    something: at this point nothing of the candidate has run.
    """
    env: dict[str, str] = {}
    for folder in ("workspace", "state"):
        box.mkdir(places[folder])
    late: list[tuple[str, FixtureFile]] = []
    for place in ("workspace", "outside", "beside", "home", "state"):
        late += _files(box, places[place], getattr(setup, place))
    if setup.settings is not None:
        for source in setup.settings.model_fields_set:
            place, name = SETTINGS[source]
            path = posixpath.join(places[place], name)
            box.write_file(path, _json(getattr(setup.settings, source)))
            if source == "managed":
                env[MANAGED] = path
    for name, stub in setup.stubs.items():
        box.write_file(posixpath.join(places["stubs"], name), _stub(stub, places["stubs"]), 0o755)
    if setup.servers:
        _servers(box, places, setup.servers)
    if setup.git is not None:
        late += _git(box, places["workspace"], setup.git)
    _modes(box, late)
    if setup.readonly:
        _run(box, "chmod -R a-w .", places["workspace"])
    return env


def _files(box: Sandbox, root: str, files: Mapping[str, FixtureFile]) -> Iterable[tuple[str, FixtureFile]]:
    """Write files; what needs a mode or a time is returned, since writing below a folder would undo it."""
    for name, file in files.items():
        path = posixpath.join(root, name).rstrip("/")
        if file.kind == "folder":
            box.mkdir(path)
        elif file.kind == "link":
            box.symlink(path, file.link or "")
        else:
            box.write_file(path, file.data(), file.bits)
        if file.moment is not None or (file.kind == "folder" and file.mode is not None):
            yield path, file


def _modes(box: Sandbox, late: Iterable[tuple[str, FixtureFile]]) -> None:
    for path, file in sorted(late, key=lambda item: item[0].count("/"), reverse=True):
        if file.moment is not None:
            box.utime(path, file.moment)
        if file.kind == "folder":
            box.chmod(path, file.bits)


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _stub(stub: Stub, folder: str) -> bytes:
    if stub.script is not None:
        return stub.script.encode("utf-8", "surrogateescape")
    log = None if stub.log is None else posixpath.join(folder, stub.log)
    lines = inside.text("stub").splitlines()
    at = next(number for number, line in enumerate(lines) if "# TOLD" in line)
    lines[at] = f"LOG, SAYS, ERRS, EXIT = {log!r}, {stub.says!r}, {stub.errs!r}, {stub.exit!r}"
    return "\n".join(lines).encode()


def _servers(box: Sandbox, places: Mapping[str, str], servers: Mapping[str, Server]) -> None:
    """One program for all, a configuration and a log for each, and the project's file that names them."""
    folder = posixpath.join(places["stubs"], "servers")
    program = posixpath.join(folder, "tool_server.py")
    box.write_file(program, inside.text("tool_server").encode())
    named: dict[str, Any] = {}
    for name, server in servers.items():
        config = {
            "name": name,
            "behaviour": server.behaviour,
            "log": posixpath.join(folder, f"{name}.log"),
            "tools": {tool: body.model_dump() for tool, body in server.tools.items()},
        }
        path = posixpath.join(folder, f"{name}.json")
        box.write_file(path, _json(config))
        named[name] = {"command": "python3", "args": [program, path]}
        if server.env:
            named[name]["env"] = server.env
    box.write_file(posixpath.join(places["workspace"], SERVERS_FILE), _json({"servers": named}))


def _git(box: Sandbox, workspace: str, git: Git) -> Iterable[tuple[str, FixtureFile]]:
    """The repository, by git itself (ignore rules, filters and modes are git's business), in one or two runs."""
    staged_new = [path for path in git.staged if path not in git.changed]
    lines = [
        "set -e",
        f"git init -q --template= -b {shlex.quote(git.branch)}",
        f"git config user.name {GIT_ENV['GIT_AUTHOR_NAME']}",
        f"git config user.email {GIT_ENV['GIT_AUTHOR_EMAIL']}",
    ]
    if git.commit == "all":
        left_out = "".join(" " + shlex.quote(f":(exclude,top,literal){p}") for p in (*staged_new, *git.untracked))
        lines.append(f"git add -A -- .{left_out}")
    elif git.commit != "none":
        lines.append("git add -- " + " ".join(shlex.quote(f":(top,literal){path}") for path in git.commit))
    if git.commit != "none":
        lines.append(f"git commit -q --allow-empty -m {shlex.quote(git.message)}")
    stage = "git add -f -- " + " ".join(shlex.quote(f":(top,literal){path}") for path in git.staged)
    if git.staged and not git.changed:
        lines.append(stage)
    _run(box, "\n".join(lines), workspace)
    late = list(_files(box, workspace, git.changed))
    if git.staged and git.changed:
        _run(box, stage, workspace)
    return late


def _run(box: Sandbox, script: str, cwd: str) -> None:
    done = box.exec(["sh", "-c", script], cwd=cwd, env=GIT_ENV, timeout=60)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise SandboxError(f"laying out failed with status {done.returncode}: {said or script.splitlines()[-1]}")


def apply_change(box: Sandbox, path: str, change: Change) -> None:
    """Change one file from outside; ValueError if the text to find is not there, OSError if the file cannot be had."""
    if change.absent:
        box.remove(path)
    elif change.file is None:
        old = box.read_file(path)
        box.write_file(path, change.apply(old), box.tree(path, max_bytes=0)[""].mode & 0o7777)
    elif change.file.kind == "folder":
        box.mkdir(path, change.file.bits)
    elif change.file.kind == "link":
        box.remove(path)
        box.symlink(path, change.file.link or "")
    else:
        box.write_file(path, change.file.data(), change.file.bits)
    if change.file is not None and change.file.moment is not None:
        box.utime(path, change.file.moment)
