"""The planted faults of the benchmark: `doc2harness/mutants/<CLAUSE>/<name>.patch`, each with a head of two lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from triathlon import content
from triathlon.errors import NothingToDo, UsageError
from triathlon.mutants.patch import Hunk, read_hunks

KINDS = ("left-out", "near-miss", "over-block", "automatic")
"""A condition that is not looked at; one that is looked at a little wrong; an innocent neighbour that is refused."""

_HEAD = re.compile(r"kind: ([a-z-]+)\nabout: (.+)\n\n")


@dataclass(frozen=True)
class Mutant:
    """One fault. `id` is `<CLAUSE>/<name>`; `about` says in a sentence what is wrong."""

    id: str
    clause: str
    kind: str
    about: str
    hunks: tuple[Hunk, ...]
    file: Path | None = None

    @property
    def changed(self) -> int:
        """Lines it changes."""
        return sum(hunk.changed for hunk in self.hunks)

    @property
    def sources(self) -> list[str]:
        """The files it changes."""
        return list(dict.fromkeys(hunk.file for hunk in self.hunks))


def folder() -> Path:
    """Where they are."""
    return content.root() / "mutants"


def load(root: Path | None = None) -> tuple[list[Mutant], list[UsageError]]:
    """All faults in the order of clauses and names, and what is wrong with the files that are none."""
    mutants: list[Mutant] = []
    wrong: list[UsageError] = []
    for file in sorted((root or folder()).glob("*/*.patch"), key=lambda path: (_clause_order(path.parent.name), path)):
        try:
            mutants.append(read(file))
        except UsageError as error:
            wrong.append(error)
    return mutants, wrong


def read(file: Path) -> Mutant:
    """One file. Raises UsageError."""
    text = file.read_text("utf-8")
    head = _HEAD.match(text)
    if not head:
        raise UsageError(f"{file}: it begins with a line `kind: ...`, a line `about: ...` and an empty one")
    if head[1] not in KINDS[:3]:
        raise UsageError(f"{file}: kind is one of {', '.join(KINDS[:3])}, not {head[1]}")
    clause = file.parent.name
    return Mutant(f"{clause}/{file.stem}", clause, head[1], head[2], read_hunks(text[head.end() :], str(file)), file)


def write(root: Path, clause: str, name: str, kind: str, about: str, diff: str) -> Mutant:
    """Write one file and read it back. Raises UsageError for what `read` would refuse."""
    file = root / clause / f"{name}.patch"
    before = file.read_text("utf-8") if file.exists() else None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"kind: {kind}\nabout: {about}\n\n{diff}", "utf-8")
    try:
        return read(file)
    except UsageError:
        if before is None:
            file.unlink()
        else:
            file.write_text(before, "utf-8")
        raise


def choose(
    mutants: Iterable[Mutant], pattern: str | None = None, clauses: Sequence[str] = (), limit: int | None = None
) -> list[Mutant]:
    """Those whose id or kind contains one of the pieces of `pattern` (parted by commas), of these clauses (or areas).

    Raises NothingToDo if none is left.
    """
    pieces = [piece.strip().lower() for piece in (pattern or "").split(",") if piece.strip()]
    wanted = [clause.upper() for clause in clauses]
    chosen = [
        mutant
        for mutant in mutants
        if (not pieces or any(piece in mutant.id.lower() or piece == mutant.kind for piece in pieces))
        and (not wanted or bool({mutant.clause.upper(), mutant.clause.partition("-")[0].upper()} & set(wanted)))
    ][:limit]
    if not chosen:
        raise NothingToDo("no mutant is selected")
    return chosen


def _clause_order(name: str) -> tuple[str, int]:
    area, _, number = name.partition("-")
    return area, int(number) if number.isdigit() else 0
