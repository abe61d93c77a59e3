"""The explanations of survivors."""

from __future__ import annotations

from pathlib import Path

import pytest

from triathlon.errors import UsageError
from triathlon.mutants.survivors import explained


def put(folder: Path, text: str) -> Path:
    (folder / "survivors.toml").write_text(text)
    return folder


def test_none_without_a_file(tmp_path: Path) -> None:
    assert explained(tmp_path) == {}


def test_a_sentence_for_each(tmp_path: Path) -> None:
    text = '[survivors]\n"loop/agent:f:negated:1" = "It comes to the same."\n'
    assert explained(put(tmp_path, text)) == {"loop/agent:f:negated:1": "It comes to the same."}


@pytest.mark.parametrize("text", ["[survivors", "[other]\na = 'b'", "[survivors]\na = 1", "[survivors]\na = ' '"])
def test_other_forms_are_told_with_the_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"survivors\.toml"):
        explained(put(tmp_path, text))


def test_the_benchmarks_own_can_be_read() -> None:
    assert all(why.endswith(".") for why in explained().values())
