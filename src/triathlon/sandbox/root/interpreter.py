"""Which Python goes into the listed root: the one that runs the bench, else the system's."""

from __future__ import annotations

import json
import os
import posixpath
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ASK = """
import json, os, sys, sysconfig
print(json.dumps({
    "version": list(sys.version_info[:2]), "prefix": sys.base_prefix,
    "built": [str(sysconfig.get_config_var("prefix") or ""), sys.base_prefix],
    "library": [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")],
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python of the host, as it is to stand in the root."""

    origin: str
    """`bench` or `system`."""
    executable: Path
    version: str
    prefix: Path
    libraries: tuple[Path, ...]
    """The folders of the standard library."""
    inside: str
    """The prefix in the root: the host's own below `/usr`, else one that does not name the user."""
    renames: tuple[tuple[bytes, bytes], ...]
    """Equal-length replacements in every file of the host's prefix by the one inside.

    The path is filled up with slashes, so that compiled files, run paths and C strings stay what they are. Its last
    part stays in place: compilers share the tails of strings, and `3.11.7` may be one.
    """

    def target(self, source: Path) -> str:
        """Where a file below the prefix stands inside."""
        return f"{self.inside}/{source.relative_to(self.prefix).as_posix()}"


def interpreters() -> Iterator[Interpreter]:
    """What may be tried, in order."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    seen = set()
    for origin, path in (("bench", base), ("system", "/usr/bin/python3")):
        real = os.path.realpath(path)
        if real not in seen and (found := _ask(origin, Path(real))):
            seen.add(real)
            yield found


def _ask(origin: str, executable: Path) -> Interpreter | None:
    try:
        answer = subprocess.run([executable, "-I", "-S", "-c", _ASK], capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    told = json.loads(answer.stdout)
    if told["version"] < [3, 11]:
        return None
    prefix = Path(told["prefix"]).resolve()
    own_place = prefix.is_relative_to("/usr")
    return Interpreter(
        origin=origin,
        executable=executable,
        version=".".join(map(str, told["version"])),
        prefix=prefix,
        libraries=tuple(dict.fromkeys(Path(path).resolve() for path in told["library"])),
        inside=str(prefix) if own_place else posixpath.normpath(_neutral(prefix)),
        renames=() if own_place else _renames({prefix, *map(Path, told["built"])}),
    )


def _neutral(prefix: Path) -> str:
    """A path as long as `prefix`, with the same last part, below `/usr`."""
    parent, name = str(prefix.parent), prefix.name
    base = "/usr/local" if len(parent) >= len("/usr/local") else "/usr"
    return f"{base.ljust(len(parent), '/')}/{name}"


def _renames(prefixes: set[Path]) -> tuple[tuple[bytes, bytes], ...]:
    """Longest first; what is not below a folder of at least four letters (`/usr`) names nobody."""
    fitting = sorted((path for path in prefixes if len(str(path.parent)) >= 4), key=lambda path: -len(str(path)))
    return tuple((os.fsencode(path), os.fsencode(_neutral(path))) for path in fitting)
