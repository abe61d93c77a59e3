"""The computed report: what stands in it, and that it is plain data without NaN on any table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from report_help import fill, suite

from triathlon.errors import UsageError
from triathlon.harness.candidate import hash_tree
from triathlon.population.builds import load_builds
from triathlon.population.measures import Measures
from triathlon.population.read import population
from triathlon.report.data import Report, report
from triathlon.report.gather import gather, measured
from triathlon.report.names import slugs
from triathlon.store import Store


def plain(data: Any) -> str:
    return json.dumps(data, allow_nan=False)


def test_models_are_ranked_by_the_mean_over_their_builds(whole: Report) -> None:
    rows = whole.data["models"]
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    astra = next(row for row in rows if row["model"] == "Astra")
    rates = [row["rate"] for row in whole.data["candidates"] if row["model"] == "Astra"]
    assert astra["rate"] == pytest.approx(sum(rates) / 2, abs=1e-12)
    assert (astra["builds"], astra["turns"], astra["cost"], astra["accepted"]) == (2, 21.0, 3.0, "yes, no")
    assert astra["low"] <= astra["rate"] <= astra["high"]


def test_sorts_of_categories_add_up(whole: Report) -> None:
    *parts, total = whole.data["categories"]
    for name in ("cases", "floor", "ceiling", "discriminating"):
        assert sum(row[name] for row in parts) == total[name]
    assert total["cases"] == whole.data["counts"]["cases"] == 12


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("names", [["one"], ["one", "two", "three"]])
def test_a_report_without_variance_is_defined(tmp_path: Path, share: float, names: list[str]) -> None:
    cases = suite(tmp_path / "s", groups=2, cases=2)
    path = fill(tmp_path / "a.sqlite", cases, dict.fromkeys(names, 0.0), lambda name, unit: share == 1.0)
    with Store(path) as store:
        data = report(population(store, cases)).data
    assert "NaN" not in plain(data)
    assert data["reliability"] == {"kr20": None, "kr20_by_family": None}
    assert data["models"][0]["rate"] == share


def test_code_is_related_to_the_rate_where_it_was_measured(whole: Report) -> None:
    assert whole.data["code"]["measured"] == 0
    assert whole.data["code"]["lines_with_rate"] is None
    sizes = {
        one.member.tree: Measures(3, m, n, 0, 0, 1.0, 0, 0, m, 1)
        for one, n, m in zip(whole.population.seen, (900, 800, 300, 100), (3, 9, 4, 1), strict=True)
    }
    code = report(whole.population, sizes).data["code"]
    assert code["measured"] == 4
    assert (code["lines_least"], code["lines_most"]) == (100, 900)
    assert -1 <= code["lines_with_rate"] <= 1
    assert set(code["modules_given_lines_without"]) == set(whole.population.table.models)


def test_a_build_whose_folder_is_another_tree_is_an_error(tmp_path: Path, made: Path, store: Store) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.py").write_text("x = 1\n")
    file = tmp_path / "b.toml"
    file.write_text('[[build]]\ncandidate = "hy"\nmodel = "Hy"\npath = "t"\n')
    cases = suite(tmp_path / "cases")
    with pytest.raises(UsageError, match="is not the tree"):
        gather(store, suite(made / "cases"), file)
    tree = hash_tree(tmp_path / "t")
    with Store(tmp_path / "a.sqlite") as mine:
        from report_help import row

        mine.put(row(cases.cases[1], "hy", True, tree=tree), {})
        found = population(mine, cases, load_builds(file))
        assert measured(found.seen, load_builds(file))[tree].lines == 1


def test_names_become_different_safe_file_names() -> None:
    found = slugs(["g/a", "g/A", "../../etc", "", "a b", "a/b", "x" * 300, "x" * 301])
    assert len({slug.lower() for slug in found.values()}) == 8
    assert all("/" not in slug and not slug.startswith(".") and len(slug) < 120 for slug in found.values())
