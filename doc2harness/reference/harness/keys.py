"""What a terminal sends, as keys: printable text, named keys, pasted blocks."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

ESC_WAIT = 0.1  # seconds after which an ESC that nothing follows is the Esc key


@dataclass(frozen=True)
class Key:
    """`name` is "text" (one character), "paste" (a block), or a key's name such as "enter" or "ctrl-c"."""

    name: str
    text: str = ""


_CONTROLS = {
    "\r": "enter",
    "\n": "newline",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    **{chr(code): f"ctrl-{chr(code + 96)}" for code in range(1, 27) if chr(code) not in "\r\n\t\x08"},
}
_SEQUENCES = {
    "[A": "up",
    "OA": "up",
    "[B": "down",
    "OB": "down",
    "[C": "right",
    "OC": "right",
    "[D": "left",
    "OD": "left",
    "[H": "home",
    "OH": "home",
    "[1~": "home",
    "[F": "end",
    "OF": "end",
    "[4~": "end",
    "[3~": "delete",
    "[Z": "shift-tab",
}
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"


class Decoder:
    """Bytes in, keys out; what is not whole yet waits."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    @property
    def waits(self) -> bool:
        """Whether something is begun that more bytes, or their absence, will settle."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[Key]:
        self._rest += self._text.decode(data)
        return self._keys(settled=False)

    def settle(self) -> list[Key]:
        """Nothing came for a while: an ESC at the end is the Esc key."""
        return self._keys(settled=True)

    def _keys(self, settled: bool) -> list[Key]:
        keys: list[Key] = []
        while self._rest:
            key, length = self._first(settled)
            if not length:
                break
            self._rest = self._rest[length:]
            if key is not None:
                keys.append(key)
        return keys

    def _first(self, settled: bool) -> tuple[Key | None, int]:
        """The first key of what waits and its length; length 0 if it is not whole."""
        rest = self._rest
        if rest.startswith(_PASTE_BEGINS):
            end = rest.find(_PASTE_ENDS)
            if end < 0:
                return None, 0
            pasted = rest[len(_PASTE_BEGINS) : end].replace("\r\n", "\n").replace("\r", "\n")
            return Key("paste", pasted), end + len(_PASTE_ENDS)
        if rest[0] == "\x1b":
            return self._escape(settled)
        if rest[0] in _CONTROLS:
            return Key(_CONTROLS[rest[0]]), 1
        if rest[0] < " ":
            return None, 1
        return Key("text", rest[0]), 1

    def _escape(self, settled: bool) -> tuple[Key | None, int]:
        rest = self._rest
        if len(rest) == 1:
            return (Key("esc"), 1) if settled else (None, 0)
        if rest[1] == "O" and len(rest) > 2:
            name = _SEQUENCES.get(rest[1:3])
            return (Key(name) if name else None), 3
        if rest[1] != "[":
            return (None, 0) if rest[1] == "O" and not settled else (Key("esc"), 1)
        for index in range(2, len(rest)):
            if "@" <= rest[index] <= "~":  # the end of a control sequence
                name = _SEQUENCES.get(rest[1 : index + 1])
                return (Key(name) if name else None), index + 1
        return (Key("esc"), 1) if settled else (None, 0)
