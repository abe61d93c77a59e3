"""What a shell command needs: each of its parts, and each file it writes or names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .dangerous import is_guarded_removal
from .expand import values
from .needs import Need
from .operands import named_files
from .parts import Link, Part, read_command
from .paths import files_below, forms, written
from .readonly import is_read_only
from .rules import text_pattern
from .syntax import Redirect, Word

if TYPE_CHECKING:
    from .needs import Place

_WRITING = frozenset({">", ">>", ">|", "<>", ">&", "&>", "&>>"})
_FRAGMENTS = re.compile(r"[;&|\n(){}`]+")


class CommandNeeds:
    """The needs of one shell command."""

    def __init__(self, place: Place, text: str, cwd: str) -> None:
        self.place = place
        self.text = text
        self.command = read_command(text, cwd, place.home)

    def needs(self) -> Iterator[Need]:
        if self.command.problem:
            yield self._unreadable()
        for part in self.command.parts:
            if part.chain[0].words or part.chain[0].assignments:
                yield self._run(part)
            for redirect in part.redirects:
                yield from self._redirect(redirect, part)
            yield from self._files(part)
        if not self.command.parts and not self.command.problem:
            yield Need("bash", "bash", self.text, texts=("",), at_once=True)

    def _unreadable(self) -> Need:
        """A command that is not understood; what deny and ask rules might mean in it is looked for roughly."""
        bare = self.text.translate(str.maketrans("", "", "'\"\\"))
        return Need(
            "bash",
            "bash",
            self.text,
            texts=() if self.command.parts else tuple(piece.strip() for piece in _FRAGMENTS.split(bare)),
            changes=True,
            unknown=f"the command cannot be read: {self.command.problem}",
            hints="" if "$" in bare or "`" in bare else bare,
        )

    def _run(self, part: Part) -> Need:
        texts = tuple(dict.fromkeys(text for link in part.chain for text in _spellings(link)))
        shown = " ".join((*_sources(part.chain[0].assignments), part.chain[0].text)).strip()
        need = Need("bash", "bash", shown, texts=texts, save=f"bash({text_pattern(shown)})", changes=True)
        if part.state == "unknown":
            suffixes = tuple(" ".join(_texts(part.words[at:])) for at in range(1, len(part.words)))
            return need._replace(texts=texts + suffixes, save="", unknown="what it runs is not written out")
        if part.state == "outer":
            return need._replace(changes=False, at_once=True)
        guarded = is_guarded_removal(part.words, part.places, self.place.home, self.place.workspace)
        need = need._replace(allowed_by=tuple(_allowed(part)), guarded=guarded, save=need.save if part.carried else "")
        if part.cd and part.leads_to is None:
            return need._replace(save="", unknown="the folder it changes to is not known")
        harmless = self._runs_at_once(part)
        return need._replace(at_once=harmless, changes=not harmless)

    def _runs_at_once(self, part: Part) -> bool:
        if part.chain[-1].assignments or part.carried < len(part.chain) or part.places is None:
            return False
        roots = self.place.roots
        if part.cd:
            plain = all(word.literal is not None for word in part.words)
            return plain and all(roots.hold(form) for folder in part.leads_to or () for form in forms(folder, "/"))
        inputs = [redirect.target for redirect in part.redirects if redirect.operator in ("<", "<>")]
        return is_read_only(part.words, part.places, roots) and all(self._is_inside(word, part) for word in inputs)

    def _is_inside(self, word: Word, part: Part) -> bool:
        found = list(self._paths(word, part))
        paths = [form for path, base in found for form in forms(path, base) if form != "/dev/null"]
        return bool(found) and all(self.place.roots.hold(path) for path in paths)

    def _redirect(self, redirect: Redirect, part: Part) -> Iterator[Need]:
        text = redirect.target.literal
        if redirect.operator in ("<", "<>"):
            yield from self._named("read", redirect.target, part)
        if redirect.operator not in _WRITING or text == "/dev/null":
            return
        if redirect.operator == ">&" and text is not None and re.fullmatch(r"[0-9]+-?|-", text):
            return
        if text is None or (part.places is None and not text.startswith("/")):
            yield Need(
                "",
                "edit",
                redirect.target.source,
                changes=True,
                unknown=f"the file that {redirect.target.source} would be is not known",
            )
            return
        for base in part.places or ("/",):
            yield from self.place.writes("", text, base)

    def _files(self, part: Part) -> Iterator[Need]:
        """The files that a command names: only deny and ask rules, and protected places, have a say in them."""
        named = named_files(part.words)
        for word in named.reads:
            yield from self._named("read", word, part, below=named.deep)
        for place in (part.places or ()) if named.here else ():
            yield Need("", "read", place, path=place, below=True, at_once=True)
        for word in named.writes:
            yield from self._named("edit", word, part, below=named.deep)
        for target, source in named.made:
            yield from self._made(target, source, part, named.deep)

    def _named(self, family: str, word: Word, part: Part, below: bool = False) -> Iterator[Need]:
        found = list(self._paths(word, part))
        if not found:
            yield Need("", family, word.source, at_once=True, unknown=f"the file that {word.source} is is not known")
        for path, base in found:
            for form in forms(path, base):
                protected = family == "edit" and self.place.roots.protect(form)
                yield Need("", family, form, path=form, below=below, at_once=True, protected=protected)

    def _paths(self, word: Word, part: Part) -> Iterator[tuple[str, str]]:
        """Each path a word stands for, with the folder it is taken from; none if that is not known."""
        for place in part.places or ("/",):
            texts = values(word, place, home=self.place.home)
            if texts is None or (part.places is None and not all(text.startswith("/") for text in texts)):
                return
            yield from ((text, place) for text in texts)

    def _made(self, target: Word, source: Word, part: Part, deep: bool) -> Iterator[Need]:
        """The destination of `cp` and `mv`: in a folder it is the entry that would be made there."""
        targets, sources = list(self._paths(target, part)), list(self._paths(source, part))
        if not targets or not sources:
            yield Need("", "edit", target.source, at_once=True, unknown=f"the file {target.source} is not known")
        for path, base in targets:
            for origin, start in sources:
                made = os.path.join(base, path)
                if Path(made).is_dir() and origin.rpartition("/")[2] not in (".", ".."):
                    made = os.path.join(made, written(origin, start).rpartition("/")[2])
                yield from self._destination(made)
                folder = os.path.join(start, origin)
                below = files_below(folder) if deep else []
                if below is None:
                    yield Need("", "edit", source.source, at_once=True, unknown=f"{source.source} has too many files")
                for file in below or []:
                    yield from self._destination(os.path.join(made, os.path.relpath(file, folder)))

    def _destination(self, path: str) -> Iterator[Need]:
        for form in forms(path, "/"):
            yield Need("", "edit", form, path=form, at_once=True, protected=self.place.roots.protect(form))


def _sources(words: tuple[Word, ...]) -> tuple[str, ...]:
    return tuple(word.source for word in words)


def _texts(words: tuple[Word, ...]) -> tuple[str, ...]:
    return tuple(word.text for word in words)


def _spellings(link: Link) -> Iterator[str]:
    """A command as deny and ask rules see it: with quotes and without, so too its folder and its assignments."""
    for words, assignments in (
        (_sources(link.words), _sources(link.assignments)),
        (_texts(link.words), _texts(link.assignments)),
    ):
        for name in dict.fromkeys((*words[:1], *(word.rpartition("/")[2] for word in words[:1]))):
            command = " ".join((name, *words[1:]))
            yield command
            if assignments:
                yield " ".join((*assignments, command))
        if not words:
            yield " ".join(assignments)


def _allowed(part: Part) -> Iterator[tuple[str, str]]:
    """What an allow rule may be meant for: the assignments and the text behind them, as written."""
    for link in part.chain[: part.carried]:
        yield " ".join(_sources(link.assignments)), link.text
