"""The session file: tolerance when reading, care when writing, one writer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.records import InUse, Journal, in_use, last, read

_GOOD = json.dumps({"type": "todo", "items": [], "text": "a\u2028b\u0085c"}).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"\0" * 20,
        _GOOD[:-5],
        _GOOD + _GOOD,
        b"[1]",
        b'{"no": "type"}',
        b"\xff\xfe",
        b'{"type": "message", "message": 3}',
    ],
)
def test_a_broken_line_is_counted_and_the_others_are_read(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n".join([_GOOD, line, b"", _GOOD, b""]))
    records, broken = read(path)
    assert (len(records), broken) == (2, 1)
    assert records[0]["text"] == "a\u2028b\u0085c"


def test_an_append_after_a_cut_line_starts_on_a_fresh_one(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(_GOOD + b"\n" + _GOOD[:9])
    journal = Journal(path)
    journal.append({"type": "rewind", "prompt": 1})
    journal.append({"type": "interrupted"})
    journal.close()
    records, broken = read(path)
    assert ([record["type"] for record in records], broken) == (["todo", "rewind", "interrupted"], 1)
    assert last(path) == {"type": "interrupted"}
    assert path.read_bytes().startswith(_GOOD + b"\n" + _GOOD[:9] + b"\n")


def test_a_second_writer_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal = Journal(path)
    assert in_use(path)
    with pytest.raises(InUse):
        Journal(path)
    journal.close()
    assert not in_use(path)
