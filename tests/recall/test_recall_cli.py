"""The recall commands from the outside, where no model is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def _run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "triathlon", "recall", *args], capture_output=True, text=True, check=False
    )


def test_check_show_and_export(small_set: Path, tmp_path: Path) -> None:
    good = _run("check", str(small_set))
    assert good.returncode == 0 and "nothing wrong" in good.stderr, good.stderr
    shown = _run("show", str(small_set), "rules_en/2k/0", "--target", "0", "--json")
    labels = [e["label"] for e in json.loads(shown.stdout)]
    assert labels[0].startswith("rule (") and labels[1].startswith("target 0: the rule implies")
    assert _run("show", str(small_set), "rules_en/2k/99").returncode == 4
    assert _run("show", str(small_set), "rules_en").returncode == 4
    written = _run("export", str(small_set), str(tmp_path))
    names = {Path(line).name for line in written.stdout.split()}
    assert {"recall_facts_2k.yaml", "recall_facts_2k.jsonl", "recall_tool_calls_2k.yaml", "utils.py"} <= names
    row = json.loads((tmp_path / "recall_facts_2k.jsonl").read_text().splitlines()[0])
    assert row["continuation"].endswith(".") and row["continuation"][1:6] in row["context"]


def test_wrong_use_is_exit_4(tmp_path: Path) -> None:
    for args in (
        ("make", str(tmp_path)),
        ("make", str(tmp_path), "--builtin", "--length", "x"),
        ("make", str(tmp_path), "--builtin", "--sets", "rules_fr"),
        ("check", str(tmp_path)),
        ("score", "--model", "m", "--data", str(tmp_path / "none")),
        ("score", "--model", "m", "--data", str(tmp_path), "--resume"),
        ("merge", str(tmp_path / "none.json")),
    ):
        done = _run(*args)
        assert done.returncode == 4, (args, done.stderr)
        assert done.stderr.count("\n") == 1 or "Usage" in done.stderr, done.stderr


@pytest.mark.parametrize("command", ["check", "show", "export", "--help"])
def test_no_model_library_is_imported(command: str, small_set: Path, tmp_path: Path) -> None:
    args = {
        "check": ["check", str(small_set), "--sets", "facts"],
        "show": ["show", str(small_set), "facts/2k/0"],
        "export": ["export", str(small_set), str(tmp_path)],
        "--help": ["--help"],
    }[command]
    code = (
        "import sys; sys.argv = ['triathlon', 'recall', *sys.argv[1:]]\n"
        "from triathlon.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "bad = {'torch', 'transformers'} & set(sys.modules)\nassert not bad, bad\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
