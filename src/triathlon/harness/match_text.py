"""Texts against what a case wants of them: plain, as one JSON value, or as one JSON object a line."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from triathlon.harness.expect import JsonLines, Paths, TextMatch
from triathlon.harness.fresh import Fresh
from triathlon.harness.match import (
    NOTHING,
    Missing,
    Result,
    at_most_zero,
    fits,
    json_lines,
    parse_json,
    pick,
    said,
    said_paths,
    shorten,
    spoken,
    within,
)
from triathlon.harness.match_value import check_paths
from triathlon.harness.text_keys import text_key


def check_text(
    where: str, text: str | Missing, match: TextMatch, fresh: Fresh, whole: bool = True, skip: Collection[str] = ()
) -> Iterator[Result]:
    """One result a key, save those to skip. `whole` is false if the text was cut: what it lacks cannot be said then."""
    given = [name for name in TextMatch.model_fields if name in match.model_fields_set and name not in skip]
    if isinstance(text, Missing):
        if given:
            yield Result(where, said(match, fresh), text.why, held=False)
        return
    for name in given:
        value = getattr(match, name)
        if name == "as_json":
            parsed = parse_json(text)
            yield from check_paths(f"{where}.json", parsed, value, fresh)
        elif name == "jsonl":
            yield from check_lines(f"{where}.jsonl", text, value, fresh)
        else:
            for wanted, held, negative, saw in text_key(name, value, text, fresh):
                lost = not whole and (negative or name in ("lines", "length", "max_length", "empty", "count"))
                yield Result(where, wanted, saw + (" (cut)" if not whole else ""), held and not lost, negative)


def check_lines(where: str, text: str, match: JsonLines, fresh: Fresh) -> Iterator[Result]:
    """Text of one JSON object a line."""
    values = json_lines(text)
    good = [value for value in values if not isinstance(value, Missing)]
    broken = [value for value in values if isinstance(value, Missing)]
    if match.broken is not None:
        words = f"{spoken(match.broken)} broken lines"
        held = within(match.broken, len(broken))
        yield Result(f"{where}.broken", words, str(len(broken)), held, at_most_zero(match.broken))
    elif broken:
        at = next(i for i, value in enumerate(values, 1) if isinstance(value, Missing))
        yield Result(where, "one JSON object a line", f"line {at}: {broken[0].why}", held=False)
        return
    if match.count is not None:
        held = within(match.count, len(good))
        yield Result(f"{where}.count", f"{spoken(match.count)} lines", str(len(good)), held, at_most_zero(match.count))
    picked: list[tuple[str, int, Paths]] = [(f"at.{number}", number, paths) for number, paths in match.at.items()]
    picked += [(name, n, p) for name, n, p in (("first", 1, match.first), ("last", -1, match.last)) if p is not None]
    for name, number, paths in picked:
        yield from check_paths(f"{where}.{name}", pick(good, number, "lines"), paths, fresh)
    for i, paths in enumerate(match.any):
        held = any(fits(check_paths("", value, paths, fresh)) for value in good)
        yield Result(f"{where}.any.{i}", f"a line with {said_paths(paths, fresh)}", f"{len(good)} lines, none", held)
    for i, paths in enumerate(match.none):
        found = next((value for value in good if fits(check_paths("", value, paths, fresh))), NOTHING)
        words = f"no line with {said_paths(paths, fresh)}"
        yield Result(f"{where}.none.{i}", words, shorten(found), isinstance(found, Missing), negative=True)
    if match.every is not None:
        if not good:
            yield Result(f"{where}.every", "a line", "no line", held=False)
        for number, value in enumerate(good, 1):
            yield from check_paths(f"{where}.every.{number}", value, match.every, fresh)
