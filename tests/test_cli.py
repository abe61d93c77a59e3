"""The command line's edge: help, version, exit codes, start-up."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import triathlon

COMMANDS = [
    (),
    ("harness",),
    ("harness", "evaluate"),
    ("harness", "check"),
    ("harness", "cases"),
    ("harness", "cases", "list"),
    ("harness", "cases", "show"),
    ("harness", "cases", "lint"),
    ("store",),
    ("store", "merge"),
    ("store", "info"),
    ("store", "list"),
    ("doctor",),
]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "triathlon", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_help(words: tuple[str, ...]) -> None:
    done = run(*words, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: triathlon" in done.stdout


def test_version() -> None:
    assert run("--version").stdout == f"triathlon {triathlon.__version__}\n"


def test_a_wrong_command_is_exit_4_and_one_line() -> None:
    done = run("harness", "evaluat")
    assert (done.returncode, done.stdout) == (4, "")
    assert len(done.stderr.splitlines()) == 1


def test_no_argument_is_the_help_as_it_is() -> None:
    done = run("harness")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("Usage: triathlon harness") and len(done.stderr.splitlines()) > 5


def test_a_wrong_value_is_told_with_its_flag() -> None:
    done = run("harness", "evaluate", "reference", "-n", "-3")
    assert done.returncode == 4 and "'-n'" in done.stderr and len(done.stderr.splitlines()) == 1


def test_an_output_that_is_full_is_one_line() -> None:
    command = f"{sys.executable} -m triathlon harness cases schema > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1) and "No space left" in done.stderr


def test_an_output_that_is_a_folder_is_one_line() -> None:
    done = run("oolong", "make", "--out", "/")
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1) and "Is a directory" in done.stderr


def test_an_answers_file_nested_too_deep_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "deep").write_text("[" * 100_000 + "]" * 100_000 + "\n")
    done = run("oolong", "results", str(tmp_path / "deep"))
    assert (done.returncode, len(done.stderr.splitlines())) == (5, 1)


def test_what_the_locale_cannot_write_is_escaped() -> None:
    command = [sys.executable, "-m", "triathlon", "harness", "cases", "show", "chained-tail/semicolon"]
    done = subprocess.run(command, capture_output=True, check=False, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


def test_a_reader_that_hangs_up_is_no_trace() -> None:
    command = f"{sys.executable} -m triathlon harness cases list --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_help_is_quick() -> None:
    run("--help")  # compiled by now
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(3):
        run("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 3
    # The goal is 0.3 s; a machine full of other tests runs on slower threads, so leave it twice that.
    assert spent < 0.6, spent


def test_it_runs_in_a_folder_that_is_not_there() -> None:
    program = "import os, tempfile; d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d); import triathlon.cli"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
