"""What belongs to one workspace in one process: settings, permissions, hooks, servers; conversations begin in it."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from . import skills, subagents, tools, trust
from .account import Account
from .checkpoints import Checkpoints
from .conversation import Conversation, Emit
from .hooks import Hooks
from .mcp import Servers
from .memory import Memory
from .model import Client
from .options import Options
from .permissions.engine import Engine
from .session import Session
from .sources import Warn, home, read, state_folder
from .system import System, may_import
from .types import Cancel, Context, FileMemory, Tool, UsageError, User


class Workplace:
    """One workspace, its settings and rules, and the servers that run for it."""

    def __init__(self, workspace: Path, options: Options, warn: Warn, user: User | None = None) -> None:
        """Raises UsageError for a wrong setting, rule, folder or tool name."""
        self.workspace = workspace
        self.options = options
        self.warn = warn
        self.user = user
        self.state = state_folder()
        self.trusted = options.trust or trust.is_trusted(self.state, workspace)
        self.settings = read(workspace, self.trusted, options.settings, warn)
        self.roots = [workspace, *(self._folder(name) for name in self.settings.dirs)]
        self.permissions = self._engine()
        self.env = {name: text for name, text in os.environ.items() if not name.startswith("HARNESS_")}
        self.env |= self.settings.env
        self.hooks = Hooks(self.settings.hooks, workspace, self.env)
        self.background: dict[str, Any] = {}
        self._servers = Servers(workspace, self.state, self.trusted, self.env, warn)
        self._server_tools: dict[str, Tool] | None = None

    def start(self, cancel: Cancel) -> None:
        """Start the servers, once; Interrupted if the switch is thrown meanwhile."""
        if self._server_tools is None:
            self._server_tools = cancel.wait_for(self._servers.start)

    def close(self) -> None:
        """End everything that was started for the workspace."""
        self._servers.close()
        tools.end_background(self.background)

    @cached_property
    def agents(self) -> dict[str, subagents.AgentFile]:
        return subagents.load(self.workspace, tools.NAMES, self.warn)

    @cached_property
    def skills(self) -> dict[str, skills.Skill]:
        return skills.load(self.workspace, self.warn)

    def conversation(self, session: Session, emit: Emit = lambda event: None) -> Conversation:
        """Begin a new session here, or go on with an old one; nothing is written or sent yet.

        UsageError: the environment names no endpoint.
        """
        self._no_more_than_before(session)
        checkpoints = Checkpoints(self.state / "checkpoints" / session.id if session.path else None)
        context = Context(
            workspace=self.workspace,
            roots=self.roots,
            state=self.state,
            session_id=session.id,
            settings=self.settings,
            permissions=self.permissions,
            cwd=self.workspace,
            warn=self.warn,
            before_change=lambda path, new: checkpoints.before_change(session.history.prompts, path, new),
            spawn=lambda agent, prompt: subagents.spawn(conv, agent, prompt),
            env=self.env,
            files=FileMemory(lambda path, digest: session.append("seen", path=path, sha256=digest)),
            trusted=self.trusted,
            user=self.user,
            background=self.background,
        )
        conv = Conversation(
            place=self,
            session=session,
            context=context,
            system=self._system(),
            builtin=tools.builtin(context),
            tools=self.tools(context),
            model=self.settings.model,
            client=Client.of_environment(self.settings, self.warn, self.options.debug),
            account=Account(self.settings.prices),
            checkpoints=checkpoints,
            emit=emit,
            max_turns=self.options.max_turns,
            role=self.options.role,
        )
        return conv

    def tools(self, context: Context) -> dict[str, Tool]:
        """The tools of a conversation here: the built-in ones that `--tools` leaves, and those of the servers."""
        chosen = self.options.tools
        builtin = tools.builtin(context)
        kept = builtin if chosen is None else {name: tool for name, tool in builtin.items() if name in chosen}
        return {**kept, **(self._server_tools or {})}

    def _system(self) -> System:
        def denied(path: Path) -> bool:
            return self.permissions.decide("read", {"path": str(path)}, self.workspace).verdict == "deny"

        rule = may_import(self.workspace, self.state, self.roots, self.trusted, denied)
        return System(
            Memory(self.workspace, self.state, rule, self.warn),
            {name: skill.description for name, skill in self.skills.items()},
            {name: agent.description for name, agent in self.agents.items()},
            self.options.system_append,
        )

    def _engine(self) -> Engine:
        unknown = [name for name in self.options.tools or [] if name not in tools.NAMES]
        if unknown:
            raise UsageError(f"--tools: there is no tool {unknown[0]}")
        settings = self.settings
        return Engine(
            settings.mode,
            allow=settings.allow,
            ask=settings.ask,
            deny=settings.deny,
            workspace=self.workspace,
            roots=self.roots,
            home=home(),
            state=self.state,
            warn=self.warn,
        )

    def _folder(self, name: str) -> Path:
        folder = Path(os.path.normpath(self.workspace / name))
        if not folder.is_dir():
            raise UsageError(f"the added folder {name} is not a folder")
        return folder

    def _no_more_than_before(self, session: Session) -> None:
        """A session last in plan mode gains no writes by being resumed: only a flag gives it more than `default`."""
        mode = self.permissions.mode
        if session.history.mode == "plan" and not self.options.mode and mode in ("accept-edits", "bypass"):
            self.permissions.mode = "default"
        session.head |= {"mode": self.permissions.mode, "model": self.settings.model}
