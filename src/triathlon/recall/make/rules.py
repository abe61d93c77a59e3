"""Planting rules: one line added to a session, at the end of the system prompt or of a later user message.

Per context at most one rule a family and placement. A rule is taken only if at least one action it governs lies 512 or
more tokens behind it and the first implied token differs from what the session did there.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

from triathlon.recall.align import Aligner
from triathlon.recall.items import FAMILIES, FAR_TOKENS, LANGS, PLACEMENTS, RuleItem, RuleTarget
from triathlon.recall.make.actions import Place, governed
from triathlon.recall.make.catalogue import MENTION, REVERSED, RULES, Rule, wording
from triathlon.recall.make.fit import Fitted, Piece, cut, sources
from triathlon.recall.tokens import Encoded, Tokenizer


@dataclass(frozen=True, slots=True)
class Plant:
    """A rule chosen for a context: where its line goes, and the actions it governs."""

    rule: Rule
    placement: str
    at: int  # character of the text without the rule
    places: tuple[Place, ...]  # all governed actions behind the line, near ones too

    @property
    def old(self) -> str:
        """The commands the wording names: those that the governed actions run."""
        return "`, `".join(dict.fromkeys(p.old for p in self.places))


def choose(fitted: Fitted, pick: random.Random) -> list[Plant]:
    """The plants of a context, at most one a family and placement, families and placements in the card's order."""
    plants = []
    for family in FAMILIES:
        taken: set[str] = set()
        for placement in PLACEMENTS:
            options = []
            for rule in RULES:
                if rule.family == family:
                    options += _options(rule, placement, fitted, pick)
            fresh = [p for p in options if p.rule.key not in taken] or options
            if fresh:
                plant = pick.choice(fresh)
                taken.add(plant.rule.key)
                plants.append(plant)
    return plants


def _options(rule: Rule, placement: str, fitted: Fitted, pick: random.Random) -> list[Plant]:
    places = governed(rule, fitted.text, fitted.marked.actions)
    margin = FAR_TOKENS + 128  # the line's own tokens, and the tail that it pushes out of the text
    reach = [t for p in places if (t := fitted.encoded.at(p.char)) is not None and t < len(fitted.encoded) - 160]
    if not reach:
        return []
    furthest = max(reach)
    spots = [fitted.marked.system_end] if placement == "system" else fitted.marked.user_ends[1:]
    fit = [
        Plant(rule, placement, at, tuple(p for p in places if p.char > at))
        for at in spots
        if at is not None and at < len(fitted.text) and fitted.encoded.first_after(at) + margin <= furthest
    ]
    return [pick.choice(fit)] if fit else []


def rule_items(
    fitted: Fitted, context: str, pick: random.Random, tokenizer: Tokenizer
) -> list[tuple[Plant, dict[str, RuleItem]]]:
    """All rules of a context, each with its item in every language; the languages keep the same targets.

    A target that is degenerate or out of reach in one language is out in all of them.
    """
    found: list[tuple[Plant, dict[str, RuleItem]]] = []
    for plant in choose(fitted, pick):
        made: dict[str, RuleItem] = {}
        for lang in LANGS:
            item = make_item(fitted, plant, wording(plant.rule, plant.old, lang), lang, context, tokenizer)
            if item is None:
                break
            made[lang] = item
        if len(made) < len(LANGS):
            continue
        shared = set.intersection(*({t.char_without_rule for t in item.targets} for item in made.values()))
        if shared:
            found.append((plant, {lang: only(item, shared) for lang, item in made.items()}))
    return found


def only(item: RuleItem, chars: set[int]) -> RuleItem:
    """An item with the targets at these places of the text without the rule."""
    return replace(item, targets=tuple(t for t in item.targets if t.char_without_rule in chars))


def make_item(
    fitted: Fitted,
    plant: Plant,
    line: str,
    lang: str,
    context: str,
    tokenizer: Tokenizer,
    *,
    least: int = FAR_TOKENS,
    at: int | None = None,
) -> RuleItem | None:
    """A session with a line added, of the same number of tokens; None where no target is left.

    `least` is the distance a target must have; `at` another place for the line than the plant's.
    """
    text = fitted.text
    at = plant.at if at is None else at
    added = "\n" + line
    tail = _tail(fitted, added, at, tokenizer)
    longer = text[:at] + added + text[at:tail]
    with_text, encoded = cut(longer + text[tail : tail + 200], len(fitted.encoded), tokenizer)
    rule_char = (at + 1, at + 1 + len(line))
    rule_end = encoded.first_after(rule_char[1])
    behind = [p for p in plant.places if p.char > at]
    targets = []
    for place in behind:
        char = place.char + len(added)
        position = encoded.at(char)
        if position is None or char + len(place.original) >= len(with_text):
            continue
        if fitted.encoded.at(place.char) is None or position - rule_end < least:
            continue
        between = with_text[rule_char[1] : char]
        targets.append(
            RuleTarget(
                place.char,
                char,
                place.expected,
                place.original,
                position - rule_end,
                place is behind[0],
                bool(re.search(rf"(?<!\w){re.escape(place.expected.strip())}(?!\w)", between)),
            )
        )
    item = RuleItem(
        text,
        with_text,
        line,
        rule_char,
        plant.rule.family,
        plant.placement,
        lang,
        context,
        tuple(targets),
        sources(_shift(fitted, at, len(added)), encoded, len(with_text)),
        fitted.encoded.ids,
        encoded.ids,
    )
    return _without_degenerate(item, fitted.encoded, encoded, tokenizer)


def _tail(fitted: Fitted, added: str, at: int, tokenizer: Tokenizer) -> int:
    """Where the old text must end to make room for the line: tokenizing its surroundings is enough to know."""
    around = fitted.text[max(0, at - 200) : at], fitted.text[at : at + 200]
    grown = tokenizer.count(around[0] + added + around[1]) - tokenizer.count(around[0] + around[1])
    return int(fitted.encoded.end[max(0, len(fitted.encoded) - 1 - grown)])


def _shift(fitted: Fitted, at: int, by: int) -> list[Piece]:
    return [replace(piece, end=piece.end + by) if piece.end > at else piece for piece in fitted.pieces]


def _without_degenerate(item: RuleItem, without: Encoded, with_rule: Encoded, tokenizer: Tokenizer) -> RuleItem | None:
    """Leave out targets whose implied token is the one the session has, or cannot be told apart."""
    aligner = Aligner(tokenizer)
    aligner.know(item.text_without_rule, without)
    aligner.know(item.text_with_rule, with_rule)
    plan = aligner.plan(item, f"rules_{item.lang}", "", 0)
    kept = tuple(t for t, want in zip(item.targets, plan.wants, strict=True) if want.record["status"] == "ok")
    return replace(item, targets=kept) if kept else None


def controls(
    fitted: Fitted, plant: Plant, main: RuleItem, context: str, tokenizer: Tokenizer
) -> dict[str, RuleItem | None]:
    """The controls of an English item, on its own targets; the rule at distance 0 on the first of them."""
    names = {"old": plant.old, "new": plant.rule.new}
    chars = {t.char_without_rule for t in main.targets}
    out: dict[str, RuleItem | None] = {}
    for name, line in (
        ("rules_mention", MENTION.format(**names)),
        ("rules_reversed", REVERSED[plant.rule.place].format(**names)),
    ):
        out[name] = make_item(fitted, plant, line, "en", context, tokenizer)
    first = main.targets[0].char_without_rule
    near = next(p.user_end for p in plant.places if p.char == first)
    out["rules_near"] = make_item(fitted, plant, main.rule, "en", context, tokenizer, least=0, at=near)
    kept: dict[str, RuleItem | None] = {}
    for name, item in out.items():
        wanted = {first} if name == "rules_near" else chars
        narrowed = only(item, wanted) if item else None
        kept[name] = narrowed if narrowed and narrowed.targets else None
    return kept
