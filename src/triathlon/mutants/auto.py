"""Automatic faults: small changes of the reference's syntax tree, drawn with a seed.

Each is named by what it changes (file, function, kind of change, how many-th of its kind there), not by a line, so that
an edit elsewhere leaves its name, and the explanation of a survivor, as it was.
"""

from __future__ import annotations

import ast
import difflib
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard

from triathlon.harness.case import Case, Suite
from triathlon.mutants.catalogue import Mutant
from triathlon.mutants.patch import CONTEXT, read_hunks, texts_of
from triathlon.mutants.run import Bench

AREAS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "permissions": (
        ("permissions/", "approvals.py", "trust.py"),
        ("permissions", "files", "extensions", "drive", "headless"),
    ),
    "files": (
        ("tools/", "textfile.py", "globs.py", "ignore.py", "shelloutput.py", "processes.py", "checkpoints.py"),
        ("files", "session", "permissions", "recovery"),
    ),
    "session": (
        ("session.py", "sessions.py", "records.py", "history.py", "rewind.py", "opening.py", "compaction.py"),
        ("session", "recovery", "headless", "drive"),
    ),
    "loop": (
        (
            "agent.py",
            "turn.py",
            "conversation.py",
            "runner.py",
            "calls.py",
            "model.py",
            "reply.py",
            "sse.py",
            "http11.py",
        ),
        ("recovery", "session", "headless", "files", "permissions"),
    ),
}
"""By area: the modules that are changed, and the categories of cases that are to notice it, the likeliest first."""

_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Change:
    """A stretch of a module's text and what takes its place."""

    kind: str
    function: str
    start: int
    end: int
    new: str
    line: int


def generate(reference: Path, count: int, seed: int) -> list[Mutant]:
    """So many faults, the same for the same reference and seed; fewer if there are no more. Areas are drawn evenly."""
    texts = texts_of(reference)
    pools = {area: _pool(area, texts) for area in AREAS}
    drawn: list[Mutant] = []
    dice = random.Random(seed)
    for pool in pools.values():
        dice.shuffle(pool)
    while len(drawn) < count and any(pools.values()):
        for area, pool in pools.items():
            if pool and len(drawn) < count:
                identity, name, change = pool.pop()
                mutant = _mutant(identity, area, name, texts[name], change)
                drawn += [mutant] if mutant is not None else []
    return sorted(drawn, key=lambda mutant: mutant.id)


def _pool(area: str, texts: dict[str, str]) -> list[tuple[str, str, Change]]:
    """(id, file, change) of all faults of an area."""
    found: list[tuple[str, str, Change]] = []
    for name, text in texts.items():
        inside = name.removeprefix("harness/")
        if name.startswith("harness/") and name.endswith(".py") and _belongs(inside, AREAS[area][0]):
            numbers: dict[str, int] = {}
            for change in changes(text):
                stem = f"{inside.removesuffix('.py')}:{change.function}:{change.kind}"
                numbers[stem] = numbers.get(stem, 0) + 1
                found.append((f"{area}/{stem}:{numbers[stem]}", name, change))
    return found


def _belongs(name: str, wanted: tuple[str, ...]) -> bool:
    return any(name.startswith(piece) if piece.endswith("/") else name == piece for piece in wanted)


def _mutant(identity: str, area: str, name: str, text: str, change: Change) -> Mutant | None:
    new = text[: change.start] + change.new + text[change.end :]
    try:
        ast.parse(new)
    except SyntaxError:
        return None
    lines = difflib.unified_diff(text.split("\n"), new.split("\n"), f"a/{name}", f"b/{name}", n=CONTEXT, lineterm="")
    diff = "\n".join(lines)
    if not diff:
        return None
    old = " ".join(text[change.start : change.end].split())
    about = f"{name}:{change.line}: `{_short(old)}` becomes `{_short(' '.join(change.new.split()))}`."
    return Mutant(identity, area, "automatic", about, read_hunks(diff, identity))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def changes(text: str) -> Iterator[Change]:
    """All changes of a module, in the order of its lines."""
    tree = ast.parse(text)
    places = _Places(text)
    yield from sorted(_walk(tree, "", places), key=lambda change: (change.start, change.kind))


class _Places:
    """Where nodes stand in a text: the tree counts bytes of lines, a patch characters of the whole."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Start and end of a node."""
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        before = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)


def _walk(node: ast.AST, function: str, places: _Places) -> Iterator[Change]:
    for child in ast.iter_child_nodes(node):
        inside = function
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inside = f"{function}.{child.name}" if function else child.name
        if isinstance(child, ast.expr | ast.stmt) and not _says_nothing(child):
            yield from _changes_of(child, function or "module", places)
            yield from _walk(child, inside, places)
        elif not isinstance(child, ast.expr | ast.stmt):
            yield from _walk(child, inside, places)


def _says_nothing(node: ast.expr | ast.stmt) -> bool:
    """Docstrings, imports, annotations: a change there is none."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return True
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_call(node: ast.expr | ast.stmt) -> TypeGuard[ast.Expr]:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _changes_of(node: ast.expr | ast.stmt, function: str, places: _Places) -> Iterator[Change]:
    def change(kind: str, target: ast.expr | ast.stmt, new: str) -> Change:
        start, end = places.of(target)
        return Change(kind, function, start, end, new, target.lineno)

    if isinstance(node, ast.If | ast.While | ast.IfExp):
        start, end = places.of(node.test)
        yield change("negated", node.test, f"(not ({places.text[start:end]}))")
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SWAPPED:
        swapped = ast.Compare(node.left, [_SWAPPED[type(node.ops[0])]()], node.comparators)
        yield change("compared", node, f"({ast.unparse(swapped)})")
    elif isinstance(node, ast.BoolOp):
        other: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield change("joined", node, f"({ast.unparse(ast.BoolOp(other, node.values))})")
    elif isinstance(node, ast.Return) and node.value is not None:
        new = {"True": "False", "False": "True"}.get(ast.unparse(node.value), "None")
        if new != ast.unparse(node.value):
            yield change("returned", node.value, new)
    elif isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break) or _is_call(node):
        yield change("dropped", node, "pass")
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield change("counted", node, str(node.value + 1))


def cases_for(area: str, suite: Suite) -> list[Case]:
    """The cases that are to notice a fault of an area, those of its own category first."""
    order = AREAS[area][1]
    chosen = [case for case in suite.cases if case.category in order]
    return sorted(chosen, key=lambda case: order.index(case.category))


def for_automatic(bench: Bench) -> Bench:
    """The bench for automatic faults: they have no clause, and the first case that fails is enough."""
    chosen = {area: cases_for(area, bench.suite) for area in AREAS}
    return replace(bench, chooses=lambda mutant: chosen[mutant.clause], until_noticed=True, breadth="none")
