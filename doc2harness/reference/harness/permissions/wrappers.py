"""Commands that run another command: looked through, so that a rule on the inner one holds (PERM-19, PERM-20)."""

from __future__ import annotations

import re
from typing import NamedTuple

from .syntax import Word

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_SHELLS = frozenset({"sh", "bash", "dash", "zsh"})


class _Wrapper(NamedTuple):
    """The options of a wrapper: letters and long names without and with a value, and words before the command."""

    flags: str = ""
    values: str = ""
    long_flags: tuple[str, ...] = ()
    long_values: tuple[str, ...] = ()
    words: int = 0
    carries: bool = True  # an allow rule on the inner command, and the read-only default, hold through it


_WRAPPERS = {
    "timeout": _Wrapper("v", "sk", ("foreground", "preserve-status", "verbose"), ("signal", "kill-after"), words=1),
    "time": _Wrapper("pvaqV", "fo", ("portability", "verbose", "append", "quiet"), ("format", "output")),
    "nice": _Wrapper("", "n", (), ("adjustment",)),
    "nohup": _Wrapper(),
    "stdbuf": _Wrapper("", "ioe", (), ("input", "output", "error")),
    "command": _Wrapper("p"),
    "exec": _Wrapper("cl", "a", carries=False),
    "builtin": _Wrapper(carries=False),
    "env": _Wrapper("i0v", "u", ("ignore-environment", "null", "debug"), ("unset",), carries=False),
    "sudo": _Wrapper(
        "AbBEHknPS",
        "ughpCrtTU",
        ("askpass", "background", "preserve-env", "set-home", "reset-timestamp", "non-interactive", "stdin"),
        ("user", "group", "host", "prompt", "close-from", "role", "type", "command-timeout", "other-user"),
        carries=False,
    ),
    "xargs": _Wrapper(
        "0rtpxo",
        "nPILsdEa",
        ("null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"),
        ("max-args", "max-procs", "replace", "max-lines", "max-chars", "delimiter", "eof", "arg-file"),
        carries=False,
    ),
}


class Inner(NamedTuple):
    """The command behind a wrapper. `words` is empty if there is none, None if it could not be found."""

    words: tuple[Word, ...] | None
    assignments: tuple[Word, ...] = ()
    carries: bool = True


def inner(words: tuple[Word, ...]) -> Inner | None:
    """What a command runs, if it is one that runs another; None if it is not."""
    name = command_name(words)
    if name not in _WRAPPERS:
        return None
    wrapper = _WRAPPERS[name]
    carries = wrapper.carries and words[0].literal == name  # `./timeout` is anybody's program
    rest = _behind_options(wrapper, words[1:])
    if rest is None:
        # `command -v x` and the like only tell about x.
        tells = name == "command" and len(words) > 1 and words[1].literal in ("-v", "-V")
        return Inner(() if tells else None, carries=carries)
    assignments = []
    while rest and _ASSIGNMENT.match(rest[0].source):
        assignments.append(rest[0])
        rest = rest[1:]
    if any(word.literal is None and not all(piece.quoted for piece in word.pieces) for word in rest[: wrapper.words]):
        return Inner(None, carries=carries)  # unquoted, it may become no word or several
    return Inner(rest[wrapper.words :], tuple(assignments), carries)


def _behind_options(wrapper: _Wrapper, words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """The words behind the options; None if an option is not known."""
    while words:
        text = words[0].literal
        if text is None and words[0].text.startswith(("-", "$")) and not words[0].source.startswith(("'", '"')):
            return None
        if text is None or text == "" or text[0] != "-" or text == "-":
            break
        words = words[1:]
        if text == "--":
            break
        if text.startswith("--"):
            name, equals, _ = text[2:].partition("=")
            if name in wrapper.long_values:
                words = words if equals else words[1:]
            elif name not in wrapper.long_flags:
                return None
            continue
        for at, letter in enumerate(text[1:], 2):
            if letter in wrapper.values:
                words = words if text[at:] else words[1:]
                break
            if letter not in wrapper.flags and not (wrapper is _WRAPPERS["nice"] and text[1:].isdigit()):
                return None
    return words


def command_name(words: tuple[Word, ...]) -> str:
    """The command's name without its folder, or nothing if it is not known."""
    return (words[0].literal or "").rpartition("/")[2] if words else ""


def shell_text(words: tuple[Word, ...]) -> Word | str | None:
    """The text that `sh -c` or `eval` runs: a word, a text of several words, or None if this is neither of them.

    For words that are not literal the first such word is returned: it has no text to be read.
    """
    name = command_name(words)
    if name == "eval" and words[0].literal == "eval":
        rest = words[2:] if len(words) > 1 and words[1].literal == "--" else words[1:]
        unknown = next((word for word in rest if not is_plain(word)), None)
        return unknown or " ".join(word.text for word in rest)
    if name not in _SHELLS:
        return None
    at = 1
    while at < len(words):
        text = words[at].literal
        if text is None or not text.startswith(("-", "+")) or text == "--":
            return None
        if text.startswith("--"):
            return words[at]  # `--rcfile x` and others run more than the text
        if "c" in text:
            rest = words[at + 1 :]
            return (rest[0].text if is_plain(rest[0]) else rest[0]) if rest else None
        at += 2 if text[-1] in "oO" else 1
    return None


def is_plain(word: Word) -> bool:
    """Whether the word's text is written out: no variable and no substitution outside single quotes."""
    return all(piece.kind == "text" for piece in word.pieces)
