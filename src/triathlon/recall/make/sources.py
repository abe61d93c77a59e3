"""Reading a corpus: local files of the published schemas, or the pinned data sets from the hub."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall.files import read_json
from triathlon.recall.make import prose, published
from triathlon.recall.make.schemas import Row, detect, fenced_messages, traj
from triathlon.recall.make.session import Corpus, Origin

ATTRIBUTION = "sources.json"
FORMATS = (".json", ".jsonl", ".traj", ".parquet", ".txt", ".raw")


def read_folder(folder: Path, attribution: Path | None = None) -> Corpus:
    """Everything below a folder (or one file), in order of path.

    Where a file comes from is said by `sources.json` in the folder or by `attribution`: a JSON object from file
    patterns (relative, `*` also crosses `/`) to {dataset, revision, license, note?}. Without it a file is attributed
    to the published data set of its schema, with its own hash as the revision.
    """
    if not folder.exists():
        raise UsageError(f"{folder}: no such file or folder")
    given = attribution or (folder / ATTRIBUTION if (folder / ATTRIBUTION).is_file() else None)
    table = read_json(given, "attribution file") if given else {}
    if not isinstance(table, dict):
        raise UsageError(f"{given}: an attribution file is a JSON object from patterns to sources")
    corpus = Corpus()
    files = [folder] if folder.is_file() else sorted(p for p in folder.rglob("*") if p.suffix in FORMATS)
    for path in files:
        name = path.name if folder.is_file() else path.relative_to(folder).as_posix()
        if name != ATTRIBUTION:
            read_file(path, name, corpus, _given(table, name))
    return corpus


def _given(table: Mapping[str, Any], name: str) -> Origin | None:
    for pattern, value in table.items():
        if fnmatch.fnmatchcase(name, pattern):
            try:
                return Origin(value["dataset"], value["revision"], value["license"], value.get("note", ""))
            except (KeyError, TypeError) as error:
                raise UsageError(f"the attribution of {pattern} lacks {error}") from error
    return None


def read_file(path: Path, name: str, corpus: Corpus, origin: Origin | None) -> None:
    """Add one file's rows to a corpus."""
    revision = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
    if path.suffix in (".txt", ".raw"):
        lines = path.read_text("utf-8").split("\n")
        wiki = any(prose.HEADING.match(line) for line in lines[:50])
        default = published.WIKITEXT
        source = origin or Origin(default.dataset, revision, default.license, default.note)
        corpus.articles += (prose.wikitext if wiki else prose.one_a_line)(lines, source)
        return
    add_rows(rows_of(path, name), corpus, origin, revision)


def rows_of(path: Path, name: str) -> Iterator[Row]:
    """Rows of a file; a file that is one session is one row, with its name in `__name__`."""
    try:
        if path.suffix == ".parquet":
            from triathlon.recall.parquet import arrow

            for batch in arrow().parquet.ParquetFile(path).iter_batches(batch_size=64):
                yield from batch.to_pylist()
            return
        text = path.read_text("utf-8")
        if path.suffix == ".jsonl":
            for line in text.splitlines():
                if line.strip():
                    yield json.loads(line)
            return
        value = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not readable ({str(error).splitlines()[0]})") from error
    if isinstance(value, list) and value and isinstance(value[0], dict) and "role" in value[0]:
        value = {"messages": value}
    if isinstance(value, list):
        yield from value
    else:
        yield {"__name__": task_name(name), **value}


def task_name(name: str) -> str:
    """The task of a session file: the last part of its name, without the settings of the run before it."""
    stem = name.rsplit("/", 1)[-1].removesuffix(".traj.json").removesuffix(".traj").removesuffix(".json")
    return stem.rsplit("__", 1)[-1]


def add_rows(rows: Iterable[Any], corpus: Corpus, origin: Origin | None, revision: str = "") -> None:
    """Read rows by their schema; what does not fit is skipped and counted. Bare `text` rows are WikiText lines."""
    lines: list[str] = []
    for row in rows:
        if not isinstance(row, Mapping):
            corpus.skip("not a row")
            continue
        found = detect(row)
        if found is None:
            if isinstance(row.get("text"), str):
                lines.append(row["text"])
            else:
                corpus.skip("unknown columns")
            continue
        reader, default = found
        source = origin or (Origin(default.dataset, revision, default.license, default.note) if revision else default)
        try:
            reader(row, source, corpus)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            known = reader in (traj, fenced_messages)
            corpus.skip(
                f"{reader.__name__}: {error if isinstance(error, ValueError) and not known else 'not as published'}"
            )
    if lines:
        corpus.articles += prose.wikitext(lines, origin or published.WIKITEXT)


def read_hub(
    rows: Mapping[str, int] | None = None, load: Callable[..., Iterable[Row]] | None = None, only: Sequence[str] = ()
) -> Corpus:
    """The published data sets at their pinned revisions, streamed; `rows` limits how many a data set gives."""
    if load is None:
        try:
            from datasets import load_dataset
        except ImportError as error:
            raise UsageError("reading from the hub needs the package datasets: pip install datasets") from error
        load = load_dataset
    assert load is not None
    corpus = Corpus()
    for source in published.PUBLISHED:
        name = source.origin.dataset
        if only and name not in only:
            continue
        limit = (rows or {}).get(name, source.rows)
        for config in source.configs:
            try:
                stream = load(name, config, split=source.split, revision=source.origin.revision, streaming=True)
                add_rows((row for row, _ in zip(stream, range(limit), strict=False)), corpus, source.origin)
            except UsageError:
                raise
            except Exception as error:  # the hub client raises many kinds; the user needs the one line
                first = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise UsageError(f"{name} cannot be had from the hub ({first})") from error
    return corpus
