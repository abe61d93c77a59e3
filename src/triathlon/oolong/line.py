"""The lines of a window: `Date: Mon DD, YYYY || User: NNNNN || Instance: text [|| Label: name]`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
LABEL_FIELD = " || Label:"


def short_day(day: date) -> str:
    """A day as the lines write it: `Mar 05, 2024`."""
    return f"{MONTHS[day.month - 1]} {day.day:02d}, {day.year}"


def parse_short_day(text: str) -> date | None:
    """`Mon DD, YYYY` as a day; None where it is none."""
    try:
        month, day, year = text.replace(",", "").split()
        return date(int(year), MONTHS.index(month[:3]) + 1, int(day))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a window; `label` is None in what an ordinary run may see."""

    day: date
    user: int
    text: str
    label: str | None


def render(item: Item, *, with_label: bool) -> str:
    """The line of an item; newlines in its text become blanks."""
    text = " ".join(item.text.split())
    line = f"Date: {short_day(item.day)} || User: {item.user} || Instance: {text}"
    return f"{line}{LABEL_FIELD} {item.label}" if with_label else line


def parse(line: str) -> Item | None:
    """The item of a line, or None where it is no item line (intro, reminder, blank)."""
    if not line.startswith("Date: "):
        return None
    head, found, rest = line.partition(" || Instance: ")
    if not found:
        return None
    day_text, found, user_text = head[len("Date: ") :].partition(" || User: ")
    if not found:
        return None
    label: str | None = None
    if LABEL_FIELD in rest:
        rest, _, label = rest.rpartition(LABEL_FIELD)
        label = label.strip()
    day = parse_short_day(day_text)
    return None if day is None or not user_text.isdecimal() else Item(day, int(user_text), rest, label)


def items(window: str) -> Iterator[Item]:
    """The items of a window's text, in order."""
    for line in window.split("\n"):
        item = parse(line)
        if item is not None:
            yield item
