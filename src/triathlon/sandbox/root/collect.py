"""Copying the listed things into a new root."""

# Paths inside and outside are compared as text here.
# ruff: noqa: PTH101, PTH110, PTH112, PTH115, PTH116, PTH119, PTH120

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path

from triathlon.errors import SandboxUnavailable
from triathlon.sandbox.root import listed
from triathlon.sandbox.root.interpreter import Interpreter

_GIT_LEFT_OUT = (
    "git-remote-",
    "git-http-",
    "git-imap-",
    "git-daemon",
    "git-credential",
    "git-svn",
    "git-cvs",
    "git-p4",
)
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")


class Collection:
    """A root in the making.

    `sources` are the host's files whose change makes the root stale; `links` the links beside `usr/`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sources: list[str] = []
        self.links = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib"}
        self._programs: list[str] = []
        self._interpreter: Interpreter | None = None
        self._copied: dict[str, Path] = {}
        for folder in ("bin", "sbin", "lib", "local/bin", "local/lib", "share"):
            (root / "usr" / folder).mkdir(parents=True)

    def add_commands(self) -> None:
        """SandboxUnavailable names the needed ones that are missing."""
        found = {name: shutil.which(name, path=listed.DIRECTORIES) for name in listed.COMMANDS}
        missing = [name for name in listed.NEEDED if not found[name]]
        if missing:
            raise SandboxUnavailable(f"the sandbox needs {', '.join(missing)} in {listed.DIRECTORIES}: install them")
        for name, path in found.items():
            if path:
                self._program(os.path.realpath(path), f"/usr/bin/{name}")

    def add_git(self) -> None:
        """Git's own commands, without those for the network, and its templates without the sample hooks."""
        git = self._found("git")
        told = subprocess.run([git, "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
        for entry in sorted(os.scandir(os.path.realpath(told)), key=lambda entry: entry.name):
            target = _inside(entry.path)
            if entry.name.startswith(_GIT_LEFT_OUT) or entry.is_dir() or _is_perl(entry.path):
                continue
            if entry.is_symlink() and os.sep not in os.readlink(entry.path):
                self._make_link(target, os.readlink(entry.path))
            else:
                self._program(os.path.realpath(entry.path), target)
        templates = Path(git).parents[1] / "share/git-core/templates"
        for source in templates.rglob("*") if templates.is_dir() else ():
            if source.is_file() and source.suffix != ".sample":
                self._copy(str(source), _inside(str(source)))
        if templates.is_dir():
            self._at(_inside(str(templates))).mkdir(parents=True, exist_ok=True)

    def add_interpreter(self, interpreter: Interpreter) -> None:
        """The binary, its links and the standard library, with its compiled files (the root is read-only)."""
        self._interpreter = interpreter
        versioned = f"python{interpreter.version}"
        target = interpreter.target(interpreter.executable.parent / versioned)
        self._program(str(interpreter.executable), target)
        for name in {versioned, "python3", "python"} - {Path(target).name if target.startswith("/usr/bin/") else ""}:
            self._make_link(f"/usr/bin/{name}", os.path.relpath(target, "/usr/bin"))
        for library in interpreter.libraries:
            self.sources.append(str(library / "os.py") if (library / "os.py").exists() else str(library))
            self._copy_library(library, interpreter.target(library))

    def add_libraries(self) -> None:
        """What `ldd` says the programs need, and what they load by name."""
        for path in sorted(self._needed_by(self._programs)):
            self._copy_shared(path)
        folder = os.path.dirname(os.path.realpath(self._libc()))
        for name in listed.DLOPENED:
            if os.path.exists(f"{folder}/{name}"):
                self._copy_shared(f"{folder}/{name}")
        if (self.root / "usr/lib64").is_dir():
            self.links["lib64"] = "usr/lib64"

    def add_locale_and_terminals(self) -> None:
        for folder in ("/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8"):
            if os.path.isdir(folder):
                for source in Path(folder).rglob("*"):
                    if source.is_file():
                        self._copy(str(source), str(source))
        for name in listed.TERMINALS:
            for database in ("/usr/share/terminfo", "/lib/terminfo", "/usr/lib/terminfo", "/etc/terminfo"):
                source = Path(f"{database}/{name[0]}/{name}")
                if source.is_file():
                    self._copy(str(source.resolve()), f"/usr/share/terminfo/{name[0]}/{name}")
                    break

    def finish(self, owner: int | None) -> None:
        """Readable by all; owned by `owner`, so that a listing inside looks the same whoever runs the bench."""
        for folder, _, names in os.walk(self.root):
            os.chmod(folder, 0o755)
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                if owner is not None:
                    os.lchown(path, owner, owner)

    def _found(self, name: str) -> str:
        return shutil.which(name, path=listed.DIRECTORIES) or name

    def _libc(self) -> str:
        return next(
            (path for path in self._copied if os.path.basename(path).startswith(("libc.so", "libc-"))), "/lib/x"
        )

    def _program(self, source: str, target: str) -> None:
        self._programs.append(source)
        self.sources.append(source)
        self._copy(source, target)

    def _needed_by(self, programs: Iterable[str]) -> set[str]:
        listing = subprocess.run(["ldd", *dict.fromkeys(programs)], capture_output=True, text=True).stdout
        needed = set()
        for line in listing.splitlines():
            words = line.partition("=>")[2].split() or line.split()
            if line[:1].isspace() and words and words[0].startswith("/"):
                needed.add(words[0])
        return needed

    def _copy_shared(self, path: str) -> None:
        """A library, at its own place, at its place below the interpreter's prefix, or beside libc."""
        real, home = os.path.realpath(path), os.path.realpath(os.path.dirname(path))
        self.sources.append(real)
        interpreter = self._interpreter
        if interpreter is not None and interpreter.renames and Path(path).is_relative_to(interpreter.prefix):
            self._copy(real, interpreter.target(Path(path)))
        elif f"{home}/".startswith(tuple(f"{folder}/" for folder in (*_LIBRARY_FOLDERS, "/usr/local"))):
            self._copy(real, _inside(f"{home}/{os.path.basename(path)}"))
        else:
            self._copy(real, f"/usr/local/lib/{os.path.basename(path)}")

    def _copy_library(self, source: Path, target: str) -> None:
        for entry in os.scandir(source):
            name = entry.name
            if name in listed.NOT_FROM_LIBRARY or name.startswith(listed.NOT_FROM_LIBRARY_PREFIXES):
                continue
            if entry.is_dir():
                self._copy_library(Path(entry.path), f"{target}/{name}")
            elif entry.is_file() and not name.endswith((".opt-1.pyc", ".opt-2.pyc", ".a")):
                if ".so" in name:
                    self._programs.append(entry.path)
                self._copy(os.path.realpath(entry.path), f"{target}/{name}")

    def _copy(self, source: str, target: str) -> None:
        """Copy one file with its times (a compiled module names its source's) and plain rights."""
        place = self._at(target)
        if place.exists() or place.is_symlink():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if source in self._copied:
            os.link(self._copied[source], place)
            return
        found = os.stat(source)
        renames = self._interpreter.renames if self._interpreter else ()
        if renames:
            data = Path(source).read_bytes()
            for old, new in renames:
                data = data.replace(old, new)
            place.write_bytes(data)
        else:
            shutil.copyfile(source, place)
        os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))
        place.chmod(0o755 if found.st_mode & stat.S_IXUSR else 0o644)
        self._copied[source] = place

    def _make_link(self, target: str, points_to: str) -> None:
        place = self._at(target)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_symlink() and not place.exists():
            place.symlink_to(points_to)

    def _at(self, target: str) -> Path:
        return self.root / target.lstrip("/")


def _inside(path: str) -> str:
    """The same path inside, where everything is below `/usr`."""
    return path if path.startswith("/usr/") else f"/usr{path}"


def _is_perl(path: str) -> bool:
    with open(path, "rb") as file:
        return b"perl" in file.read(64).partition(b"\n")[0]
