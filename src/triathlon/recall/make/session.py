"""What the sources give: prose, agent sessions, short function-calling conversations, further documents."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]

CODE_LICENSES = {"mit", "apache-2.0", "bsd-2-clause", "bsd-3-clause", "isc", "unlicense", "cc0-1.0"}


@dataclass(frozen=True, slots=True)
class Origin:
    """A source data set, as it is named in `sources[]`."""

    dataset: str
    revision: str
    license: str
    note: str = ""  # further terms, for the data card


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call with its arguments in order."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `action` is the shell command that stands in a fenced block at the end of an assistant's text."""

    role: Role
    content: str
    calls: tuple[Call, ...] = ()
    action: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """An agent session; sessions of one task never make two contexts."""

    task: str
    origin: Origin
    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A further document: code (with a title such as `owner/name`) or a web page."""

    origin: Origin
    text: str
    repository: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """Prose for the facts."""

    origin: Origin
    title: str
    text: str


@dataclass
class Corpus:
    """Everything a set is built from."""

    articles: list[Article] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    conversations: list[Session] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    def skip(self, why: str) -> None:
        """Count a row that was left out."""
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def add(self, other: Corpus) -> None:
        """Take over everything of another corpus."""
        self.articles += other.articles
        self.sessions += other.sessions
        self.conversations += other.conversations
        self.documents += other.documents
        for why, count in other.skipped.items():
            self.skipped[why] = self.skipped.get(why, 0) + count


def clean(text: str) -> str:
    """NFC with LF line ends; control strings of the chat format are taken apart so that no text closes a message."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    return text.replace("<|im_", "<| im_").replace("<|endoftext|>", "<| endoftext |>")
