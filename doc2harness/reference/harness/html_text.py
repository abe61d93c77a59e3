"""The text of an HTML page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SILENT = frozenset({"script", "style"})
_BLOCKS = re.compile(
    "address|article|aside|blockquote|br|d[dlt]|div|fieldset|fig.*|footer|form|h[1-6]|head|header|hr|li|main|nav|[ou]l|"
    "p|pre|section|t[dhr]|table|title"
)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT and self._silent > 0
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)

    def _break(self, tag: str) -> None:
        if _BLOCKS.fullmatch(tag):
            self.parts.append("\n")


def text_of(page: str) -> str:
    """The page without its tags and scripts, entities decoded, blocks on lines of their own."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    lines = (re.sub(r"[ \t\r\f]+", " ", line).strip() for line in "".join(reader.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
