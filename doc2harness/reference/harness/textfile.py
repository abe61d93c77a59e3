"""Text files as they are: where a path leads, how bytes become text and back, and writing all or nothing."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from .types import ToolError

UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_SPECIAL_BLANKS = dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
PROBE = 8192  # bytes in which a NUL makes a file binary


@dataclass(frozen=True)
class Located:
    """Where a path argument leads: `written` is absolute with its links, `path` without; `note` names a stand-in."""

    written: Path
    path: Path
    note: str = ""

    def noted(self, result: str) -> str:
        """A tool's result with the note, if there is one, behind it."""
        return f"{result}\n{self.note}" if self.note else result


def locate(path: str, workspace: Path, *, exact: bool = False) -> Located:
    """Find the file a path argument means. Unless `exact`, a name that is missing may have one look-alike (FILE-06)."""
    check_path(path)
    written = "/" + os.path.normpath(os.path.join(workspace, path)).lstrip("/")
    note = ""
    if not exact and not os.path.lexists(written) and (other := _look_alike(written)):
        written = written[: written.rindex("/") + 1] + other
        note = f"[used {other}]"
    return Located(Path(written), Path(os.path.realpath(written)), note)


def printable(text: str) -> str:
    """Text without what no request may hold: NUL characters and halves of pairs."""
    return _NO_TEXT.sub("\ufffd", text)


def check_path(path: str) -> None:
    """Raise ToolError for what cannot be a path or a pattern for one."""
    if "\0" in path:
        raise ToolError("a path or pattern must not hold a nul character")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ToolError("the path is not valid Unicode") from None


def _look_alike(path: str) -> str | None:
    """The only entry of the folder that has the same name but for Unicode's forms and kinds of blanks."""
    folder, _, name = path.rpartition("/")
    try:
        names = [entry.name for entry in Path(folder or "/").iterdir()]
    except OSError:
        return None
    found = [other for other in names if _plain(other) == _plain(name)]
    return found[0] if len(found) == 1 else None


def _plain(name: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", name.translate(_SPECIAL_BLANKS))


@dataclass(frozen=True)
class Text:
    """A decoded file. `mark` is its byte-order mark, which is not part of `text`."""

    text: str
    encoding: str
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Other text in this file's encoding, behind its mark; ToolError if it has no form in it."""
        try:
            # What was in the file comes back as it was, even halves of pairs; what is new has to be valid.
            return self.mark + text.encode(self.encoding, "surrogatepass" if "16" in self.encoding else "strict")
        except UnicodeEncodeError as error:
            sign = text[error.start : error.start + 1]
            raise ToolError(f"encoding: {sign!a} cannot be written in {self.encoding}") from None


def is_binary(data: bytes) -> bool:
    """Whether the file is no text: a NUL byte near its beginning, and no mark of UTF-16."""
    return b"\0" in data[:PROBE] and data[:2] not in _UTF16_MARKS


def decode(data: bytes) -> Text:
    """UTF-16 by its mark, else UTF-8, else Latin-1, which fits everything."""
    if encoding := _UTF16_MARKS.get(data[:2]):
        try:
            return Text(data[2:].decode(encoding, "surrogatepass"), encoding, data[:2])
        except UnicodeDecodeError:
            pass
    mark = UTF8_MARK if data.startswith(UTF8_MARK) else b""
    try:
        return Text(data[len(mark) :].decode(), "utf-8", mark)
    except UnicodeDecodeError:
        return Text(data.decode("latin-1"), "latin-1")


def lines_of(text: str) -> list[str]:
    """The lines without their ends; an end at the end of the text begins no further line."""
    lines = text.split("\n")
    last = lines.pop()
    return [line.removesuffix("\r") for line in lines] + ([last] if last else [])


def read_bytes(path: Path, name: str) -> bytes:
    """All bytes of a regular file; ToolError with a message about `name` if there is none."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise ToolError(f"{name} is a folder")
        if not stat.S_ISREG(kind):
            raise ToolError(f"{name} is not a regular file")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ToolError(f"{name}: no such file") from None
    except OSError as error:
        raise ToolError(f"{name}: {error.strerror}") from None


def write_atomically(path: Path, data: bytes) -> None:
    """Give the file at the resolved `path` new content, all or nothing, keeping its mode; raises OSError.

    The new content gets a name only when it is whole, so that a kill leaves no part and no temporary file behind.
    """
    try:
        before = path.stat()
    except FileNotFoundError:
        before = None
    if before is not None and not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path))
    try:
        descriptor = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:
        descriptor, source = _named(path)
    else:
        source = f"/proc/self/fd/{descriptor}"
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if before is not None:
                _take_over(descriptor, before)
            if source.startswith("/proc/"):
                _link(source, path)
            else:
                Path(source).replace(path)
    except BaseException:
        if not source.startswith("/proc/"):
            Path(source).unlink(missing_ok=True)
        raise


def _take_over(descriptor: int, before: os.stat_result) -> None:
    """Give the new file the mode and, where we may, the owner of the old one."""
    if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except PermissionError:
            pass
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _link(source: str, path: Path) -> None:
    """Give a nameless file its name. A name that is taken can only be replaced by way of another one."""
    # Only with a folder's descriptor does Python follow the link under /proc; the path is absolute, so any will do.
    folder = 0
    try:
        os.link(source, path, src_dir_fd=folder, follow_symlinks=True)
    except FileExistsError:
        between = _spare_name(path)
        os.link(source, between, src_dir_fd=folder, follow_symlinks=True)
        between.replace(path)


def _named(path: Path) -> tuple[int, str]:
    """For file systems without nameless files."""
    name = str(_spare_name(path))
    return os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), name


def _spare_name(path: Path) -> Path:
    return path.with_name(f".{path.name[:60]}.{os.urandom(6).hex()}.tmp")
