"""`recall show ITEM`: the text around fact, rule, definition and target, marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall.data import Dataset
from triathlon.recall.items import CallItem, FactItem, Item, RuleItem, Span


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A marked stretch of a text with its surroundings."""

    label: str
    before: str
    marked: str
    after: str


def find(data: Dataset, name: str) -> Item:
    """An item by `config/length/number`."""
    try:
        config, length, number = name.split("/")
        index = int(number)
    except ValueError as error:
        raise UsageError(f"{name}: an item is named config/length/number, for instance facts/8k/0") from error
    for part in data.parts:
        if (part.config, part.length) == (config, length):
            items = part.items(index + 1)
            if not 0 <= index < len(items):
                raise UsageError(f"{name}: {config}/{length} has {len(part.items())} items")
            return items[index]
    raise UsageError(f"{name}: {data.name} has no {config}/{length}")


def excerpts(item: Item, width: int = 160, target: int | None = None) -> list[Excerpt]:
    """The places of an item (of one target, or of all), in the order of the text."""
    marks: list[tuple[Span, str, str]] = []
    for at, t in enumerate(item.targets):
        if target is not None and at != target:
            continue
        marks += _marks(item, at, t)
    if not marks:
        raise UsageError(f"there is no target {target}: the item has {len(item.targets)}")
    unique = dict.fromkeys(sorted(marks, key=lambda m: m[0]))
    return [_cut(text, span, label, width) for span, label, text in unique]


def _marks(item: Item, at: int, t: Any) -> list[tuple[Span, str, str]]:
    if isinstance(item, FactItem):
        marks = [(t.answer_char, f"answer {at}, {t.distance_tokens} tokens behind its fact", item.text)]
        return marks + ([(t.fact_char, f"fact {at}", item.text)] if t.fact else [])
    if isinstance(item, CallItem):
        kind = f"{t.kind}{', far' if t.far else ''}{', fresh' if t.fresh else ''}"
        marks = [(t.char, f"target {at} ({kind}), {t.distance_tokens} tokens behind", item.text)]
        for definition in item.definitions:
            if definition.definition_id == t.definition_id:
                marks.append((definition.char, f"definition {t.definition_id}: {definition.name}", item.text))
        return marks
    assert isinstance(item, RuleItem)
    start = t.char_with_rule
    label = f"target {at}: the rule implies {t.expected_text!r}, {t.distance_tokens} tokens behind it"
    return [
        (item.rule_char, f"rule ({item.family}, {item.placement})", item.text_with_rule),
        ((start, start + len(t.original_text)), label, item.text_with_rule),
    ]


def _cut(text: str, span: Span, label: str, width: int) -> Excerpt:
    a, b = span
    return Excerpt(label, text[max(0, a - width) : a], text[a:b], text[b : b + width])
