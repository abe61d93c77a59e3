"""Everything that is open while one case runs: its sandbox, the scripted model, the web server, the processes."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from typing import TYPE_CHECKING

from triathlon.errors import SandboxError
from triathlon.harness import api
from triathlon.harness.channels import Channels, Spent
from triathlon.harness.fresh import Fresh
from triathlon.harness.install import PREFIX, Installed, install_inside
from triathlon.harness.layout import lay_out
from triathlon.harness.places import collect, places_of
from triathlon.harness.pump import Pump, Sink
from triathlon.harness.running import Running, StepFailed
from triathlon.sandbox import BoxSpec, Entry
from triathlon.scripted.server import ScriptedModel
from triathlon.scripted.web import WebServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from triathlon.harness.case import Case
    from triathlon.harness.steps import Start, Stdin
    from triathlon.sandbox import Limits, Provider
    from triathlon.scripted.script import Action

MODEL = ("127.0.0.1", 8080)
WEB = ("127.0.1.1", 80)
COMMANDS = "/usr/local/bin:/usr/bin:/bin"
LAST_WORDS_S = 2.0
"""How long we read on after everything inside was killed; what is dead writes no more, so this never runs out."""


class Stage:
    """Opens all that a case needs, and takes it down again; a context manager."""

    def __init__(
        self,
        case: Case,
        installed: Installed,
        provider: Provider,
        *,
        limits: Limits,
        fresh: Fresh,
        max_bytes: int,
        act: Callable[[Action], None],
    ) -> None:
        self.case, self.fresh, self.max_bytes = case, fresh, max_bytes
        self.processes: dict[str, Running] = {}
        self.problems: list[str] = []
        self.late = False
        self.over = False
        """The channels are being collected: side actions that still run no longer count."""
        self.seconds: dict[str, float] = {}
        """Wall seconds of `call` steps, by name."""
        self.released: set[str] = set()
        self.pump = Pump()
        self.web: WebServer | None = None
        self._installed = installed
        self.installs_itself = any(step.install for step in case.steps)
        """It installs the tree anew, in this sandbox, instead of standing on the installed layer."""
        hosts = dict.fromkeys(case.setup.web, WEB[0])
        spec = BoxSpec(
            layers=() if self.installs_itself else installed.layers,
            writable=(PREFIX,) if self.installs_itself else (),
            listen=(MODEL, WEB) if hosts else (MODEL,),
            hosts=hosts,
            limits=limits,
            workspace_name=fresh.value("marker:workspace"),
        )
        try:
            self.box = provider.open(spec)
        except BaseException:
            self.pump.close()
            raise
        try:
            self._open(act)
        except BaseException:
            self.close()
            raise

    def _open(self, act: Callable[[Action], None]) -> None:
        self.prefix = self.box.inside(PREFIX)
        self.harness = f"{self.prefix}/bin/harness"
        self.places = places_of(self.box)
        self.fresh.bind(
            {
                **{name: self.places[name] for name in ("workspace", "outside", "home", "state", "tmp", "stubs")},
                "workspace_name": posixpath.basename(self.box.workspace),
                "endpoint": f"{self.box.url(0)}/v1",
            }
        )
        setup = self.fresh.fill(self.case.setup)
        self._env = self._base_env() | lay_out(setup, self.box, self.places)
        for name, value in setup.env.items():
            _set(self._env, name, value)
        # What laying out took inside (git) is ours, not the candidate's.
        ours = setup.git is not None or setup.readonly
        self._spent_by_us = self.box.usage().cpu_seconds if ours else 0.0
        self.laid_out = collect(self.box, self.places, self.max_bytes)
        self.model = ScriptedModel(self.case.script, self.box.listeners[0], act=act, fill=self.fresh.fill)
        if setup.web:
            self.web = WebServer(setup.web, self.box.listeners[1])
        for server in self._servers():
            server.start()

    def _servers(self) -> list[ScriptedModel | WebServer]:
        return [self.model] if self.web is None else [self.model, self.web]

    def _base_env(self) -> dict[str, str]:
        return {
            "PATH": f"{self.places['stubs']}:{COMMANDS}",
            "HARNESS_BASE_URL": self.fresh.value("endpoint"),
            "HARNESS_API_KEY": self.fresh.value("secret:api_key"),
            "HARNESS_HOME": self.places["state"],
        }

    def env_of(self, order: Start) -> dict[str, str]:
        """The environment of a process, over the one that the sandbox makes."""
        env = dict(self._env)
        for name, value in order.env.items():
            _set(env, name, value)
        return env

    def cwd_of(self, order: Start) -> str:
        """The folder a process starts in."""
        return posixpath.normpath(posixpath.join(self.box.workspace, order.cwd or ""))

    def spawn(
        self, order: Start, argv: list[str], *, extra_env: Mapping[str, str] | None = None, open_stdin: bool = False
    ) -> Running:
        """Start a process with pipes for its output and the standard input that the case asks for."""
        ours: list[int] = []
        theirs: list[int] = []
        try:
            stdin, feed = self._stdin(order.stdin, ours, theirs, open_stdin)
            outs = []
            for _ in range(2):
                reading, writing = os.pipe()
                ours.append(reading)
                theirs.append(writing)
                outs.append((reading, writing))
            process = self.box.start(
                argv,
                cwd=self.cwd_of(order),
                env={**self.env_of(order), **(extra_env or {})},
                stdin=stdin,
                stdout=outs[0][1],
                stderr=outs[1][1],
                terminal=order.stdin.kind == "terminal",
            )
        except BaseException:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        running = Running(order.name, process, Sink(self.max_bytes), Sink(self.max_bytes), stdout_fd=outs[0][0])
        for (reading, _), sink in zip(outs, running.sinks, strict=True):
            self.pump.read(reading, sink)
        self._feed(running, order.stdin, feed)
        return running

    def _stdin(
        self, stdin: Stdin, ours: list[int], theirs: list[int], open_stdin: bool
    ) -> tuple[int | None, int | None]:
        """The descriptor for the process, and ours at the other side of it."""
        if stdin.kind == "closed" and not open_stdin:
            return None, None
        if stdin.kind == "terminal":
            feed, theirs_end = self.box.terminal()
        else:
            theirs_end, feed = os.pipe()
        ours.append(feed)
        theirs.append(theirs_end)
        return theirs_end, feed

    def _feed(self, running: Running, stdin: Stdin, feed: int | None) -> None:
        running.stdin = feed
        if feed is None or stdin.kind is not None:
            return
        data = stdin.file.data() if stdin.file is not None else (stdin.pipe or "").encode("utf-8", "surrogateescape")
        self.pump.write(feed, data)
        if not stdin.open:
            running.close_stdin(self.pump)

    def keep(self, running: Running) -> Running:
        """Take a started process into the books, and note its exit when it comes."""
        if running.name not in self.processes:
            self.processes[running.name] = running
            self.pump.watch(running.process.fileno(), running.note_exit)
        return running

    def process(self, name: str) -> Running:
        """A started process by its name. Raises StepFailed."""
        try:
            return self.processes[name]
        except KeyError:
            raise StepFailed(f"no process called {name} was started") from None

    def install(self) -> None:
        """Run the tree's install script on the prefix inside this sandbox; a failure fails the case."""
        failure = install_inside(self.box, self._installed.candidate)
        if failure is not None:
            raise StepFailed(failure)

    def free_name(self, name: str) -> None:
        """A name may be started again once its process has ended; the last one is what the channels show."""
        running = self.processes.get(name)
        if running is not None:
            if running.ended is None:
                raise StepFailed(f"{name} still runs and cannot be started again")
            running.close()
            del self.processes[name]

    def finish(self) -> Channels:
        """End everything inside and collect the channels."""
        self.over = True
        for running in self.processes.values():
            running.killed = running.process.poll() is None
            if not running.killed:
                running.note_exit()
        self.box.kill_all()
        for running in self.processes.values():
            for exchange in running.exchanges.values():
                exchange.break_off()
        self.pump.drain([sink for running in self.processes.values() for sink in running.sinks], LAST_WORDS_S)
        for server in self._servers():
            server.stop()
            for error in server.errors:
                raise SandboxError(f"{type(server).__name__} failed: {type(error).__name__}: {error}") from error
        files = collect(self.box, self.places, self.max_bytes)
        return self._channels(files)

    def _channels(self, files: dict[str, Entry]) -> Channels:
        channels = Channels(
            requests=self.model.journal,
            web=list(self.web.journal) if self.web is not None else [],
            files=files,
            laid_out=self.laid_out,
            problems=[*self.problems, *self.model.problems],
            notes=list(self.model.notes),
            late=self.late and all(problem.startswith("left over: ") for problem in self.model.problems),
            places=dict(self.places),
        )
        for name, running in self.processes.items():
            channels.exits[name] = running.exit
            channels.outputs[name] = running.output()
            channels.seconds[name] = running.seconds
            channels.cut += [f"{name}.{part}" for part in channels.outputs[name].cut]
            for step, exchange in running.exchanges.items():
                if exchange.answer is not None:
                    channels.http[step] = exchange.answer
                channels.seconds[step] = exchange.seconds
            if running.calls:
                results, problems = api.results(running)
                channels.results |= results
                channels.problems += problems
        channels.seconds |= self.seconds
        usage = self.box.usage()
        channels.usage = Spent(usage.cpu_seconds - self._spent_by_us, usage.peak_mb, usage.oom)
        return channels

    def close(self) -> None:
        """Take everything down; may be called at any point."""
        for server in self._servers() if hasattr(self, "model") else ():
            server.stop()
        self.pump.close()
        for running in self.processes.values():
            running.close()
        self.box.close()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _set(env: dict[str, str], name: str, value: str | None) -> None:
    if value is None:
        env.pop(name, None)
    else:
        env[name] = value
