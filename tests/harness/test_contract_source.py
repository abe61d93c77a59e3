"""The contract check on the text of a tree, hostile ones among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from triathlon.harness import contract_source
from triathlon.harness.contract_source import TooLarge, items, look


def lines(tree: Path) -> list[str]:
    return [str(finding) for finding in look(tree, items(tree))]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "install.sh").write_text("exit 0\n")
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text("def f() -> int:\n    return 1\n")
    return tmp_path


def test_a_tree_without_fault_has_no_finding(tree: Path) -> None:
    assert lines(tree) == []


def test_an_installer_and_python_are_needed(tmp_path: Path) -> None:
    assert lines(tmp_path) == [
        "install.sh:1: is missing: nothing installs the tree",
        "install.sh:1: the tree has no Python file",
    ]


def test_an_installer_that_is_a_link_is_none(tree: Path) -> None:
    (tree / "install.sh").unlink()
    (tree / "install.sh").symlink_to("harness/__init__.py")
    assert "install.sh:1: is missing: nothing installs the tree" in lines(tree)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (b"x = 1\ny = (\n", "harness/bad.py:2: does not compile: '(' was never closed"),
        (b"x = 1\nreturn 2\n", "harness/bad.py:2: does not compile: 'return' outside function"),
        (b"x = '\xff'\n", "harness/bad.py:1: does not compile: "),
        (b"x = 1\x00\n", "harness/bad.py:1: does not compile: "),
        (b"x = " + b"(" * 5000, "harness/bad.py:1: does not compile: "),
        (b"x = " + b"-" * 200_000 + b"1\n", "harness/bad.py:1: does not compile: "),
        (b"# coding: no-such\n", "harness/bad.py:1: does not compile: "),
    ],
    ids=["open", "outside", "bytes", "nul", "brackets", "deep", "coding"],
)
def test_what_does_not_compile_is_named(tree: Path, source: bytes, wanted: str) -> None:
    (tree / "harness" / "bad.py").write_bytes(source)
    (line,) = lines(tree)
    assert line.startswith(wanted)


def test_a_declared_encoding_and_an_odd_escape_are_fine(tree: Path) -> None:
    (tree / "harness" / "latin.py").write_bytes(b"# coding: latin-1\nx = '\xe9'\ny = '\\d'\n")
    assert lines(tree) == []


def test_stubs_are_named_with_file_and_line(tree: Path) -> None:
    source = "x = 1\n\n\nclass A:\n    def run(self):\n        raise NotImplementedError\n"
    (tree / "harness" / "a.py").write_text(source)
    assert lines(tree) == ["harness/a.py:5: stub: A.run has only `raise NotImplementedError`"]


def test_links_that_leave_are_named_and_not_followed(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    away = tmp_path_factory.mktemp("away")
    (away / "far.py").write_text("def f(): pass\n")
    (tree / "harness" / "abs").symlink_to(away)
    (tree / "harness" / "rel.py").symlink_to("../../far.py")
    (tree / "harness" / "loop").symlink_to("..")
    (tree / "harness" / "fine.py").symlink_to("__init__.py")
    assert lines(tree) == [
        f"harness/abs:1: is a link that leaves the tree: {away}",
        "harness/rel.py:1: is a link that leaves the tree: ../../far.py",
    ]


def test_names_cannot_break_the_line(tree: Path) -> None:
    (tree / "harness" / "a\nb\x1b[31m.py").write_text("def f(): pass\n")
    (line,) = lines(tree)
    assert line == "harness/a b\\x1b[31m.py:1: stub: f has only `pass`"


def test_size_limits(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "harness" / "big.py").write_text("x = 1\n" * 100)
    monkeypatch.setattr(contract_source, "MAX_SOURCE", 500)
    assert lines(tree) == ["harness/big.py:1: has 600 bytes: too large for a Python file"]
    monkeypatch.setattr(contract_source, "MAX_BYTES", 1 << 9)
    with pytest.raises(TooLarge, match="more than 0 MiB"):
        items(tree)
    monkeypatch.setattr(contract_source, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(contract_source, "MAX_ENTRIES", 3)
    with pytest.raises(TooLarge, match="more than 3 files"):
        items(tree)


def test_what_python_left_behind_is_no_part(tree: Path) -> None:
    (tree / "harness" / "__pycache__").mkdir()
    (tree / "harness" / "__pycache__" / "x.py").write_text("def f(): pass\n")
    assert lines(tree) == []
