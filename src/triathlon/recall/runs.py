"""The command `recall score`: load, read, report, write."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall import report
from triathlon.recall.data import open_dataset
from triathlon.recall.engines import Options as EngineOptions
from triathlon.recall.engines import open_engine
from triathlon.recall.files import replacing, write_json
from triathlon.recall.score import Options, parse_shard, run
from triathlon.recall.scores import Scores, plain
from triathlon.recall.tokens import load, wrap


def score(
    *,
    model: str,
    data: str,
    sets: Sequence[str],
    lengths: Sequence[str],
    limit: int | None,
    mode: str,
    save_scores: Path | None,
    reference_scores: Path | None,
    out: Path | None,
    backend: str,
    dtype: str,
    device: str,
    chunk: int,
    shard: str,
    resume: bool,
    dump: Path | None,
    check: int,
    tokenizer: str,
    max_tokens: int | None,
    options: Sequence[str],
    allow_tokenizer_mismatch: bool,
    controls: bool,
    revision: str | None,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Score a model and write what was asked for; returns the result."""
    if resume and not out:
        raise UsageError("--resume needs --out: the journal lies beside it")
    part = parse_shard(shard) if shard else None
    extra: dict[str, str] = {}
    for text in options:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"--option {text}: not of the form NAME=VALUE")
        extra[name] = value
    # A reference that cannot be used is found out before the model reads for hours.
    reference = Scores.load(reference_scores) if reference_scores else None
    found = open_dataset(data, revision=revision, sets=sets, lengths=lengths, controls=controls)
    if reference is not None:
        for key, digest in ((f"{p.config}/{p.length}", p.sha256) for p in found.parts):
            if reference.data.get(key, digest) != digest:
                raise UsageError(f"the reference was made from another {key} (data fingerprints differ)")
    engine = open_engine(backend, model, EngineOptions(dtype, device, chunk, extra))
    own = getattr(engine, "tokenizer", None)
    if not tokenizer and own is None:
        raise UsageError(f"the {backend} engine brings no tokenizer: name one with --tokenizer")
    tokens = load(tokenizer) if tokenizer else wrap(own)
    journal = out.with_name(out.name + ".partial") if out else None
    began = time.monotonic(), time.process_time()

    def progress(done: int, total: int) -> None:
        spent = time.monotonic() - began[0]
        say(f"{done}/{total} units, {spent:.0f} s, about {spent / done * (total - done):.0f} s to go")

    scores, more = run(
        engine,
        tokens,
        found,
        Options(mode, limit, check, part, max_tokens=max_tokens),
        journal=journal,
        resume=resume,
        progress=progress,
    )
    if save_scores:
        scores.save(save_scores)
    if dump:
        with replacing(dump) as beside, beside.open("w", encoding="utf-8") as handle:
            for record in scores.records:
                handle.write(json.dumps(plain(record), ensure_ascii=False, allow_nan=False) + "\n")
    result = report.build(scores, reference, allow_tokenizer_mismatch=allow_tokenizer_mismatch) | more
    result["cost"] = {"seconds": time.monotonic() - began[0], "cpu_seconds": time.process_time() - began[1]}
    if part:
        result["shard"] = shard
    if out:
        write_json(out, result)
    if journal:
        journal.unlink(missing_ok=True)
    return result
