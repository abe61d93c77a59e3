"""From a store, a suite and a builds file to a computed report: what every report command begins with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from triathlon import content
from triathlon.errors import UsageError
from triathlon.harness.candidate import hash_tree
from triathlon.harness.case import Suite
from triathlon.population.builds import Build, load_builds
from triathlon.population.measures import Measures, measure
from triathlon.population.read import Seen, population
from triathlon.report.data import Report, report
from triathlon.store import Store


def gather(store: Store, suite: Suite, builds: Path | None = None) -> Report:
    """Read, compute and measure. Raises NothingToDo or UsageError."""
    known = load_builds(builds) if builds is not None else []
    people = population(store, suite, known)
    return report(people, measured(people.seen, known))


def measured(seen: Iterable[Seen], builds: Sequence[Build]) -> dict[str, Measures]:
    """Code measures by tree hash: of builds whose folder is given, and of the shipped trees where they are the same.

    Raises UsageError where a folder is missing or holds another tree than was evaluated.
    """
    skeleton = content.root() / "skeleton"
    found: dict[str, Measures] = {}
    for one in seen:
        name, tree = one.member.name, one.member.tree
        path = next((build.path for build in builds if build.fits(name, tree)), None)
        if path is not None:
            if not path.is_dir():
                raise UsageError(f"{path}: the folder of build {name} is not there")
            if hash_tree(path) != tree:
                raise UsageError(f"{path}: is not the tree {tree[:12]} that was evaluated as {name}")
        elif name in ("reference", "skeleton") and hash_tree(content.root() / name) == tree:
            path = content.root() / name
        if path is not None and tree not in found:
            found[tree] = measure(path, skeleton)
    return found
