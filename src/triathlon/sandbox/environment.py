"""The environment of a process inside, built from nothing."""

from __future__ import annotations

from collections.abc import Mapping

_PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(given: Mapping[str, str] | None, *, home: str, tmp: str, terminal: bool = False) -> dict[str, str]:
    """PATH, HOME, LANG, TMPDIR, USER, SHELL, and TERM on a terminal; what is `given` wins."""
    base = {
        "PATH": _PATH,
        "HOME": home,
        "LANG": "C.UTF-8",
        "TMPDIR": tmp,
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/bash",
    }
    if terminal:
        base["TERM"] = "xterm-256color"
    return {**base, **(given or {})}
