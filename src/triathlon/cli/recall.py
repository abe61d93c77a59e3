"""`triathlon recall`: build, check, score, compare, show, merge, export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

app = typer.Typer(no_args_is_help=True, help="Does a model still use the facts, tools and rules far back?")

DATA = typer.Argument(..., help="A data set: a folder, a hub name (owner/name), or `builtin`.")
JSON = typer.Option(False, "--json", help="Print JSON.")
REVISION = typer.Option(None, "--revision", help="Revision of a hub data set.")


def _list(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _print_json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


@app.command()
def make(
    out: Path = typer.Argument(..., help="Folder to write the data set into."),
    source: list[Path] = typer.Option([], "--from", help="A folder or file of the published schemas (repeatable)."),
    hub: bool = typer.Option(False, "--hub", help="Read the published data sets at their pinned revisions."),
    builtin: bool = typer.Option(False, "--builtin", help="Use the corpus of our own."),
    tokenizer: str = typer.Option("qwen3.5", "--tokenizer", help="qwen3.5, builtin, a file, a folder, a hub name."),
    length: str = typer.Option("8k,32k", "--length", "--lengths", help="Lengths, such as 2k,8k,32k or 5000."),
    seed: int = typer.Option(0, "--seed", help="Everything random comes from it."),
    sets: str = typer.Option("", "--sets", help="Only these configs (comma-separated)."),
    contexts: int = typer.Option(16, "--contexts", help="Agent contexts a length."),
    fact_items: int = typer.Option(8, "--fact-items", help="Fact items a length."),
    controls: bool = typer.Option(True, "--controls/--no-controls", help="Also build the control configs."),
    attribution: Path | None = typer.Option(
        None, "--attribution", help="JSON: file pattern -> dataset, revision, license."
    ),
    as_json: bool = JSON,
) -> None:
    """Build a data set from sources."""
    from triathlon.errors import UsageError
    from triathlon.recall.builtin.corpus import corpus as own
    from triathlon.recall.items import MAIN, length_tokens
    from triathlon.recall.make.build import Plan, build
    from triathlon.recall.make.session import Corpus
    from triathlon.recall.make.sources import read_folder, read_hub
    from triathlon.recall.tokens import load

    lengths = _list(length)
    try:
        tokens = [length_tokens(name) for name in lengths]
    except ValueError as error:
        raise UsageError(f"--length {length}: {error}") from error
    unknown = [name for name in _list(sets) if name not in MAIN]
    if unknown:
        raise UsageError(f"--sets {','.join(unknown)}: not one of {', '.join(MAIN)}")
    if not (source or hub or builtin) or not lengths:
        raise UsageError("say what to build from: --from FOLDER, --hub or --builtin, and a --length")
    corpus = Corpus()
    for place in source:
        corpus.add(read_folder(place, attribution))
    if hub:
        corpus.add(read_hub())
    if builtin:
        corpus.add(own(seed, max(tokens), contexts))
    plan = Plan(lengths, seed, contexts, fact_items, controls, _list(sets) or list(MAIN))
    manifest = build(corpus, load(tokenizer), out, plan, _say)
    if as_json:
        _print_json(manifest)
        return
    for config, counts in manifest["counts"].items():
        for name, count in counts.items():
            typer.echo(f"{config:<18} {name:>6}  {count['items']:>4} items  {count['targets']:>6} targets")


@app.command()
def check(
    data: str = DATA,
    tokenizer: str = typer.Option("", "--tokenizer", help="The builder's tokenizer; default: what dataset.json names."),
    sets: str = typer.Option("", "--sets"),
    lengths: str = typer.Option("", "--lengths"),
    revision: str | None = REVISION,
    as_json: bool = JSON,
) -> None:
    """Is a data set what it says: spans, offsets, NFC, lengths, distances, attribution."""
    from triathlon.errors import CheckFailed
    from triathlon.recall import check as checking
    from triathlon.recall.data import open_dataset, tokenizer_name
    from triathlon.recall.tokens import load

    found = open_dataset(data, revision=revision, sets=_list(sets), lengths=_list(lengths))
    name = tokenizer or tokenizer_name(found)
    if not name:
        _say("no tokenizer is known for this data: token counts and distances are not checked (--tokenizer)")
    findings = checking.check(found, load(name) if name else None)
    if as_json:
        _print_json([{"where": f.where, "field": f.field, "message": f.message} for f in findings])
    else:
        for finding in findings:
            typer.echo(str(finding))
    if findings:
        raise CheckFailed(f"{data}: {len(findings)} findings")
    _say(f"{data}: {sum(len(p.items()) for p in found.parts)} items, nothing wrong")


@app.command()
def score(
    model: str = typer.Option(
        ..., "--model", help="A model as the engine names it; `smollm2` is the small test model."
    ),
    data: str = typer.Option(..., "--data", help="A folder, a hub name, or `builtin`."),
    sets: str = typer.Option("", "--sets", help="Configs, comma-separated."),
    lengths: str = typer.Option("", "--lengths", help="Lengths, comma-separated."),
    limit: int | None = typer.Option(None, "--limit", min=1, help="The first N items of a config and length."),
    mode: str = typer.Option("auto", "--mode", help="auto, ids or text."),
    save_scores: Path | None = typer.Option(None, "--save-scores", "--save_scores", help="Write a score file here."),
    reference_scores: Path | None = typer.Option(
        None, "--reference-scores", "--reference_scores", help="The original model's score file."
    ),
    out: Path | None = typer.Option(None, "--out", help="Write the whole result as JSON."),
    backend: str = typer.Option(
        "transformers", "--backend", help="transformers, vllm, sglang, llama.cpp, openai, thinctx."
    ),
    dtype: str = typer.Option("auto", "--dtype", help="fp32, bf16, fp16 or auto."),
    device: str = typer.Option("auto", "--device"),
    chunk: int = typer.Option(1024, "--chunk", min=1, help="Tokens a step."),
    shard: str = typer.Option("", "--shard", help="i/n: this part of the work only; put together with `recall merge`."),
    resume: bool = typer.Option(False, "--resume", help="Go on where the same command was stopped (needs --out)."),
    dump: Path | None = typer.Option(None, "--dump", help="Write one JSON line a target."),
    check_sequences: int = typer.Option(2, "--check", min=0, help="Read so many sequences again, whole."),
    tokenizer: str = typer.Option("", "--tokenizer", help="Where the engine brings none."),
    max_tokens: int | None = typer.Option(None, "--max-tokens", help="The model's limit, where the engine knows none."),
    option: list[str] = typer.Option([], "--option", help="NAME=VALUE for the engine (repeatable)."),
    allow_tokenizer_mismatch: bool = typer.Option(False, "--allow-tokenizer-mismatch"),
    controls: bool = typer.Option(
        True, "--controls/--no-controls", help="Also score the control configs that are there."
    ),
    revision: str | None = REVISION,
    as_json: bool = JSON,
) -> None:
    """Score a model, teacher-forced; prints the rows."""
    from triathlon.recall import runs

    result = runs.score(
        model=model, data=data, sets=_list(sets), lengths=_list(lengths), limit=limit, mode=mode,
        save_scores=save_scores, reference_scores=reference_scores, out=out, backend=backend, dtype=dtype,
        device=device, chunk=chunk, shard=shard, resume=resume, dump=dump, check=check_sequences, tokenizer=tokenizer,
        max_tokens=max_tokens, options=option, allow_tokenizer_mismatch=allow_tokenizer_mismatch, controls=controls,
        revision=revision, say=_say,
    )  # fmt: skip
    _result(result, as_json)


@app.command()
def merge(
    files: list[Path] = typer.Argument(..., help="Score files of the shards."),
    save_scores: Path | None = typer.Option(None, "--save-scores", "--save_scores"),
    reference_scores: Path | None = typer.Option(None, "--reference-scores", "--reference_scores"),
    out: Path | None = typer.Option(None, "--out"),
    allow_tokenizer_mismatch: bool = typer.Option(False, "--allow-tokenizer-mismatch"),
    as_json: bool = JSON,
) -> None:
    """Put the score files of shards together and report."""
    from triathlon.recall import report
    from triathlon.recall.files import write_json
    from triathlon.recall.scores import Scores
    from triathlon.recall.scores import merge as put_together

    scores = put_together([Scores.load(f) for f in files], [str(f) for f in files])
    if save_scores:
        scores.save(save_scores)
    reference = Scores.load(reference_scores) if reference_scores else None
    result = report.build(scores, reference, allow_tokenizer_mismatch=allow_tokenizer_mismatch)
    if out:
        write_json(out, result)
    _result(result, as_json)


@app.command()
def compare(
    a: Path = typer.Argument(..., help="A score file."),
    b: Path = typer.Argument(..., help="Another."),
    reference_scores: Path | None = typer.Option(
        None, "--reference-scores", "--reference_scores", help="Which targets count in rules; default: A."
    ),
    changed: int = typer.Option(20, "--changed", help="Show so many changed targets."),
    as_json: bool = JSON,
) -> None:
    """Which targets changed between two score files, with paired intervals."""
    from triathlon.recall import text
    from triathlon.recall.compare import compare as side_by_side
    from triathlon.recall.scores import Scores

    reference = Scores.load(reference_scores) if reference_scores else None
    result = side_by_side(Scores.load(a), Scores.load(b), reference)
    if as_json:
        _print_json(result)
    else:
        typer.echo(text.comparison(result, changed))


@app.command()
def show(
    data: str = DATA,
    item: str = typer.Argument(..., help="config/length/number, for instance rules_en/8k/3."),
    target: int | None = typer.Option(None, "--target", help="One target only."),
    width: int = typer.Option(160, "--width", help="Characters around each place."),
    revision: str | None = REVISION,
    as_json: bool = JSON,
) -> None:
    """The text around fact, rule, definition and target."""
    from dataclasses import asdict

    from triathlon.recall import show as showing
    from triathlon.recall import text
    from triathlon.recall.data import open_dataset

    config, _, rest = item.partition("/")
    lengths = [rest.partition("/")[0]] if data == "builtin" and "/" in rest else []
    del config
    found = showing.excerpts(showing.find(open_dataset(data, revision=revision, lengths=lengths), item), width, target)
    if as_json:
        _print_json([asdict(e) for e in found])
    else:
        text.print_excerpts(found)


@app.command()
def export(
    data: str = DATA,
    out: Path = typer.Argument(..., help="Folder for the tasks."),
    lengths: str = typer.Option("", "--lengths"),
    revision: str | None = REVISION,
) -> None:
    """Write `facts` and `tool_calls` as a task folder for lm-evaluation-harness."""
    from triathlon.recall.data import open_dataset
    from triathlon.recall.export import export as write

    for path in write(open_dataset(data, revision=revision, lengths=_list(lengths)), out):
        typer.echo(str(path))


def _result(result: dict[str, Any], as_json: bool) -> None:
    from triathlon.errors import CheckFailed
    from triathlon.recall import text

    if as_json:
        _print_json(result)
    else:
        typer.echo(text.result(result))
    checked = result.get("check")
    if checked and not checked["passed"]:
        raise CheckFailed(
            f"the second reading differs by up to {checked['max_abs_difference']:.3g} nats "
            f"(allowed {checked['allowed_max']:.3g}, mean {checked['allowed_mean']:.3g})"
        )
