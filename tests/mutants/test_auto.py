"""Automatic faults: which changes there are, their names, and that a seed decides."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from triathlon import content
from triathlon.mutants.auto import AREAS, changes, generate
from triathlon.mutants.lint import planted_texts
from triathlon.mutants.patch import texts_of


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("if a:\n    b = 2.5", {"if (not (a)):"}),
        ("x = a < b", {"x = (a <= b)"}),
        ("x = a and b", {"x = (a or b)"}),
        ("f(a)", {"pass"}),
        ("x += a", {"pass"}),
        ("x = 3", {"x = 4"}),
        ('"""Words."""', set()),
        ("import a", set()),
        ("x: int = a", set()),
        ("x = 'ä'; y = a in b", {"x = 'ä'; y = (a not in b)"}),
    ],
)
def test_changes(code: str, wanted: set[str]) -> None:
    made = {(code[: change.start] + change.new + code[change.end :]).split("\n")[0] for change in changes(code)}
    assert made == wanted


def test_returns() -> None:
    code = "def f():\n    return True\n\n\nclass C:\n    def g(self):\n        return x\n"
    found = {(change.function, change.new) for change in changes(code) if change.kind == "returned"}
    assert found == {("f", "False"), ("C.g", "None")}


def tree(folder: Path, *, before: str = "") -> Path:
    (folder / "harness").mkdir(parents=True)
    body = "".join(f"def f{n}(a):\n    if a == {n}:\n        return a\n    return b\n\n\n" for n in range(9))
    (folder / "harness" / "agent.py").write_text(before + body)
    return folder


def test_a_seed_decides(tmp_path: Path) -> None:
    one, other = tree(tmp_path / "a"), tree(tmp_path / "b")
    assert [m.id for m in generate(one, 5, 0)] == [m.id for m in generate(other, 5, 0)]
    assert [m.id for m in generate(one, 5, 0)] != [m.id for m in generate(one, 5, 1)]


def test_names_stay_when_lines_move(tmp_path: Path) -> None:
    one, other = tree(tmp_path / "a"), tree(tmp_path / "b", before="import os\n\n\n")
    assert [m.id for m in generate(one, 999, 0)] == [m.id for m in generate(other, 999, 0)]


def test_those_of_the_reference_apply_and_compile() -> None:
    reference = content.tree("reference")
    texts = texts_of(reference)
    mutants = generate(reference, 60, 0)
    assert len({mutant.id for mutant in mutants}) == 60
    assert {mutant.clause for mutant in mutants} == set(AREAS)
    for mutant in mutants:
        for name, text in planted_texts(mutant, texts).items():
            assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(texts[name])), mutant.id
