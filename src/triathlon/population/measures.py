"""What a candidate's code looks like: size, newness against the skeleton, copies, and where permissions are decided.

Only Python and shell sources are counted. Links are not followed; a source over `MAX_BYTES` counts as a file only.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MAX_BYTES = 4_000_000
WINDOW = 6
"""So many code lines in a row, found twice, are a copy."""
LEFT_OUT = {"__pycache__", ".git", ".venv", "node_modules"}
PERMISSION = re.compile(
    r"permission|allow|deny|denie[ds]|approv|refus|bypass|accept[-_]edits|dont[-_]ask|read[-_]?only", re.IGNORECASE
)


@dataclass(frozen=True)
class Measures:
    """Counts over one tree. Lines are physical lines of Python and shell sources.

    `lines` holds code, with blank and comment lines apart. `new_share` is the share of non-blank lines that do not
    stand in the skeleton; None without a line. `copied_text` and `copied_shape` are code lines inside a run of six
    that stood earlier in the tree, as the same text, or with other names, numbers and strings. `permission_places`
    counts functions with a branch on a permission word, `permission_modules` the files they stand in; both None where
    no Python file can be parsed.
    """

    files: int
    modules: int
    lines: int
    blank: int
    comment: int
    new_share: float | None
    copied_text: int
    copied_shape: int
    permission_places: int | None
    permission_modules: int | None

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class _Source:
    name: str
    text: str

    @property
    def is_python(self) -> bool:
        return self.name.endswith(".py")


def measure(tree: Path, skeleton: Path | None = None) -> Measures:
    """The measures of a tree. `skeleton` is what `new_share` is taken against; nothing stands in it if not given."""
    names, sources = _read(tree)
    base = Counter(line for source in (_read(skeleton)[1] if skeleton else ()) for line in _stripped(source.text))
    kinds = [list(_kinds(source.text)) for source in sources]
    codes = [[line for kind, line in lines if kind == "code"] for lines in kinds]
    counts = Counter(kind for lines in kinds for kind, _ in lines)
    python = [source for source in sources if source.is_python]
    decided = [places for source in python if (places := _permission_places(source.text)) is not None]
    return Measures(
        files=len(names),
        modules=sum(
            any(kind == "code" for kind, _ in lines) for s, lines in zip(sources, kinds, strict=True) if s.is_python
        ),
        lines=counts["code"],
        blank=counts["blank"],
        comment=counts["comment"],
        new_share=_new_share(sources, base),
        copied_text=_copied(codes),
        copied_shape=_copied([_shapes(source.text) if source.is_python else [] for source in sources]),
        permission_places=sum(decided) if decided else None,
        permission_modules=sum(places > 0 for places in decided) if decided else None,
    )


def _read(tree: Path) -> tuple[list[str], list[_Source]]:
    names, sources = [], []
    for path in sorted(_walk(tree)):
        name = path.relative_to(tree).as_posix()
        names.append(name)
        if path.suffix in (".py", ".sh") and path.stat().st_size <= MAX_BYTES:
            sources.append(_Source(name, path.read_bytes().decode("utf-8", "replace")))
    return names, sources


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_symlink() or path.name in LEFT_OUT:
            continue
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield path


def _kinds(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n")[: -1 if text.endswith("\n") else None] if text else ():
        bare = line.strip()
        yield ("blank" if not bare else "comment" if bare.startswith("#") else "code"), bare


def _stripped(text: str) -> Iterator[str]:
    return (line for _, line in _kinds(text) if line)


def _new_share(sources: Iterable[_Source], base: Counter[str]) -> float | None:
    """A line of the skeleton excuses as many lines of the tree as it stands there."""
    left, new, all_lines = base.copy(), 0, 0
    for source in sources:
        for line in _stripped(source.text):
            all_lines += 1
            if left[line] > 0:
                left[line] -= 1
            else:
                new += 1
    return new / all_lines if all_lines else None


def _copied(texts: Sequence[Sequence[str]]) -> int:
    """Lines inside a window that stood earlier; each line once."""
    seen: set[tuple[str, ...]] = set()
    count = 0
    for lines in texts:
        copied = [False] * len(lines)
        for at in range(len(lines) - WINDOW + 1):
            window = tuple(lines[at : at + WINDOW])
            if window in seen:
                copied[at : at + WINDOW] = [True] * WINDOW
            seen.add(window)
        count += sum(copied)
    return count


def _shapes(text: str) -> list[str]:
    """Each code line with names, numbers and strings made equal; empty where the text is no Python."""
    lines: dict[int, list[str]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                continue
            if token.type == tokenize.ENDMARKER:
                break
            word = token.string
            if token.type == tokenize.NAME and word not in _KEYWORDS:
                word = "name"
            elif token.type in (tokenize.NUMBER, tokenize.STRING):
                word = "value"
            lines.setdefault(token.start[0], []).append(word)
    except (tokenize.TokenError, SyntaxError):
        return []
    return [" ".join(words) for _, words in sorted(lines.items())]


_KEYWORDS = frozenset(keyword.kwlist)


def _permission_places(text: str) -> int | None:
    """Functions (the module's own level is one) that branch on a permission word; None where it does not parse."""
    try:
        tree = ast.parse(text)
        return _places(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _places(tree: ast.AST) -> int:
    decides: set[int] = set()
    todo: list[tuple[ast.AST, int]] = [(tree, 0)]
    while todo:
        node, owner = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            owner = id(node)
        tests: list[ast.AST] = []
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            tests = [node.test]
        elif isinstance(node, ast.Match):
            tests = [node.subject]
        elif isinstance(node, ast.comprehension):
            tests = list(node.ifs)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.BoolOp | ast.Compare):
            tests = [node.value]
        if any(PERMISSION.search(word) for test in tests for word in _words(test)):
            decides.add(owner)
        todo.extend((child, owner) for child in ast.iter_child_nodes(node))
    return len(decides)


def _words(test: ast.AST) -> Iterator[str]:
    for node in ast.walk(test):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value[:200]
