"""The exports are read back with the readers other people use."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from report_help import NASTY, channels

from triathlon.cli import export as command
from triathlon.errors import UsageError
from triathlon.harness import load
from triathlon.report.data import Report
from triathlon.report.export.junit import as_junit, clean
from triathlon.report.export.markdown import as_markdown
from triathlon.report.export.tables import TABLES, as_csv, as_parquet
from triathlon.store import Store


@pytest.mark.parametrize("name", TABLES)
def test_csv_comes_back_whole(whole: Report, name: str) -> None:
    rows = TABLES[name](whole)
    read = list(csv.DictReader(io.StringIO(as_csv(rows), newline="")))
    assert len(read) == len(rows) > 0
    first = {key: "" if value is None else str(value) for key, value in rows[0].items()}
    assert {key: value for key, value in read[0].items() if key in first} == first


def test_verdicts_have_one_row_for_each_candidate_and_case(whole: Report) -> None:
    rows = TABLES["verdicts"](whole)
    assert len(rows) == 4 * 12
    assert {row["verdict"] for row in rows} >= {"passed", "failed"}
    assert all(row["reasons"] for row in rows if row["verdict"] == "failed")


def test_junit_is_well_formed_and_counts_what_failed(whole: Report) -> None:
    root = ET.fromstring(as_junit(whole))
    suites = root.findall("testsuite")
    assert len(suites) == 4
    for suite, verdicts in zip(suites, whole.population.verdicts, strict=True):
        assert len(suite.findall("testcase")) == int(suite.get("tests", "")) == 12
        assert (
            len(suite.findall("testcase/failure"))
            == int(suite.get("failures", ""))
            == verdicts.count("failed") + verdicts.count("gated")
        )
    failure = root.find("testsuite/testcase/failure[@type='failed']")
    assert failure is not None and failure.text is not None
    assert NASTY in failure.text
    assert "The model says:" in failure.text
    assert len(ET.fromstring(as_junit(whole, 1)).findall("testsuite")) == 1


def test_what_xml_cannot_hold_is_replaced() -> None:
    assert clean("a\x00b\x1b[31m\udcff\ufffe\tz") == "a\ufffdb\ufffd[31m\ufffd\ufffd\tz"


def test_markdown_has_a_row_for_each_model_and_no_broken_cell(whole: Report) -> None:
    text = as_markdown(whole)
    head, _, *rows = text.split("\n\n")[1].splitlines()
    assert len(rows) == 3
    assert all(row.replace("\\|", "").count("|") == head.count("|") for row in rows)
    assert "Opus \\| 5" in text
    assert "KR-20 0." in text or "KR-20 -" in text


def test_parquet_comes_back(whole: Report, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    as_parquet(TABLES["verdicts"](whole), tmp_path / "a.parquet")
    read = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert [row["case"] for row in read] == [row["case"] for row in TABLES["verdicts"](whole)]


def test_the_commands_write_to_stdout_or_to_a_file(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(load, "spec_clauses", lambda: frozenset({"PERM-01"}))
    given = {"store": made / "a.sqlite", "cases": made / "cases", "builds": made / "builds.toml"}
    command.csv("models", None, **given)
    assert capfdbinary.readouterr().out.startswith(b"model,rank,")
    command.junit("hy", tmp_path / "deep" / "a.xml", **given)
    assert ET.parse(tmp_path / "deep" / "a.xml").getroot().find("testsuite") is not None
    command.markdown(tmp_path / "a.md", **given)
    assert (tmp_path / "a.md").read_text().startswith("# Doc2Harness results")
    with pytest.raises(UsageError, match="known are models"):
        command.csv("nothing", None, **given)


@pytest.mark.real
def test_inspect_reads_its_logs_back(whole: Report, store: Store, tmp_path: Path) -> None:
    logs = pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed")
    from triathlon.report.export.inspect import write_logs

    first = write_logs(whole, store, tmp_path)[0]
    log = logs.read_eval_log(str(first))
    assert log.status == "success" and len(log.samples) == 12
    assert log.results.scores[0].metrics["accuracy"].value == whole.data["candidates"][0]["rate"]
    sample = log.samples[0]
    assert [message.role for message in sample.messages] == ["system", "user", "assistant", "tool"]
    assert sample.messages[2].tool_calls[0].arguments == {"path": "a.txt"}
    last = json.loads(json.loads(channels()["requests"])["items"][1]["raw"])["messages"][-1]["content"]
    assert sample.messages[3].text == last
