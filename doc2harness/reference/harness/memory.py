"""Memory: the AGENTS.md files that go into the system message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .sources import upward

NAME = "AGENTS.md"
LIMIT = 65_536  # bytes of all memory together
DEPTH = 4  # files that may import each other in a chain
_IMPORT = re.compile(r"@(\S.*?)\s*")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")


@dataclass
class Memory:
    """Reads memory files of one workspace. `may_import(path, importer)` gives None, or the reason why not."""

    workspace: Path
    state: Path
    may_import: Callable[[Path, Path], str | None]
    warn: Callable[[str], None]

    def chain(self) -> str:
        """The texts of the whole chain, farthest first, cut to the limit."""
        files = [self.state / NAME, *(folder / NAME for folder in reversed(upward(self.workspace)))]
        files.append(self.workspace / "AGENTS.local.md")
        texts: list[tuple[Path, str]] = []
        seen: set[Path] = set()
        for file in files:
            real = file.resolve()
            if real not in seen and (text := self._read(file)) is not None:
                seen.add(real)
                texts.append((file, self._expanded(text, file, (real,))))
        return "\n\n".join(self._cut(texts))

    def below(self, file: Path) -> Iterator[tuple[Path, str]]:
        """The memory files of the folders from below the workspace down to the folder of `file`, with their texts."""
        if not file.is_relative_to(self.workspace):
            return
        folders = [folder for folder in file.parents if folder.is_relative_to(self.workspace)][:-1]
        for folder in reversed(folders):
            memory = folder / NAME
            if (text := self._read(memory)) is not None:
                yield memory, self._expanded(text, memory, (memory.resolve(),))

    def _read(self, file: Path) -> str | None:
        try:
            return file.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            self.warn(f"{file}: cannot be read: {error.strerror}")
            return None

    def _expanded(self, text: str, file: Path, inside: tuple[Path, ...]) -> str:
        """The text with its imports in place; `inside` are the files that led here, this one last."""
        lines: list[str] = []
        fence = ""
        for line in text.split("\n"):
            mark = _FENCE.match(line)
            if mark and (not fence or mark[1].startswith(fence)):
                fence = "" if fence else mark[1]
            named = None if fence else _IMPORT.fullmatch(line)
            lines.extend([line] if named is None else self._imported(line, named[1], file, inside))
        return "\n".join(lines)

    def _imported(self, line: str, name: str, file: Path, inside: tuple[Path, ...]) -> list[str]:
        """What stands in place of an import line."""
        path = file.parent / name
        real = path.resolve()
        if real in inside:
            return []
        if len(inside) > DEPTH:
            return [line]
        reason = self.may_import(path, file)
        text = self._read(path) if reason is None else None
        if text is None:
            self.warn(f"{file}: {line.strip()} is not imported: {reason or 'no such file'}")
            return [line]
        return [self._expanded(text.removesuffix("\n"), path, (*inside, real))]

    def _cut(self, texts: list[tuple[Path, str]]) -> list[str]:
        """Texts, farthest first, that together are no larger than the limit."""
        over = sum(len(text.encode()) for _, text in texts) - LIMIT
        result: list[str] = []
        for file, text in texts:
            content = text.encode()
            if over > 0 and content:
                self.warn(f"{file}: cut, memory is larger than {LIMIT} bytes")
                left = content[: max(0, len(content) - over)]
                over -= len(content) - len(left)
                text = left.decode("utf-8", "ignore")
            result.append(text)
        return [text for text in result if text]
