"""Files with front matter: commands, skills, agents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .sources import project_folders, state_folder

Fields = dict[str, str | list[str]]


class BadFrontMatter(Exception):
    """The front matter does not end, or has a line that is none of the three forms."""


def parse(text: str) -> tuple[Fields, str]:
    """The fields and the body of a file's text; a file that does not begin with `---` is all body."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != "---":
        return {}, _without_blank_ends(lines)
    ends = [number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"]
    if not ends:
        raise BadFrontMatter("the front matter does not end")
    return _fields(lines[1 : ends[0]]), _without_blank_ends(lines[ends[0] + 1 :])


def as_list(value: str | list[str] | None) -> list[str]:
    """A field as a list: `[a, b]`, `a, b`, or the lines `- a`."""
    if value is None or isinstance(value, list):
        return value or []
    inner = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    return [_unquoted(item) for item in _split(inner) if item.strip()]


def files(kind: str, pattern: str, workspace: Path) -> Iterator[tuple[Path, Path]]:
    """(folder, file) of all files of a kind (`commands`, `skills`, `agents`): nearest project first, user's last."""
    for place in (*project_folders(workspace), state_folder()):
        folder = place / kind
        for file in sorted(folder.glob(pattern)):
            if file.is_file():
                yield folder, file


def _fields(lines: list[str]) -> Fields:
    fields: Fields = {}
    latest = ""
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.lstrip().startswith("- ") and latest:
            items = fields[latest]
            fields[latest] = [*(items if isinstance(items, list) else []), _unquoted(line.lstrip()[2:])]
            continue
        key, colon, value = line.partition(":")
        if not colon:
            raise BadFrontMatter(f"the line {line.strip()!r} is not `key: value`")
        latest = key.strip()
        fields[latest] = value.strip() if value.strip().startswith("[") else _unquoted(value)
    return fields


def _split(text: str) -> list[str]:
    """Split at commas outside brackets and quotes: rules such as `read({a,b})` stay whole."""
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth <= 0:
            parts.append("")
            continue
        parts[-1] += sign
    return parts


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _without_blank_ends(lines: list[str]) -> str:
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return "\n".join(lines)
