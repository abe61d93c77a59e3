"""Which questions a window can carry: every candidate of every kind that has exactly one right answer.

None of the official generator's defects is possible here: an answer that ties is not asked, dates are counted without a
cap, the month of a `first month` question is drawn evenly over the months that can be right, and groups of users are
real groups. A candidate is kept only where both ways of counting agree.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from triathlon.errors import TriathlonError
from triathlon.oolong import gold
from triathlon.oolong.gold import Gold, Table
from triathlon.oolong.line import MONTH_NAMES, Item
from triathlon.oolong.questions import KINDS, Question, Subset, label_list

#: A difference in share below this is not asked about: a reader who miscounts one line should not win or lose by it.
LEAST_GAP = 0.02


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its right answer, and the group it is counted under."""

    question: Question
    gold: Gold
    group: str


def questions(items: Sequence[Item], labels: Sequence[str], number: int, rng: random.Random) -> list[Asked]:
    """At most `number` questions over a window, spread evenly over groups and kinds."""
    table = Table(items)
    try:
        piles: dict[tuple[str, str], list[Asked]] = {}
        for group, question in _candidates(items, labels, rng):
            asked = _check(items, table, question, group)
            if asked is not None:
                piles.setdefault((group, question.kind), []).append(asked)
    finally:
        table.close()
    for pile in piles.values():
        rng.shuffle(pile)
    # Round after round one of each pile, the groups in turn, so that few questions still touch every kind.
    order = sorted(piles, key=lambda key: (key[1], key[0]))
    rng.shuffle(order)
    chosen: list[Asked] = []
    while len(chosen) < number and any(piles.values()):
        for key in order:
            if piles[key] and len(chosen) < number:
                chosen.append(piles[key].pop())
    return chosen


def _check(items: Sequence[Item], table: Table, question: Question, group: str) -> Asked | None:
    first = gold.count(items, question)
    if len(first.values) != 1:
        return None
    second = table.query(question)
    if first != second:
        raise TriathlonError(f"two ways of counting disagree on {question}: {first.values} and {second.values}")
    return Asked(question, first, group)


def _candidates(items: Sequence[Item], labels: Sequence[str], rng: random.Random) -> Iterator[tuple[str, Question]]:
    yield from (("counting", question) for question in _counting(items, Subset(), labels))
    yield from (("user", question) for question in _users(items, labels, rng))
    yield from (("timeline", question) for question in _timeline(items, labels, rng))


def _counting(items: Sequence[Item], subset: Subset, labels: Sequence[str]) -> Iterator[Question]:
    """The four counting kinds over a subset; only labels that occur in it are named."""
    counts = Counter(item.label or "" for item in gold.select(items, subset))
    if len(counts) < 2:
        return
    total, present = counts.total(), [label for label in labels if counts[label]]
    names = (label_list(labels),)
    levels = sorted(counts.values(), reverse=True)
    if (levels[0] - levels[1]) / total > LEAST_GAP:
        yield Question("label_most", subset, names)
    yield Question("label_least", subset, names)
    for a, b in combinations(present, 2):
        if counts[a] == counts[b] or abs(counts[a] - counts[b]) / total > LEAST_GAP:
            yield Question("label_compare", subset, (a, b))
    for label in present:
        yield Question("label_count", subset, (label,))


def _users(items: Sequence[Item], labels: Sequence[str], rng: random.Random) -> Iterator[Question]:
    counts = Counter(item.user for item in items)
    ids = sorted(counts)
    if len(ids) < 2:
        return
    yield Question("user_most")
    yield Question("user_second")
    for label in labels:
        yield Question("user_label_most", Subset(), (label,))
        by_label = Counter(item.user for item in items if item.label == label)
        pairs = [(u, v) for u, v in permutations(by_label, 2) if by_label[u] > by_label[v] + 1]
        for u, v in rng.sample(pairs, min(2, len(pairs))):
            pair = (str(u), str(v)) if rng.random() < 0.5 else (str(v), str(u))
            yield Question("user_label_versus", Subset(), (label, *pair))
    for size in (1, min(len(ids), rng.randint(3, 8))):
        group = Subset(users=tuple(rng.sample(ids, size)))
        yield from _counting(items, group, labels)
        if size > 2:
            yield Question("user_most", group)
            yield Question("user_second", group)


def _timeline(items: Sequence[Item], labels: Sequence[str], rng: random.Random) -> Iterator[Question]:
    days = sorted(item.day for item in items)
    yield Question("date_most")
    yield Question("date_second")
    times = sorted(set(Counter(days).values()))
    for n in rng.sample(times, min(2, len(times))):
        yield Question("dates_n_times", Subset(), (str(n),))
    for label in labels:
        day = days[rng.randint(len(days) * 15 // 100, len(days) * 3 // 4)]
        if _gap_before(items, label, day.isoformat()):
            yield Question("label_before", Subset(), (label, day.isoformat()))
    month = Subset(month=rng.choice(days).month)
    yield from _counting(items, month, labels)
    start, end = sorted((rng.randrange(len(days)), rng.randrange(len(days))))
    if end - start >= 4:
        yield from _counting(items, Subset(days=(days[start], days[end])), labels)
    pairs = list(permutations(labels, 2))
    yield from _first_months(items, pairs, rng)
    for a, b in rng.sample(pairs, min(4, len(pairs))):
        yield Question("months_more", Subset(), (a, b))
    for label in labels:
        yield Question("months_single", Subset(), (label,))


def _gap_before(items: Sequence[Item], label: str, day: str) -> bool:
    """True where the shares before and after differ enough, or not at all."""
    early = [item.label for item in items if item.day.isoformat() < day]
    late = [item.label for item in items if item.day.isoformat() > day]
    if not early or not late:
        return False
    gap = abs(early.count(label) / len(early) - late.count(label) / len(late))
    return gap > LEAST_GAP or early.count(label) * len(late) == late.count(label) * len(early)


def _first_months(items: Sequence[Item], pairs: Sequence[tuple[str, str]], rng: random.Random) -> Iterator[Question]:
    """One pair for each of at most two months that can be right, so that `earliest month` is no shortcut.

    Where only the earliest month can be right, nothing is asked.
    """
    by_month: dict[object, list[tuple[str, str]]] = {}
    for pair in pairs:
        answer = gold.count(items, Question("month_first", Subset(), pair)).values
        if answer:
            by_month.setdefault(answer[0], []).append(pair)
    first = min(item.day for item in items)
    months = sorted(by_month, key=str)
    if months == [f"{MONTH_NAMES[first.month - 1]} {first.year}"]:
        return
    for month in rng.sample(months, min(2, len(months))):
        yield Question("month_first", Subset(), rng.choice(by_month[month]))


def columns(asked: Asked, labels: Sequence[str]) -> dict[str, object]:
    """The question columns of a row."""
    kind = KINDS[asked.question.kind]
    return {
        "task_group": asked.group,
        "task": f"TASK_TYPE.{kind.task}",
        "answer": asked.gold.literal,
        "answer_type": f"ANSWER_TYPE.{kind.answer_type}",
        "input_subset": str(not asked.question.subset.whole),
        "num_labels": len(labels),
    }
