"""A tree's hash: the same for a copy, another for any change that counts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from triathlon.errors import UsageError
from triathlon.harness import candidate


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    (made / "pkg" / "empty").mkdir(parents=True)
    (made / "install.sh").write_text("echo")
    (made / "run").write_text("x")
    (made / "run").chmod(0o755)
    (made / "pkg" / "a.py").write_bytes(b"\xff\x00")
    (made / "pkg" / "l").symlink_to("../install.sh")
    return made


def test_a_copy_has_the_same_hash(tree: Path, tmp_path: Path) -> None:
    before = candidate.hash_tree(tree)
    shutil.copytree(tree, tmp_path / "copy", symlinks=True)
    os.utime(tmp_path / "copy" / "run", (0, 0))
    (tmp_path / "copy" / "install.sh").chmod(0o600)
    (tmp_path / "copy" / "pkg" / "__pycache__").mkdir()
    (tmp_path / "copy" / "pkg" / "__pycache__" / "a.pyc").write_text("left by a run")
    assert candidate.hash_tree(tmp_path / "copy") == before


@pytest.mark.parametrize(
    "change",
    [
        lambda t: (t / "install.sh").write_text("Echo"),
        lambda t: (t / "install.sh").chmod(0o755),
        lambda t: (t / "install.sh").rename(t / "install2.sh"),
        lambda t: (t / "pkg" / "empty").rmdir(),
        lambda t: (t / "pkg" / "new").write_text(""),
        lambda t: ((t / "pkg" / "l").unlink(), (t / "pkg" / "l").symlink_to("../run")),
        lambda t: ((t / "pkg" / "l").unlink(), (t / "pkg" / "l").write_text("../install.sh")),
    ],
)
def test_any_change_that_counts_is_another_hash(tree: Path, change: Callable[[Path], object]) -> None:
    before = candidate.hash_tree(tree)
    change(tree)
    assert candidate.hash_tree(tree) != before


def test_bytes_cannot_move_between_files(tmp_path: Path) -> None:
    for name, files in (("one", {"a": "bc", "d": "e"}), ("two", {"a": "b", "d": "ce"})):
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text)
    assert candidate.hash_tree(tmp_path / "one") != candidate.hash_tree(tmp_path / "two")


def test_the_two_names_stand_for_trees_of_the_content() -> None:
    assert candidate.load("reference").name == "reference"
    assert candidate.load("skeleton").name == "skeleton"


def test_what_is_no_tree_is_wrong_use(tree: Path) -> None:
    with pytest.raises(UsageError, match="no tree: it is not there"):
        candidate.load(str(tree / "missing"))
    with pytest.raises(UsageError, match="no tree: it is a file"):
        candidate.load(str(tree / "install.sh"))
    os.mkfifo(tree / "pipe")
    with pytest.raises(UsageError, match="files, folders and links only"):
        candidate.load(str(tree))


def test_an_empty_name_is_not_the_current_folder() -> None:
    with pytest.raises(UsageError, match="the name is empty"):
        candidate.load("")
