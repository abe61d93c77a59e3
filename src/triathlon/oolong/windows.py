"""Rows of Oolong: the thirteen columns of `oolongbench/oolong-synth`, and the fields of `oolong-real`, typed.

A window is shared by about 25 questions (`context_window_id`): they are asked together (prompt caching) and they are
the clusters of every interval.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon.errors import MissingExtra, UsageError

#: In the order of the data set's source index (ids are 100,000,000 x index + ...).
SOURCES = (
    "trec_coarse",
    "spam",
    "imdb",
    "agnews",
    "negation",
    "yahoo",
    "formality",
    "multinli",
    "metaphors",
    "app_reviews",
)
#: The published data set keeps two sources in `validation` and the other eight in `test`.
VALIDATION = ("spam", "trec_coarse")
LABELS: dict[str, tuple[str, ...]] = {
    "trec_coarse": (
        "abbreviation",
        "entity",
        "description and abstract concept",
        "human being",
        "location",
        "numeric value",
    ),
    "spam": ("ham", "spam"),
    "imdb": ("negative", "positive"),
    "agnews": ("World", "Sports", "Business", "Sci/Tech"),
    "negation": ("True", "False"),
    "yahoo": (
        "Society & Culture",
        "Science & Mathematics",
        "Health",
        "Education & Reference",
        "Computers & Internet",
        "Sports",
        "Business & Finance",
        "Entertainment & Music",
        "Family & Relationships",
        "Politics & Government",
    ),
    "formality": ("formal", "informal"),
    "multinli": ("entailment", "neutral", "contradiction"),
    "metaphors": ("correct", "incorrect"),
    "app_reviews": ("negative", "positive"),
}
GROUPS = ("counting", "user", "timeline")
TASKS = (
    "MOST_FREQ",
    "LEAST_FREQ",
    "SECOND_MOST_FREQ",
    "RELATIVE_FREQ",
    "NUMERIC_ONE_CLASS",
    "REPRESENTED_N_TIMES",
)
ANSWER_TYPES = ("LABEL", "NUMERIC", "COMPARISON", "USER", "DATE", "MONTH_YEAR")


@dataclass(frozen=True, slots=True)
class Row:
    """One question of oolong-synth, with exactly the data set's thirteen columns in its order."""

    id: int
    context_len: int
    dataset: str
    context_window_text: str
    context_window_text_with_labels: str
    question: str
    task_group: str
    task: str
    answer: str
    answer_type: str
    input_subset: str
    num_labels: int
    context_window_id: int

    scorer = "synth"

    @property
    def key(self) -> str:
        return str(self.id)

    @property
    def window(self) -> str:
        return str(self.context_window_id)


@dataclass(frozen=True, slots=True)
class RealRow:
    """One question of oolong-real (D&D transcripts)."""

    id: str
    context_window_id: str
    context_window_text: str
    question: str
    answer: str
    question_type: str
    episodes: tuple[int, ...]
    campaign: str

    scorer = "dnd"
    answer_type = None
    dataset = "dnd"

    @property
    def context_len(self) -> int:
        """The window's length in tokens, estimated: the data set has no such column."""
        return len(self.context_window_text) // 4

    @property
    def task_group(self) -> str:
        return self.question_type.partition("_")[0]

    @property
    def task(self) -> str:
        return self.question_type

    @property
    def key(self) -> str:
        return self.id

    @property
    def window(self) -> str:
        return self.context_window_id


COLUMNS = tuple(f.name for f in dataclasses.fields(Row))
REAL_COLUMNS = tuple(f.name for f in dataclasses.fields(RealRow))
_INTEGERS = ("id", "context_len", "num_labels", "context_window_id")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be used, and why; counted, never dropped silently."""

    where: str
    reason: str


def parse_row(record: dict[str, Any]) -> Row | RealRow:
    """A record as a typed row; ValueError says what is wrong with it."""
    if record.get("truncated_cells"):
        raise ValueError(f"its cells {record['truncated_cells']} were cut by the source it was read from")
    if "question_type" in record or "episodes" in record:
        return _parse_real(record)
    missing = [name for name in COLUMNS if record.get(name) is None]
    if missing:
        raise ValueError(f"column {missing[0]!r} is missing")
    values = {name: record[name] for name in COLUMNS}
    for name in _INTEGERS:
        if isinstance(values[name], bool) or not isinstance(values[name], int):
            try:
                values[name] = int(str(values[name]))
            except ValueError:
                raise ValueError(f"column {name!r} is no integer: {values[name]!r}") from None
    for name in COLUMNS:
        if name not in _INTEGERS:
            values[name] = str(values[name])
    return Row(**values)


def _parse_real(record: dict[str, Any]) -> RealRow:
    missing = [name for name in REAL_COLUMNS if record.get(name) is None]
    if missing:
        raise ValueError(f"field {missing[0]!r} is missing")
    episodes = record["episodes"]
    if not isinstance(episodes, Iterable) or isinstance(episodes, str):
        raise ValueError(f"field 'episodes' is no list: {episodes!r}")
    text = {name: str(record[name]) for name in REAL_COLUMNS if name != "episodes"}
    return RealRow(**text, episodes=tuple(int(e) for e in episodes))


def read_file(path: Path) -> Iterator[Row | RealRow | BadRow]:
    """Rows of one Parquet, JSON or JSON-lines file, one after another; what cannot be read comes as BadRow."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file; give a Parquet or JSON-lines file with Oolong's columns")
    for where, record in _records(path):
        if isinstance(record, BadRow):
            yield record
            continue
        try:
            yield parse_row(record)
        except (ValueError, TypeError) as error:
            yield BadRow(where, str(error))


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any] | BadRow]]:
    if path.suffix == ".parquet":
        yield from _parquet(path)
        return
    with path.open(encoding="utf-8", errors="strict") as lines:
        try:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                where = f"{path.name}:{number}"
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError) as error:
                    yield where, BadRow(where, f"not JSON: {error}")
                    continue
                if not isinstance(record, dict):
                    yield where, BadRow(where, "not a JSON object")
                    continue
                yield where, record
        except UnicodeDecodeError as error:
            raise UsageError(f"{path}: not UTF-8 text ({error.reason}); give Parquet or JSON lines") from None


def _parquet(path: Path) -> Iterator[tuple[str, dict[str, Any] | BadRow]]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra("reading Parquet", "oolong") from None
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=16):  # long windows: never the whole file in memory
                for record in batch.to_pylist():
                    yield f"{path.name}:{number}", record
                    number += 1
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise UsageError(f"{path}: not a readable Parquet file: {error}") from None


def write_jsonl(rows: Iterable[Row], path: Path) -> int:
    """Write rows as JSON lines with the thirteen columns; returns how many."""
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps({name: getattr(row, name) for name in COLUMNS}, ensure_ascii=False) + "\n")
            count += 1
    return count
