"""One file, folder or link as a case lays it out, and how one file is changed from outside."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from triathlon.harness.strict import Strict, exactly_one, short


def _mode(value: str) -> str:
    if not re.fullmatch(r"0?[0-7]{3}", value):
        raise ValueError('permission bits are written in octal, as a string: "0755"')
    return value


def _base64(value: str) -> str:
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None
    return value


def _latin1(value: str) -> str:
    try:
        value.encode("latin-1")
    except UnicodeEncodeError as error:
        raise ValueError(f"not Latin-1: {value[error.start]!r}") from None
    return value


def _moment(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("a time is written like 2020-01-31T12:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("a time needs its zone: 2020-01-31T12:00:00Z")
    return value


class Part(Strict):
    """A piece of a long file: `repeat`, so many `times`."""

    repeat: str
    times: Annotated[int, Field(ge=0, le=200_000_000)]


BODY = ("text", "base64", "latin1", "utf16", "repeat", "parts", "link", "folder")


class FixtureFile(Strict):
    """One file, folder or link. A plain string is its text, `{}` a folder."""

    text: str | None = None
    base64: Annotated[str, AfterValidator(_base64)] | None = None
    latin1: Annotated[str, AfterValidator(_latin1)] | None = None
    """Text, written as Latin-1 bytes."""
    utf16: str | None = None
    """Text, written as UTF-16, little end first, with its mark."""
    repeat: str | None = None
    times: Annotated[int, Field(ge=0, le=200_000_000)] | None = None
    prefix: str = ""
    suffix: str = ""
    parts: list[str | Part] | None = None
    """Texts and repeated texts, one after the other."""
    link: str | None = None
    """A symbolic link; its target, as written."""
    folder: Literal[True] | None = None
    mode: Annotated[str, AfterValidator(_mode)] | None = None
    mtime: Annotated[str, AfterValidator(_moment)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _empty_mapping_is_a_folder(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and set(value) <= {"mode", "mtime"}:
            return {**value, "folder": True}
        return value

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        body = exactly_one(self, BODY, "a file")
        if (body == "repeat") != (self.times is not None):
            raise ValueError("`repeat` and `times` go together")
        if body != "repeat" and (self.prefix or self.suffix):
            raise ValueError("`prefix` and `suffix` go with `repeat`; other texts use `parts`")
        if body == "link" and (self.mode or self.mtime):
            raise ValueError("a link has no mode and no mtime of its own")
        return self

    @property
    def kind(self) -> Literal["file", "folder", "link"]:
        """What it is."""
        return "link" if self.link is not None else "folder" if self.folder else "file"

    def data(self) -> bytes:
        """The bytes of a file whose placeholders are filled in; empty for folders and links."""
        if self.text is not None:
            return encode(self.text)
        if self.base64 is not None:
            return base64.b64decode(self.base64)
        if self.latin1 is not None:
            return self.latin1.encode("latin-1")
        if self.utf16 is not None:
            return b"\xff\xfe" + self.utf16.encode("utf-16-le")
        if self.repeat is not None:
            return encode(self.prefix) + encode(self.repeat) * (self.times or 0) + encode(self.suffix)
        parts = self.parts or []
        return b"".join(encode(p) if isinstance(p, str) else encode(p.repeat) * p.times for p in parts)

    @property
    def bits(self) -> int:
        """Permission bits: as given, else 0755 for a folder and 0644 for a file."""
        return int(self.mode, 8) if self.mode else 0o755 if self.kind == "folder" else 0o644

    @property
    def moment(self) -> float | None:
        """The modification time in seconds since 1970, None if not given."""
        return datetime.fromisoformat(self.mtime).timestamp() if self.mtime else None


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate U+DC80..U+DCFF stands for the byte it escapes, as in Python's file names."""
    return text.encode("utf-8", "surrogateescape")


File = Annotated[FixtureFile, BeforeValidator(short("text"), json_schema_input_type=str | FixtureFile)]


def _path(value: str) -> str:
    if not value or value.startswith("/") or "\0" in value:
        raise ValueError("a path in a place is relative, and not empty")
    parts = value.split("/")
    if ".." in parts:
        raise ValueError("a path in a place has no `..`: use the keys outside, beside, home, state")
    if any(len(encode(part)) > 255 for part in parts):
        raise ValueError("a name in a path has at most 255 bytes")
    return value


Files = dict[Annotated[str, AfterValidator(_path)], File]
"""Path -> file. A path that ends in `/` is a folder."""


class Change(Strict):
    """What happens to one file from outside, at a step or before a reply: a file as laid out, or one of these."""

    absent: Literal[True] | None = None
    file: File | None = None
    append: str | None = None
    cut: Annotated[int, Field(ge=0)] | None = None
    """Bytes taken off the end."""
    insert: str | None = None
    after: str | None = None
    """With `insert`: right after the first line that has this text."""
    after_line: Annotated[int, Field(ge=0)] | None = None
    """With `insert`: right after this line; 0 is the start of the file."""
    replace: dict[str, str] | None = None
    """Each text by another, wherever it occurs; one that does not occur is an error."""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        if value == "absent":
            return {"absent": True}
        if isinstance(value, str) or (isinstance(value, dict) and not set(value) & set(cls.model_fields)):
            return {"file": value}
        return value

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        exactly_one(self, ("absent", "file", "append", "cut", "insert", "replace"), "a change")
        places = [n for n in ("after", "after_line") if n in self.model_fields_set]
        if (self.insert is None and places) or (self.insert is not None and len(places) != 1):
            raise ValueError("`insert` needs one of `after` and `after_line`, and nothing else takes them")
        return self

    def apply(self, old: bytes) -> bytes:
        """The file's new bytes, for a change that edits what is there (all but `absent` and `file`).

        Raises ValueError if the text to find is not there.
        """
        if self.append is not None:
            return old + encode(self.append)
        if self.cut is not None:
            return old[: max(len(old) - self.cut, 0)]
        if self.insert is not None:
            lines = old.splitlines(keepends=True)
            at = self.after_line if self.after_line is not None else _line_with(lines, encode(self.after or ""))
            return b"".join([*lines[:at], encode(self.insert), *lines[at:]])
        for find, put in (self.replace or {}).items():
            if encode(find) not in old:
                raise ValueError(f"the text {find!r} to replace is not in the file")
            old = old.replace(encode(find), encode(put))
        return old


def _line_with(lines: list[bytes], text: bytes) -> int:
    for number, line in enumerate(lines, 1):
        if text in line:
            return number
    raise ValueError(f"no line has the text {text!r}")
