"""The catalogue of planted faults: the files, their heads, and choosing among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from triathlon.errors import NothingToDo, UsageError
from triathlon.mutants.catalogue import choose, load, write

DIFF = "--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a\n+b\n"


def ids(root: Path) -> list[str]:
    return [mutant.id for mutant in load(root)[0]]


def fill(root: Path) -> Path:
    for clause, name, kind in (
        ("PERM-10", "one", "left-out"),
        ("PERM-02", "two", "near-miss"),
        ("FILE-01", "three", "over-block"),
    ):
        write(root, clause, name, kind, "Something is wrong.", DIFF)
    return root


def test_in_the_order_of_clauses(tmp_path: Path) -> None:
    assert ids(fill(tmp_path)) == ["FILE-01/three", "PERM-02/two", "PERM-10/one"]


def test_a_mutant_knows_what_its_file_says(tmp_path: Path) -> None:
    mutant = write(tmp_path, "PERM-10", "one", "left-out", "Something is wrong.", DIFF)
    assert (mutant.clause, mutant.kind, mutant.about) == ("PERM-10", "left-out", "Something is wrong.")
    assert (mutant.sources, mutant.changed) == (["m.py"], 1)


@pytest.mark.parametrize("text", ["", DIFF, "kind: other\nabout: x\n\n" + DIFF, "kind: left-out\n\n" + DIFF])
def test_a_file_without_a_head_is_told_and_hides_no_other(tmp_path: Path, text: str) -> None:
    fill(tmp_path)
    (tmp_path / "PERM-10" / "bad.patch").write_text(text)
    mutants, wrong = load(tmp_path)
    assert len(mutants) == 3
    assert "bad.patch" in str(wrong[0])


def test_what_cannot_be_read_back_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write(tmp_path, "PERM-10", "one", "wrong", "Something is wrong.", DIFF)
    assert not (tmp_path / "PERM-10" / "one.patch").exists()


def test_choosing(tmp_path: Path) -> None:
    mutants, _ = load(fill(tmp_path))
    assert [one.id for one in choose(mutants, "three,two")] == ["FILE-01/three", "PERM-02/two"]
    assert [one.id for one in choose(mutants, "left-out")] == ["PERM-10/one"]
    assert [one.id for one in choose(mutants, clauses=["perm-10"])] == ["PERM-10/one"]
    assert [one.id for one in choose(mutants, clauses=["PERM"])] == ["PERM-02/two", "PERM-10/one"]
    assert [one.id for one in choose(mutants, limit=1)] == ["FILE-01/three"]
    with pytest.raises(NothingToDo):
        choose(mutants, "no-such")
