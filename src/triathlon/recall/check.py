"""`recall check`: is a data set what it says? Every finding names config, length, item and field."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from triathlon.recall.data import Dataset, Part
from triathlon.recall.items import (
    CONTROLS,
    FAMILIES,
    FAR_TOKENS,
    KINDS,
    PLACEMENTS,
    CallItem,
    FactItem,
    Item,
    RuleItem,
    Source,
    length_tokens,
)
from triathlon.recall.tokens import Encoded, Tokenizer


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong."""

    where: str  # config/length item n
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.field}: {self.message}"


Wrong = Iterator[tuple[str, str]]


def check(data: Dataset, tokenizer: Tokenizer | None = None) -> list[Finding]:
    """Look at every item. With the builder's tokenizer also token ids, lengths, distances, far and fresh."""
    found: list[Finding] = []
    without: dict[tuple[str, int], tuple[str, str]] = {}
    for part in data.parts:
        for index, item in enumerate(part.items()):
            where = f"{part.config}/{part.length} item {index}"
            found += [Finding(where, field, message) for field, message in _item(item, part, tokenizer)]
            if isinstance(item, RuleItem) and part.config not in CONTROLS:
                key = (part.length, index)
                first = without.setdefault(key, (part.config, item.text_without_rule))
                if first[1] != item.text_without_rule:
                    message = f"is not the text that {first[0]} has there (the languages share it)"
                    found.append(Finding(where, "text_without_rule", message))
    return found


def _item(item: Item, part: Part, tokenizer: Tokenizer | None) -> Wrong:
    if isinstance(item, FactItem):
        yield from _text("text", item.text)
        yield from _facts(item, part)
        if tokenizer:
            encoded = tokenizer.encode(item.text)
            yield from _tokens("text", encoded, item.ids, part)
            yield from _fact_distances(item, encoded, part.config)
    elif isinstance(item, CallItem):
        yield from _text("text", item.text)
        yield from _calls(item)
        yield from _sources(item.sources, part)
        if tokenizer:
            encoded = tokenizer.encode(item.text)
            yield from _tokens("text", encoded, item.ids, part)
            yield from _call_distances(item, encoded, part.config)
    else:
        yield from _text("text_without_rule", item.text_without_rule)
        yield from _text("text_with_rule", item.text_with_rule)
        yield from _rules(item, part)
        yield from _sources(item.sources, part)
        if tokenizer:
            yield from _tokens("text_without_rule", tokenizer.encode(item.text_without_rule), item.ids_without, part)
            encoded = tokenizer.encode(item.text_with_rule)
            yield from _tokens("text_with_rule", encoded, item.ids_with, part)
            yield from _rule_distances(item, encoded, part.config)


def _text(field: str, text: str) -> Wrong:
    if not unicodedata.is_normalized("NFC", text):
        yield field, "is not NFC: character offsets would move"
    if "\r" in text:
        yield field, "has carriage returns"


def _span(field: str, text: str, span: tuple[int, int], expected: str | None) -> Wrong:
    a, b = span
    if not 0 <= a < b <= len(text):
        yield field, f"[{a}, {b}) is not inside the text of {len(text)} characters"
    elif expected is not None and text[a:b] != expected:
        yield field, f"[{a}, {b}) is {text[a:b]!r}, not {expected!r}"


def _tokens(field: str, encoded: Encoded, stored: Any, part: Part) -> Wrong:
    wanted = _wanted(part.length)
    if wanted and len(encoded) != wanted:
        yield field, f"has {len(encoded)} tokens, not {wanted}"
    if stored is not None and not np.array_equal(encoded.ids, stored):
        yield field, "the stored token ids are not what the tokenizer makes of the text"


def _wanted(length: str) -> int | None:
    try:
        return length_tokens(length)
    except ValueError:
        return None


def _sources(sources: tuple[Source, ...], part: Part) -> Wrong:
    if not sources:
        yield "sources", "no source is named"
    for at, source in enumerate(sources):
        for name in ("dataset", "revision", "license"):
            if not getattr(source, name):
                yield f"sources[{at}].{name}", "is empty"
        if source.documents < 1:
            yield f"sources[{at}].documents", "is not positive"
    wanted = _wanted(part.length)
    total = sum(s.tokens for s in sources)
    if wanted and abs(total - wanted) > 1:
        yield "sources", f"account for {total} tokens of {wanted}"


def _facts(item: FactItem, part: Part) -> Wrong:
    if not item.source.corpus or not item.source.license or not item.source.articles:
        yield "source", "lacks corpus, licence or articles"
    bare = part.config == "facts_none"
    for at, target in enumerate(item.targets):
        name = f"targets[{at}]"
        yield from _span(f"{name}.answer_char", item.text, target.answer_char, target.answer)
        found = re.fullmatch(r" (\d{5})\.", target.answer)
        if found is None:
            yield f"{name}.answer", f"{target.answer!r} is not a space, five digits and a full stop"
            continue
        times = len(re.findall(rf"(?<!\d){found.group(1)}(?!\d)", item.text))
        if times != (1 if bare else 2):
            yield f"{name}.answer", f"the number {found.group(1)} stands {times} times in the text"
        after = item.text[target.answer_char[1] : target.answer_char[1] + 2]
        if not re.fullmatch(r" [^\W\d_]", after):
            yield f"{name}.answer_char", f"a space and a letter should follow the answer, not {after!r}"
        if bare:
            continue
        yield from _span(f"{name}.fact_char", item.text, target.fact_char, target.fact)
        if found.group(1) not in target.fact:
            yield f"{name}.fact", "does not hold the answer"
        if target.fact_char[1] > target.answer_char[0]:
            yield f"{name}.fact_char", "lies behind its query"


def _fact_distances(item: FactItem, encoded: Encoded, config: str) -> Wrong:
    for at, target in enumerate(item.targets):
        if config != "facts_none":
            distance = encoded.first_after(target.answer_char[0] + 1) - encoded.first_after(target.fact_char[1])
            yield from _distance(f"targets[{at}]", target.distance_tokens, distance)
            if distance < FAR_TOKENS:
                yield f"targets[{at}].distance_tokens", f"{distance}: a fact lies at least {FAR_TOKENS} tokens back"


def _distance(name: str, stored: int, counted: int, slack: int = 1) -> Wrong:
    """One token of slack: a tokenizer may keep the space before the answer as a token of its own."""
    if abs(stored - counted) > slack:
        yield f"{name}.distance_tokens", f"is {stored}, counted {counted}"


def _calls(item: CallItem) -> Wrong:
    known = {d.definition_id for d in item.definitions}
    if len(known) != len(item.definitions):
        yield "definitions", "an id stands twice"
    for at, definition in enumerate(item.definitions):
        yield from _span(f"definitions[{at}].char", item.text, definition.char, definition.definition or None)
    by_id = {d.definition_id: d for d in item.definitions}
    for at, target in enumerate(item.targets):
        name = f"targets[{at}]"
        yield from _span(f"{name}.char", item.text, target.char, target.target)
        if target.kind not in KINDS:
            yield f"{name}.kind", f"{target.kind!r} is not one of {', '.join(KINDS)}"
        if target.far != (target.distance_tokens >= FAR_TOKENS):
            yield f"{name}.far", f"is {target.far} at a distance of {target.distance_tokens}"
        if target.fresh and not target.far:
            yield f"{name}.fresh", "a near target cannot be fresh"
        if not item.definitions:
            continue  # the control without definitions
        if target.definition_id not in by_id:
            yield f"{name}.definition_id", f"there is no definition {target.definition_id}"
            continue
        mine = by_id[target.definition_id]
        later = [d for d in item.definitions if d.name == mine.name and mine.char[1] < d.char[1] <= target.char[0]]
        if later and mine.name:
            yield f"{name}.definition_id", "a later definition of the same tool stands before the target"


def _call_distances(item: CallItem, encoded: Encoded, config: str) -> Wrong:
    by_id = {d.definition_id: d for d in item.definitions}
    for at, target in enumerate(item.targets):
        position = encoded.at(target.char[0])
        if position is None:
            yield f"targets[{at}].char", "no token starts there"
            continue
        mine = by_id.get(target.definition_id)
        if mine is None:
            continue
        yield from _distance(f"targets[{at}]", target.distance_tokens, position - encoded.first_after(mine.char[1]), 0)
        if target.far and target.kind != "command" and mine.name:
            recent = _called_before(item.text, encoded, mine.name, position, target.char[0])
            if target.fresh == recent:
                yield f"targets[{at}].fresh", f"is {target.fresh}, but another call is {'' if recent else 'not '}near"


def _called_before(text: str, encoded: Encoded, name: str, position: int, char: int) -> bool:
    """Does another call of the tool have a token in the 512 before `position`?"""
    for found in re.finditer(rf"<tool_call>\n<function={re.escape(name)}>.*?</tool_call>", text, re.DOTALL):
        if found.start() <= char < found.end() or found.start() > char:
            continue
        if encoded.first_after(found.end()) > position - FAR_TOKENS:
            return True
    return False


def _rules(item: RuleItem, part: Part) -> Wrong:
    yield from _span("rule_char", item.text_with_rule, item.rule_char, item.rule)
    if item.family not in FAMILIES:
        yield "family", f"{item.family!r} is not one of {', '.join(FAMILIES)}"
    if item.placement not in PLACEMENTS:
        yield "placement", f"{item.placement!r} is not one of {', '.join(PLACEMENTS)}"
    if not part.config.endswith(item.lang) and part.config not in CONTROLS:
        yield "lang", f"{item.lang!r} in {part.config}"
    if not item.targets:
        yield "targets", "there is none"
    if item.text_with_rule[: item.rule_char[0] - 1] != item.text_without_rule[: item.rule_char[0] - 1]:
        yield "text_with_rule", "differs before the rule"
    for at, target in enumerate(item.targets):
        name = f"targets[{at}]"
        places = (("without", item.text_without_rule), ("with", item.text_with_rule))
        for (side, text), char in zip(places, (target.char_without_rule, target.char_with_rule), strict=True):
            if not text.startswith(target.original_text, char):
                there = text[char : char + len(target.original_text)]
                yield f"{name}.char_{side}_rule", f"{char} is at {there!r}, not {target.original_text!r}"
        if target.char_with_rule - target.char_without_rule != len(item.rule) + 1:
            yield f"{name}.char_with_rule", "is not moved by the rule's line"
        if target.expected_text == target.original_text:
            yield f"{name}.expected_text", "is what the session did"
    if sum(t.first for t in item.targets) > 1:
        yield "targets", "more than one is first"


def _rule_distances(item: RuleItem, encoded: Encoded, config: str) -> Wrong:
    end = encoded.first_after(item.rule_char[1])
    for at, target in enumerate(item.targets):
        position = encoded.at(target.char_with_rule)
        if position is None:
            yield f"targets[{at}].char_with_rule", "no token starts there"
            continue
        yield from _distance(f"targets[{at}]", target.distance_tokens, position - end, 0)
        if position - end < FAR_TOKENS and config != "rules_near":
            yield f"targets[{at}].distance_tokens", f"{position - end}: every rules target is far"
