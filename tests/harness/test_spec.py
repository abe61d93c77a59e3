"""The specification's loader, and what every edition of the shipped pages has to hold to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from triathlon import content
from triathlon.errors import UsageError
from triathlon.harness.spec import NO_PAGES, load_spec

FRONT = "# Spec\n\nVersion: `2.1.0`\nDate: 2026-01-02\n"
PAGE = """# Page

Before any clause.

**AB-01** (R D)
Two words
over two lines.

| a | table |

**AB-02** (X) On the same line.

## A heading ends it

Not of a clause.

**AB-04** (O)
Three.

**Note.** Not of a clause either.
"""

COUNTS = {
    "PERM": 40,
    "FILE": 40,
    "SESS": 26,
    "LOOP": 14,
    "HEAD": 19,
    "CONF": 7,
    "DRIVE": 10,
    "TTY": 12,
    "EXT": 14,
    "ART": 5,
}


def folder(tmp_path: Path, front: str = FRONT, **pages: str) -> Path:
    (tmp_path / "README.md").write_text(front)
    for name, text in pages.items():
        (tmp_path / f"{name}.md").write_text(text)
    return tmp_path


def test_clauses_are_read_with_their_pages_channels_and_lines(tmp_path: Path) -> None:
    spec = load_spec(folder(tmp_path, page=PAGE))
    assert (spec.version, spec.date) == ("2.1.0", "2026-01-02")
    assert list(spec.clauses) == ["AB-01", "AB-02", "AB-04"]
    first, second, third = spec.clauses.values()
    assert (first.page, first.area, first.channels, first.line) == ("page.md", "AB", ("R", "D"), 5)
    assert first.text == "Two words\nover two lines.\n\n| a | table |"
    assert second.text == "On the same line."
    assert third.text == "Three."


def test_words_are_found_over_line_breaks(tmp_path: Path) -> None:
    spec = load_spec(folder(tmp_path, page=PAGE))
    assert spec.clauses["AB-01"].says("words over  two")
    assert not spec.clauses["AB-02"].says("words over two")
    assert spec.says("Not of a clause either.")
    assert not spec.says("nowhere said")
    assert not spec.says(" ")


def test_a_head_inside_a_fence_is_text(tmp_path: Path) -> None:
    spec = load_spec(folder(tmp_path, page="**A-01** (R)\nSee:\n```\n**A-02** (D)\n# no heading\n```\nEnd.\n"))
    assert list(spec.clauses) == ["A-01"]
    assert spec.clauses["A-01"].text.endswith("End.")


@pytest.mark.parametrize(
    ("page", "line", "words"),
    [
        ("**A-01** (R)\nx\n\n**A-01** (D)\ny\n", 4, "A-01 is given twice"),
        ("**A-02** (R)\nx\n\n**A-01** (D)\ny\n", 4, "numbers go up"),
        ("**A-01** (R)\nx\n\n**B-02** (D)\ny\n", 4, "one area a page"),
        ("x\n**A-01** (Q)\nx\n", 2, "not a clause head"),
        ("x\n**A-1** (R)\nx\n", 2, "not a clause head"),
        ("**A-01**\nx\n", 1, "not a clause head"),
        ("**A-01** (R R)\nx\n", 1, "a channel twice"),
        ("**A-01** (R)\n\n# Next\n", 1, "no text"),
    ],
)
def test_a_wrong_page_is_named_with_file_and_line(tmp_path: Path, page: str, line: int, words: str) -> None:
    with pytest.raises(UsageError, match=rf"page\.md:{line}: .*{words}"):
        load_spec(folder(tmp_path, page=page))


def test_an_id_on_two_pages_is_refused_with_both_places(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"two\.md:3: A-01 is given twice, first on one\.md:1"):
        load_spec(folder(tmp_path, one="**A-01** (R)\nx\n", two="\n\n**A-01** (R)\nx\n"))


def test_version_and_date_are_needed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"README\.md:1: no line `Version"):
        load_spec(folder(tmp_path, front="Date: 2026-01-02\n", page=PAGE))


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    (folder(tmp_path) / "page.md").write_bytes(b"ok\n\xff\n")
    with pytest.raises(UsageError, match=r"page\.md:2: not UTF-8"):
        load_spec(tmp_path)


def test_a_folder_without_pages_is_no_specification(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no specification"):
        load_spec(folder(tmp_path))
    with pytest.raises(UsageError, match="cannot be read"):
        load_spec(tmp_path / "absent")


def test_the_shipped_areas_are_whole() -> None:
    ids = load_spec().clauses
    for area, count in COUNTS.items():
        assert [i for i in ids if i.startswith(f"{area}-")] == [f"{area}-{n:02}" for n in range(1, count + 1)]


def test_every_clause_that_a_shipped_page_mentions_exists() -> None:
    spec = load_spec()
    areas = {clause.area for clause in spec.clauses.values()}
    for page in sorted((content.root() / "spec").glob("*.md")):
        for area, number in re.findall(r"\b([A-Z]{2,})-(\d\d)\b", page.read_text("utf-8")):
            if area in areas:
                assert f"{area}-{number}" in spec.clauses, f"{page.name} mentions {area}-{number}"


def test_every_shipped_page_is_in_the_table_of_the_front_page() -> None:
    front = (content.root() / "spec" / "README.md").read_text("utf-8")
    for page in (*load_spec().pages, *(NO_PAGES - {"README.md"})):
        assert f"]({page})" in front
