"""The published numbers hang together with each other."""

from __future__ import annotations

from statistics import fmean

import pytest

from triathlon.harness.case_file import CATEGORIES
from triathlon.report.published import NAMES, published


@pytest.mark.parametrize("name", NAMES)
def test_every_set_names_its_source_and_unit(name: str) -> None:
    assert published(name)["source"]
    assert published(name)["unit"] in ("percent", "share")


def test_categories_are_ours_and_add_up_to_what_the_paper_names() -> None:
    rows = published("doc2harness")["category"]
    assert {row["name"] for row in rows} <= set(CATEGORIES)
    assert sum(row["cases"] for row in rows) == 321
    for row in rows:
        assert row["floor"] + row["ceiling"] + row["discriminating"] == row["cases"]
    overall = published("doc2harness")["overall"]
    assert overall["floor"] + overall["ceiling"] + overall["discriminating"] == 328
    for name in ("floor", "ceiling", "discriminating"):
        assert sum(row[name] for row in rows) <= overall[name]


def test_issues_add_up() -> None:
    sources = published("doc2harness")["sources"]
    assert sum(count for name, count in sources.items() if name != "issues") == sources["issues"]


def test_the_leaderboard_follows_from_the_curves() -> None:
    oolong = published("oolong")
    at = [oolong["synth"]["lengths"].index(n) for n in (8192, 16384, 32768, 65536, 131072)]
    rows = {row["name"]: row for row in oolong["leaderboard"]}
    for name, key in (("GPT-5", "gpt-5"), ("o3", "o3"), ("GPT-5-nano", "gpt-5-nano")):
        curve, real = oolong["synth"]["scores"][key], oolong["real"]["scores"][key]
        assert 100 * fmean(curve[i] for i in at) == pytest.approx(rows[name]["synth"], abs=0.06)
        assert 100 * fmean(real[:3]) == pytest.approx(rows[name]["real"], abs=0.06)
        assert fmean((rows[name]["synth"], rows[name]["real"])) == pytest.approx(rows[name]["overall"], abs=0.006)
    assert len(oolong["synth"]["scores"]["random-baseline"]) == 10


def test_an_unknown_set_is_an_error() -> None:
    with pytest.raises(KeyError):
        published("../secrets")
