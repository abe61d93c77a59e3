"""Patches: made, read, and applied where their lines stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from triathlon.errors import UsageError
from triathlon.mutants.patch import DoesNotApply, apply, make, read_hunks, texts_of

BEFORE = {"m.py": "a\nb\nc\nd\ne\n"}
AFTER = {"m.py": "a\nb\nC\nd\ne\n"}


def tree(folder: Path, text: str) -> Path:
    (folder / "m.py").write_text(text)
    return folder


def test_what_is_made_is_read_and_applied(tmp_path: Path) -> None:
    hunks = read_hunks(make(BEFORE, AFTER), "here")
    assert sum(hunk.changed for hunk in hunks) == 1
    apply(hunks, tree(tmp_path, BEFORE["m.py"]))
    assert texts_of(tmp_path) == AFTER


def test_lines_that_moved_are_found(tmp_path: Path) -> None:
    apply(read_hunks(make(BEFORE, AFTER), "here"), tree(tmp_path, "new\nlines\n" + BEFORE["m.py"]))
    assert (tmp_path / "m.py").read_text() == "new\nlines\n" + AFTER["m.py"]


def test_of_equal_places_the_one_of_the_patch_is_changed(tmp_path: Path) -> None:
    twice = {"m.py": BEFORE["m.py"] * 2}
    changed = {"m.py": BEFORE["m.py"] + AFTER["m.py"]}
    apply(read_hunks(make(twice, changed), "here"), tree(tmp_path, twice["m.py"]))
    assert texts_of(tmp_path) == changed


def test_of_equal_places_none_is_guessed(tmp_path: Path) -> None:
    hunks = read_hunks(make(BEFORE, AFTER), "here")
    moved = "x\n" + BEFORE["m.py"] * 2
    with pytest.raises(DoesNotApply, match="2 times"):
        apply(hunks, tree(tmp_path, moved))
    assert (tmp_path / "m.py").read_text() == moved


def test_a_patch_that_does_not_apply_changes_no_file(tmp_path: Path) -> None:
    both = make({**BEFORE, "n.py": "1\n2\n"}, {**AFTER, "n.py": "1\n3\n"})
    tree(tmp_path, BEFORE["m.py"])
    (tmp_path / "n.py").write_text("other\n")
    with pytest.raises(DoesNotApply):
        apply(read_hunks(both, "here"), tmp_path)
    assert (tmp_path / "m.py").read_text() == BEFORE["m.py"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words\n",
        "--- a/m.py\n+++ b/m.py\n",
        "@@ -1 +1 @@\n-a\n+b\n",
        "--- a/m.py\n+++ b/../m.py\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/m.py\n+++ b//etc/m.py\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n a\n",
    ],
)
def test_what_is_no_patch_is_told_with_its_place(text: str) -> None:
    with pytest.raises(UsageError, match="here"):
        read_hunks(text, "here")
