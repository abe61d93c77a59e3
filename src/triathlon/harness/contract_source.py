"""The contract as far as the tree's text decides it: its size, its links, what compiles, what was left a stub.

Nothing of the tree is run here, and no link is followed.
"""

from __future__ import annotations

import ast
import io
import os
import stat
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triathlon.harness.candidate import IGNORED
from triathlon.harness.finding import ContractFinding
from triathlon.harness.stubs import stubs

MAX_ENTRIES = 20_000
MAX_BYTES = 256 << 20
MAX_SOURCE = 2 << 20
INSTALLER = "install.sh"


class TooLarge(Exception):
    """The tree is over the limits; the message says which."""


@dataclass(frozen=True)
class Item:
    """One entry of the tree, by its relative posix name; `mode` is that of lstat."""

    name: str
    path: Path
    mode: int
    size: int


def items(tree: Path) -> list[Item]:
    """Everything in the tree, in the order of names. Raises TooLarge past the limits, OSError as from scandir."""
    found: list[Item] = []
    total, waiting = 0, [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(tree / prefix) as entries:
            for entry in entries:
                if entry.name == IGNORED:
                    continue
                info = entry.stat(follow_symlinks=False)
                name = prefix + entry.name
                found.append(Item(name, Path(entry.path), info.st_mode, info.st_size))
                total += info.st_size if stat.S_ISREG(info.st_mode) else 0
                if len(found) > MAX_ENTRIES:
                    raise TooLarge(f"more than {MAX_ENTRIES:,} files and folders")
                if total > MAX_BYTES:
                    raise TooLarge(f"more than {MAX_BYTES >> 20} MiB")
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(name + "/")
    return sorted(found, key=lambda item: item.name)


def look(tree: Path, found: list[Item]) -> Iterator[ContractFinding]:
    """What is wrong with the tree's files."""
    if not any(item.name == INSTALLER and stat.S_ISREG(item.mode) for item in found):
        yield ContractFinding(INSTALLER, 1, "is missing: nothing installs the tree")
    sources = 0
    for item in found:
        if stat.S_ISLNK(item.mode):
            yield from _link(tree, item)
        elif stat.S_ISREG(item.mode) and item.name.endswith(".py"):
            sources += 1
            yield from _source(item)
    if not sources:
        yield ContractFinding(INSTALLER, 1, "the tree has no Python file")


def _link(tree: Path, item: Item) -> Iterator[ContractFinding]:
    target = item.path.readlink()
    inside = os.path.normpath(item.path.parent.relative_to(tree) / target)
    if target.is_absolute() or inside == ".." or inside.startswith("../"):
        yield ContractFinding(item.name, 1, f"is a link that leaves the tree: {target}")


def _source(item: Item) -> Iterator[ContractFinding]:
    if item.size > MAX_SOURCE:
        yield ContractFinding(item.name, 1, f"has {item.size:,} bytes: too large for a Python file")
        return
    try:
        module = _parse(item.path.read_bytes(), item.name)
    except SyntaxError as error:
        yield ContractFinding(item.name, error.lineno or 1, f"does not compile: {error.msg}")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        yield ContractFinding(item.name, line, f"does not compile: not {error.encoding}")
    except (ValueError, RecursionError, MemoryError) as error:
        yield ContractFinding(item.name, 1, f"does not compile: {str(error) or type(error).__name__}")
    except OSError as error:
        yield ContractFinding(item.name, 1, f"cannot be read: {error.strerror}")
    else:
        for stub in stubs(module):
            yield ContractFinding(item.name, stub.line, f"stub: {stub.name} has {stub.body}")


def _parse(source: bytes, name: str) -> ast.Module:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    source.decode(encoding)  # the parser of bytes does not look at comments, the import does
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in a candidate is its own business
        module = ast.parse(source, name)
        compile(source, name, "exec", dont_inherit=True)  # finds what the parser lets through: `return` outside
    return module
