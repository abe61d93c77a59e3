"""What files were before the session's tools changed them, prompt by prompt."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Change:
    """One change of a file by a file tool, noted before it is made.

    `before` is the sha256 of the bytes the file had (None: there was no file), `wrote` that of the bytes it gets.
    """

    prompt: int
    path: str
    before: str | None
    mode: int
    wrote: str


class Checkpoints:
    """Keeps changes and old contents in `folder`, or in memory if that is None."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._contents: dict[str, bytes] = {}
        self._changes = list(_read(folder))
        self._lock = threading.Lock()  # subagents run side by side

    def before_change(self, prompt: int, path: Path, new: bytes) -> None:
        """Note that a file tool is about to give `path` the bytes `new`."""
        with self._lock:
            before, mode = None, 0o644
            if path.is_file():
                content = path.read_bytes()
                before, mode = _digest(content), path.stat().st_mode & 0o7777
                self._store(before, content)
            self._add(Change(prompt, str(path), before, mode, _digest(new)))

    def _add(self, change: Change) -> None:
        self._changes.append(change)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._index().open("a", encoding="utf-8") as index:
                index.write(json.dumps(asdict(change)) + "\n")

    def rewind(self, prompt: int) -> list[tuple[str, Path]]:
        """Put files back to what they were before this prompt.

        Returns for each file what was done (`restored`, `removed` or `not restored`) and its path.
        """
        first: dict[str, Change] = {}
        ours: dict[str, set[str | None]] = {}  # the states of each file that are this session's doing
        for change in self._changes:
            if change.prompt >= prompt:
                first.setdefault(change.path, change)
                ours.setdefault(change.path, {change.before}).add(change.wrote)
        done = [(_put_back(change, ours[path], self._content), Path(path)) for path, change in first.items()]
        self._forget(prompt)
        return done

    def copy_to(self, folder: Path) -> None:
        """Give a fork the same past."""
        import shutil

        if self.folder is not None and self.folder.is_dir():
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)

    def _forget(self, prompt: int) -> None:
        """The prompts from this one on will be given anew."""
        self._changes = [change for change in self._changes if change.prompt < prompt]
        if self.folder is not None and self.folder.is_dir():
            self._index().write_text("".join(json.dumps(asdict(change)) + "\n" for change in self._changes))

    def _store(self, digest: str, content: bytes) -> None:
        if self.folder is None:
            self._contents[digest] = content
            return
        file = self.folder / digest
        if not file.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            half = file.with_suffix(".part")
            half.write_bytes(content)
            half.replace(file)

    def _content(self, digest: str) -> bytes:
        return self._contents[digest] if self.folder is None else (self.folder / digest).read_bytes()

    def _index(self) -> Path:
        assert self.folder is not None
        return self.folder / "index.jsonl"


def _put_back(change: Change, ours: set[str | None], content: Callable[[str], bytes]) -> str:
    path = Path(change.path)
    try:
        present = _digest(path.read_bytes()) if path.exists() else None
        if present is not None and present not in ours:
            return "not restored"  # somebody else changed it since
        if change.before is None:
            path.unlink(missing_ok=True)
            return "removed"
        if present != change.before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content(change.before))
        path.chmod(change.mode)
    except OSError:
        return "not restored"
    return "restored"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(folder: Path | None) -> Iterator[Change]:
    try:
        lines = [] if folder is None else (folder / "index.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield Change(**json.loads(line))
        except (ValueError, TypeError):
            continue  # a line that a kill cut short: its change was not made
