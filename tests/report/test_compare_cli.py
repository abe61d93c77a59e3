"""`harness compare` as a person and as a program read it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from report_help import fill, suite

from triathlon.cli.compare import compare
from triathlon.harness import load


def test_it_names_what_changed_and_fails_only_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "s"
    cases = suite(root, groups=3, cases=2)
    verdict = lambda name, unit: (name == "a") != (unit.group == "g1")  # noqa: E731
    store = fill(tmp_path / "a.sqlite", cases, {"a": 1, "b": 1}, verdict)
    given = {"store": store, "other": None, "suite": root}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "spec_clauses", lambda: frozenset({"PERM-01"}))
        assert compare("a", "b", **given, fail_on_worse=False, as_json=False) == 0  # type: ignore[arg-type]
        out = capsys.readouterr().out
        assert "better  g1/c0" in out and "worse   g0/c0" in out
        assert "2 better, 4 worse; McNemar p = 0.6875" in out
        assert compare("a", "b", **given, fail_on_worse=True, as_json=True) == 1  # type: ignore[arg-type]
    found = json.loads(capsys.readouterr().out)
    assert found["difference"] == pytest.approx(-2 / 6)
    assert found["permutation_p"] == 1.0
