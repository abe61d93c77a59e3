"""The output of a command as it arrives: decoded, cleaned of terminal codes, and cut in the middle if it is long."""

from __future__ import annotations

import codecs
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

LIMIT = 30_000  # characters shown
KEPT_IN_MEMORY = 200_000  # raw bytes
LONGEST_CODE = 4096  # characters of one terminal sequence

# Control sequences; then those with a text up to their end (titles, links); then short ones.
_CODES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_].*?\x1b\\|\x1b[ -/]*[0-OQ-WYZ\\`-~]",
    re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Stream:
    """Turns the bytes of one pipe into clean text; a sign or a code may be split over several reads."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unfinished = ""

    def feed(self, data: bytes, final: bool = False) -> str:
        text = _CODES.sub("", self._unfinished + self._decoder.decode(data, final))
        start = text.find("\x1b")
        if start < 0 or final or len(text) - start > LONGEST_CODE:
            self._unfinished = ""
        else:
            text, self._unfinished = text[:start], text[start:]
        return _CONTROLS.sub("", text)


class Output:
    """The text of a command's streams in order of arrival; all raw bytes are kept, in a file if they are many.

    `new_file` makes the path of that file.
    """

    def __init__(self, new_file: Callable[[], Path]) -> None:
        self._new_file = new_file
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._head, self._tail, self._length = "", "", 0
        self._raw = bytearray()
        self._path: Path | None = None
        self._file: IO[bytes] | None = None

    def add(self, data: bytes, text: str) -> None:
        """Add what arrived, raw and as text."""
        with self._lock:
            self._length += len(text)
            room = LIMIT // 2 - len(self._head)
            self._head += text[:room] if room > 0 else ""
            self._tail = (self._tail + text[max(room, 0) :])[-LIMIT // 2 :]
            self._raw += data
            if len(self._raw) > KEPT_IN_MEMORY:
                self._spill()

    def take(self) -> str:
        """All text since the last call, its middle left out if it is too long."""
        with self._lock:
            cut = self._length - LIMIT
            if cut > 0:
                self._spill()
            if self._file is not None:
                self._file.close()
                if cut <= 0 and self._path is not None:
                    self._path.unlink(missing_ok=True)
            head, tail, path = self._head, self._tail, self._path
            self._begin()
        if cut <= 0:
            return head + tail
        line = "" if head.endswith("\n") else "\n"
        kept = f"the whole output is in {path}" if path else "the whole output could not be kept"
        return f"{head}{line}[cut: {cut} characters; {kept}]\n{tail}"

    def _spill(self) -> None:
        """Move the raw bytes to the file."""
        try:
            if self._file is None:
                self._path = self._new_file()
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("wb")
            self._file.write(self._raw)
        except OSError:
            self._path = None  # the disk is full or not ours to write: the output itself still counts
        self._raw.clear()


def with_notes(first: str, text: str, notes: list[str]) -> str:
    """A result: its first line, the output as it is, and note lines on lines of their own."""
    result = f"{first}\n{text}" if text else first
    for note in notes:
        result += ("" if result.endswith("\n") else "\n") + note
    return result
