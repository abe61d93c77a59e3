"""Answers in a file: one JSON line for each question, written as it comes; the same command again goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.oolong import lenient, official
from triathlon.oolong.agents import Reply
from triathlon.oolong.windows import RealRow, Row

#: Every sample has one of these; the denominator never changes.
STATUSES = ("ok", "wrong", "unparsed", "empty", "refused", "truncated", "timeout", "error")


@dataclass(frozen=True, slots=True)
class Answer:
    """One question asked under one condition, with both scores. `condition` names everything that decides it."""

    id: str
    condition: str
    model: str
    agent: str
    profile: str
    labels: bool
    simulated: bool
    scorer: str
    dataset: str
    window: str
    context_len: int
    task_group: str
    task: str
    answer_type: str | None
    answer: str
    response: str | None
    status: str
    score: float
    lenient: float
    parse: Any
    confidence: str | None
    reason: str | None
    stop: str
    error: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float
    scored_by: str = f"{official.NAME} {official.VERSION}"


def judge(row: Row | RealRow, reply: Reply, *, today: date | None = None, **condition: Any) -> Answer:
    """The answer record of a reply."""
    text = reply.text
    strict = official.score(row.scorer, row.answer, row.answer_type, text or None, today=today)
    loose = lenient.score(row.scorer, row.answer, row.answer_type, text or None, today=today)
    return Answer(
        id=row.key,
        scorer=row.scorer,
        dataset=row.dataset,
        window=row.window,
        context_len=row.context_len,
        task_group=row.task_group,
        task=row.task.removeprefix("TASK_TYPE."),
        answer_type=row.answer_type,
        answer=row.answer,
        response=text,
        status=status(reply, strict),
        score=strict.score,
        lenient=loose,
        parse=strict.parse,
        confidence=strict.confidence,
        reason=strict.reason,
        stop=reply.stop,
        error=reply.error,
        calls=reply.usage.calls,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        cost=reply.usage.cost,
        seconds=round(reply.seconds, 4),
        **condition,
    )


def status(reply: Reply, strict: official.Score) -> str:
    """The one status of a reply; what went wrong in asking comes before what was answered."""
    if reply.stop == "timeout":
        return "timeout"
    if reply.error is not None or reply.stop == "error":
        return "error"
    if reply.stop == "content_filter":
        return "refused"
    if reply.stop == "length":
        return "truncated"
    if not (reply.text or "").strip():
        return "empty"
    if strict.score >= 1.0:
        return "ok"
    return "unparsed" if strict.confidence in (None, "low") else "wrong"


class Answers:
    """The answers file of a run; a line that was cut by a kill is dropped and asked again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[tuple[str, str], dict[str, Any]] = {}
        for record in read(path):
            self.known[(record["condition"], record["id"])] = record
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        if path.stat().st_size and not _ends_with_newline(path):
            self._file.write(b"\n")

    def add(self, answer: Answer) -> None:
        """Append one answer and flush it: a kill loses nothing that was answered."""
        record = asdict(answer)
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        self._file.write(line)
        self._file.flush()
        self.known[(answer.condition, answer.id)] = record

    def close(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The whole records of an answers file, the last of each condition and id winning when joined in order."""
    if not path.exists():
        return
    if path.is_dir():
        raise UsageError(f"{path}: a folder; name the file of answers")
    with path.open("rb") as file:
        for line in file:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue  # the cut end of a killed run
            if isinstance(record, dict) and "id" in record and "condition" in record:
                yield record


def rescore(record: dict[str, Any], *, today: date | None = None) -> dict[str, Any]:
    """A record scored again from its response, without asking."""
    response = record["response"] or None
    strict = official.score(record["scorer"], record["answer"], record["answer_type"], response, today=today)
    changed = dict(record)
    changed.update(
        score=strict.score,
        lenient=lenient.score(record["scorer"], record["answer"], record["answer_type"], response, today=today),
        parse=strict.parse,
        confidence=strict.confidence,
        reason=strict.reason,
        scored_by=f"{official.NAME} {official.VERSION}",
        status=status(Reply(record["response"], record["stop"], error=record["error"]), strict),
    )
    return changed
