"""`triathlon oolong run`, `results`, `compare`, `rescore` and `demo`: asking, and what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from triathlon.errors import NothingToDo, UsageError

if TYPE_CHECKING:
    from triathlon.oolong.answers import Answer
    from triathlon.oolong.choose import Choice
    from triathlon.oolong.windows import RealRow, Row


def add_to(app: typer.Typer) -> None:
    """Add the commands to the group `oolong`."""
    for command in (run, results, compare, rescore, demo):
        app.command()(command)


def run(
    data: list[Path] = typer.Argument(None, help="Rows: Parquet or JSON lines; none: the shipped items, made anew."),
    model: str | None = typer.Option(None, "--model", "-m", help="PROVIDER/MODEL, simulated/NAME, or EVAL_RUNNER."),
    agent: str = typer.Option("prompt", envvar="TRIATHLON_AGENT", help="prompt, file, or file:TREE."),
    out: Path = typer.Option(Path("runs/oolong.jsonl"), envvar="TRIATHLON_OOLONG", help="The answers, resumable."),
    profile: str = typer.Option("plain", help="The prompt profile: plain or careful."),
    labels: bool = typer.Option(False, "--labels", help="Show the gold labels: another condition, said loudly."),
    source: list[str] = typer.Option([], help="Only these sources."),
    context_len: list[int] = typer.Option([], "--context-len", help="Only windows of these lengths."),
    group: list[str] = typer.Option([], help="counting, user or timeline."),
    task: list[str] = typer.Option([], help="A task or answer type, such as MOST_FREQ or DATE."),
    split: str = typer.Option("all", help="validation (spam, trec_coarse), test (the other eight) or all."),
    per_source: int | None = typer.Option(None, "--per-source", help="Rows of each source, 0 for all; default 10."),
    row_id: list[str] = typer.Option([], "--sample-id", help="Only these ids."),
    seed: int = typer.Option(0, help="Which rows are drawn."),
    in_flight: int = typer.Option(4, "--max-samples", "-n", min=1, help="Questions at the same time."),
    base_url: str | None = typer.Option(None, "--model-base-url", help="Another endpoint for the model."),
    arguments: list[str] = typer.Option([], "-M", help="key=value for the model's provider."),
    cost_limit: float | None = typer.Option(None, min=0, help="Stop after so many dollars."),
    token_limit: int | None = typer.Option(None, min=1, help="Stop after so many tokens."),
    time_limit: float = typer.Option(600.0, min=1, help="Seconds for one question."),
    retries: int = typer.Option(2, "--max-retries", min=0, help="Tries after an error of the provider."),
    cache: bool = typer.Option(False, "--cache", help="Take a reply that Inspect has in its cache."),
    today: str | None = typer.Option(None, envvar="TRIATHLON_TODAY", help="The scorer's day, YYYY-MM-DD."),
    sandbox: str = typer.Option("namespaces", envvar="TRIATHLON_SANDBOX", help="For file agents."),
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON."),
) -> None:
    """Ask a model, alone or in a harness. The same command again goes on where it was."""
    from triathlon.cli.oolong import day_of
    from triathlon.oolong import choose, models, prompts
    from triathlon.oolong.agents import open_agent
    from triathlon.oolong.answers import Answers
    from triathlon.oolong.run import Condition, Limits
    from triathlon.oolong.run import run as ask_all

    environment = choose.from_environment()
    choice = choose.Choice(
        tuple(source),
        tuple(context_len or ([environment["length"]] if "length" in environment else [])),
        tuple(group),
        tuple(task),
        tuple(row_id),
        split,
        environment.get("per_source", 10) if per_source is None else per_source,
        seed,
    )
    name = models.resolve(model)
    chosen = prompts.profile(profile)
    rows = load_rows(list(data or []), choice)
    opened = models.open_model(name, base_url=base_url, arguments=_pairs(arguments), cache=cache)
    if labels:
        print("LABELS CONDITION: the run sees the gold labels; its score is no Oolong score", file=sys.stderr)
    asking = open_agent(agent, opened, chosen, labels=labels, time_limit=time_limit, sandbox=sandbox)
    answers = Answers(out)
    condition = Condition(name, asking.name, profile, labels, opened.simulated)
    try:
        ran = ask_all(
            rows,
            asking,
            condition,
            answers,
            limits=Limits(cost_limit, token_limit, time_limit, retries),
            in_flight=in_flight,
            today=day_of(today),
            ended=_progress(len(rows)),
        )
    finally:
        answers.close()
        asking.close()
    wanted = {row.key for row in rows}
    records = [r for (key, i), r in answers.known.items() if key == condition.key and i in wanted]
    print(
        f"{ran.asked} asked, {ran.from_file} from {out}, {ran.left} left"
        + (f"; stopped: {ran.stopped}" if ran.stopped else ""),
        file=sys.stderr,
    )
    _print_summaries([records], as_json)


def load_rows(files: list[Path], choice: Choice) -> list[Row | RealRow]:
    """The rows to ask, from files or made from the shipped items; unreadable ones are said and counted."""
    from triathlon.cli.oolong import read_rows
    from triathlon.oolong import choose
    from triathlon.oolong.windows import BadRow

    if not files:
        rows = shipped_rows(choice.lengths or (1024, 4096))
    else:
        bad: list[BadRow] = []
        rows = []
        for row in read_rows(files):
            (bad if isinstance(row, BadRow) else rows).append(row)
        for row in bad:
            print(f"triathlon: {row.where}: {row.reason}", file=sys.stderr)
        if bad:
            print(f"{len(bad)} unreadable rows are left out of the run", file=sys.stderr)
    choose.check(choice, {row.dataset for row in rows})
    return choose.choose(rows, choice)


def shipped_rows(lengths: tuple[int, ...]) -> list[Any]:
    """Rows made from the shipped items, always the same."""
    from triathlon.oolong import items
    from triathlon.oolong.make import make

    return [
        row
        for number, pool in enumerate(items.shipped())
        for length in lengths
        for row in make(pool, length, seed=0, first_id=10_000_000_000 * number)
    ]


def _pairs(arguments: list[str]) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or not key:
            raise UsageError(f"-M {argument!r}: write it as key=value")
        try:
            pairs[key] = json.loads(value)
        except ValueError:
            pairs[key] = value
    return pairs


def _progress(total: int) -> Any:
    done = 0

    def ended(answer: Answer) -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty() or done % 10 == 0 or done == total or answer.error is not None:
            error = f"  {answer.error}" if answer.error else ""
            print(f"[{done}/{total}] {answer.id} {answer.status} {answer.score:.2f}{error}", file=sys.stderr)

    return ended


def _conditions(files: list[Path]) -> list[list[dict[str, Any]]]:
    """The records of answers files, one list a condition."""
    from triathlon.oolong.answers import read

    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for file in files:
        if not file.exists():
            raise UsageError(f"{file}: no such file; `triathlon oolong run` writes it")
        for record in read(file):
            groups.setdefault(record["condition"], {})[record["id"]] = record
    if not groups:
        raise NothingToDo(f"{files[0]}: no answers in it")
    return [list(group.values()) for group in groups.values()]


def results(
    files: list[Path] = typer.Argument(..., help="Answers files of `oolong run`."),
    data: list[Path] = typer.Option([], "--data", help="The rows asked, to audit their golds."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Scores by length, group, task, type and source, with intervals, cost and the harness x model matrix."""
    flagged: frozenset[str] = frozenset()
    if data:
        from triathlon.cli.oolong import read_rows
        from triathlon.oolong.audit import audit
        from triathlon.oolong.windows import Row

        rows = (row for row in read_rows(data) if isinstance(row, Row))
        flagged = frozenset(finding.id for finding in audit(rows))
    _print_summaries(_conditions(files), as_json, flagged)


def _print_summaries(
    conditions: list[list[dict[str, Any]]], as_json: bool, flagged: frozenset[str] = frozenset()
) -> None:
    from triathlon.oolong import numbers

    summaries = [numbers.summary(records, flagged) for records in conditions if records]
    groups: dict[tuple[str, str], Sequence[dict[str, Any]]] = {
        (s["agent"], s["model"]): records for s, records in zip(summaries, conditions, strict=True)
    }
    grid = numbers.matrix(groups) if len(groups) > 1 else None
    if as_json:
        print(json.dumps({"conditions": summaries, "matrix": grid}, ensure_ascii=False))
        return
    for found in summaries:
        loud = "  LABELS SHOWN" if found["labels"] else ""
        simulated = "  simulated" if found["simulated"] else ""
        print(f"{found['model']} | {found['agent']} | {found['profile']}{simulated}{loud}")
        print(
            f"  score {percent(found['score'])}   perfect {percent(found['perfect'])}   "
            f"lenient {percent(found['lenient'])}   ({', '.join(found['scored_by'])})"
        )
        for length, value in found["by"]["context_len"].items():
            print(f"  {int(length):>9,} tokens {percent(value)}")
        for name, value in found["by"]["task_group"].items():
            print(f"  {name:>16} {percent(value)}")
        print(f"  status {found['status']}   tokens {found['tokens']['total']:,}   calls {found['calls']['total']:,}")
    if grid is not None:
        shares = grid["shares"]
        said = (
            "undefined"
            if shares is None
            else ", ".join(f"{part} {100 * shares[part]:.0f} %" for part in ("agent", "model", "interaction"))
        )
        print(f"harness x model: variance explained: {said}")


def percent(value: dict[str, Any] | None) -> str:
    """A mean with its interval, as people read it."""
    if value is None:
        return "undefined"
    if value["low"] is None:
        return f"{100 * value['mean']:.1f} % (n {value['questions']}, one window: no interval)"
    return f"{100 * value['mean']:.1f} % [{100 * value['low']:.1f}, {100 * value['high']:.1f}] (n {value['questions']})"


def compare(
    first: Path = typer.Argument(..., help="Answers of the first run."),
    second: Path = typer.Argument(..., help="Answers of the second run."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """The paired difference (first minus second) over the questions both answered."""
    from triathlon.oolong import numbers

    pair = []
    for file in (first, second):
        found = _conditions([file])
        if len(found) != 1:
            raise UsageError(f"{file}: answers of {len(found)} conditions; compare files of one condition each")
        pair.append(found[0])
    found_difference = numbers.difference(pair[0], pair[1])
    if found_difference is None:
        raise NothingToDo("the two runs share no question")
    print(json.dumps(found_difference) if as_json else f"difference {percent(found_difference)}")


def rescore(
    file: Path = typer.Argument(..., help="An answers file of `oolong run`."),
    out: Path = typer.Option(..., help="Where the rescored answers go."),
    today: str | None = typer.Option(None, envvar="TRIATHLON_TODAY", help="The scorer's day, YYYY-MM-DD."),
) -> None:
    """Score stored responses again, without asking anybody."""
    from triathlon.cli.oolong import day_of
    from triathlon.oolong.answers import read
    from triathlon.oolong.answers import rescore as again

    if not file.exists():
        raise UsageError(f"{file}: no such file")
    day, count, changed = day_of(today), 0, 0
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8", errors="surrogatepass") as target:
        for record in read(file):
            new = again(record, today=day)
            count, changed = count + 1, changed + (new["score"] != record["score"])
            target.write(json.dumps(new, ensure_ascii=False) + "\n")
    print(f"{out}: {count} answers, {changed} with another score", file=sys.stderr)


def demo(
    out: Path = typer.Option(Path("runs/oolong-demo.jsonl"), help="The answers."),
    sandbox: str = typer.Option("namespaces", envvar="TRIATHLON_SANDBOX", help="For the file agent."),
) -> None:
    """Made windows, baselines as simulated models, alone and in the reference harness; no model, no key, no network."""
    from triathlon.oolong import choose, models, prompts
    from triathlon.oolong.agents import open_agent
    from triathlon.oolong.answers import Answers
    from triathlon.oolong.run import Condition, Limits
    from triathlon.oolong.run import run as ask_all

    rows = choose.choose(shipped_rows((1024, 4096, 16384)), choose.Choice(per_source=12))
    answers, plain = Answers(out), prompts.profile("plain")
    wanted = {row.key for row in rows}
    keys = []
    for name in ("simulated/random", "simulated/oracle"):
        for agent_name in ("prompt", "file:reference"):
            opened = models.open_model(name)
            agent = open_agent(agent_name, opened, plain, labels=False, time_limit=60.0, sandbox=sandbox)
            condition = Condition(name, agent.name, "plain", False, True)
            keys.append(condition.key)
            try:
                ran = ask_all(rows, agent, condition, answers, limits=Limits(time=60.0), in_flight=4)
            finally:
                agent.close()
            print(f"{name} by {agent.name}: {ran.asked} asked, {ran.from_file} from {out}", file=sys.stderr)
    answers.close()
    _print_summaries(
        [[r for (key, i), r in answers.known.items() if key == wanted_key and i in wanted] for wanted_key in keys],
        as_json=False,
    )
