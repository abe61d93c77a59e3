"""What a person would see: a terminal screen fed with the bytes that a candidate wrote."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pyte

KEYS = {
    "Enter": "\r",
    "Esc": "\x1b",
    "Tab": "\t",
    "Shift-Tab": "\x1b[Z",
    "Backspace": "\x7f",
    "Delete": "\x1b[3~",
    "Up": "\x1b[A",
    "Down": "\x1b[B",
    "Right": "\x1b[C",
    "Left": "\x1b[D",
    "Home": "\x1b[H",
    "End": "\x1b[F",
    "PageUp": "\x1b[5~",
    "PageDown": "\x1b[6~",
    "Space": " ",
}
PASTE_BEGINS, PASTE_ENDS = "\x1b[200~", "\x1b[201~"


def key(name: str) -> bytes:
    """The bytes a terminal sends for a key: a name of KEYS, `Ctrl-C`, `Alt-x`, or one character.

    Raises ValueError for a name that is none of these.
    """
    if name in KEYS:
        return KEYS[name].encode()
    prefix, _, letter = name.rpartition("-")
    if prefix == "Ctrl" and len(letter) == 1 and "@" <= letter.upper() <= "_":
        return bytes([ord(letter.upper()) & 0x1F])
    if prefix == "Alt" and len(letter) == 1:
        return b"\x1b" + letter.encode()
    if len(name) == 1:
        return name.encode()
    raise ValueError(f"no such key: {name}; known: {', '.join(KEYS)}, Ctrl-A to Ctrl-_, Alt-x, one character")


class Screen:
    """A screen of `rows` x `columns`; `answer` takes what a terminal says back (cursor position, device attributes)."""

    def __init__(self, rows: int, columns: int, answer: Callable[[bytes], None]) -> None:
        self._lock = threading.Lock()
        self._screen = pyte.Screen(columns, rows)
        self._screen.write_process_input = lambda data: answer(data.encode())
        self._stream = pyte.ByteStream(self._screen)

    def feed(self, data: bytes) -> None:
        """Take output. What pyte cannot understand is dropped, as a terminal would."""
        with self._lock:
            try:
                self._stream.feed(data)
            except Exception:
                # A hostile byte sequence must not end the reading thread; pyte's parser is started anew.
                self._stream = pyte.ByteStream(self._screen)

    def resize(self, rows: int, columns: int) -> None:
        """The window has changed."""
        with self._lock:
            self._screen.resize(rows, columns)

    @property
    def text(self) -> str:
        """The rows from the first to the last that is not blank, without trailing blanks."""
        with self._lock:
            return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n")
