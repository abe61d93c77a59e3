"""New windows from one's own labelled items, at any length, from a seed: `triathlon oolong make`."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from triathlon.errors import UsageError
from triathlon.oolong.draw import columns, questions
from triathlon.oolong.line import LABEL_FIELD, Item, render
from triathlon.oolong.questions import render as render_question
from triathlon.oolong.windows import SOURCES, Row

#: As in the published windows: dates over about forty months, four of five items by a fifth of the users.
FIRST_DAY, MONTHS_SPANNED = date(2022, 9, 1), 40
#: Kept free for the question and the reply, in tokens.
RESERVE = 250
#: A window is filled to this share of its length.
FILL = 0.95

Tokens = Callable[[str], int]


def estimated_tokens(text: str) -> int:
    """One token for four bytes of UTF-8: near Llama-2 on English, and the same everywhere."""
    return math.ceil(len(text.encode()) / 4)


@dataclass(frozen=True, slots=True)
class Labelled:
    """One item of one's own: a text and its label."""

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Source:
    """A named pool of labelled items; `labels` in the order in which questions name them."""

    name: str
    items: tuple[Labelled, ...]
    labels: tuple[str, ...]
    noun: str = "items"


def read_source(path: Path, name: str | None = None) -> Source:
    """Labelled items from JSON lines (`text` or `input`, `label`) or a CSV file with those columns."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file; give JSON lines or CSV with the columns text and label")
    pool: list[Labelled] = []
    for where, record in _records(path):
        text, label = record.get("text", record.get("input")), record.get("label")
        if not isinstance(text, str) or not text.strip() or label is None or not str(label).strip():
            raise UsageError(f"{path}:{where}: an item needs a text (or input) and a label")
        if LABEL_FIELD.strip(" |") in str(label) or " || " in str(label):
            raise UsageError(f"{path}:{where}: a label must not hold ' || '")
        pool.append(Labelled(" ".join(text.replace(" || ", " | ").split()), str(label).strip()))
    labels = tuple(dict.fromkeys(item.label for item in pool))
    if len(labels) < 2:
        raise UsageError(f"{path}: at least two labels are needed, found {len(labels)}")
    return Source(name or path.stem, tuple(pool), labels)


def _records(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if path.suffix == ".csv":
                for number, row in enumerate(csv.DictReader(file), 2):
                    yield number, dict(row)
                return
            for number, line in enumerate(file, 1):
                if line.strip():
                    record = json.loads(line)
                    if not isinstance(record, dict):
                        raise UsageError(f"{path}:{number}: not a JSON object")
                    yield number, record
    except (ValueError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read as {path.suffix or 'JSON lines'}: {error}") from None


def make(
    source: Source,
    length: int,
    *,
    seed: int,
    windows: int = 2,
    per_window: int = 25,
    tokens: Tokens = estimated_tokens,
    first_id: int = 0,
) -> Iterator[Row]:
    """Rows of new windows of `length` tokens, up to `per_window` questions each; byte for byte by seed."""
    if length < 256:
        raise UsageError(f"a window of {length} tokens is too short for a question; ask for 256 or more")
    index = SOURCES.index(source.name) if source.name in SOURCES else len(SOURCES)
    base = 100_000_000 * index + 1_000_000 * round(math.log2(length)) + first_id
    number = 0
    for w in range(windows):
        rng = random.Random(f"{seed}/{source.name}/{length}/{w}")
        items = _items(source, length, rng, tokens)
        plain, labelled = (_text(source, items, with_labels=flag) for flag in (False, True))
        for asked in questions(items, source.labels, per_window, rng):
            values = columns(asked, source.labels)
            yield Row(
                id=base + number,
                context_len=length,
                dataset=source.name,
                context_window_text=plain,
                context_window_text_with_labels=labelled,
                question=render_question(asked.question),
                context_window_id=base + w,
                **values,  # type: ignore[arg-type]
            )
            number += 1


def _items(source: Source, length: int, rng: random.Random, tokens: Tokens) -> list[Item]:
    """The items of one window: labels by a random distribution, users by a heavy head, days uniform."""
    pools: dict[str, list[Labelled]] = {label: [] for label in source.labels}
    for labelled in source.items:
        pools[labelled.label].append(labelled)
    # A random power spreads the shares, so that class priors of a source say nothing about a window.
    power = rng.randint(2, 6)
    weights = [rng.random() ** power + 1e-3 for _ in source.labels]
    budget = FILL * length - RESERVE - tokens(_frame(source, 9999, "The following")) * 2
    users = _users(rng, max(5, length // 500))
    days = MONTHS_SPANNED * 30
    order = {label: rng.sample(pool, len(pool)) for label, pool in pools.items()}
    cursor = dict.fromkeys(source.labels, 0)
    items: list[Item] = []
    while True:
        label = rng.choices(source.labels, weights)[0]
        pool = order[label]
        labelled = pool[cursor[label] % len(pool)]  # drawn again only when the pool is used up
        cursor[label] += 1
        item = Item(FIRST_DAY + timedelta(days=rng.randrange(days)), _user(users, rng), labelled.text, label)
        budget -= tokens(render(item, with_label=False) + "\n")
        if budget < 0 and len(items) >= 4:
            return items
        items.append(item)


def _users(rng: random.Random, number: int) -> list[int]:
    return rng.sample(range(10_000, 100_000), number)


def _user(users: list[int], rng: random.Random) -> int:
    head = max(1, len(users) // 5)
    return rng.choice(users[:head]) if rng.random() < 0.8 else rng.choice(users[head:] or users)


def _frame(source: Source, number: int, opening: str) -> str:
    names = ", ".join(source.labels)
    return (
        f"{opening} {number} lines are {source.noun}, one a line, each with its date and its user. Each belongs to "
        f"exactly one of these labels, which are not shown: {names}.\n\n"
        f"Questions will follow about how the labels are spread over all {number} lines. Read every line; work out the "
        "exact answer from these lines and do not guess.\n\n"
    )


def _text(source: Source, items: Sequence[Item], *, with_labels: bool) -> str:
    lines = "\n".join(render(item, with_label=with_labels) for item in items)
    return (
        _frame(source, len(items), "The following") + lines + "\n" + _frame(source, len(items), "Recall: the preceding")
    )
