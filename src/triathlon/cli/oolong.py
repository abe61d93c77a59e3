"""`triathlon oolong`: read everything, then aggregate."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from triathlon.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from triathlon.oolong.windows import BadRow

app = typer.Typer(no_args_is_help=True, help="Oolong: does an agent read everything, and aggregate?")


@app.callback()
def root() -> None:
    """Windows of labelled lines, questions whose answer depends on nearly every line."""


def day_of(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--today {text!r} is no date; write it as YYYY-MM-DD") from None


@app.command()
def score(
    file: Path = typer.Argument(..., help="JSON lines: scorer, answer, answer_type, response, id; - is stdin."),
    today: str | None = typer.Option(
        None, envvar="TRIATHLON_TODAY", help="The day (YYYY-MM-DD) that fills missing parts of a date, default today."
    ),
) -> None:
    """Score answers with the official rules, one JSON line for each, in order."""
    from triathlon.oolong import lenient, official

    day = day_of(today)
    stream = sys.stdin if str(file) == "-" else _open(file)
    bad = 0
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            record = _record(line, f"{file}:{number}")
            if isinstance(record, str):
                print(f"triathlon: {record}", file=sys.stderr)
                bad += 1
                continue
            got = official.score(
                record["scorer"], record["answer"], record["answer_type"], record["response"], today=day
            )
            out: dict[str, Any] = {} if "id" not in record else {"id": record["id"]}
            out |= {"score": got.score, "parse": got.parse, "confidence": got.confidence}
            out["lenient"] = lenient.score(
                record["scorer"], record["answer"], record["answer_type"], record["response"], today=day
            )
            if got.reason is not None:
                out["reason"] = got.reason
            out["scorer"] = f"{official.NAME} {official.VERSION}"
            print(json.dumps(out, ensure_ascii=False))
    if bad:
        raise UsageError(f"{bad} line(s) of {file} could not be read; each needs scorer, answer, answer_type, response")


def _open(file: Path) -> Any:
    try:
        return file.open(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; give a file of JSON lines") from None


def _record(line: str, where: str) -> dict[str, Any] | str:
    """The record of a line, or what is wrong with it."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"{where}: not JSON: {error}"
    if not isinstance(record, dict):
        return f"{where}: not a JSON object"
    for name in ("scorer", "answer", "response"):
        if name not in record:
            return f"{where}: {name!r} is missing"
    if record["scorer"] not in ("synth", "dnd"):
        return f"{where}: unknown scorer {record['scorer']!r}; use synth or dnd"
    if not isinstance(record["response"], str | None):
        return f"{where}: response is no text"
    record.setdefault("answer_type", None)
    return record


@app.command()
def make(
    source: list[Path] = typer.Option(
        [], "--source", help="Labelled items of your own (JSON lines or CSV: text, label); default: the shipped ones."
    ),
    out: Path = typer.Option(Path("windows.jsonl"), help="Where the rows go, as JSON lines."),
    length: list[int] = typer.Option([1024, 8192], "--length", "--context-len", help="Window length in tokens."),
    windows: int = typer.Option(2, min=1, help="Windows for each source and length."),
    questions: int = typer.Option(25, min=1, help="Questions for each window, at most."),
    seed: int = typer.Option(0, help="Same seed, same bytes."),
    as_json: bool = typer.Option(False, "--json", help="Print what was made as JSON."),
) -> None:
    """Make new windows from labelled items, with answers counted in two independent ways."""
    from triathlon.oolong import items
    from triathlon.oolong.make import make as make_rows
    from triathlon.oolong.make import read_source
    from triathlon.oolong.windows import write_jsonl

    sources = [read_source(path) for path in source] or items.shipped()
    out.parent.mkdir(parents=True, exist_ok=True)
    count = write_jsonl(
        (
            row
            for number, pool in enumerate(sources)
            for size in length
            for row in make_rows(
                pool, size, seed=seed, windows=windows, per_window=questions, first_id=10_000_000_000 * number
            )
        ),
        out,
    )
    made = {"file": str(out), "rows": count, "sources": [pool.name for pool in sources], "lengths": length}
    print(json.dumps(made) if as_json else f"{out}: {count} rows from {', '.join(made['sources'])}")  # type: ignore[arg-type]


@app.command()
def audit(
    files: list[Path] = typer.Argument(..., help="Parquet or JSON-lines files with Oolong's columns."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Recompute every gold from the labelled text; list rows whose gold is tied, capped or wrong. Exit 1 if any."""
    from dataclasses import asdict

    from triathlon.oolong.audit import audit as audit_rows
    from triathlon.oolong.windows import BadRow, Row

    counts: Counter[str] = Counter()
    bad: list[BadRow] = []

    def rows() -> Any:
        for row in read_rows(files):
            if isinstance(row, BadRow):
                bad.append(row)
            elif isinstance(row, Row):
                counts["rows"] += 1
                yield row
            else:
                counts["real"] += 1

    findings = list(audit_rows(rows()))
    flags = Counter(finding.flag for finding in findings)
    if as_json:
        print(
            json.dumps(
                {
                    "rows": counts["rows"],
                    "not_audited": counts["real"],
                    "unreadable": [asdict(row) for row in bad],
                    "flags": dict(flags),
                    "findings": [asdict(finding) for finding in findings],
                },
                ensure_ascii=False,
            )
        )
    else:
        for finding in findings:
            print(f"{finding.id}\t{finding.flag}\tstored {finding.stored}\tright {finding.right}")
    for row in bad:
        print(f"triathlon: {row.where}: {row.reason}", file=sys.stderr)
    flagged = ", ".join(f"{n} {flag}" for flag, n in sorted(flags.items())) or "none flagged"
    print(f"{counts['rows']} rows audited: {flagged}; {len(bad)} unreadable", file=sys.stderr)
    if findings or bad:
        raise CheckFailed(f"{len(findings)} of {counts['rows']} rows have a gold that cannot be trusted")


def read_rows(files: list[Path]) -> Any:
    """Rows of several files, one after another, what is unreadable as BadRow."""
    from triathlon.oolong.windows import read_file

    for path in files:
        yield from read_file(path)


@app.command()
def baselines(
    files: list[Path] = typer.Argument(..., help="Parquet or JSON-lines files with Oolong's columns."),
    seed: int = typer.Option(0, help="Seed of the random guesses."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Score answers that need no model: random, oracle, earliest month, most common word."""
    import random

    from triathlon.oolong.audit import audit_row
    from triathlon.oolong.baselines import BASELINES
    from triathlon.oolong.line import items
    from triathlon.oolong.official import NAME, VERSION
    from triathlon.oolong.official import score as official_score
    from triathlon.oolong.windows import Row

    sums: dict[str, dict[str, float]] = {name: {"all": 0.0, "unflagged": 0.0} for name in BASELINES}
    count = unflagged = 0
    for row in read_rows(files):
        if not isinstance(row, Row):
            continue
        clean = audit_row(row, list(items(row.context_window_text_with_labels))) is None
        count, unflagged = count + 1, unflagged + clean
        for name, baseline in BASELINES.items():
            reply = baseline(row, random.Random(f"{seed}/{name}/{row.key}"))
            value = official_score("synth", row.answer, row.answer_type, reply).score
            sums[name]["all"] += value
            sums[name]["unflagged"] += value * clean
    if not count:
        raise UsageError(f"{files[0]}: no oolong-synth row in it")
    means = {
        name: {"score": parts["all"] / count, "unflagged": parts["unflagged"] / unflagged if unflagged else None}
        for name, parts in sums.items()
    }
    if as_json:
        print(json.dumps({"rows": count, "unflagged": unflagged, "scorer": f"{NAME} {VERSION}", "baselines": means}))
        return
    for name, mean in means.items():
        clean_mean = "-" if mean["unflagged"] is None else f"{100 * mean['unflagged']:.1f} %"
        print(f"{name:15} {100 * (mean['score'] or 0):5.1f} %   without flagged rows {clean_mean}")


from triathlon.cli import asking  # noqa: E402  (it adds its commands to `app`)

asking.add_to(app)
