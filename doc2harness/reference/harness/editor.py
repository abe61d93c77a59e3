"""A line of input being typed, with the inputs before it."""

from __future__ import annotations

from collections.abc import Sequence

from .keys import Key


class Editor:
    """Text and cursor. `inputs` are earlier inputs, oldest first, for Up and Down."""

    def __init__(self, inputs: Sequence[str] = ()) -> None:
        self.text = ""
        self.cursor = 0
        self._inputs = inputs
        self._place = 0  # how many inputs back; 0 is the text being typed
        self._typed = ""

    def set(self, text: str) -> None:
        self.text, self.cursor, self._place = text, len(text), 0

    def take(self) -> str:
        """The text; what is typed next begins anew."""
        text = self.text
        self.set("")
        return text

    def key(self, key: Key) -> bool:
        """Change the text; True if the key was Enter and ends the input."""
        if key.name == "enter":
            if self.text[: self.cursor].endswith("\\"):
                self._replace(self.cursor - 1, self.cursor, "\n")
                return False
            return True
        if key.name in ("text", "paste"):
            self._replace(self.cursor, self.cursor, key.text)
        elif key.name == "newline":
            self._replace(self.cursor, self.cursor, "\n")
        elif key.name in ("up", "down"):
            self._recall(1 if key.name == "up" else -1)
        else:
            self._edit(key.name)
        return False

    def _edit(self, name: str) -> None:
        start = self.text.rfind("\n", 0, self.cursor) + 1
        end = self.text.find("\n", self.cursor)
        end = len(self.text) if end < 0 else end
        if name == "backspace":
            self._replace(max(0, self.cursor - 1), self.cursor, "")
        elif name in ("delete", "ctrl-d"):
            self._replace(self.cursor, self.cursor + 1, "")
        elif name == "ctrl-u":
            self._replace(start, self.cursor, "")
        elif name == "ctrl-k":
            self._replace(self.cursor, end, "")
        elif name == "ctrl-w":
            before = self.text[: self.cursor].rstrip()
            self._replace(max(before.rfind(" "), before.rfind("\n")) + 1, self.cursor, "")
        else:
            moves = {"left": self.cursor - 1, "right": self.cursor + 1, "home": start, "end": end}
            moves |= {"ctrl-a": start, "ctrl-e": end, "ctrl-b": self.cursor - 1, "ctrl-f": self.cursor + 1}
            self.cursor = min(max(moves.get(name, self.cursor), 0), len(self.text))

    def _replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self.cursor = start + len(text)

    def _recall(self, step: int) -> None:
        place = self._place + step
        if not 0 <= place <= len(self._inputs):
            return
        if self._place == 0:
            self._typed = self.text
        text = self._typed if place == 0 else self._inputs[-place]
        self.set(text)
        self._place = place
