"""One made-up population that the tests of this folder look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from report_help import fill, suite

from triathlon.harness.case import Suite
from triathlon.population.builds import load_builds
from triathlon.population.read import population
from triathlon.report.data import Report, report
from triathlon.store import Store

CANDIDATES = {"Astra <1>": 0.8, "astra-2": 0.7, "opus & co": 0.5, "hy": 0.2}
BUILDS = """
[[build]]
candidate = "Astra <1>"
model = "Astra"
turns = 20
cost = 2.0
accepted = true
[[build]]
candidate = "astra-2"
model = "Astra"
build = 2
turns = 22
cost = 4.0
accepted = false
[[build]]
candidate = "opus & co"
model = "Opus | 5"
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `cases/`, `a.sqlite` and `builds.toml`."""
    root = tmp_path_factory.mktemp("made")
    fill(root / "a.sqlite", suite(root / "cases"), CANDIDATES)
    (root / "builds.toml").write_text(BUILDS)
    return root


@pytest.fixture(scope="session")
def cases(made: Path) -> Suite:
    """The suite of `made`."""
    return suite(made / "cases")


@pytest.fixture(scope="session")
def store(made: Path) -> Iterator[Store]:
    """The store of `made`."""
    with Store(made / "a.sqlite") as opened:
        yield opened


@pytest.fixture(scope="session")
def whole(made: Path, cases: Suite, store: Store) -> Report:
    """The report of `made`."""
    return report(population(store, cases, load_builds(made / "builds.toml")))
