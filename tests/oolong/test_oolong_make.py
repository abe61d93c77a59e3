"""New windows: the same bytes from a seed, one right answer each, nothing of the labels in what a run sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from triathlon.errors import UsageError
from triathlon.oolong import items as shipped_items
from triathlon.oolong.audit import audit, earliest_month_share
from triathlon.oolong.line import items
from triathlon.oolong.make import estimated_tokens, make, read_source
from triathlon.oolong.windows import COLUMNS, Row, read_file, write_jsonl


def _rows(length: int = 2048, seed: int = 3) -> list[Row]:
    return [row for source in shipped_items.shipped() for row in make(source, length, seed=seed)]


def test_the_shipped_sources_are_whole() -> None:
    sources = shipped_items.shipped()
    assert len(sources) >= 2
    for source in sources:
        assert len(source.items) >= 200
        assert len({item.text for item in source.items}) == len(source.items)
        assert {item.label for item in source.items} == set(source.labels)


def test_one_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_jsonl(_rows(), tmp_path / name)
    write_jsonl(_rows(seed=4), tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() != (tmp_path / "c").read_bytes()


def test_rows_fill_their_length_and_show_no_label() -> None:
    for row in _rows(8192):
        assert 0.8 * 8192 < estimated_tokens(row.context_window_text) <= 0.97 * 8192
        assert " || Label:" not in row.context_window_text
        assert all(item.label is None for item in items(row.context_window_text))
        assert all(item.label for item in items(row.context_window_text_with_labels))


def test_ten_thousand_questions_have_none_of_the_known_defects() -> None:
    asked = 0
    rows: list[Row] = []
    for seed in range(400):
        for source in shipped_items.shipped():
            made = list(make(source, 1024, seed=seed, windows=1, per_window=25))
            asked += len(made)
            rows += made
        if asked >= 10_000:
            break
    assert asked >= 10_000
    assert list(audit(rows)) == []
    share = earliest_month_share(rows)
    assert share is not None and share < 0.75  # the official rows have 1.0
    groups = {row.task_group for row in rows}
    assert groups == {"counting", "user", "timeline"}
    assert any("Among these users" in row.question for row in rows)  # which the official rows never have


def test_rows_survive_a_file(tmp_path: Path) -> None:
    rows = _rows()
    assert write_jsonl(rows, tmp_path / "w.jsonl") == len(rows)
    assert list(read_file(tmp_path / "w.jsonl")) == rows
    assert COLUMNS[0] == "id" and len(COLUMNS) == 13


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"text": "a"}\n', "needs a text"),
        ('{"text": "a", "label": "x"}\n', "at least two labels"),
        ("nonsense\n", "cannot be read"),
        ("[1]\n", "not a JSON object"),
    ],
)
def test_bad_items_are_one_line(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(content)
    with pytest.raises(UsageError, match=said):
        read_source(path)


def test_a_window_too_short_is_refused() -> None:
    with pytest.raises(UsageError, match="too short"):
        next(make(shipped_items.shipped()[0], 100, seed=0))
