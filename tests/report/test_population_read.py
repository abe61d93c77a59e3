"""From rows to a population: gating, repetitions, attempts, and never two conditions mixed unmarked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from report_help import fill, row, suite

from triathlon import protocol
from triathlon.errors import NothingToDo, UsageError
from triathlon.harness import run
from triathlon.harness.candidate import Candidate
from triathlon.population.against import against, find
from triathlon.population.builds import load_builds
from triathlon.population.read import population, unit_hash
from triathlon.store import Store


def test_a_row_is_found_by_the_key_that_a_run_gives_it(tmp_path: Path) -> None:
    cases = suite(tmp_path)
    provider: Any = SimpleNamespace(name="namespaces")
    facts = {"root": "o"}
    plan = run.Plan(
        Candidate("x", tmp_path, "t"), cases, cases.cases, (), protocol.load(), provider, facts, run.Options()
    )
    assert plan.key(cases.cases[0], 1).case == unit_hash(cases.cases[0])


def test_verdicts_are_gated_and_a_missing_control_gives_none(tmp_path: Path) -> None:
    cases = suite(tmp_path / "s", groups=1, cases=3)
    first, second, third = cases.cases
    control = cases.controls["g0/control"]
    with Store(tmp_path / "a.sqlite") as store:
        for name, unit, passed in (
            ("bad-control", control, False),
            ("bad-control", first, True),
            ("bad-control", second, True),
            ("no-control", first, True),
            ("no-control", third, False),
            ("failed", first, False),
        ):
            store.put(row(unit, name, passed), {})
        found = population(store, cases)
    by_name = {one.member.name: verdicts for one, verdicts in zip(found.seen, found.verdicts, strict=True)}
    assert by_name == {
        "bad-control": ("gated", "passed", "none"),
        "no-control": ("none", "none", "failed"),
        "failed": ("failed", "none", "none"),
    }
    at = [one.member.name for one in found.seen].index("bad-control")
    assert found.table.rates[at] == 0.5
    assert found.table.without_gate().rates[at] == 1.0


def test_every_repetition_and_the_last_attempt_decide(tmp_path: Path) -> None:
    cases = suite(tmp_path / "s", groups=1, cases=3)
    _, second, third = cases.cases
    with Store(tmp_path / "a.sqlite") as store:
        store.put(row(second, "x", True, repetition=1), {})
        store.put(row(second, "x", False, repetition=2), {})
        late = replace(row(third, "x", False), late=True)
        store.put(late, {})
        store.put(replace(row(third, "x", True), key=replace(late.key, attempt=1)), {})
        found = population(store, cases)
    assert found.verdicts[0] == ("none", "failed", "passed")
    told = found.seen[0].telling(second.id)
    assert told is not None and told.key.repetition == 2


def test_the_newest_tree_of_a_name_is_taken_and_the_rest_is_named(tmp_path: Path) -> None:
    cases = suite(tmp_path / "s", groups=1, cases=2)
    with Store(tmp_path / "a.sqlite") as store:
        store.put(row(cases.cases[1], "x", False, started="2026-01-01", tree="a" * 64), {})
        store.put(row(cases.cases[1], "x", True, started="2026-01-02", tree="b" * 64), {})
        found = population(store, cases)
        every = population(store, cases, every_tree=True)
    assert [one.member.tree for one in found.seen] == ["b" * 64]
    assert "aaaaaaaaaaaa" in found.left_out[0]
    assert len(every.seen) == 2 and not every.left_out


def test_rows_of_other_texts_and_protocols_are_left_out_by_name(tmp_path: Path) -> None:
    cases = suite(tmp_path / "s", groups=1, cases=2)
    with Store(tmp_path / "a.sqlite") as store:
        store.put(row(cases.cases[1], "x", True, started="2026-01-03"), {})
        store.put(row(cases.cases[1], "y", True, started="2026-01-02", protocol="q" * 64), {})
        old = row(cases.cases[0], "x", True)
        store.put(replace(old, key=replace(old.key, case="0" * 64)), {})
        found = population(store, cases)
    assert [one.member.name for one in found.seen] == ["x"]
    assert found.left_out == (
        "1 rows of other cases or of older texts of them",
        "1 rows under another protocol than pppppppp",
    )


def test_what_is_not_the_same_for_all_is_marked(tmp_path: Path) -> None:
    cases = suite(tmp_path / "s", groups=1, cases=2)
    with Store(tmp_path / "a.sqlite") as store:
        store.put(row(cases.cases[1], "x", True), {})
        store.put(replace(row(cases.cases[1], "y", True, provider="none"), facts={"non_standard": ["mark"]}), {})
        found = population(store, cases)
    assert {"provider", "marks"} <= set(found.mixed)
    assert "protocol" not in found.mixed


def test_a_store_without_a_row_of_the_suite_is_nothing_to_do(tmp_path: Path) -> None:
    with Store(tmp_path / "a.sqlite") as store, pytest.raises(NothingToDo, match="no row"):
        population(store, suite(tmp_path / "s"))


def test_builds_give_models_to_trees(tmp_path: Path) -> None:
    cases = suite(tmp_path / "s", groups=2, cases=2)
    path = fill(tmp_path / "a.sqlite", cases, {"one": 0.5, "two": 0.5})
    with Store(path) as store:
        tree = store.rows(candidate="two")[0].key.tree
        file = tmp_path / "b.toml"
        file.write_text(
            f'[[build]]\ncandidate = "one"\nmodel = "M"\n'
            f'[[build]]\ntree = "{tree[:10]}"\nmodel = "M"\nbuild = 2\nturns = 7\n'
        )
        found = population(store, cases, load_builds(file))
    assert found.table.models == ("M",)
    assert [one.member.build for one in found.seen] == [1, 2]
    assert found.seen[1].member.facts == {"turns": 7}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = ", "as TOML"),
        ("x = 1", "one \\[\\[build\\]\\]"),
        ('[[build]]\nmodel = "M"', "either"),
        ('[[build]]\nmodel = "M"\ncandidate = "x"\ncosts = 1', "costs"),
        ('[[build]]\nmodel = "M"\ntree = "xyz"', "tree"),
    ],
)
def test_a_wrong_builds_file_says_where(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "b.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        load_builds(file)


def test_two_sides_are_found_by_name_hash_and_folder(tmp_path: Path) -> None:
    cases = suite(tmp_path / "s", groups=3, cases=2)
    fill(tmp_path / "a.sqlite", cases, {"a": 1, "b": 1}, lambda name, unit: name == "b" or unit.group != "g1")
    with Store(tmp_path / "a.sqlite") as store:
        found = population(store, cases, every_tree=True)
    tree = next(one.member.tree for one in found.seen if one.member.name == "b")
    assert find(found, tree[:8]) == find(found, "b")
    sides = against(found, "a", found, "b")
    assert sides.gated.better == ("g1/c0", "g1/c1")
    assert sides.differ == ()
    with pytest.raises(UsageError, match="evaluate it first"):
        find(found, str(tmp_path))
    with pytest.raises(UsageError, match=r"knows a .*, b "):
        find(found, "nobody")
