"""`triathlon harness mutants`: faults planted in the reference, and the cases that notice them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from triathlon.mutants.catalogue import Mutant
    from triathlon.mutants.run import Verdict

app = typer.Typer(no_args_is_help=True, help="Faults planted in the reference: list, lint, run, auto, new.")

PATTERN = typer.Option(None, "-k", metavar="PATTERN", help="Only these: a part of the id, or the kind; a,b is or.")
CLAUSE = typer.Option([], "--clause", metavar="ID", help="Only of this clause or area; repeatable.")
LIMIT = typer.Option(None, "--limit", min=1, help="Only the first so many.")
JSON = typer.Option(False, "--json", help="Print JSON on standard output.")
SANDBOX = typer.Option("namespaces", "--sandbox", envvar="TRIATHLON_SANDBOX", help="namespaces or none.")
STORE = typer.Option(None, "--store", envvar="TRIATHLON_STORE", help="The result store (runs/triathlon.sqlite).")
IN_FLIGHT = typer.Option(0, "-n", "--max-samples", min=0, help="Cases in flight of each mutant; 0: 3 x cores / -j.")
AT_ONCE = typer.Option(2, "-j", min=1, help="Mutants at the same time.")
BREADTH = typer.Option("sample", "--breadth", help="Cases tried for how much a fault breaks: sample, all or none.")
FIRST = typer.Option(False, "--first", help="The first case that notices a fault ends its run.")
FRESH = typer.Option(False, "--fresh", help="Run also what the store has.")


@app.command("list")
def list_mutants(
    pattern: str | None = PATTERN, clause: list[str] = CLAUSE, limit: int | None = LIMIT, as_json: bool = JSON
) -> None:
    """List the planted faults."""
    from triathlon.mutants import catalogue

    chosen = catalogue.choose(catalogue.load()[0], pattern, clause, limit)
    if as_json:
        listed = [
            {"id": one.id, "clause": one.clause, "kind": one.kind, "about": one.about, "files": one.sources}
            for one in chosen
        ]
        print(json.dumps({"mutants": listed}, indent=2))
        return
    width = max(len(one.id) for one in chosen)
    for one in chosen:
        print(f"{one.id:<{width}}  {one.kind:<10}  {one.about}")
    print(f"{len(chosen)} mutants of {len({one.clause for one in chosen})} clauses", file=sys.stderr)


@app.command("lint")
def lint(as_json: bool = JSON) -> int:
    """Check that every patch applies and is small, and that every clause has one. Exit 1 if there is a finding."""
    from triathlon import content
    from triathlon.harness.spec import load_spec
    from triathlon.mutants import catalogue
    from triathlon.mutants.lint import findings

    mutants, wrong = catalogue.load()
    found = list(findings(mutants, wrong, load_spec(), content.tree("reference")))
    if as_json:
        print(json.dumps({"mutants": len(mutants), "findings": found}, indent=2))
    else:
        for line in found:
            print(line)
    print(f"{len(found)} findings in {len(mutants)} mutants", file=sys.stderr)
    return 1 if found else 0


@app.command("new")
def new(
    name: str = typer.Argument(metavar="CLAUSE/NAME"),
    tree: Path = typer.Argument(metavar="TREE", help="A copy of the reference with the fault in it."),
    kind: str = typer.Option(..., "--kind", help="left-out, near-miss or over-block."),
    about: str = typer.Option(..., "--about", help="What is wrong, in a sentence."),
) -> None:
    """Turn an edited copy of the reference into a patch."""
    from triathlon import content
    from triathlon.errors import UsageError
    from triathlon.mutants import catalogue, patch

    clause, slash, rest = name.partition("/")
    if not (slash and rest):
        raise UsageError(f"a mutant is called CLAUSE/NAME, not {name!r}")
    if not tree.is_dir():
        raise UsageError(f"{tree} is no folder")
    diff = patch.make(patch.texts_of(content.tree("reference")), patch.texts_of(tree))
    if not diff:
        raise UsageError(f"{tree} is the same as the reference")
    written = catalogue.write(catalogue.folder(), clause, rest, kind, about, diff)
    print(written.file)


@app.command("run")
def run_mutants(
    pattern: str | None = PATTERN,
    clause: list[str] = CLAUSE,
    limit: int | None = LIMIT,
    breadth: str = BREADTH,
    at_once: int = AT_ONCE,
    in_flight: int = IN_FLIGHT,
    sandbox: str = SANDBOX,
    store: Path | None = STORE,
    first: bool = FIRST,
    fresh: bool = FRESH,
    as_json: bool = JSON,
) -> int:
    """Run the cases of each fault's clause against it. Exit 1 if a fault survives. The same command again resumes."""
    from triathlon.mutants import catalogue

    chosen = catalogue.choose(catalogue.load()[0], pattern, clause, limit)
    verdicts = _run(chosen, breadth, at_once, in_flight, sandbox, store, first, fresh, automatic=False)
    bad = [verdict for verdict in verdicts if verdict.survived or verdict.coarse]
    if as_json:
        print(json.dumps({"mutants": [verdict.as_json() for verdict in verdicts]}, indent=2))
    else:
        from triathlon.mutants.run import line

        for verdict in bad:
            print(f"{line(verdict)}\n    {verdict.mutant.about}")
    killed = sum(not verdict.survived for verdict in verdicts)
    coarse = sum(verdict.coarse for verdict in verdicts)
    clauses = len({verdict.mutant.clause for verdict in verdicts})
    print(f"{killed} of {len(verdicts)} killed, {coarse} coarse, {clauses} clauses", file=sys.stderr)
    if any(verdict.errors for verdict in verdicts):
        return 3
    return 1 if bad else 0


@app.command("auto")
def auto(
    count: int = typer.Option(300, "--count", min=1, help="How many faults are drawn."),
    seed: int = typer.Option(0, "--seed", help="Decides which."),
    pattern: str | None = PATTERN,
    area: list[str] = typer.Option([], "--area", help="permissions, files, session or loop; repeatable."),
    limit: int | None = LIMIT,
    only_list: bool = typer.Option(False, "--list", help="Print the faults and run nothing."),
    at_once: int = AT_ONCE,
    in_flight: int = IN_FLIGHT,
    sandbox: str = SANDBOX,
    store: Path | None = STORE,
    fresh: bool = FRESH,
    as_json: bool = JSON,
) -> int:
    """Draw small changes of the reference's code; those that no case notices need a case or an explanation."""
    from triathlon import content
    from triathlon.mutants import catalogue
    from triathlon.mutants.auto import generate
    from triathlon.mutants.survivors import explained

    drawn = generate(content.tree("reference"), count, seed)
    chosen = catalogue.choose(drawn, pattern, area, limit)
    if only_list:
        for mutant in chosen:
            print(f"{mutant.id}  {mutant.about}")
        return 0
    verdicts = _run(chosen, "none", at_once, in_flight, sandbox, store, True, fresh, automatic=True)
    known = explained()
    alive = [verdict for verdict in verdicts if verdict.survived and not verdict.errors]
    unexplained = [verdict for verdict in alive if verdict.mutant.id not in known]
    if as_json:
        listed = [verdict.as_json() | {"explained": known.get(verdict.mutant.id)} for verdict in verdicts]
        print(json.dumps({"count": count, "seed": seed, "mutants": listed}, indent=2))
    else:
        for verdict in alive:
            why = known.get(verdict.mutant.id, "not explained")
            print(f"{verdict.mutant.id}\n    {verdict.mutant.about}\n    {why}")
    said = f"{len(verdicts) - len(alive)} of {len(verdicts)} killed, {len(alive)} survive"
    print(f"{said}, {len(unexplained)} of them not explained", file=sys.stderr)
    if any(verdict.errors for verdict in verdicts):
        return 3
    return 1 if unexplained else 0


def _run(
    chosen: list[Mutant],
    breadth: str,
    at_once: int,
    in_flight: int,
    sandbox: str,
    store: Path | None,
    first: bool,
    fresh: bool,
    automatic: bool,
) -> list[Verdict]:
    import shutil
    import tempfile

    from triathlon import content, protocol
    from triathlon.errors import UsageError
    from triathlon.harness import candidate
    from triathlon.harness.load import load_suite
    from triathlon.harness.progress import watcher
    from triathlon.harness.run import cores
    from triathlon.mutants.run import Bench, run
    from triathlon.sandbox import provider, sweep
    from triathlon.store import default_path

    if breadth not in ("sample", "all", "none"):
        raise UsageError(f"--breadth is sample, all or none, not {breadth}")
    suite = load_suite()
    sweep()
    with tempfile.TemporaryDirectory(prefix="triathlon-mutants-") as place, provider(sandbox) as made:
        # A copy, so that an edit while the run goes on does not become part of a fault.
        tree = Path(place) / "reference"
        shutil.copytree(content.tree("reference"), tree, symlinks=True)
        bench = Bench(
            suite=suite,
            reference=candidate.load(str(tree)),
            numbers=protocol.load(),
            provider=made,
            store=store or default_path(),
            in_flight=in_flight or max(2, 3 * cores() // at_once),
            fresh=fresh,
            until_noticed=first,
            breadth=breadth,  # type: ignore[arg-type]
        )
        if automatic:
            from triathlon.mutants.auto import for_automatic

            bench = for_automatic(bench)
        try:
            return run(bench, chosen, at_once, lambda text: print(text, file=sys.stderr, flush=True), watcher())
        except KeyboardInterrupt:
            print(f"what was finished is in {bench.store}; the same command goes on from there", file=sys.stderr)
            raise
