"""Whether the planted faults are good ones, and whether every clause has some."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from triathlon.errors import UsageError
from triathlon.harness.spec import Spec
from triathlon.mutants.catalogue import Mutant
from triathlon.mutants.patch import apply, texts_of

MOST_LINES = 12
"""A fault of more changed lines is no small one."""


def findings(mutants: Sequence[Mutant], wrong: Sequence[UsageError], spec: Spec, reference: Path) -> Iterator[str]:
    """One line for everything that is wrong."""
    yield from map(str, wrong)
    texts = texts_of(reference)
    made: dict[tuple[tuple[str, str], ...], Mutant] = {}
    for mutant in mutants:
        try:
            changed = planted_texts(mutant, texts)
        except UsageError as error:
            yield f"{mutant.id}: does not apply: {error}"
            continue
        yield from (f"{mutant.id}: {said}" for said in _looked_at(mutant, changed, spec))
        same = made.setdefault(tuple(sorted(changed.items())), mutant)
        if same is not mutant and same.clause == mutant.clause:
            yield f"{mutant.id}: it is the same fault as {same.id}"
    have = {mutant.clause for mutant in mutants}
    for clause in spec.clauses:
        if clause not in have:
            yield f"{clause}: it has no mutant"


def planted_texts(mutant: Mutant, texts: dict[str, str]) -> dict[str, str]:
    """The files that a fault changes, as it leaves them. Raises DoesNotApply."""
    with tempfile.TemporaryDirectory(prefix="triathlon-mutant-") as place:
        tree = Path(place)
        for name in mutant.sources:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            if name in texts:
                (tree / name).write_text(texts[name], "utf-8")
        apply(mutant.hunks, tree)
        return texts_of(tree)


def _looked_at(mutant: Mutant, changed: dict[str, str], spec: Spec) -> Iterator[str]:
    if mutant.clause not in spec.clauses:
        yield f"the spec has no clause {mutant.clause}"
    if mutant.changed > MOST_LINES:
        yield f"it changes {mutant.changed} lines; a small fault changes at most {MOST_LINES}"
    for name, text in changed.items():
        if name.endswith(".py"):
            try:
                ast.parse(text)
            except SyntaxError as error:
                yield f"{name} does not compile any more: line {error.lineno}: {error.msg}"
