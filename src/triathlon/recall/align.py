"""From items to what has to be read: token positions of the targets under the model's own tokenizer.

Everything is planned before the model reads a token, so a wrong item is refused at once. In `ids` mode the stored token
ids must be what the tokenizer makes of the text; positions come from character offsets in both modes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall import metrics
from triathlon.recall.items import CallItem, FactItem, Item, RuleItem
from triathlon.recall.read import Answer, EngineError, Read
from triathlon.recall.tokens import Encoded, Tokenizer

WINDOW = 64  # tokens before a place that are tokenized again to find what would follow there
AGREE = 16  # of these so many must come out as they stand in the text


@dataclass(slots=True)
class Want:
    """A target with the places it is read at; `rows` are (sequence, row, columns) into the answers of its plan."""

    record: dict[str, Any]
    rows: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)


@dataclass(slots=True)
class Plan:
    """One item: its sequences (one, or two for rules) and its targets."""

    name: str
    unit: str  # items with the same unit share their text
    reads: list[Read]
    wants: list[Want]
    reproduced: bool  # the stored ids are the tokenizer's


class Asks:
    """Collects what is asked of one sequence."""

    def __init__(self, encoded: Encoded) -> None:
        self.encoded = encoded
        self.tokens: dict[int, list[int]] = {}
        self.waiting: list[tuple[Want, int, int, tuple[int, ...]]] = []

    def add(self, want: Want, sequence: int, position: int, tokens: Sequence[int]) -> None:
        """Ask for `tokens` after `ids[:position]`."""
        row = self.tokens.setdefault(position, [])
        for token in tokens:
            if token not in row:
                row.append(token)
        self.waiting.append((want, sequence, position, tuple(tokens)))

    def read(self, name: str) -> Read:
        """The finished request; fills in the rows of the wants."""
        positions = tuple(sorted(self.tokens))
        place = {position: i for i, position in enumerate(positions)}
        for want, sequence, position, tokens in self.waiting:
            row = self.tokens[position]
            want.rows.append((sequence, place[position], tuple(row.index(t) for t in tokens)))
        ids = self.encoded.ids[: positions[-1]] if positions else self.encoded.ids[:0]
        return Read(ids, positions, tuple(tuple(self.tokens[p]) for p in positions), name)


class Aligner:
    """Plans items for one tokenizer; texts that several items share are tokenized once."""

    def __init__(self, tokenizer: Tokenizer, mode: str = "auto", limit: int | None = None) -> None:
        if mode not in ("auto", "ids", "text"):
            raise UsageError(f"--mode {mode}: not one of auto, ids, text")
        self.tokenizer, self.mode, self.limit = tokenizer, mode, limit
        self._last: dict[str, Encoded] = {}

    def plan(self, item: Item, config: str, length: str, index: int) -> Plan:
        """What to read for an item; a span that does not match its text is a UsageError with item and field."""
        name = f"{config}/{length} item {index}"
        base = {"set": config, "length": length, "item": index}
        if isinstance(item, FactItem):
            return self._facts(item, name, base)
        if isinstance(item, CallItem):
            return self._calls(item, name, base)
        return self._rules(item, name, base)

    def know(self, text: str, encoded: Encoded) -> None:
        """Take an encoding that is there already."""
        self._last[text] = encoded

    def _encode(self, text: str, stored: Any, name: str) -> tuple[Encoded, bool]:
        encoded = self._last.get(text)
        if encoded is None:
            encoded = self.tokenizer.encode(text)
            if len(self._last) > 4:
                self._last.clear()
            self._last[text] = encoded
        same = stored is not None and len(stored) == len(encoded) and bool((encoded.ids == stored).all())
        if self.mode == "ids" and not same:
            what = (
                "has no stored token ids" if stored is None else "has other token ids than the model's tokenizer gives"
            )
            raise UsageError(f"{name} {what}: --mode ids is not possible here")
        return encoded, same

    def _plan(
        self, name: str, unit: str, asks: Sequence[Asks], wants: list[Want], same: bool, parts: Iterable[str] = ("",)
    ) -> Plan:
        """Turn the asks into reads, or into nothing where the model's limit is below the last position."""
        reads = [a.read(name + part) for a, part in zip(asks, parts, strict=True)]
        longest = max((r.positions[-1] for r in reads if r.positions), default=0)
        if self.limit is not None and longest > self.limit:
            for want in wants:
                want.record["status"], want.rows = "too_long", []
            reads = []
        return Plan(name, unit, reads, wants, same)

    def _facts(self, item: FactItem, name: str, base: dict[str, Any]) -> Plan:
        encoded, same = self._encode(item.text, item.ids, name)
        asks, wants = Asks(encoded), []
        for at, target in enumerate(item.targets):
            a, b = target.answer_char
            if item.text[a:b] != target.answer:
                raise UsageError(
                    f"{name}: targets[{at}].answer_char: the text there is not the answer {target.answer!r}"
                )
            low = max(encoded.lead, encoded.first_after(a) - 2)
            high = encoded.first_after(b) + 2
            found = metrics.span_tokens(encoded.offsets(low, high), a, b, item.text)
            record = base | {
                "target": at,
                "context": f"{base['item']}",
                "status": "unaligned" if found is None or found[0] + low < 1 else "ok",
                "distance": target.distance_tokens,
                "depth": round(a / max(1, len(item.text)), 4),
            }
            want = Want(record)
            if record["status"] == "ok":
                assert found is not None
                record["expected"] = [int(encoded.ids[i + low]) for i in found]
                for i, token in zip(found, record["expected"], strict=True):
                    asks.add(want, 0, i + low, [token])
            wants.append(want)
        return self._plan(name, f"{base['length']}/{_key(item.text)}", [asks], wants, same)

    def _calls(self, item: CallItem, name: str, base: dict[str, Any]) -> Plan:
        encoded, same = self._encode(item.text, item.ids, name)
        asks, wants = Asks(encoded), []
        for at, target in enumerate(item.targets):
            a, b = target.char
            if item.text[a:b] != target.target:
                raise UsageError(f"{name}: targets[{at}].char: the text there is not the target {target.target!r}")
            position = encoded.at(a)
            record = base | {
                "target": at,
                "context": f"{base['item']}",
                "status": "ok" if position is not None and position >= 1 else "unaligned",
                "kind": target.kind,
                "far": target.far,
                "fresh": target.fresh,
                "distance": target.distance_tokens,
                "depth": round(a / max(1, len(item.text)), 4),
            }
            want = Want(record)
            if record["status"] == "ok":
                assert position is not None
                record["expected"] = int(encoded.ids[position])
                record["merged"] = bool(encoded.end[position] > b)
                asks.add(want, 0, position, [record["expected"]])
            wants.append(want)
        return self._plan(name, f"{base['length']}/{_key(item.text)}", [asks], wants, same)

    def _rules(self, item: RuleItem, name: str, base: dict[str, Any]) -> Plan:
        a, b = item.rule_char
        if item.text_with_rule[a:b] != item.rule:
            raise UsageError(f"{name}: rule_char: the text there is not the rule {item.rule!r}")
        texts = (item.text_without_rule, item.text_with_rule)
        encoded, same = zip(
            *(self._encode(t, i, name) for t, i in zip(texts, (item.ids_without, item.ids_with), strict=True)),
            strict=True,
        )
        asks, wants = [Asks(e) for e in encoded], []
        for at, target in enumerate(item.targets):
            record = base | {
                "target": at,
                "context": item.context_id,
                "family": item.family,
                "placement": item.placement,
                "first": target.first,
                "mentioned": target.mentioned,
                "distance": target.distance_tokens,
                "depth": round(target.char_with_rule / max(1, len(item.text_with_rule)), 4),
                "char": target.char_without_rule,
            }
            want = Want(record)
            wants.append(want)
            chars = (target.char_without_rule, target.char_with_rule)
            status = "ok"
            places: list[tuple[int, int]] = []
            for text, enc, char, field_ in zip(texts, encoded, chars, ("without", "with"), strict=True):
                if not text.startswith(target.original_text, char):
                    raise UsageError(
                        f"{name}: targets[{at}].char_{field_}_rule: the text there is not {target.original_text!r}"
                    )
                position = enc.at(char)
                token = None if position is None else self._first_token(enc, text, char, position, target.expected_text)
                if position is None or token is None or position < 1:
                    status = "unaligned"
                    break
                if token == int(enc.ids[position]):
                    status = "degenerate"
                places.append((position, token))
            record["status"] = status
            if status != "ok":
                continue
            for side, (position, token) in enumerate(places):
                asks[side].add(want, side, position, [token, int(encoded[side].ids[position])])
            record["expected"] = places[0][1]
        unit = f"{base['length']}/{_key(item.text_without_rule)}"
        return self._plan(name, unit, asks, wants, all(same), (" without the rule", " with the rule"))

    def _first_token(self, enc: Encoded, text: str, char: int, position: int, expected: str) -> int | None:
        """First token of `expected` after the true prefix, or None where it would change the prefix's tokens.

        Only a window before the place is tokenized again; if its last tokens do not come out as in the text, all of it.
        """
        low = max(enc.lead, position - WINDOW)
        while low > enc.lead and enc.start[low] < 0:
            low -= 1
        begin = int(enc.start[low]) if low > enc.lead else 0
        for start in (begin, 0):
            again = self.tokenizer.encode(text[start:char] + expected, bos=False)
            place = again.at(char - start)
            need = position - enc.lead if start == 0 else min(AGREE, position - low)
            if place is not None and place >= need:
                before = enc.ids[position - need : position]
                if bool((again.ids[place - need : place] == before).all()) and (start or place == need):
                    return int(again.ids[place])
            if start == 0:
                break
        return None


def _key(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]


def settle(plan: Plan, answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Records of an item's targets, with what the model said there."""
    out = []
    for want in plan.wants:
        record = dict(want.record)
        if record["status"] == "ok":
            tops = [answers[s].top[row] for s, row, _ in want.rows]
            if "family" not in record and None in tops:
                raise EngineError(f"{plan.name}: the engine does not say its top-1 token, which this config needs")
            values = [[answers[s].logps[row][c] for c in columns] for s, row, columns in want.rows]
            if "family" in record:
                record["without"], record["original_without"] = values[0]
                record["with"], record["original_with"] = values[1]
                record["top"] = tops
            elif "kind" in record:
                record |= {"top": tops[0], "logp": values[0][0], "right": tops[0] == record["expected"]}
            else:
                record |= {"top": tops, "logp": [v[0] for v in values]}
                record["right"] = [t == e for t, e in zip(tops, record["expected"], strict=True)]
        out.append(record)
    return out
