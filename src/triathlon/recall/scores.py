"""Score files: what one model said at every target. A reference is one, and so is what `compare` and `merge` take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall import metrics
from triathlon.recall.files import read_json, write_json
from triathlon.recall.items import FAR_TOKENS

FORMAT = "triathlon-recall-scores/1"
Record = dict[str, Any]
Target = tuple[str, str, int, int]  # config, length, item, target


def target_of(record: Record) -> Target:
    """What a record is about."""
    return record["set"], record["length"], record["item"], record["target"]


def thresholds() -> dict[str, float]:
    """The fixed numbers that a score depends on."""
    return {"far_tokens": FAR_TOKENS, "effect": metrics.THRESHOLD, "share": metrics.SHARE, "floor": metrics.FLOOR}


@dataclass
class Scores:
    """Records with everything needed to know whether two files may be compared."""

    records: list[Record]
    mode: str
    data: dict[str, str]  # "config/length" -> sha256 of the file
    tokenizer: dict[str, str]  # name, sha256
    engine: dict[str, Any]
    limit: int | None = None
    thresholds: dict[str, float] = field(default_factory=thresholds)
    parts: list[str] = field(default_factory=list)  # the shards it was made of, empty for a whole run

    def save(self, path: Path) -> None:
        """Write; gzip when the name ends in .gz. Floats keep every digit."""
        write_json(path, {"format": FORMAT} | vars(self) | {"records": [plain(r) for r in self.records]})

    @classmethod
    def load(cls, path: Path) -> Scores:
        """Read a score file; anything else is a UsageError."""
        value = read_json(path, "score file")
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise UsageError(f"{path}: not a score file of this program ({FORMAT})")
        try:
            names = ("mode", "data", "tokenizer", "engine", "limit", "thresholds", "parts")
            scores = cls([typed(r) for r in value["records"]], **{n: value[n] for n in names})
            for record in scores.records:
                target_of(record), record["status"], record["context"]
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}: a damaged score file ({error!r})") from error
        return scores


def plain(value: Any) -> Any:
    """A record as JSON can hold it: infinity becomes a text."""
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def typed(record: Record) -> Record:
    """The inverse of `plain`."""
    if not isinstance(record, dict):
        raise TypeError("a record is not an object")
    return {k: _number(v) if k in _NUMBERS else v for k, v in record.items()}


_NUMBERS = {"logp", "without", "with", "original_without", "original_with"}


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return [_number(v) for v in value]
    return float(value) if isinstance(value, str) else value


def comparable(model: Scores, reference: Scores, *, allow_tokenizer_mismatch: bool = False) -> None:
    """Refuse a reference that was read differently: mode, data, thresholds, tokenizer."""
    if model.mode != reference.mode:
        raise UsageError(f"the reference was read in mode {reference.mode}, this model in mode {model.mode}")
    if model.thresholds != reference.thresholds:
        raise UsageError(f"the reference has other thresholds ({reference.thresholds}, not {model.thresholds})")
    for part, digest in model.data.items():
        if part in reference.data and reference.data[part] != digest:
            raise UsageError(f"the reference was made from another {part} (data fingerprints differ)")
    missing = [p for p in model.data if p not in reference.data and p.startswith("rules")]
    if missing:
        raise UsageError(f"the reference has no scores for {', '.join(missing)}")
    if model.tokenizer["sha256"] != reference.tokenizer["sha256"] and not (
        model.mode == "text" and allow_tokenizer_mismatch
    ):
        hint = " (--allow-tokenizer-mismatch to go on)" if model.mode == "text" else ""
        raise UsageError(f"the reference has another tokenizer, {reference.tokenizer['name']}{hint}")
    known = {target_of(r) for r in reference.records}
    wanted = [target_of(r) for r in model.records if r["set"].startswith("rules")]
    lost = [t for t in wanted if t not in known]
    if lost:
        raise UsageError(
            f"the reference lacks {len(lost)} of {len(wanted)} rule targets, "
            f"the first {'/'.join(map(str, lost[0]))}: was it made with a smaller --limit?"
        )


def merge(files: Sequence[Scores], names: Sequence[str]) -> Scores:
    """Put shards together; they must be parts of one run and have no target twice."""
    first = files[0]
    records: dict[Target, Record] = {}
    parts: list[str] = []
    for scores, name in zip(files, names, strict=True):
        same = (scores.mode, scores.tokenizer, scores.limit, scores.thresholds, scores.data, scores.engine)
        if same != (first.mode, first.tokenizer, first.limit, first.thresholds, first.data, first.engine):
            raise UsageError(f"{name} and {names[0]} are not parts of one run (mode, tokenizer, engine, limit or data)")
        for record in scores.records:
            if target_of(record) in records:
                raise UsageError(f"{name}: target {'/'.join(map(str, target_of(record)))} is in two of the files")
            records[target_of(record)] = record
        parts += scores.parts
    count = {p.split("/")[1] for p in parts}
    if parts and (
        len(count) != 1 or sorted(parts) != sorted(f"{i}/{count_}" for count_ in count for i in _upto(count_))
    ):
        raise UsageError(f"shards are missing or twice: there are {', '.join(sorted(parts))}")
    return Scores(sorted_records(records.values()), first.mode, first.data, first.tokenizer, first.engine, first.limit)


def _upto(count: str) -> range:
    return range(1, int(count) + 1)


def sorted_records(records: Iterable[Record]) -> list[Record]:
    """In the order of the data set."""
    from triathlon.recall.items import CONFIGS, length_key

    return sorted(records, key=lambda r: (CONFIGS.index(r["set"]), length_key(r["length"]), r["item"], r["target"]))
