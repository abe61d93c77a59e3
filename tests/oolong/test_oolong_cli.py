"""The oolong commands, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

VECTORS = Path(__file__).parent / "data" / "vectors.jsonl"


def _run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "triathlon", "oolong", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_score_prints_one_line_for_each_answer_in_order() -> None:
    done = _run("score", str(VECTORS), "--today", "2026-01-20")
    assert done.returncode == 0, done.stderr
    wanted = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    given = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["id"] for row in given] == [row["id"] for row in wanted]
    for want, got in zip(wanted, given, strict=True):
        raises = want["official"]["raises"]
        assert abs(got["score"] - (want["official"]["score"] or 0.0)) < 1e-9
        assert (raises is not None) == ("reason" in got)
        assert got["lenient"] >= got["score"]
        assert got["scorer"].startswith("official ")


def test_score_says_which_line_is_wrong() -> None:
    done = _run("score", "-", stdin='{"scorer": "judge", "answer": "a", "response": "b"}\n{}\nx\n')
    assert done.returncode == 4
    assert done.stdout == ""
    assert "-:1: unknown scorer 'judge'" in done.stderr
    assert "-:2: 'scorer' is missing" in done.stderr
    assert "-:3: not JSON" in done.stderr


def test_a_wrong_day_and_a_missing_file_are_one_line() -> None:
    for arguments, said in (
        (("score", str(VECTORS), "--today", "soon"), "no date"),
        (("score", "/no/such/file"), "No such file"),
        (("audit", "/no/such/file"), "no such file"),
    ):
        done = _run(*arguments)
        assert done.returncode == 4
        assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_make_audit_and_baselines_follow_each_other(tmp_path: Path) -> None:
    out = tmp_path / "w.jsonl"
    made = _run("make", "--out", str(out), "--length", "1024", "--json")
    assert made.returncode == 0, made.stderr
    rows = json.loads(made.stdout)["rows"]
    assert rows == len(out.read_text().splitlines()) > 0
    audited = _run("audit", str(out), "--json")
    assert audited.returncode == 0, audited.stderr
    assert json.loads(audited.stdout)["rows"] == rows
    based = json.loads(_run("baselines", str(out), "--json").stdout)
    assert based["baselines"]["oracle"]["score"] == 1.0


def test_the_audit_exits_1_and_counts_unreadable_rows(tmp_path: Path) -> None:
    out = tmp_path / "w.jsonl"
    _run("make", "--out", str(out), "--length", "1024", "--windows", "1")
    lines = out.read_text().splitlines()
    broken = json.loads(lines[0]) | {"answer": "['nobody']"}
    cut = json.loads(lines[1]) | {"truncated_cells": ["context_window_text"]}
    out.write_text("\n".join([json.dumps(broken), json.dumps(cut), "{", *lines[2:]]) + "\n")
    done = _run("audit", str(out), "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["flags"] == {"wrong": 1}
    assert [row["where"] for row in found["unreadable"]] == ["w.jsonl:2", "w.jsonl:3"]
