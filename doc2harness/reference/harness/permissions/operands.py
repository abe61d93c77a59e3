"""The files that a shell command names: which ones it reads, and which ones it writes (PERM-24, PERM-25)."""

from __future__ import annotations

from typing import NamedTuple

from .syntax import Piece, Word


class Options(NamedTuple):
    """The options of a command that take a value: letters, long names, and letters with a value only if attached."""

    letters: str = ""
    names: tuple[str, ...] = ()
    attached: str = ""


_CONTEXT = ("after-context", "before-context", "context", "max-count", "directories", "devices")
VALUES = {
    "ls": Options("ITw", ("ignore", "tabsize", "width", "hide", "block-size")),
    "head": Options("cn", ("bytes", "lines")),
    "tail": Options("cns", ("bytes", "lines", "sleep-interval", "pid", "max-unchanged-stats")),
    "sed": Options("efl", ("expression", "file", "line-length"), "i"),
    "grep": Options("efABCmdD", ("regexp", "file", "include", "exclude", "exclude-from", "exclude-dir", *_CONTEXT)),
    "diff": Options("IxXFUCWSLD", ("exclude", "exclude-from", "ignore-matching-lines", "label", "starting-file")),
    "cp": Options("St", ("suffix", "target-directory")),
    "mv": Options("St", ("suffix", "target-directory")),
    "touch": Options("drt", ("date", "reference")),
    "stat": Options("c", ("format", "printf")),
}
READERS = frozenset({"cat", "head", "tail", "sed", "grep", "diff", "cp"})
WRITERS = frozenset({"tee", "sed", "cp", "mv", "rm", "touch"})


class Arguments:
    """A command line taken apart. `options` holds each option with its value, an empty text if it has none."""

    def __init__(self) -> None:
        self.operands: list[Word] = []
        self.options: list[tuple[str, str]] = []
        self.option_words: dict[str, Word] = {}  # the values that are words of their own

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)


def take_apart(name: str, words: tuple[Word, ...]) -> Arguments:
    """Sort the words behind a command's name into options and operands."""
    values, result, at = VALUES.get(name, Options()), Arguments(), 0
    while at < len(words):
        word = words[at]
        text = word.text
        at += 1
        if text == "--":
            result.operands.extend(words[at:])
            break
        if text == "-" or not text.startswith("-"):
            result.operands.append(word)
        elif text.startswith("--"):
            option, equals, value = text[2:].partition("=")
            if not equals and option in values.names and at < len(words):
                result.option_words[option], value = words[at], words[at].text
                at += 1
            result.options.append((option, value))
        else:
            at = _letters(text[1:], values, words, at, result)
    return result


def _letters(cluster: str, values: Options, words: tuple[Word, ...], at: int, result: Arguments) -> int:
    for index, letter in enumerate(cluster):
        if letter in values.attached:
            result.options.append((letter, cluster[index + 1 :]))
            break
        if letter not in values.letters:
            result.options.append((letter, ""))
            continue
        value = cluster[index + 1 :]
        if not value and at < len(words):
            result.option_words[letter], value = words[at], words[at].text
            at += 1
        result.options.append((letter, value))
        break
    return at


class Named:
    """The files a command names. `made` are pairs of a destination and what is copied or moved there."""

    def __init__(self) -> None:
        self.reads: list[Word] = []
        self.writes: list[Word] = []
        self.made: list[tuple[Word, Word]] = []
        self.deep = False  # a folder names every file below it
        self.here = False  # the folder it runs in is named


def named_files(words: tuple[Word, ...]) -> Named:
    """The files named to one of the commands that PERM-24 and PERM-25 list; none for any other command."""
    name = (words[0].literal or "").rpartition("/")[2] if words else ""
    named = Named()
    if name not in READERS | WRITERS:
        return named
    arguments = take_apart(name, words[1:])
    operands = [word for word in arguments.operands if word.text != "-"]
    if name in ("sed", "grep"):
        script = ("e", "f", "expression", "file", "regexp")
        if not arguments.has(*script):
            operands = arguments.operands[1:]
        named.reads = operands + [word for key, word in arguments.option_words.items() if key in ("f", "file")]
        named.deep = name == "grep" and _is_recursive(arguments)
        named.here = named.deep and not operands
        if name == "sed" and arguments.has("i", "in-place"):
            named.writes = operands
    elif name in ("cp", "mv"):
        _copies(name, operands, arguments, named)
    elif name in READERS:
        named.reads = operands
        named.deep = name == "diff" and arguments.has("r", "recursive")
    else:
        named.writes = operands
        named.deep = name == "rm" and arguments.has("r", "R", "recursive")
    return named


def _is_recursive(arguments: Arguments) -> bool:
    return arguments.has("r", "R", "recursive", "dereference-recursive") or any(
        option in (("d", "recurse"), ("directories", "recurse")) for option in arguments.options
    )


def _copies(name: str, operands: list[Word], arguments: Arguments, named: Named) -> None:
    target = arguments.option_words.get("t") or arguments.option_words.get("target-directory")
    attached = next((value for key, value in arguments.options if key in ("t", "target-directory") and value), "")
    if target is None and attached:
        target = Word(attached, (Piece("text", attached, True),))
    if target is None and len(operands) > 1:
        target, operands = operands[-1], operands[:-1]
    if name == "cp":
        named.reads = operands
        named.deep = arguments.has("r", "R", "a", "recursive", "archive")
    else:
        named.writes = list(operands)
        named.deep = True
    if target is not None:
        named.made = [(target, source) for source in operands]
