"""`triathlon harness mutants` as a user meets it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from triathlon import content
from triathlon.cli import mutants as cli
from triathlon.mutants import catalogue


def triathlon(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "triathlon", "harness", "mutants", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_list_as_json() -> None:
    done = triathlon("list", "--clause", "PERM-10", "--json")
    assert done.returncode == 0
    listed = json.loads(done.stdout)["mutants"]
    assert {one["clause"] for one in listed} == {"PERM-10"}
    assert all(one["about"].endswith(".") and one["files"] for one in listed)


def test_a_clause_without_any_is_nothing_to_do() -> None:
    assert triathlon("list", "--clause", "NONE-01").returncode == 5


def test_a_wrong_breadth_is_wrong_use() -> None:
    done = triathlon("run", "--clause", "PERM-10", "--breadth", "some")
    assert done.returncode == 4
    assert "some" in done.stderr


def test_auto_lists_without_running() -> None:
    done = triathlon("auto", "--list", "--count", "12", "--area", "loop")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 3, "the areas are drawn evenly"
    assert all(line.startswith("loop/") for line in lines)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the reference, and a place for mutants that is not the benchmark's."""
    monkeypatch.setattr(catalogue, "folder", lambda: tmp_path / "mutants")
    shutil.copytree(content.tree("reference"), tmp_path / "copy")
    return tmp_path / "copy"


def test_an_edit_becomes_a_patch(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    version = copy / "harness" / "__init__.py"
    version.write_text(version.read_text().replace("__version__", "__edition__"))
    cli.new("ART-01/no-version", copy, "left-out", "There is no version.")
    mutant = catalogue.read(Path(capsys.readouterr().out.strip()))
    assert (mutant.id, mutant.sources) == ("ART-01/no-version", ["harness/__init__.py"])


def test_no_edit_is_wrong_use(copy: Path) -> None:
    with pytest.raises(catalogue.UsageError, match="the same as the reference"):
        cli.new("ART-01/none", copy, "left-out", "Nothing is wrong.")
