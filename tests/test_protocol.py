"""The frozen numbers: dotted names, the hash, and what a run changed."""

from __future__ import annotations

import pytest

from triathlon import protocol
from triathlon.errors import UsageError


def test_the_standard_numbers_have_dotted_names() -> None:
    standard = protocol.load()
    assert standard["evaluate.case_timeout_s"] == 900
    assert standard["sandbox.tmpfs_mb"] < standard["sandbox.memory_mb"], "a full disk must be ENOSPC, not a killed box"
    assert standard.label == "standard"
    assert standard.non_standard == []


def test_a_changed_number_marks_the_run_and_its_hash() -> None:
    standard = protocol.load()
    changed = standard.change("evaluate.case_timeout_s", 60)
    assert changed["evaluate.case_timeout_s"] == 60
    assert changed.non_standard == ["evaluate.case_timeout_s = 60 (standard: 900)"]
    assert changed.label.startswith("non-standard: ")
    assert changed.sha256 != standard.sha256


def test_changing_back_is_standard_again() -> None:
    standard = protocol.load()
    back = standard.change("evaluate.case_timeout_s", 60).change("evaluate.case_timeout_s", 900)
    assert back.label == "standard"
    assert back.sha256 == standard.sha256


def test_seed_and_repetitions_mark_the_run_but_share_rows() -> None:
    standard = protocol.load()
    other = standard.change("evaluate.seed", 7).change("evaluate.repetitions", 20)
    assert other.sha256 == standard.sha256
    assert len(other.non_standard) == 2


def test_none_leaves_a_number() -> None:
    assert protocol.load().change("evaluate.seed", None) is protocol.load()


def test_an_unknown_number_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no number is called evaluate\.colour"):
        protocol.load().change("evaluate.colour", 1)
