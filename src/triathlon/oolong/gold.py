"""The right answer to a question, counted from the labelled items.

Two ways that share no code: `count` with Python counters, and `query` with SQL. `make` asks only where both agree;
`audit` uses the first. Every answer says whether it is tied, so that a question with two right answers is seen.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from triathlon.oolong.line import MONTH_NAMES, Item
from triathlon.oolong.questions import Question, Subset

Value = str | int | date


@dataclass(frozen=True, slots=True)
class Gold:
    """What is right: one value, or several where they tie; empty where the question has no answer."""

    values: tuple[Value, ...]

    @property
    def tied(self) -> bool:
        return len(self.values) > 1

    @property
    def literal(self) -> str:
        """The data set's answer column: the Python literal of a list."""
        return repr(list(self.values))


# ---------------------------------------------------------------------------------------------- with counters


def select(items: Iterable[Item], subset: Subset) -> list[Item]:
    """The items a question looks at."""
    users = set(subset.users)
    return [
        item
        for item in items
        if (not users or item.user in users)
        and (subset.month is None or item.day.month == subset.month)
        and (subset.days is None or subset.days[0] <= item.day <= subset.days[1])
    ]


def count(items: Sequence[Item], question: Question) -> Gold:
    """The answer by Python counters."""
    return _COUNTERS[question.kind](select(items, question.subset), question.arguments)


def _top(counter: Counter[Any], rank: int = 0) -> Gold:
    """All keys that share the rank-th largest count (rank counts keys, not levels, as `second most` means)."""
    if len(counter) <= rank:
        return Gold(())
    level = sorted(counter.values(), reverse=True)[rank]
    values = sorted(key for key, value in counter.items() if value == level)
    if rank and sorted(counter.values(), reverse=True)[rank - 1] == level:
        return Gold(tuple(values))  # a tie for the first place leaves no single second
    return Gold(tuple(values))


def _least(counter: Counter[str]) -> Gold:
    level = min(counter.values(), default=None)
    return Gold(tuple(sorted(key for key, value in counter.items() if value == level)))


def _compare(a: float, b: float, words: tuple[str, str, str]) -> Gold:
    return Gold((words[0] if a > b else words[1] if a < b else words[2],))


_THAN = ("more common than", "less common than", "same frequency as")
_BEFORE = ("more common", "less common", "the same frequency")


def _labels(items: Iterable[Item]) -> Counter[str]:
    return Counter(item.label or "" for item in items)


def _month_counts(items: Iterable[Item]) -> dict[tuple[int, int], Counter[str]]:
    months: dict[tuple[int, int], Counter[str]] = {}
    for item in items:
        months.setdefault((item.day.year, item.day.month), Counter())[item.label or ""] += 1
    return months


def _before(items: list[Item], arguments: tuple[str, ...]) -> Gold:
    label, day = arguments[0], date.fromisoformat(arguments[1])
    early = [item.label for item in items if item.day < day]
    late = [item.label for item in items if item.day > day]
    if not early or not late:
        return Gold(())
    # Shares compared as fractions, so that equal shares are equal.
    return _compare(early.count(label) * len(late), late.count(label) * len(early), _BEFORE)


def _month_first(items: list[Item], arguments: tuple[str, ...]) -> Gold:
    for (year, month), labels in sorted(_month_counts(items).items()):
        if labels[arguments[0]] > labels[arguments[1]]:
            return Gold((f"{MONTH_NAMES[month - 1]} {year}",))
    return Gold(())


def _months_single(items: list[Item], arguments: tuple[str, ...]) -> Gold:
    tops = [_top(labels).values for labels in _month_counts(items).values()]
    return Gold((tops.count((arguments[0],)),))


_COUNTERS: dict[str, Callable[[list[Item], tuple[str, ...]], Gold]] = {
    "label_most": lambda items, _: _top(_labels(items)),
    "label_least": lambda items, _: _least(_labels(items)),
    "label_compare": lambda items, args: _compare(_labels(items)[args[0]], _labels(items)[args[1]], _THAN),
    "label_count": lambda items, args: Gold((_labels(items)[args[0]],)),
    "user_most": lambda items, _: _top(Counter(item.user for item in items)),
    "user_second": lambda items, _: _top(Counter(item.user for item in items), 1),
    "user_label_most": lambda items, args: _top(Counter(item.user for item in items if item.label == args[0])),
    "user_label_versus": lambda items, args: _top(
        Counter(
            {int(user): sum(item.user == int(user) and item.label == args[0] for item in items) for user in args[1:]}
        )
    ),
    "date_most": lambda items, _: _top(Counter(item.day for item in items)),
    "date_second": lambda items, _: _top(Counter(item.day for item in items), 1),
    "dates_n_times": lambda items, args: Gold(
        (list(Counter(item.day for item in items).values()).count(int(args[0])),)
    ),
    "label_before": _before,
    "month_first": _month_first,
    "months_more": lambda items, args: Gold(
        (sum(labels[args[0]] > labels[args[1]] for labels in _month_counts(items).values()),)
    ),
    "months_single": _months_single,
}


# ------------------------------------------------------------------------------------------------------ with SQL


class Table:
    """The items of one window as an SQL table, for the second way of counting."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute("create table item (day text, month text, user integer, label text)")
        self._db.executemany(
            "insert into item values (?, ?, ?, ?)",
            ((i.day.isoformat(), i.day.isoformat()[:7], i.user, i.label) for i in items),
        )

    def close(self) -> None:
        self._db.close()

    def query(self, question: Question) -> Gold:
        """The answer by SQL."""
        where, values = _where(question.subset)
        sql, more, shape = _SQL[question.kind]
        rows = self._db.execute(sql.format(items=f"(select * from item where {where})"), {**values, **more(question)})
        return Gold(tuple(sorted(shape(row[0]) for row in rows if row[0] is not None)))


def _where(subset: Subset) -> tuple[str, dict[str, Any]]:
    if subset.users:
        return f"user in ({', '.join(str(int(user)) for user in subset.users)})", {}
    if subset.month is not None:
        return "cast(substr(day, 6, 2) as integer) = :subset_month", {"subset_month": subset.month}
    if subset.days is not None:
        first, last = subset.days
        return "day between :first and :last", {"first": first.isoformat(), "last": last.isoformat()}
    return "1", {}


def _named(*names: str) -> Callable[[Question], dict[str, Any]]:
    return lambda question: dict(zip(names, question.arguments, strict=True))


def _nothing(question: Question) -> dict[str, Any]:
    return {}


def _ranked(column: str, rank: int, where: str = "1") -> str:
    return (
        f"with c as (select {column} as k, count(*) as n from {{items}} where {where} group by 1), "
        f"r as (select n from c order by n desc limit 1 offset {rank}) select k from c where n = (select n from r)"
    )


_MONTHLY = (
    "with m as (select month, sum(label = :a) as x, sum(label = :b) as y from {items} group by month) "
    "select {what} from m where x > y"
)
_SINGLE = (
    "with c as (select month, label, count(*) as n from {items} group by 1, 2), "
    "t as (select month, max(n) as n from c group by 1), "
    "w as (select c.month, count(*) as ties, max(c.label) as label from c join t using (month, n) group by 1) "
    "select count(*) from w where ties = 1 and label = :a"
)
_BEFORE_SQL = (
    "with e as (select sum(label = :a) as x, count(*) as n from {items} where day < :day), "
    "l as (select sum(label = :a) as y, count(*) as m from {items} where day > :day) "
    "select case when x * m > y * n then 'more common' when x * m < y * n then 'less common' "
    "else 'the same frequency' end from e, l where n > 0 and m > 0"
)


def _month_name(month: str) -> str:
    return f"{MONTH_NAMES[int(month[5:]) - 1]} {month[:4]}"


_SQL: dict[str, tuple[str, Callable[[Question], dict[str, Any]], Callable[[Any], Value]]] = {
    "label_most": (_ranked("label", 0), _nothing, str),
    "label_least": (
        (
            "with c as (select label as k, count(*) as n from {items} group by 1) "
            "select k from c where n = (select min(n) from c)"
        ),
        _nothing,
        str,
    ),
    "label_compare": (
        (
            "select case when sum(label = :a) > sum(label = :b) then 'more common than' "
            "when sum(label = :a) < sum(label = :b) then 'less common than' else 'same frequency as' end from {items}"
        ),
        _named("a", "b"),
        str,
    ),
    "label_count": ("select count(*) from {items} where label = :a", _named("a"), int),
    "user_most": (_ranked("user", 0), _nothing, int),
    "user_second": (_ranked("user", 1), _nothing, int),
    "user_label_most": (_ranked("user", 0, "label = :a"), _named("a"), int),
    "user_label_versus": (
        (
            "with c as (select cast(:u as integer) as k, coalesce(sum(user = :u and label = :a), 0) as n "
            "from {items} union all "
            "select cast(:v as integer), coalesce(sum(user = :v and label = :a), 0) from {items}) "
            "select k from c where n = (select max(n) from c)"
        ),
        _named("a", "u", "v"),
        int,
    ),
    "date_most": (_ranked("day", 0), _nothing, date.fromisoformat),
    "date_second": (_ranked("day", 1), _nothing, date.fromisoformat),
    "dates_n_times": (
        "select count(*) from (select day from {items} group by day having count(*) = cast(:n as integer))",
        _named("n"),
        int,
    ),
    "label_before": (_BEFORE_SQL, _named("a", "day"), str),
    "month_first": (_MONTHLY.replace("{what}", "min(month)"), _named("a", "b"), _month_name),
    "months_more": (_MONTHLY.replace("{what}", "count(*)"), _named("a", "b"), int),
    "months_single": (_SINGLE, _named("a"), int),
}
