"""Which cases are meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_help import CASE, CLAUSES, HEAD, put

from triathlon.errors import NothingToDo, UsageError
from triathlon.harness.case import Suite
from triathlon.harness.load import load_suite
from triathlon.harness.selection import fits, parse_shard, select


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    one = CASE.removeprefix("cases:\n")
    for group, size in (("alpha", 3), ("beta", 1), ("gamma", 2), ("delta", 2)):
        cases = "".join(one.replace("id: one", f"id: c{n}") for n in range(size))
        head = HEAD.replace("small", group).replace("PERM-01", "FILE-01" if group == "beta" else "PERM-01")
        put(tmp_path, f"{head}cases:\n{cases}", group, "files" if group == "beta" else "permissions")
    return load_suite(tmp_path, CLAUSES)


def ids(suite: Suite, pattern: str) -> list[str]:
    return [case.id for case in suite.cases if fits(case, pattern)]


def test_all_in_the_order_of_the_suite(suite: Suite) -> None:
    assert select(suite) == list(suite.cases)
    assert [case.group for case in suite.cases] == [
        "beta",
        "alpha",
        "alpha",
        "alpha",
        "delta",
        "delta",
        "gamma",
        "gamma",
    ]


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("alpha", 3),
        ("ALPHA", 3),
        ("alpha,beta", 4),
        ("!alpha", 5),
        ("c0", 4),
        ("c0,!gamma", 3),
        ("file-01", 1),
        ("files/", 1),
        ("ordinary", 8),
        ("*/c1", 3),
        ("c1", 3),
        ("a*a/c?", 3),
        ("boundary", 0),
    ],
)
def test_patterns(suite: Suite, pattern: str, count: int) -> None:
    assert len(ids(suite, pattern)) == count


def test_ids_and_groups(suite: Suite) -> None:
    assert [case.id for case in select(suite, ids=["gamma", "alpha/c1"])] == ["alpha/c1", "gamma/c0", "gamma/c1"]
    with pytest.raises(UsageError, match="did you mean alpha"):
        select(suite, ids=["alpa"])


def test_limit(suite: Suite) -> None:
    assert [case.id for case in select(suite, limit=2)] == ["beta/c0", "alpha/c0"]
    with pytest.raises(UsageError):
        select(suite, limit=0)


def test_nothing_left_is_nothing_to_do(suite: Suite) -> None:
    with pytest.raises(NothingToDo):
        select(suite, pattern="nothing")


@pytest.mark.parametrize("of", [1, 2, 3, 4, 9])
def test_shards_part_the_suite_by_groups(suite: Suite, of: int) -> None:
    parts: list[list[str]] = []
    for number in range(1, of + 1):
        try:
            parts.append([case.id for case in select(suite, shard=(number, of))])
        except NothingToDo:
            parts.append([])
    assert sorted(name for part in parts for name in part) == sorted(case.id for case in suite.cases)
    groups = [{name.partition("/")[0] for name in part} for part in parts]
    assert sum(map(len, groups)) == 4
    if of <= 3:
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_how_a_shard_is_written(suite: Suite) -> None:
    assert parse_shard("2/5") == (2, 5)
    for text in ("2", "2/", "/5", "a/b", "2/5/6", "-1/5", "²/5"):
        with pytest.raises(UsageError):
            parse_shard(text)
    for shard in ((0, 2), (3, 2), (1, 0)):
        with pytest.raises(UsageError):
            select(suite, shard=shard)


def test_the_lite_part_cites_every_clause_with_few_cases() -> None:
    whole = load_suite()
    part = select(whole, lite=True)
    assert {clause for case in part for clause in case.clauses} == {c for case in whole.cases for c in case.clauses}
    assert len(part) < len(whole.cases) / 2
    assert part == [case for case in whole.cases if case in part]
    assert {case.category for case in part} == {case.category for case in whole.cases}


def test_more_shards_than_groups_leave_some_empty(suite: Suite) -> None:
    assert select(suite, shard=(1, 10**18))
    with pytest.raises(NothingToDo):
        select(suite, shard=(10**18, 10**18))
    with pytest.raises(UsageError, match="written i/n"):
        parse_shard("1/" + "9" * 5000)
