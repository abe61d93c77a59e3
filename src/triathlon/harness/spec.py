"""The specification as data: its pages are read, their numbered clauses are what cases and mutants point to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from triathlon import content
from triathlon.errors import UsageError

CHANNELS = {"R": "requests", "D": "files", "X": "exit", "O": "output"}

FRONT = "README.md"
NO_PAGES = frozenset({FRONT, "DECISIONS.md", "SOURCES.md"})

_HEAD = re.compile(
    r"\*\*(?P<area>[A-Z]+)-(?P<number>\d{2,3})\*\* \((?P<channels>[RDXO](?: [RDXO])*)\)(?: (?P<rest>.*))?"
)
_LIKE_A_HEAD = re.compile(r"\*\*[A-Z]+-\d+")
# A bold sentence opens a paragraph that belongs to the page and not to the clause before it.
_BOLD = re.compile(r"\*\*[^*]+\.\*\*")


@dataclass(frozen=True)
class Clause:
    """One numbered rule. `channels` are letters of CHANNELS, in the page's order; `text` is as on the page."""

    id: str
    page: str
    channels: tuple[str, ...]
    text: str
    line: int
    """Where its head stands on the page, from 1."""

    @property
    def area(self) -> str:
        """The letters before the number: PERM."""
        return self.id.partition("-")[0]

    def says(self, words: str) -> bool:
        """Whether these words stand in the clause; line breaks and runs of blanks count as one blank."""
        return _plain(words) in _plain(self.text)


@dataclass(frozen=True)
class Spec:
    """All clauses by id, in the order of pages and lines, and the texts of the pages by file name."""

    version: str
    date: str
    clauses: Mapping[str, Clause]
    pages: Mapping[str, str]
    commands: tuple[str, ...] = ()
    """The subcommands of the front page's table, without their arguments: `sessions list`."""
    flags: tuple[str, ...] = ()
    """The flags of the front page's table: `-p`, `--print`."""

    def says(self, words: str) -> bool:
        """Whether these words stand on any page, in a clause or beside one."""
        plain = _plain(words)
        return bool(plain) and any(plain in page for page in _plain_pages(tuple(self.pages.values())))


def load_spec(root: Path | None = None) -> Spec:
    """Reads every page of the folder (by default the specification that ships with the bench).

    Raises UsageError with file and line for a page that is not as it should be: a clause head that cannot be read, an
    id given twice or out of order, two areas on one page, a clause without text, no version or date.
    """
    folder = (root or content.root() / "spec").resolve()
    return _load(folder)


@cache
def _load(folder: Path) -> Spec:
    front = _read(folder / FRONT)
    pages = {page.name: _read(page) for page in sorted(folder.glob("*.md")) if page.name not in NO_PAGES}
    clauses: dict[str, Clause] = {}
    for name, text in pages.items():
        for clause in _clauses(folder / name, text):
            if clause.id in clauses:
                first = clauses[clause.id]
                raise _wrong(
                    folder / name, clause.line, f"{clause.id} is given twice, first on {first.page}:{first.line}"
                )
            clauses[clause.id] = clause
    if not clauses:
        raise UsageError(f"{folder}: no page with a clause: this is no specification")
    version = _front(folder, front, "Version", r"`?(\d+\.\d+\.\d+)`?")
    date = _front(folder, front, "Date", r"(\d{4}-\d{2}-\d{2})")
    named = [
        name for row in re.findall(r"^\| (`.+?) \|", front, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)
    ]
    commands = [
        " ".join(re.findall(r"(?<!\S)[a-z]+(?!\S)", name.removeprefix("harness")))
        for name in named
        if name.startswith("harness ")
    ]
    flags = [name for name in named if name.startswith("-")]
    return Spec(version, date, clauses, pages, tuple(filter(None, commands)), tuple(flags))


def _clauses(file: Path, text: str) -> Iterator[Clause]:
    """The clauses of one page; each goes on to the next head, heading or bold opening of a paragraph."""
    area, last = "", 0
    for line, head, body in _blocks(file, text):
        number = int(head["number"])
        if area and head["area"] != area:
            raise _wrong(file, line, f"{head['area']} on a page of {area}: one area a page")
        if number == last:
            raise _wrong(file, line, f"{area}-{head['number']} is given twice")
        if number < last:
            raise _wrong(file, line, f"{area}-{head['number']} comes after {last}: numbers go up")
        area, last = head["area"], number
        identity, joined = f"{area}-{head['number']}", "\n".join(body).strip()
        channels = tuple(head["channels"].split())
        if len(set(channels)) != len(channels):
            raise _wrong(file, line, f"{identity} names a channel twice")
        if not joined:
            raise _wrong(file, line, f"{identity} has no text")
        yield Clause(identity, file.name, channels, joined, line)


def _blocks(file: Path, text: str) -> Iterator[tuple[int, re.Match[str], list[str]]]:
    head: re.Match[str] | None = None
    start, body, fenced = 0, [""], False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        found = None if fenced else _HEAD.fullmatch(line)
        if not fenced and found is None and _LIKE_A_HEAD.match(line):
            raise _wrong(file, number, f"not a clause head: {line[:40]!r}; write **AREA-01** (R D)")
        if found or (not fenced and (line.startswith("#") or _BOLD.match(line))):
            if head:
                yield start, head, body
            head, start, body = found, number, [found["rest"] or ""] if found else []
        else:
            body.append(line)
    if head:
        yield start, head, body


def _front(folder: Path, text: str, key: str, form: str) -> str:
    found = re.search(rf"^{key}: {form}$", text, re.MULTILINE)
    if not found:
        raise UsageError(f"{folder / FRONT}:1: no line `{key}: ...` of the right form")
    return found[1]


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise _wrong(file, line, "not UTF-8") from error
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error


def _wrong(file: Path, line: int, what: str) -> UsageError:
    return UsageError(f"{file}:{line}: {what}")


@cache
def _plain_pages(pages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_plain(page) for page in pages)


def _plain(text: str) -> str:
    return " ".join(text.split())
