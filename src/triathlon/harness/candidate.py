"""The thing graded: a tree of code, known by the hash of what is in it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triathlon import content
from triathlon.errors import UsageError

# What Python leaves behind when it runs a tree is no part of the tree.
IGNORED = "__pycache__"


@dataclass(frozen=True)
class TreeFile:
    """One entry of a tree: `name` is relative and posix; `kind` is `file`, `program` (x bit), `link` or `folder`."""

    name: str
    kind: str
    data: bytes
    """A file's bytes, a link's target; empty for a folder."""


@dataclass(frozen=True)
class Candidate:
    """A tree and its hash, taken once when it was loaded."""

    name: str
    tree: Path
    sha256: str


def load(name_or_path: str) -> Candidate:
    """The candidate at a path, or the one called `reference` or `skeleton`.

    Raises UsageError if there is no folder, or if it cannot be read whole.
    """
    if not name_or_path:  # Path("") is the current folder: an empty variable in a script must not grade that
        raise UsageError("no tree: the name is empty; give a folder, `reference` or `skeleton`")
    tree = content.tree(name_or_path)
    if not tree.is_dir():
        what = "is a file" if tree.exists() else "is not there"
        raise UsageError(f"{name_or_path}: no tree: it {what}; give a folder, `reference` or `skeleton`")
    return Candidate(tree.resolve().name, tree.resolve(), hash_tree(tree))


def hash_tree(tree: Path) -> str:
    """SHA-256 over names, kinds and bytes of everything in the tree, in the order of names; `__pycache__` left out.

    Modes count as far as the x bit of the owner, times and owners not at all: a copy has the same hash.
    """
    digest = hashlib.sha256()
    for file in read_tree(tree):
        name = os.fsencode(file.name)
        digest.update(b"%s %d %d\n%s\n" % (file.kind.encode(), len(name), len(file.data), name))
        digest.update(file.data)
    return digest.hexdigest()


def read_tree(tree: Path) -> Iterator[TreeFile]:
    """Everything in the tree, sorted by name, folders before what is in them.

    Raises UsageError for what cannot be copied: sockets, pipes, devices, files that cannot be read.
    """
    try:
        yield from _read(tree, "")
    except OSError as error:
        raise UsageError(f"{error.filename}: the tree cannot be read whole: {error.strerror}") from error


def _read(folder: Path, prefix: str) -> Iterator[TreeFile]:
    for entry in sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name)):
        if entry.name == IGNORED:
            continue
        name, path = prefix + entry.name, Path(entry.path)
        if entry.is_symlink():
            yield TreeFile(name, "link", os.fsencode(path.readlink()))
        elif entry.is_dir():
            yield TreeFile(name, "folder", b"")
            yield from _read(path, name + "/")
        elif entry.is_file():
            is_program = entry.stat().st_mode & stat.S_IXUSR
            yield TreeFile(name, "program" if is_program else "file", path.read_bytes())
        else:
            raise UsageError(f"{path}: a tree holds files, folders and links only")
