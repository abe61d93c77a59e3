"""The store: keyed rows, channels as they were, resuming after a kill, merging."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from triathlon.errors import UsageError
from triathlon.store import Key, Row, Store, default_path

KEY = Key("tree", "case", "runner", "protocol", "namespaces", "root", 0, 1)


def row(passed: bool = True, started: str = "2026-01-01T00:00:00Z", **key: object) -> Row:
    return Row(
        key=replace(KEY, **key),  # type: ignore[arg-type]
        candidate="reference",
        case_id="group/case",
        category="files",
        kind="boundary",
        passed=passed,
        late=False,
        reasons=("wanted a, saw b",),
        findings=({"channel": "exit", "wanted": "0"},),
        seconds=1.5,
        started=started,
        spec="1.0",
        suite="s",
        facts={"non_standard": []},
    )


def test_a_row_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "store.sqlite"
    with Store(path) as store:
        store.put(row(), {"exit": b'{"main": 0}', "output": b"x" * 100_000})
    with Store(path, create=False) as store:
        assert store.rows() == [row()]
        assert store.channels(KEY) == {"exit": b'{"main": 0}', "output": b"x" * 100_000}
        assert store.info()["channel_bytes"] < 1000, "channels are kept compressed"


def test_rows_are_chosen_by_column(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.put(row(), {})
        store.put(row(tree="other"), {})
        assert [r.key.tree for r in store.rows(tree="other", seed=0)] == ["other"]
        with pytest.raises(ValueError, match="no such column"):
            store.rows(**{"1; DROP TABLE rows": 1})


def test_the_same_key_replaces_and_leaves_no_channel_behind(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.put(row(), {"exit": b"old", "files": b"old"})
        store.put(row(passed=False), {"exit": b"new"})
        assert [r.passed for r in store.rows()] == [False]
        assert store.channels(KEY) == {"exit": b"new"}
        assert store.info()["channels"] == 1


def test_a_second_attempt_stands_beside_the_first_until_the_case_is_run_anew(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.put(row(passed=False), {})
        store.put(row(attempt=1), {})
        assert [(r.key.attempt, r.passed) for r in store.rows()] == [(0, False), (1, True)]
        store.put(row(), {})
        assert [(r.key.attempt, r.passed) for r in store.rows()] == [(0, True)]


def test_every_part_of_the_key_makes_another_row(tmp_path: Path) -> None:
    changes = {"tree": "b", "case": "b", "runner": "b", "protocol": "b", "provider": "none", "root": "b"}
    numbers = {"seed": 1, "repetition": 2, "attempt": 1}
    with Store(tmp_path / "s") as store:
        store.put(row(), {})
        for name, value in (changes | numbers).items():
            store.put(row(**{name: value}), {})
        assert len(store.rows()) == 1 + len(changes) + len(numbers)


def test_a_killed_writer_loses_nothing_that_was_put(tmp_path: Path) -> None:
    path = tmp_path / "s"
    program = (
        "import os, signal, sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "from test_results import row\n"
        "from triathlon.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        "for n in range(1, 6): store.put(row(repetition=n), {'exit': b'{}'})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path), str(Path(__file__).parent)], check=False)
    assert done.returncode == -signal.SIGKILL
    with Store(path, create=False) as store:
        assert [r.key.repetition for r in store.rows()] == [1, 2, 3, 4, 5]


def test_two_runs_may_open_and_write_one_new_store(tmp_path: Path) -> None:
    path = tmp_path / "s"
    failures: list[BaseException] = []

    def write(seed: int) -> None:
        try:
            with Store(path) as store:
                for n in range(1, 21):
                    store.put(row(seed=seed, repetition=n), {"exit": b"{}"})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Store(path) as store:
        assert store.info()["rows"] == 60


def test_merge_takes_what_is_missing_and_the_newer_of_two(tmp_path: Path) -> None:
    with Store(tmp_path / "a") as a, Store(tmp_path / "b") as b:
        a.put(row(repetition=1), {"exit": b"a1"})
        a.put(row(repetition=2, started="2026-01-02T00:00:00Z"), {"exit": b"a2"})
        b.put(row(repetition=1, started="2026-01-03T00:00:00Z", passed=False), {"exit": b"b1"})
        b.put(row(repetition=2), {"exit": b"b2"})
        b.put(row(repetition=3, passed=False), {"exit": b"b3"})
        b.put(row(repetition=3, attempt=1), {"exit": b"b3 again"})
        assert a.merge(b) == {"taken": 3, "same": 1, "differ": 1}
        bodies = {(r.key.repetition, r.key.attempt): a.channels(r.key)["exit"] for r in a.rows()}
        assert bodies == {(1, 0): b"b1", (2, 0): b"a2", (3, 0): b"b3", (3, 1): b"b3 again"}
        assert a.merge(b) == {"taken": 0, "same": 4, "differ": 0}


def test_runs_are_listed_with_their_counts(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.put(row(), {})
        store.put(row(repetition=2, passed=True), {})
        store.put(row(repetition=2, attempt=1, passed=False), {})
        store.put(replace(row(case="c"), kind="control"), {})
        store.put(row(seed=5), {})
        runs = store.runs()
    assert [(r["seed"], r["rows"], r["case_rows"], r["case_rows_passed"], r["repetitions"]) for r in runs] == [
        (0, 3, 2, 1, 2),
        (5, 1, 1, 1, 1),
    ]


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such store"):
        Store(tmp_path / "missing", create=False)
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one" * 40)
    with pytest.raises(UsageError, match="cannot be used as a store"):
        Store(tmp_path / "text")
    db = sqlite3.connect(tmp_path / "foreign")
    db.execute("CREATE TABLE t (x)")
    db.commit()
    db.close()
    with pytest.raises(UsageError, match="no triathlon store"):
        Store(tmp_path / "foreign")
    db = sqlite3.connect(tmp_path / "later")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(UsageError, match="a store of form 99"):
        Store(tmp_path / "later")


def test_the_default_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIATHLON_STORE", raising=False)
    assert default_path() == Path("runs/triathlon.sqlite")
    monkeypatch.setenv("TRIATHLON_STORE", f"{os.sep}x.sqlite")
    assert default_path() == Path("/x.sqlite")


def _spoil(path: Path, statement: str) -> None:
    with Store(path) as store:
        store.put(row(), {"stdout": b"hello"})
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rows SET reasons = '{nojson'",
        "UPDATE channels SET body = x'0011'",
        "DROP TABLE channels",
        "DROP TABLE rows",
    ],
)
def test_a_damaged_store_is_told_in_one_line(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "s.sqlite"
    _spoil(path, statement)
    with Store(path, create=False) as store, pytest.raises(UsageError, match=r"s\.sqlite: .*(damaged|used as a store)"):
        store.info()
        for found in store.rows():
            store.channels(found.key)


def test_a_full_disk_is_told_and_the_store_goes_on(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(UsageError, match="full"):
            store.put(row(), {"stdout": os.urandom(100_000)})
        store._db.execute("PRAGMA max_page_count = 100000")
        store.put(row(), {"stdout": b"hello"})
        assert len(store.rows()) == 1


def test_a_store_below_a_file_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="no store can be made there"):
        Store(tmp_path / "file" / "s.sqlite")


def test_looking_at_an_empty_file_makes_no_store_of_it(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(UsageError, match="no triathlon store"):
        Store(tmp_path / "empty", create=False)
    assert (tmp_path / "empty").stat().st_size == 0
