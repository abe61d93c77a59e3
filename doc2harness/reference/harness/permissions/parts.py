"""The parts of a command: every simple command it may run, at any depth, with the folders it may run in."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from .expand import values
from .paths import written
from .shell import parse
from .syntax import Block, Joined, Node, Piece, Redirect, Simple, Word
from .wrappers import Inner, inner, shell_text

Places = frozenset[str] | None  # the folders a command may run in; None: it cannot be known
DEEPEST_TEXT = 5  # `sh -c` within `sh -c`


class Link(NamedTuple):
    """A command as it stands, or the one behind a wrapper, with all assignments in front of it."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...]

    @property
    def text(self) -> str:
        return " ".join(word.source for word in self.words)


class Part(NamedTuple):
    """One simple command.

    `chain` is the command as written, then with its braces written out or the one behind its wrapper, and so on; an
    allow rule may be meant for the first `carried` of them. `state`: `whole` for a command that runs as it stands;
    `outer` for a `sh -c` or `eval`, which is judged by the commands in its text; `unknown` if what it runs cannot be
    found. `cd` marks a change of folder, which leads to `leads_to`.
    """

    chain: tuple[Link, ...]
    redirects: tuple[Redirect, ...]
    places: Places
    carried: int = 1
    state: Literal["whole", "outer", "unknown"] = "whole"
    cd: bool = False
    leads_to: Places = None

    @property
    def words(self) -> tuple[Word, ...]:
        """The command that runs in the end."""
        return self.chain[-1].words


class Command(NamedTuple):
    """A whole command: its parts in order, and why it could not be read, if it could not."""

    parts: list[Part]
    problem: str | None = None


def read_command(text: str, place: str, home: str) -> Command:
    """Parse `text`, which starts in the folder `place`, into its parts."""
    script = parse(text)
    reader = _Reader(home, "CDPATH" in text)
    if script.body is not None:
        reader.visit(script.body, frozenset((place,)))
    return Command(reader.parts, script.problem)


class _Reader:
    """Walks a parsed command in the order of running and keeps track of the folder.

    Every visit takes the folders a command may start in and returns those it may leave behind.
    """

    def __init__(self, home: str, searches: bool) -> None:
        self.home = home
        self.parts: list[Part] = []
        self._searches = searches  # `cd` may go elsewhere, for CDPATH may be set
        # What an outer `sh -c` hands on: its assignments, whether allow rules reach through it, its depth.
        self._assignments: tuple[Word, ...] = ()
        self._carried = True
        self._depth = 0

    def visit(self, node: Node, places: Places) -> Places:
        if isinstance(node, Simple):
            return self._simple(node, places)[0]
        if isinstance(node, Block):
            return self._block(node, places)
        return self._pipe(node, places) if "|" in node.operators or "|&" in node.operators else self._list(node, places)

    def _pipe(self, node: Joined, places: Places) -> Places:
        for item in node.items:
            self.visit(item, places)
        return places

    def _list(self, node: Joined, places: Places) -> Places:
        """`well` and `badly` are the folders after the last command succeeded or failed."""
        start = well = badly = places
        before = ";"
        for item, operator in zip(node.items, node.operators, strict=True):
            if before in (";", "&"):
                start = well = badly = places
            after_well, after_badly = self._item(item, badly if before == "||" else well)
            if before == "&&":
                well, badly = after_well, _either(badly, after_badly)
            elif before == "||":
                well, badly = _either(well, after_well), after_badly
            else:
                well, badly = after_well, after_badly
            places = start if operator == "&" else _either(well, badly)
            before = operator
        return places

    def _item(self, node: Node, places: Places) -> tuple[Places, Places]:
        if isinstance(node, Simple):
            return self._simple(node, places)
        after = self.visit(node, places)
        return after, after

    def _block(self, node: Block, places: Places) -> Places:
        self._substitutions((*node.words,), node.redirects, places)
        if node.redirects:
            self.parts.append(Part((Link((), ()),), node.redirects, places))
        if node.kind == "function":  # where it will be called is not known
            self.visit(node.bodies[0], None)
            return places
        if node.kind == "subshell":
            self.visit(node.bodies[0], places)
            return places
        if node.kind == "group":
            return self.visit(node.bodies[0], places)
        if node.kind == "loop":
            return self._loop(node, places)
        after = places
        for body in node.bodies:  # any of the branches may have been taken, with the conditions before it
            after = _either(after, self.visit(body, after))
        return after

    def _loop(self, node: Block, places: Places) -> Places:
        mark = len(self.parts)
        after = places
        for body in node.bodies:
            after = _either(after, self.visit(body, after))
        if after == places:
            return places
        del self.parts[mark:]  # each round may begin elsewhere
        for body in node.bodies:
            self.visit(body, None)
        return None

    def _substitutions(self, words: tuple[Word, ...], redirects: tuple[Redirect, ...], places: Places) -> None:
        for word in (*words, *(redirect.target for redirect in redirects)):
            for script in word.scripts:
                self.visit(script, places)
        for redirect in redirects:
            for script in redirect.body:
                self.visit(script, places)

    def _simple(self, node: Simple, places: Places) -> tuple[Places, Places]:
        """The folders after it succeeded, and after it failed."""
        self._substitutions((*node.assignments, *node.words), node.redirects, places)
        chain = [Link(node.words, (*self._assignments, *node.assignments))]
        carried = int(self._carried)
        while found := _expanded(chain[-1].words, places) or inner(chain[-1].words):
            if found.words is None:
                self.parts.append(Part(tuple(chain), node.redirects, places, carried, "unknown"))
                return places, places
            if not found.words:
                break
            carried += found.carries and carried == len(chain)
            chain.append(Link(found.words, (*chain[-1].assignments, *found.assignments)))
        part = self._after_cd(Part(tuple(chain), node.redirects, places, carried))
        text = shell_text(part.words)
        if text is not None:
            return self._text(part, text)
        self.parts.append(part)
        return (part.leads_to if part.cd else places), places

    def _text(self, part: Part, text: Word | str) -> tuple[Places, Places]:
        """`sh -c TEXT` and `eval TEXT`: the text's commands take the place of the command."""
        script = parse(text) if isinstance(text, str) and self._depth < DEEPEST_TEXT else None
        if script is None or script.body is None or script.problem:
            self.parts.append(part._replace(state="unknown"))
            return part.places, part.places
        name = part.words[0].literal or ""
        self.parts.append(part._replace(state="whole" if "/" in name else "outer"))
        before = self._assignments, self._carried, self._depth
        self._assignments = part.chain[-1].assignments
        self._carried = part.carried == len(part.chain)
        self._depth += 1
        after = self.visit(script.body, part.places)
        self._assignments, self._carried, self._depth = before
        return (after, after) if name == "eval" else (part.places, part.places)

    def _after_cd(self, part: Part) -> Part:
        """The part, marked if it changes the folder."""
        names = [link.words[0].literal if link.words else None for link in part.chain]
        if names[-1] in ("pushd", "popd"):
            return part._replace(cd=True)
        if names[-1] != "cd" or not set(names[:-1]) <= {"command", "builtin", "time"}:
            return part
        target, physical = cd_target(part.words)
        if target is None or part.places is None or self._searches:
            return part._replace(cd=True)
        leads_to = set()
        for place in part.places:
            texts = [self.home]
            if target is not _HOME:
                texts = values(target, place, home=self.home, known={"HOME": self.home, "PWD": place}) or []
            if len(texts) != 1:
                return part._replace(cd=True)
            step = os.path.join(place, texts[0])
            leads_to.add(os.path.realpath(step) if physical else written(step, place))
        return part._replace(cd=True, leads_to=frozenset(leads_to))


_HOME = Word("", ())


def cd_target(words: tuple[Word, ...]) -> tuple[Word | None, bool]:
    """The folder given to `cd` (an empty word: none, so home), and whether links are resolved; None if not known."""
    rest, physical = words[1:], False
    while rest and (rest[0].literal or "").startswith("-") and rest[0].literal != "-":
        option = rest[0].literal
        rest = rest[1:]
        if option == "--":
            break
        if not set((option or "")[1:]) <= set("LPe"):
            return None, False
        physical = "P" in (option or "")
    if len(rest) > 1 or (rest and rest[0].literal == "-"):
        return None, False
    return (rest[0] if rest else _HOME), physical


def _either(one: Places, other: Places) -> Places:
    return None if one is None or other is None else one | other


def _expanded(words: tuple[Word, ...], places: Places) -> Inner | None:
    """The command with `{a,b}` written out, and with the program that a name with glob signs finds.

    It may be the command's name that comes out of them. None if there is nothing to expand, or no way to know.
    """
    result: list[Word] = []
    for number, word in enumerate(words):
        texts = None
        if word.braces or (word.glob and number == 0):
            texts = values(word, min(places or ("/",)))
        if texts is None or texts == [word.text]:
            result.append(word)
        else:
            result.extend(Word(text, (Piece("text", text, True),)) for text in texts)
    return Inner(tuple(result)) if result != list(words) else None
