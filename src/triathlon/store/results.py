"""Reading and writing the store.

A row is committed as soon as its case ends, in write-ahead mode: Ctrl-C and kill -9 lose nothing that was finished.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.store.row import Key, Row

SCHEMA_VERSION = 1
KEY = tuple(field.name for field in fields(Key))
PLAIN = ("candidate", "case_id", "category", "kind", "seconds", "cpu_s", "peak_mb", "started", "spec", "suite")
FLAGS = ("passed", "late")
JSONS = ("reasons", "findings", "facts")
COLUMNS = (*KEY, *PLAIN, *FLAGS, *JSONS)
NUMBERS = {"seed": "INTEGER", "repetition": "INTEGER", "attempt": "INTEGER", "passed": "INTEGER", "late": "INTEGER"}
NUMBERS |= {"seconds": "REAL", "cpu_s": "REAL", "peak_mb": "REAL"}

SCHEMA = f"""
CREATE TABLE rows (
  id INTEGER PRIMARY KEY,
  {", ".join(f'"{name}" {NUMBERS.get(name, "TEXT")} NOT NULL' for name in COLUMNS)},
  UNIQUE ({", ".join(f'"{name}"' for name in KEY)})
);
CREATE TABLE channels (
  row INTEGER NOT NULL REFERENCES rows(id) ON DELETE CASCADE,
  name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (row, name)
) WITHOUT ROWID;
PRAGMA user_version = {SCHEMA_VERSION};
"""
LISTED = ", ".join(f'"{name}"' for name in COLUMNS)


def default_path() -> Path:
    """`$TRIATHLON_STORE`, else `runs/triathlon.sqlite` under the current folder."""
    return Path(os.environ.get("TRIATHLON_STORE") or Path("runs") / "triathlon.sqlite")


class Store:
    """One store file, used by one thread."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        """Open a store. Raises UsageError if it is none, or is missing and `create` is False."""
        self.path = path
        if not path.exists():
            if not create:
                raise UsageError(f"{path}: no such store")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UsageError(f"{path}: no store can be made there: {error.strerror}") from error
        try:
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
        except sqlite3.Error as error:
            raise UsageError(f"{path}: cannot be opened as a store: {error}") from error
        try:
            self._prepare(create)
        except sqlite3.Error as error:
            self._db.close()
            raise UsageError(f"{path}: cannot be used as a store: {error}") from error
        except UsageError:
            self._db.close()
            raise

    def _prepare(self, create: bool) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not create:
            what = "a SQLite file" if self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] else "empty"
            raise UsageError(f"{self.path}: {what}, but no triathlon store")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            self._make()
        elif version != SCHEMA_VERSION:
            raise UsageError(f"{self.path}: a store of form {version}; this triathlon reads form {SCHEMA_VERSION}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What is wrong with the file (damaged, locked, its disk full) is told in one line; our mistakes are not."""
        try:
            yield
        except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
            raise
        except sqlite3.Error as error:
            raise UsageError(f"{self.path}: cannot be used as a store: {error}") from error
        except (json.JSONDecodeError, zlib.error) as error:
            raise UsageError(f"{self.path}: the store is damaged: {error}") from error

    def _make(self) -> None:
        # Two runs may open a new store at once: the first takes the lock, the second finds the tables there.
        self._db.execute("BEGIN IMMEDIATE")
        if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
            if self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._db.execute("ROLLBACK")
                raise UsageError(f"{self.path}: a SQLite file, but no triathlon store")
            for statement in SCHEMA.split(";"):
                self._db.execute(statement)
        self._db.execute("COMMIT")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the write-ahead log is folded in."""
        self._db.close()

    def put(self, row: Row, channels: Mapping[str, bytes]) -> None:
        """Write one row and its channels, in place of one with the same key. A first attempt removes later ones."""
        values = [*_values(row.key), *(getattr(row, name) for name in PLAIN)]
        values += [int(getattr(row, name)) for name in FLAGS]
        values += [json.dumps(getattr(row, name), ensure_ascii=False) for name in JSONS]
        bodies = [(name, zlib.compress(body)) for name, body in channels.items()]
        with self._told():
            self._write(row.key, values, bodies)

    def _write(self, key: Key, values: list[Any], bodies: list[tuple[str, bytes]]) -> None:
        marks = ", ".join("?" * len(COLUMNS))
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if key.attempt == 0:
                same = " AND ".join(f'"{name}" = ?' for name in KEY[:-1])
                self._db.execute(f"DELETE FROM rows WHERE {same}", _values(key)[:-1])
            number = self._db.execute(f"INSERT OR REPLACE INTO rows ({LISTED}) VALUES ({marks})", values).lastrowid
            self._db.executemany(
                "INSERT INTO channels VALUES (?, ?, ?)", [(number, name, body) for name, body in bodies]
            )
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # a full disk has rolled back already
                self._db.execute("ROLLBACK")
            raise

    def rows(self, **where: Any) -> list[Row]:
        """Every row whose columns equal what is given, oldest first."""
        with self._told():
            return [row for _, row in self._numbered(where)]

    def channels(self, key: Key) -> dict[str, bytes]:
        """The channels of one row as they were; empty where there is no such row."""
        with self._told():
            return {name: zlib.decompress(body) for name, body in self.packed(key).items()}

    def packed(self, key: Key) -> dict[str, bytes]:
        """The same, each still compressed as zlib has it (a report passes them on without opening them)."""
        same = " AND ".join(f'"{name}" = ?' for name in KEY)
        with self._told():
            found = self._db.execute(
                f"SELECT name, body FROM channels JOIN rows ON rows.id = channels.row WHERE {same}", _values(key)
            )
            return dict(found)

    def runs(self) -> list[dict[str, Any]]:
        """One object per candidate, spec, suite, runner, protocol, provider, root and seed that the store knows.

        A case that was run once more counts with its last attempt.
        """
        group = ("candidate", "tree", "spec", "suite", "runner", "protocol", "provider", "root", "seed")
        listed = ", ".join(f'"{name}"' for name in group)
        same = ", ".join(f'"{name}"' for name in KEY[:-1])
        with self._told():
            found = self._db.execute(
                f"SELECT {listed}, count(*), sum(kind != 'control'), sum(kind != 'control' AND passed),"
                " max(repetition), min(started), max(started)"
                f" FROM (SELECT *, max(attempt) OVER (PARTITION BY {same}) AS last FROM rows) WHERE attempt = last"
                f" GROUP BY {listed} ORDER BY max(started), tree"
            ).fetchall()
        names = (*group, "rows", "case_rows", "case_rows_passed", "repetitions", "first", "last")
        return [dict(zip(names, values, strict=True)) for values in found]

    def info(self) -> dict[str, Any]:
        """What the file holds: form, bytes, rows, trees, cases, bytes of channels."""
        about_rows = "SELECT count(*), count(DISTINCT tree), count(DISTINCT case_id) FROM rows"
        about_channels = "SELECT count(*), coalesce(sum(length(body)), 0) FROM channels"
        with self._told():
            one = self._db.execute(about_rows).fetchone()
            kept = self._db.execute(about_channels).fetchone()
        return {
            "path": str(self.path),
            "form": SCHEMA_VERSION,
            "bytes": self.path.stat().st_size,
            "rows": one[0],
            "trees": one[1],
            "cases": one[2],
            "channels": kept[0],
            "channel_bytes": kept[1],
        }

    def merge(self, other: Store) -> dict[str, int]:
        """Take over the rows of another store. Of two with the same key the one started later stays.

        Returns counts: `taken`, `same` (already here, or here and newer), `differ` (both had it, with other verdicts).
        """
        counts = {"taken": 0, "same": 0, "differ": 0}
        mine = {row.key: row for row in self.rows()}
        for row in other._attempts_in_order():
            here = mine.get(row.key)
            if here is not None:
                counts["differ"] += here.passed != row.passed
                if here.started >= row.started:
                    counts["same"] += 1
                    continue
            self.put(row, other.channels(row.key))
            counts["taken"] += 1
        return counts

    def _attempts_in_order(self) -> list[Row]:
        return sorted(self.rows(), key=lambda row: row.key.attempt)

    def _numbered(self, where: Mapping[str, Any]) -> Iterator[tuple[int, Row]]:
        for name in where:
            if name not in COLUMNS:
                raise ValueError(f"no such column: {name}")
        same = " AND ".join(f'"{name}" = ?' for name in where) or "1"
        for number, *values in self._db.execute(
            f"SELECT id, {LISTED} FROM rows WHERE {same} ORDER BY id", tuple(where.values())
        ):
            named: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
            key = Key(**{name: named.pop(name) for name in KEY})
            for name in FLAGS:
                named[name] = bool(named[name])
            for name in JSONS:
                loaded = json.loads(named[name])
                named[name] = tuple(loaded) if isinstance(loaded, list) else loaded
            yield number, Row(key=key, **named)


def _values(key: Key) -> tuple[Any, ...]:
    return tuple(getattr(key, name) for name in KEY)
