"""The contract as far as only the installed command decides it; everything here runs inside a sandbox, offline."""

from __future__ import annotations

import json
import os
import posixpath
import re
import select
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from signal import SIGTERM
from typing import TYPE_CHECKING, Any

from triathlon.harness.contract_source import INSTALLER
from triathlon.harness.finding import ContractFinding
from triathlon.harness.install import COMMAND, PREFIX

if TYPE_CHECKING:
    from triathlon.harness.spec import Spec
    from triathlon.sandbox import ExecResult, Sandbox

SECONDS = 20.0
NO_HOME = "/nonexistent"
ENTRY = "harness/__main__.py"
MARK = "contract: "

# Imports every module below the package and says on its last line which could not be, and where.
_IMPORTS = """
import importlib, json, os, sys, traceback
lib = os.path.realpath(sys.argv[1]); sys.path.insert(0, lib); bad = []
for folder, folders, files in os.walk(os.path.join(lib, "harness")):
    folders[:] = sorted(n for n in folders if n.isidentifier() and n != "__pycache__")
    for file in sorted(files):
        stem, ending = os.path.splitext(file)
        if ending != ".py" or not stem.isidentifier() or stem == "__main__":
            continue
        path = os.path.relpath(os.path.join(folder, file), lib)
        name = ".".join(path[:-3].split(os.sep)).removesuffix(".__init__")
        try:
            importlib.import_module(name)
        except BaseException as error:
            at = [(os.path.relpath(f.filename, lib), f.lineno) for f in traceback.extract_tb(error.__traceback__)
                  if f.filename.startswith(lib + os.sep)] or [(path, 1)]
            if isinstance(error, SyntaxError) and error.filename == os.path.join(lib, path):
                at = [(path, error.lineno)]
            bad.append([name, type(error).__name__ + ": " + str(error), *at[-1]])
try:
    from harness import Agent
    agent = "" if callable(getattr(Agent, "run", None)) else "harness.Agent has no method run"
except BaseException as error:
    agent = "`from harness import Agent` fails: " + type(error).__name__ + ": " + str(error)
sys.stdout.write("\\n" + sys.argv[2] + json.dumps({"bad": bad, "agent": agent}) + "\\n")
sys.stdout.flush(); os._exit(0)
"""


@dataclass(frozen=True)
class Installation:
    """The installed candidate in an open sandbox. `names` are the tree's files, to name the right one."""

    box: Sandbox
    names: Sequence[str]

    @property
    def command(self) -> str:
        return posixpath.join(self.box.inside(PREFIX), COMMAND)

    @property
    def lib(self) -> str:
        return posixpath.join(self.box.inside(PREFIX), "lib")

    def run(self, *arguments: str, **env: str) -> ExecResult:
        """The command with these arguments; no key, and no endpoint unless `env` gives one."""
        return self.box.exec([self.command, *arguments], env=env, timeout=SECONDS)

    def file(self, installed: str) -> str:
        """The tree's name for a path below `PREFIX/lib`, as far as it can be told."""
        fits = [name for name in self.names if name == installed or name.endswith("/" + installed)]
        return min(fits, key=len) if fits else f"lib/{installed}"

    def finding(self, what: str) -> ContractFinding:
        """A finding about the command line as a whole: it is the entry module's, or the installer's."""
        file = self.file(ENTRY)
        return ContractFinding(file if file in self.names else INSTALLER, 1, what)


def look(here: Installation, spec: Spec) -> Iterator[ContractFinding]:
    """What the installed command lacks."""
    checks: list[Callable[[], Iterator[ContractFinding]]] = [
        lambda: _version(here),
        lambda: _help(here, spec),
        lambda: _modules(here),
        lambda: _headless(here),
        lambda: _serve(here),
    ]
    for one in checks:
        yield from one()
        here.box.kill_all()


def _version(here: Installation) -> Iterator[ContractFinding]:
    done = here.run("--version", HOME=NO_HOME)
    if failed := _failed(done):
        yield here.finding(f"`harness --version` {failed}")
    elif not re.search(rb"\d+\.\d+", done.stdout):
        yield here.finding("`harness --version` prints no version number")


def _help(here: Installation, spec: Spec) -> Iterator[ContractFinding]:
    done = here.run("--help", HOME=NO_HOME)
    if failed := _failed(done):
        yield here.finding(f"`harness --help` {failed}")
    text = done.stdout.decode("utf-8", "replace")
    for command in spec.commands:
        if not all(re.search(rf"(?<![\w-]){word}(?![\w-])", text) for word in command.split()):
            yield here.finding(f"the command `harness {command}` is not in `harness --help`")
    for flag in spec.flags:
        if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", text):
            yield here.finding(f"the flag {flag} is not in `harness --help`")


def _modules(here: Installation) -> Iterator[ContractFinding]:
    done = here.box.exec(["python3", "-I", "-c", _IMPORTS, here.lib, MARK], timeout=3 * SECONDS)
    said = done.stdout.decode("utf-8", "replace").rpartition("\n" + MARK)[2]
    try:
        answer: dict[str, Any] = json.loads(said)
        bad = [(str(name), str(error), str(file), int(line or 1)) for name, error, file, line in answer["bad"]]
        agent = str(answer["agent"])
    except (ValueError, KeyError, TypeError):
        why = "takes too long" if done.timed_out else f"ends the interpreter ({done.returncode})"
        yield ContractFinding(here.file("harness/__init__.py"), 1, f"importing all modules of `harness` {why}")
        return
    for name, error, file, line in bad:
        yield ContractFinding(here.file(file), line, f"the module {name} cannot be imported: {error}")
    if agent:
        yield ContractFinding(here.file("harness/__init__.py"), 1, agent)


def _headless(here: Installation) -> Iterator[ContractFinding]:
    """`-p` is there if it asks for the endpoint that it was not given (WIRE-01)."""
    done = here.run("-p", "hello", "--no-stdin")
    if done.timed_out or done.returncode != 2 or b"HARNESS_BASE_URL" not in done.stderr:
        how = "does not end" if done.timed_out else f"exits {done.returncode}"
        yield here.finding(f"`harness -p` without an endpoint {how}; wanted 2 and HARNESS_BASE_URL on stderr")


def _serve(here: Installation) -> Iterator[ContractFinding]:
    reader, writer = os.pipe()
    try:
        try:
            process = here.box.start(
                [here.command, "serve", "--port", "0"], env={"HARNESS_BASE_URL": "http://127.0.0.1:9/v1"}, stdout=writer
            )
        finally:
            os.close(writer)
        line = _first_line(reader, time.monotonic() + SECONDS)
        process.signal(SIGTERM)
    finally:
        os.close(reader)
    try:
        said = json.loads(line)
        ready = isinstance(said["port"], int) and isinstance(said["token"], str)
    except (ValueError, KeyError, TypeError):
        ready = False
    if not ready:
        yield here.finding("`harness serve --port 0` prints no line with port and token")


def _first_line(reader: int, until: float) -> bytes:
    got = b""
    while b"\n" not in got and len(got) < 65536:
        left = until - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            break
        chunk = os.read(reader, 4096)
        if not chunk:
            break
        got += chunk
    return got.partition(b"\n")[0]


def _failed(done: ExecResult) -> str:
    if done.timed_out:
        return f"does not end within {SECONDS:g} s"
    if done.returncode == 0:
        return ""
    last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"exits {done.returncode} without key, network and home" + (f": {last}" if last else "")
