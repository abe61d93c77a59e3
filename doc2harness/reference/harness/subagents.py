"""Subagents: their files, and the conversation a `task` call starts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from . import agent
from .conversation import Conversation
from .frontmatter import BadFrontMatter, as_list, files, parse
from .permissions.rules import parse as parse_rule
from .session import Session
from .types import FileMemory, Stop, ToolError, UsageError

DEEPEST = 2
NEVER = frozenset({"ask", "exit_plan"})  # a subagent speaks to its caller, not to the user


@dataclass(frozen=True)
class AgentFile:
    """A kind of subagent. `tools` None: all of them."""

    name: str
    description: str = ""
    tools: list[str] | None = None
    rules: dict[str, list[str]] = field(default_factory=dict)  # `deny` and `ask`
    model: str | None = None
    prompt: str = ""


def load(workspace: Path, tools: Collection[str], warn: Callable[[str], None]) -> dict[str, AgentFile]:
    """All subagents by name; `tools` are the built-in ones. A broken file is skipped with a warning."""
    found: dict[str, AgentFile] = {}
    for _, file in files("agents", "*.md", workspace):
        try:
            found.setdefault(file.stem, _read(file, tools))
        except (OSError, UnicodeDecodeError, BadFrontMatter, UsageError) as error:
            warn(f"{file}: skipped: {error}")
    found.setdefault("general", AgentFile("general", "any task, with all tools"))
    return found


def spawn(caller: Conversation, name: str, prompt: str) -> str:
    """Run a subagent to its end and return its final text. ToolError: there is none of that name, or it failed."""
    agents = caller.place.agents
    if name not in agents:
        raise ToolError(f"there is no agent {name}; there are: {', '.join(sorted(agents))}")
    conv = _conversation(caller, agents[name])
    try:
        return agent.take_turn(conv, prompt)
    except Stop as stop:
        if stop.code != 1:
            raise  # a limit of the whole run
        raise ToolError(f"the agent {name} failed: {stop.message}") from stop


def _conversation(caller: Conversation, kind: AgentFile) -> Conversation:
    """A conversation of its own, under the caller's rules and the agent's."""
    session = Session(caller.session.id, caller.session.workspace, None)
    context = replace(
        caller.context,
        permissions=caller.context.permissions.narrowed(kind.rules),
        cwd=caller.context.workspace,
        files=FileMemory(lambda path, digest: session.append("seen", path=path, sha256=digest)),
        todo=[],
    )
    depth = caller.depth + 1
    missing = NEVER | ({"task"} if depth >= DEEPEST else set())
    every = caller.place.tools(context)
    tools = {
        name: tool for name, tool in every.items() if name not in missing and (kind.tools is None or name in kind.tools)
    }
    conv = replace(
        caller,
        session=session,
        context=context,
        system=caller.system.for_agent(kind.prompt),
        tools=tools,
        model=kind.model or caller.model,
        emit=lambda event: None,
        max_turns=None,
        output_schema=None,
        role=None,
        depth=depth,
    )
    context.spawn = partial(spawn, conv)
    return conv


def _read(file: Path, known: Collection[str]) -> AgentFile:
    fields, body = parse(file.read_text(encoding="utf-8"))
    tools = as_list(fields["tools"]) if "tools" in fields else None
    unknown = [name for name in tools or [] if name not in known and not name.startswith("mcp__")]
    if unknown:
        raise UsageError(f"unknown tool {unknown[0]}")
    rules = {kind: as_list(fields.get(kind)) for kind in ("deny", "ask")}
    for rule in (*rules["deny"], *rules["ask"]):
        parse_rule(rule)
    description, model = fields.get("description", ""), fields.get("model")
    if isinstance(description, list) or isinstance(model, list):
        raise UsageError("description and model are texts")
    return AgentFile(file.stem, description, tools, rules, model or None, body)
