"""What takes the place of the input line while the user is asked something."""

from __future__ import annotations

import threading
from typing import Protocol

from .editor import Editor
from .keys import Key
from .types import Answer

LEAVING = ("esc", "ctrl-c", "ctrl-d")
_ANSWERS = {"y": "yes", "s": "session", "a": "always", "n": "no"}


class Modal(Protocol):
    """`label`, `text` and `cursor` are drawn; `key` gives True once the question is answered, as `said` then tells."""

    label: str

    @property
    def text(self) -> str: ...
    @property
    def cursor(self) -> int: ...
    @property
    def said(self) -> str: ...
    def key(self, key: Key) -> bool: ...


class Approval:
    """One key answers: yes, this session, always, no, or no with a reason that is typed then."""

    def __init__(self, number: int) -> None:
        self.label = f"approve {number}? [y/s/a/n/r] "
        self.answer = Answer("no")
        self._reason: Editor | None = None

    @property
    def text(self) -> str:
        return self._reason.text if self._reason else ""

    @property
    def cursor(self) -> int:
        return self._reason.cursor if self._reason else 0

    @property
    def said(self) -> str:
        return self.answer.reason or self.answer.verdict

    def key(self, key: Key) -> bool:
        if key.name in LEAVING:
            return True
        if self._reason is not None:
            if self._reason.key(key):
                self.answer = Answer("no", self._reason.text)
                return True
            return False
        letter = key.text.lower() if key.name == "text" else ""
        if letter == "r":
            self._reason, self.label = Editor(), "reason: "
        elif letter in _ANSWERS:
            self.answer = Answer(_ANSWERS[letter])  # type: ignore[arg-type]
            return True
        return False


class Line:
    """A line is typed; None if it was left. What is secret is not shown."""

    def __init__(self, label: str, secret: bool) -> None:
        self.label = label
        self.answer: str | None = None
        self._secret = secret
        self._editor = Editor()

    @property
    def text(self) -> str:
        return "" if self._secret else self._editor.text

    @property
    def cursor(self) -> int:
        return 0 if self._secret else self._editor.cursor

    @property
    def said(self) -> str:
        return "(none)" if self.answer is None else self.text

    def key(self, key: Key) -> bool:
        if key.name in LEAVING:
            return True
        if self._editor.key(key):
            self.answer = self._editor.text
            return True
        return False


class YesOrNo:
    """One key: `y` is yes, every other no."""

    text = ""
    cursor = 0

    def __init__(self, label: str) -> None:
        self.label = label
        self.answer = False

    @property
    def said(self) -> str:
        return "y" if self.answer else "n"

    def key(self, key: Key) -> bool:
        self.answer = key.name == "text" and key.text.lower() == "y"
        return True


class Asked:
    """A modal that another thread waits for."""

    def __init__(self, modal: Modal, lines: str) -> None:
        """`lines` are shown above it."""
        self.modal = modal
        self.lines = lines
        self.settled = threading.Event()
