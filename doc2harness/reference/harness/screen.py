"""Drawing line by line: text scrolls up, and below it stands an area that is drawn anew."""

from __future__ import annotations

import os
import re
import unicodedata

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Screen:
    """A terminal on stdout. The area is the input line, or what stands in its place; it may have several rows."""

    def __init__(self) -> None:
        self._row = 0  # of the cursor within the drawn area
        self._drawn = False

    def start(self) -> None:
        self._write("\x1b[?2004h")  # bracketed paste

    def stop(self) -> None:
        self._write(f"{self._erased()}\x1b[?2004l")

    def show(self, text: str) -> None:
        """Print text above the area; the area must be drawn again afterwards."""
        self._write(self._erased() + plain(text) + "\n")

    def area(self, label: str, text: str = "", cursor: int = 0) -> None:
        """Draw the area: a label and, after it, text with the cursor at an index of it."""
        rows, row, column = layout(label, text, cursor, self._width())
        up = len(rows) - 1 - row
        moves = (f"\x1b[{up}A" if up else "") + "\r" + (f"\x1b[{column}C" if column else "")
        self._write(self._erased() + "\n".join(rows) + moves)
        self._row, self._drawn = row, True

    def _erased(self) -> str:
        """What removes the area and leaves the cursor where it began."""
        if not self._drawn:
            return ""
        up = f"\x1b[{self._row}A" if self._row else ""
        self._drawn = False
        return f"\r{up}\x1b[J"

    def _width(self) -> int:
        try:
            return max(10, os.get_terminal_size(1).columns)
        except OSError:
            return 80

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(1, data) :]


def layout(label: str, text: str, cursor: int, width: int) -> tuple[list[str], int, int]:
    """The rows of an area, and row and column of the cursor. Rows are broken here, never by the terminal."""
    rows, column = [""], 0
    place = (0, 0)
    for index, typed in enumerate(label + text):
        if index == len(label) + cursor:
            place = (len(rows) - 1, column)
        sign = plain(typed)
        size = _size(sign)
        if sign == "\n" or column + size > width - 1:
            rows.append("")
            column = 0
        if sign != "\n":
            rows[-1] += sign
            column += size
    if cursor == len(text):
        place = (len(rows) - 1, column)
    return rows, *place


def plain(text: str) -> str:
    """The text without what could move the cursor or change the terminal: control characters as `^X`."""
    text = text.replace("\r\n", "\n").expandtabs()
    return _CONTROL.sub(lambda sign: f"^{chr(ord(sign[0]) % 32 + 64)}", text)


def _size(text: str) -> int:
    """Columns that the text takes."""
    return sum(0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)
