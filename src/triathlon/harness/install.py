"""Installs a candidate once, offline, by its own install script; what it leaves is a layer every case starts from."""

from __future__ import annotations

import hashlib
import json
import posixpath
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triathlon.harness.candidate import Candidate, read_tree
from triathlon.sandbox import BoxSpec, Layer, cache

if TYPE_CHECKING:
    from triathlon.sandbox import Limits, Provider, Sandbox

PREFIX = "/opt/harness"
COMMAND = "bin/harness"
SCRIPT = "install.sh"
DEADLINE_S = 900.0
SAID = 2000


@dataclass(frozen=True)
class Installed:
    """A candidate ready to be run, or the reason why it is not: then every case fails with it."""

    candidate: Candidate
    layers: tuple[Layer, ...] = ()
    failure: str | None = None


def root_hash(provider: Provider) -> str:
    """Hash of the versions of what stands in the sandbox's root."""
    return hashlib.sha256(json.dumps(dict(provider.fingerprint), sort_keys=True).encode()).hexdigest()


def place_of(candidate: Candidate, provider: Provider) -> Path:
    """Where the installed layer of a candidate is kept, if it is."""
    key = hashlib.sha256(f"{candidate.sha256} {provider.name} {root_hash(provider)}".encode()).hexdigest()
    return provider.cache / f"installed-{key[:32]}"


def install(candidate: Candidate, provider: Provider, limits: Limits) -> Installed:
    """Install a candidate, or find it installed. Raises SandboxError where the sandbox is at fault."""
    place = place_of(candidate, provider)
    if not (provider.stable and place.is_dir()):
        with provider.open(BoxSpec(listen=(), writable=(PREFIX,), limits=limits)) as box:
            failure = install_inside(box, candidate)
            if failure is not None:
                return Installed(candidate, failure=failure)
            _export(box, place)
    return Installed(candidate, (Layer(place, PREFIX),))


def install_inside(box: Sandbox, candidate: Candidate) -> str | None:
    """Run the install script in an open sandbox, in a copy of the tree; the reason if it failed."""
    copy = posixpath.join(posixpath.dirname(box.workspace), "tree")
    prefix = box.inside(PREFIX)
    for file in read_tree(candidate.tree):
        path = posixpath.join(copy, file.name)
        if file.kind == "folder":
            box.mkdir(path)
        elif file.kind == "link":
            box.symlink(path, file.data.decode("utf-8", "surrogateescape"))
        else:
            box.write_file(path, file.data, 0o755 if file.kind == "program" else 0o644)
    done = box.exec(["sh", SCRIPT, prefix], cwd=copy, timeout=DEADLINE_S)
    box.kill_all()
    box.remove(copy)
    if done.timed_out:
        return f"install: `sh {SCRIPT} {PREFIX}` still ran after {DEADLINE_S:g} s"
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-SAID:]
        return f"install: `sh {SCRIPT} {PREFIX}` exited {done.returncode}" + (f": {said}" if said else "")
    command = box.tree(prefix, max_bytes=0).get(COMMAND)
    if command is None or command.kind == "dir":
        return f"install: `sh {SCRIPT} {PREFIX}` exited 0 but left no {PREFIX}/{COMMAND}"
    return None


def _export(box: Sandbox, place: Path) -> None:
    # Another run may install the same tree at the same time: whoever is first wins, both have the same bytes.
    fresh = cache.temporary("new")
    try:
        fresh.chmod(0o755)
        box.export(box.inside(PREFIX), fresh / "prefix")
        if place.exists():
            shutil.rmtree(place)  # an unstable provider: its paths were another process's
        try:
            (fresh / "prefix").rename(place)
        except OSError:
            if not place.is_dir():
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
