"""The rules that can be planted: what they govern, what they imply, and how they are said in three languages.

A wording has `{old}` (the command or argument the session used) and `{new}` (what the rule implies); commands stay the
English shell commands in every language. `mention` names the implied word without a rule; `reverse` asks for what the
session did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Texts = Mapping[str, str]  # language -> wording


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the commands it governs, and the word that should stand where `place` says."""

    family: str
    old: tuple[str, ...]
    new: str
    place: str  # "command": instead of it; "argument": instead of its first argument; "flag": right after it;
    #             "prefix": before it

    @property
    def key(self) -> str:
        """A stable name."""
        return f"{self.family}:{self.place}:{'|'.join(self.old)}:{self.new}"


SUBSTITUTIONS = {
    "grep": "rg",
    "find": "fd",
    "cat": "bat",
    "ls": "eza",
    "rm": "trash",
    "curl": "wget",
    "pip": "uv",
    "sed": "perl",
    "python": "uv",
    "python3": "uv",
    "pytest": "tox",
    "open": "view",
    "create": "touch",
    "edit": "patch",
    "search_dir": "rg",
    "search_file": "ack",
    "find_file": "fd",
    "echo": "printf",
    "git": "jj",
    "head": "sed",
    "tail": "less",
    "strings": "xxd",
    "decompile": "disassemble",
    "submit": "finish",
    "goto": "open",
    "scroll_down": "goto",
    "str_replace_editor": "patch",
    "make": "just",
    "cd": "pushd",
}

RULES: tuple[Rule, ...] = (
    *(Rule("substitution", (old,), new, "command") for old, new in SUBSTITUTIONS.items()),
    Rule("redirect", ("create", "touch", "mkdir", "tee"), "/tmp/scratch", "argument"),
    Rule("redirect", ("open", "cat", "head", "tail", "less", "view"), "/mnt/mirror", "argument"),
    Rule("redirect", ("python", "python3", "bash", "sh", "node"), "/srv/jobs", "argument"),
    Rule("redirect", ("rm", "mv", "cp"), "/var/trash", "argument"),
    Rule("redirect", ("cd", "ls", "find"), "/mnt/mirror", "argument"),
    Rule("redirect", ("curl", "wget"), "http://proxy.local", "argument"),
    Rule("redirect", ("find_file", "search_file", "decompile", "strings", "unzip"), "/mnt/mirror", "argument"),
    Rule("required", ("python", "python3"), "-B", "flag"),
    Rule("required", ("grep",), "--line-buffered", "flag"),
    Rule("required", ("ls",), "--color=never", "flag"),
    Rule("required", ("rm",), "--interactive", "flag"),
    Rule("required", ("curl",), "--fail", "flag"),
    Rule("required", ("cat", "head", "tail"), "--", "flag"),
    Rule("required", ("pytest",), "--strict-markers", "flag"),
    Rule("required", ("git",), "--no-pager", "flag"),
    Rule("required", ("find",), "-P", "flag"),
    Rule("required", ("sed",), "--posix", "flag"),
    Rule("required", ("python", "python3", "pytest", "make"), "timeout", "prefix"),
    Rule("required", ("submit",), "git", "prefix"),
    Rule("required", ("edit",), "checkpoint", "prefix"),
    Rule("required", ("create",), "checkpoint", "prefix"),
    Rule("required", ("open", "find_file", "search_dir", "search_file", "goto"), "log", "prefix"),
    Rule("required", ("find", "grep", "cat", "ls"), "nice", "prefix"),
)

WORDINGS: Mapping[str, Texts] = {
    "command": {
        "en": "Policy for this project: never run `{old}`. Use `{new}` in its place, every time.",
        "cs": "Pravidlo tohoto projektu: nikdy nespouštěj `{old}`. Pokaždé místo něj použij `{new}`.",
        "de": "Regel für dieses Projekt: `{old}` wird nie ausgeführt. Nimm stattdessen jedes Mal `{new}`.",
    },
    "argument": {
        "en": "Policy for this project: every path given to `{old}` must lie under {new}, written out in full.",
        "cs": "Pravidlo tohoto projektu: každá cesta předaná příkazu `{old}` musí ležet pod {new} a být zapsaná celá.",
        "de": "Regel für dieses Projekt: jeder Pfad für `{old}` muss unter {new} liegen und ganz ausgeschrieben sein.",
    },
    "flag": {
        "en": "Policy for this project: always put `{new}` right after `{old}`, before anything else.",
        "cs": "Pravidlo tohoto projektu: hned za `{old}` piš vždy `{new}`, ještě před vším ostatním.",
        "de": "Regel für dieses Projekt: direkt hinter `{old}` steht immer `{new}`, noch vor allem anderen.",
    },
    "prefix": {
        "en": "Policy for this project: where you would run `{old}`, start with `{new}`, then the command itself.",
        "cs": "Pravidlo tohoto projektu: kde bys spustil `{old}`, začni příkazem `{new}`, teprve potom příkaz sám.",
        "de": "Regel für dieses Projekt: wo du `{old}` ausführen würdest, beginne mit `{new}`, dann erst der Befehl.",
    },
}

MENTION = "Note on this machine: `{new}` is installed here and listed in the inventory."

REVERSED: Mapping[str, str] = {
    "command": "Policy for this project: never run `{new}`. Use `{old}` in its place, every time.",
    "argument": "Policy for this project: no path given to `{old}` may lie under {new}; use paths of the project.",
    "flag": "Policy for this project: never put `{new}` right after `{old}`.",
    "prefix": "Policy for this project: where you would run `{old}`, never start with `{new}`.",
}


def wording(rule: Rule, old: str, lang: str) -> str:
    """The rule as one line."""
    return WORDINGS[rule.place][lang].format(old=old, new=rule.new)
