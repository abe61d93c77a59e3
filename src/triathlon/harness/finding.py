"""One complaint of the contract check, as one printable line."""

from __future__ import annotations

from dataclasses import dataclass

MAX_WORDS = 400


@dataclass(frozen=True, order=True)
class ContractFinding:
    """What is wrong, and where: `file` is relative to the tree, `line` counts from 1."""

    file: str
    line: int
    what: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "file", printable(self.file))
        object.__setattr__(self, "what", printable(self.what)[:MAX_WORDS])

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def printable(text: str) -> str:
    """The text on one line, with nothing in it that a terminal would act on and nothing that is no UTF-8."""
    plain = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain)
