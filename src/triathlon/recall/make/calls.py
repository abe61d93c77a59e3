"""Tool-call items: which tokens of a call its definition decides, how far back that is, and whether it is fresh."""

from __future__ import annotations

from triathlon.recall.items import FAR_TOKENS, CallItem, CallTarget, Definition
from triathlon.recall.make.chat import CallMark
from triathlon.recall.make.fit import Fitted
from triathlon.recall.tokens import Encoded


def call_item(fitted: Fitted) -> CallItem:
    """The item of a text: every definition, and every decided token of every call that has one before it."""
    encoded, text = fitted.encoded, fitted.text
    definitions = tuple(
        Definition(i, d.name, text[d.char[0] : d.char[1]], d.char) for i, d in enumerate(fitted.definitions)
    )
    ends = [encoded.first_after(d.char[1]) for d in definitions]
    spans = _spans(fitted.calls, encoded)
    targets: list[CallTarget] = []
    for number, call in enumerate(fitted.calls):
        before = [d for d in definitions if d.name == call.name and d.char[1] <= call.char[0]]
        if not before:
            continue
        definition = before[-1]  # the latest one
        others = [spans[i] for i, c in enumerate(fitted.calls) if c.name == call.name and i != number]
        for kind, (start, end) in call.parts:
            position = encoded.at(start)
            while position is not None and position < len(encoded) and encoded.start[position] < end:
                if encoded.start[position] >= start:
                    distance = position - ends[definition.definition_id]
                    far = distance >= FAR_TOKENS
                    char = (int(encoded.start[position]), int(encoded.end[position]))
                    targets.append(
                        CallTarget(
                            char,
                            text[char[0] : char[1]],
                            kind,
                            far,
                            far and not _recent(others, position),
                            definition.definition_id,
                            distance,
                        )
                    )
                position += 1
    return CallItem(text, definitions, tuple(targets), fitted.sources(), encoded.ids)


def _spans(calls: list[CallMark], encoded: Encoded) -> list[tuple[int, int]]:
    """Token ranges [first, after the last) of the calls."""
    return [(encoded.first_after(c.char[0]), encoded.first_after(c.char[1])) for c in calls]


def _recent(others: list[tuple[int, int]], position: int) -> bool:
    """Does another call of the tool have a token in the 512 before `position`?"""
    return any(first < position and end > position - FAR_TOKENS for first, end in others)


def undefined(item: CallItem, bare: Fitted, original: Fitted) -> CallItem | None:
    """The control without definitions: the same far targets of the session, in a text that never defined the tool.

    Targets are matched by the order of calls in the session; None when none is left.
    """
    text, encoded = bare.text, bare.encoded
    session_end = original.pieces[0].end
    old = [c for c in original.calls if c.char[1] <= session_end]
    new = [c for c in bare.calls if c.char[1] <= bare.pieces[0].end]
    targets: list[CallTarget] = []
    for target in item.targets:
        if not target.far:
            continue
        found = next((i for i, c in enumerate(old) if c.char[0] <= target.char[0] < c.char[1]), None)
        if found is None or found >= len(new):
            continue
        start = target.char[0] - old[found].char[0] + new[found].char[0]
        position = encoded.at(start)
        if position is None or text[start : int(encoded.end[position])] != target.target:
            continue
        char = (start, int(encoded.end[position]))
        targets.append(CallTarget(char, target.target, target.kind, True, target.fresh, -1, target.distance_tokens))
    if not targets:
        return None
    return CallItem(text, (), tuple(targets), bare.sources(), encoded.ids)
