"""Scoring: plan every item, read every unit once, write down what the model said, report.

A unit is the set of items that share a text (a rules context in three languages, with the tool calls of the same
session); it is what `--shard` deals out, what the trie works on and what `--resume` keeps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon.errors import NothingToDo, UsageError
from triathlon.recall import report
from triathlon.recall.align import Aligner, Plan, settle
from triathlon.recall.data import Dataset, open_dataset
from triathlon.recall.read import Answer, EngineError, Read, checked, read_all
from triathlon.recall.resume import Journal
from triathlon.recall.scores import Record, Scores, sorted_records
from triathlon.recall.tokens import Tokenizer, wrap

CHECK_TOLERANCE = {"float32": (1e-3, 1e-3), "float64": (1e-3, 1e-3)}  # (largest, mean) |d log p|; others below
CHECK_TOLERANCE_HALF = (0.5, 0.06)

Progress = Callable[[int, int], None]


@dataclass
class Options:
    """How to score; the defaults are those of the command line."""

    mode: str = "auto"
    limit: int | None = None
    check: int = 2
    shard: tuple[int, int] | None = None  # (i, n), i from 1
    seed: int = 0
    max_tokens: int | None = None  # the model's limit, where the engine does not know it


def score_sets(
    backend: Any,
    tokenizer: Any,
    data: str | Path | Dataset,
    *,
    sets: Sequence[str] = (),
    lengths: Sequence[str] = (),
    limit: int | None = None,
    mode: str = "auto",
    reference: Scores | str | Path | None = None,
    check: int = 0,
    revision: str | None = None,
    max_tokens: int | None = None,
) -> dict[str, Any]:
    """Score a model behind any object with `read(ids, positions, tokens)`; returns `rows`, `sets` and the rest.

    `read` gets token ids (int32), ascending positions (position p: the model has seen `ids[:p]`) and, per position, the
    tokens asked for; it returns the top-1 tokens and the log-probabilities (nats), as a pair or as `read.Answer`.
    `tokenizer` is a fast transformers tokenizer, a `tokenizers.Tokenizer` or `recall.tokens.Tokenizer`; `data` is a
    folder, a hub name or an opened data set. Raises UsageError for wrong data, EngineError for impossible answers.
    """
    if not isinstance(data, Dataset):
        data = open_dataset(str(data), revision=revision, sets=sets, lengths=lengths)
    options = Options(mode=mode, limit=limit, check=check, max_tokens=max_tokens)
    scores, extra = run(backend, wrap(tokenizer), data, options)
    if isinstance(reference, str | Path):
        reference = Scores.load(Path(reference))
    return report.build(scores, reference) | extra


def plan_all(tokenizer: Tokenizer, data: Dataset, options: Options, limit: int | None) -> tuple[list[Plan], str]:
    """Plans of all chosen items, and the mode they are read in."""
    aligner = Aligner(tokenizer, options.mode, limit)
    plans = [
        aligner.plan(item, part.config, part.length, index)
        for part in data.parts
        for index, item in enumerate(part.items(options.limit))
    ]
    if not plans:
        raise NothingToDo(f"{data.name}: no item in the chosen sets")
    mode = options.mode
    if mode == "auto":
        mode = "ids" if all(p.reproduced for p in plans) else "text"
    return plans, mode


def run(
    backend: Any,
    tokenizer: Tokenizer,
    data: Dataset,
    options: Options,
    *,
    journal: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> tuple[Scores, dict[str, Any]]:
    """Read everything; returns the scores and what belongs into the output beside the metrics (`check`, `cost`)."""
    limit = options.max_tokens if options.max_tokens is not None else getattr(backend, "limit", None)
    plans, mode = plan_all(tokenizer, data, options, limit)
    units: dict[str, list[Plan]] = {}
    for plan in plans:
        units.setdefault(plan.unit, []).append(plan)
    names = list(units)
    if options.shard:
        i, n = options.shard
        names = names[i - 1 :: n]
        if not names:
            raise NothingToDo(f"shard {i}/{n}: there are only {len(units)} units of work")
    describe = getattr(backend, "describe", None)
    scores = Scores(
        [],
        mode,
        {f"{p.config}/{p.length}": p.sha256 for p in data.parts},
        {"name": tokenizer.name, "sha256": tokenizer.fingerprint},
        describe() if describe else {"engine": type(backend).__name__},
        options.limit,
        parts=[f"{options.shard[0]}/{options.shard[1]}"] if options.shard else [],
    )
    header = {**vars(scores), "records": None}
    ties = 0
    with Journal(journal, header, resume) as kept:
        for count, name in enumerate(names):
            found = kept.get(name)
            if found is None:
                records, tied = _read_unit(backend, units[name])
                found = {"records": records, "ties": tied}
                kept.put(name, found)
            scores.records += found["records"]
            ties += found["ties"]
            if progress:
                progress(count + 1, len(names))
    scores.records = sorted_records(scores.records)
    extra: dict[str, Any] = {"ties": ties, "units": len(names)}
    extra["check"] = check(backend, [p for n in names for p in units[n]], scores, options) if options.check else None
    return scores, extra


def _read_unit(backend: Any, plans: Sequence[Plan]) -> tuple[list[Record], int]:
    reads = [r for plan in plans for r in plan.reads if r.positions]
    answers = iter(read_all(backend, reads))
    records: list[Record] = []
    ties = 0
    for plan in plans:
        mine = [next(answers) if r.positions else Answer((), ()) for r in plan.reads]
        ties += sum(a.ties for a in mine)
        records += settle(plan, mine)
    return records, ties


def check(backend: Any, plans: Sequence[Plan], scores: Scores, options: Options) -> dict[str, Any]:
    """Read some sequences again, whole and with nothing shared, and say how far the numbers are from the first ones."""
    candidates = [(plan, at) for plan in plans for at, r in enumerate(plan.reads) if r.positions]
    chosen = random.Random(options.seed).sample(candidates, min(options.check, len(candidates)))
    kept = {(r["set"], r["length"], r["item"], r["target"]): r for r in scores.records}
    differences: list[float] = []
    flips = 0
    for plan, at in chosen:
        request: Read = plan.reads[at]
        answer = checked(backend.read(request.ids, request.positions, request.tokens), request)
        for want in plan.wants:
            record = kept[want.record["set"], want.record["length"], want.record["item"], want.record["target"]]
            for (sequence, row, columns), (top, values) in zip(want.rows, _said(record), strict=True):
                if sequence != at:
                    continue
                again = [answer.logps[row][c] for c in columns]
                differences += [abs(a - b) if a != b else 0.0 for a, b in zip(again, values, strict=True)]
                flips += answer.top[row] != top
    largest = max(differences, default=0.0)
    mean = sum(differences) / len(differences) if differences else 0.0
    allowed = CHECK_TOLERANCE.get(str(scores.engine.get("dtype", "")), CHECK_TOLERANCE_HALF)
    return {
        "sequences": len(chosen),
        "positions": len(differences),
        "max_abs_difference": largest,
        "mean_abs_difference": mean,
        "flips": flips,
        "allowed_max": allowed[0],
        "allowed_mean": allowed[1],
        "passed": largest <= allowed[0] and mean <= allowed[1],
    }


def _said(record: Record) -> list[tuple[Any, list[float]]]:
    """(top-1, log-probabilities) per row of a record, in the order they were asked."""
    if record["status"] != "ok":
        return []
    if "family" in record:
        sides = ("without", "with")
        return [(t, [record[s], record[f"original_{s}"]]) for t, s in zip(record["top"], sides, strict=True)]
    if "kind" in record:
        return [(record["top"], [record["logp"]])]
    return [(t, [v]) for t, v in zip(record["top"], record["logp"], strict=True)]


def parse_shard(text: str) -> tuple[int, int]:
    """`2/8` as (2, 8)."""
    i, _, n = text.partition("/")
    if not (i.isdigit() and n.isdigit() and 1 <= int(i) <= int(n)):
        raise UsageError(f"--shard {text}: not of the form i/n with 1 <= i <= n")
    return int(i), int(n)


__all__ = ["EngineError", "Options", "Scores", "check", "parse_shard", "plan_all", "run", "score_sets"]
