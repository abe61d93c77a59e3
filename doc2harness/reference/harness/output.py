"""Standard output of a headless run, and the talk on standard error."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from .types import Cancel, Interrupted


class Output:
    """Writes at once and whole. When nobody reads any more it throws the switch and raises Interrupted("stdout")."""

    def __init__(self, cancel: Cancel) -> None:
        self.cancel = cancel

    def text(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError as error:
            self.cancel.set("stdout")
            raise Interrupted("stdout") from error

    def line(self, value: dict[str, Any]) -> None:
        self.text(json.dumps(value) + "\n")


def warn(text: str) -> None:
    """A warning: one line on stderr."""
    _say("warning", text)


def complain(text: str) -> None:
    """What ended the run: one line on stderr."""
    _say("error", text)


def _say(kind: str, text: str) -> None:
    line = f"{kind}: {' '.join(text.split())}"
    try:
        print(line.encode("utf-8", "replace").decode(), file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        pass  # nobody listens
