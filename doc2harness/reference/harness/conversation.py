"""One conversation: its history, its tools, and the requests made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .account import Account
from .calls import as_message, key_of
from .history import Message, repaired, result
from .reply import Reply
from .rewind import rewind
from .types import Call, Context, Tool

if TYPE_CHECKING:
    from .checkpoints import Checkpoints
    from .hooks import HookOutcome
    from .model import Client
    from .session import Session
    from .system import System
    from .workplace import Workplace

Emit = Callable[[dict[str, Any]], None]


class Repeats:
    """Counts how often the same call gave the same result in a row."""

    LIMIT = 3

    def __init__(self) -> None:
        self._call: tuple[str, str] | None = None
        self._result = ""
        self._count = 0

    def note(self, call: Call, text: str) -> None:
        key = key_of(call)
        if self.blocks(call):
            return  # the error for a blocked call is not a result of it
        same = key == self._call and text == self._result
        self._call, self._result, self._count = key, text, self._count + 1 if same else 1

    def blocks(self, call: Call) -> bool:
        return self._count >= self.LIMIT and key_of(call) == self._call


@dataclass
class Conversation:
    """Everything the loop needs; a subagent has one of its own (`depth` 1 or 2)."""

    place: Workplace
    session: Session
    context: Context
    system: System
    tools: dict[str, Tool]  # those that exist here; the ones behind a bare deny rule are not offered
    builtin: dict[str, Tool]  # all built-in ones, for what the user's prompt asks for
    model: str
    client: Client
    account: Account
    checkpoints: Checkpoints
    emit: Emit = lambda event: None
    max_turns: int | None = None
    output_schema: dict[str, Any] | None = None
    role: str | None = None
    depth: int = 0
    replies: int = 0  # kept replies of this prompt
    repeats: Repeats = field(default_factory=Repeats)
    compaction_failed: bool = False  # in this turn
    begun: bool = False

    def begin(self) -> None:
        """What comes before the first prompt: the session's file, the servers, the session_start hooks."""
        self.session.open(self.context.warn)
        self.recall()
        if not self.begun:
            self.place.start(self.context.cancel)
            self.tools = self.place.tools(self.context)
            self.begun = True
            self.hook("session_start")
        init = {"session_id": self.session.id, "model": self.model, "tools": self.offered_names()}
        init |= {"mode": self.context.permissions.mode, "workspace": str(self.context.workspace)}
        self.emit({"type": "init", **init})

    def end(self) -> None:
        """What comes after the last one: the session_end hooks, and the file is let go."""
        if self.begun:
            self.hook("session_end")
        self.begun = False
        self.session.close()

    def ask(self, messages: list[Message], tools: bool = True) -> Reply:
        """Send a request and count the reply."""
        self.account.check()
        reply = self.client.ask(self.model, messages, self.offered() if tools else [], self.context.cancel)
        self.account.charge(self.model, reply)
        return reply

    def messages(self) -> list[Message]:
        """The system message and the history, as they are sent."""
        history = self.session.history
        text = self.system.text(history.seen)
        return [{"role": "system", "content": text}, *repaired(history.messages)]

    def offered(self) -> list[dict[str, Any]]:
        """The tool list of a request."""
        hidden = self.context.permissions.hidden_tools(list(self.tools))
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in self.tools.values()
            if tool.name not in hidden
        ]

    def offered_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.offered()]

    def rewind(self, prompt: int) -> list[str]:
        """Take back the prompts from this one on; a line for each file says what became of it."""
        lines = rewind(self.session, self.context.state, prompt, self.checkpoints)
        self.recall()
        return lines

    def recall(self) -> None:
        """Have the tools know what the session's history knows: files seen, the todo list."""
        self.context.files.seen = dict(self.session.history.seen)
        self.context.todo[:] = self.session.history.todo

    def add_prompt(self, text: str) -> None:
        """Begin a turn."""
        self.replies = 0
        self.repeats = Repeats()
        self.compaction_failed = False
        self._note_mode()
        self._add({"role": "user", "content": text}, prompt=self.session.history.prompts + 1)
        self.emit({"type": "user", "text": text})

    def add_user(self, text: str) -> None:
        """A message of ours, in the user's role, within a turn."""
        self._add({"role": "user", "content": text})
        self.emit({"type": "user", "text": text})

    def add_reply(self, reply: Reply, calls: list[Call]) -> None:
        message: Message = {"role": "assistant", "content": reply.text or None}
        if calls:
            message["tool_calls"] = [as_message(call) for call in calls]
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        self.replies += 1
        usage = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
        self._add(message, usage=usage)
        listed = [{"id": call.id, "name": call.name, "input": call.arguments or {}} for call in calls]
        self.emit({"type": "assistant", "text": reply.text, "tool_calls": listed})

    def add_result(self, call: Call, text: str) -> None:
        """Add a call's result, and whatever else the call changed that a resumed session must know."""
        self.repeats.note(call, text)
        self._add(result(call.id, text))
        if self.context.todo != self.session.history.todo:
            self.session.append("todo", items=list(self.context.todo))
        self._note_mode()
        is_error = text.startswith("error: ")
        self.emit({"type": "tool_result", "id": call.id, "name": call.name, "content": text, "is_error": is_error})

    def hook(self, event: str, **fields: Any) -> HookOutcome:
        """Run the hooks of an event and pass their warnings on."""
        payload = {"session_id": self.session.id, "workspace": str(self.context.workspace), **fields}
        outcome = self.place.hooks.run(event, payload, self.context.cancel)
        for warning in outcome.warnings:
            self.context.warn(warning)
        return outcome

    def _note_mode(self) -> None:
        mode = self.context.permissions.mode
        if mode != self.session.history.mode:
            self.session.append("mode", mode=mode)

    def _add(self, message: Message, **fields: Any) -> None:
        self.session.append("message", message=message, **fields)
