"""Every error a user can meet, as one tree.

TriathlonError            (exit 3: our own fault, unless a subclass says otherwise)
├── UsageError            (exit 4: wrong use or bad input; one line that says what, where, what to do)
│   ├── CaseError         a case file is wrong; carries file and line
│   └── MissingExtra      an optional part is not installed; says which `pip install` brings it
├── CheckFailed           (exit 1: the thing looked at failed)
├── NothingToDo           (exit 5)
└── SandboxError          (exit 3: a sandbox could not be made, or broke; never a verdict on the candidate)
    └── SandboxUnavailable   (exit 4: this machine cannot make such a sandbox; says what `triathlon doctor` knows)

Ctrl-C is exit 2. Anything that is not in this tree is a bug and keeps its trace (exit 3).
"""

from __future__ import annotations

from pathlib import Path


class TriathlonError(Exception):
    """Base of everything shown to a user as one line."""

    exit_code = 3


class UsageError(TriathlonError):
    """Wrong use or bad input."""

    exit_code = 4


class CaseError(UsageError):
    """A case file is wrong."""

    def __init__(self, message: str, file: Path | str | None = None, line: int | None = None) -> None:
        where = "" if file is None else f"{file}:{line}: " if line is not None else f"{file}: "
        super().__init__(f"{where}{message}")
        self.file, self.line, self.message = file, line, message


class MissingExtra(UsageError):
    """An optional part is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra `{extra}`: pip install 'triathlon[{extra}]'")


class CheckFailed(TriathlonError):
    """The thing looked at failed: a check, `--fail-under`."""

    exit_code = 1


class NothingToDo(TriathlonError):
    """No case, row or item was left to work on."""

    exit_code = 5


class SandboxError(TriathlonError):
    """A sandbox could not be made, or broke; never a verdict on the candidate."""


class SandboxUnavailable(SandboxError):
    """This machine cannot make such a sandbox."""

    exit_code = 4
