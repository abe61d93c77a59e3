"""Running the calls of a reply: each is checked, allowed, run, and answered, in call order."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import approvals
from .calls import key_of
from .conversation import Conversation
from .schema import problem
from .types import Call, Interrupted, Stop, Tool, ToolError


def run_calls(conv: Conversation, calls: list[Call]) -> None:
    """Give every call its result. Calls that only read run side by side; the others each after all before them."""
    running: list[_Running] = []
    for call in calls:
        tool = conv.tools.get(call.name)
        alone = tool is not None and not tool.reads
        if running and (alone or key_of(call) == key_of(running[-1].call)):
            _collect(conv, running)
        conv.context.cancel.check()
        running.append(_Running(conv, call, conv.tools))
        if alone:
            _collect(conv, running)
    _collect(conv, running)


def run_one(conv: Conversation, call: Call) -> str:
    """The result of a call that comes from the user's prompt (a command's shell line, an @-mention)."""
    one = _Running(conv, call, conv.builtin)
    one.wait()
    if one.failure is not None:
        raise one.failure
    return one.text


def refusal(conv: Conversation, call: Call) -> str | None:
    """Why a call from the user's prompt may not be run, or None."""
    try:
        approvals.settle(conv.context, call)
    except ToolError as error:
        reason = str(error).removeprefix("refused: ")
        conv.account.deny(call.name, call.arguments or {}, reason)
        return reason
    return None


def _collect(conv: Conversation, running: list[_Running]) -> None:
    """Wait for the calls and add their results; what ended one of them early (an interrupt) is raised at the end."""
    for one in running:
        one.wait()
    failures = [one.failure for one in running if one.failure is not None]
    for one in running:
        if one.failure is None:
            conv.add_result(one.call, one.text)
    running.clear()
    if failures:
        raise failures[0]


class _Running:
    """One call: permission and hooks are settled at once, then it runs in a thread of its own if it only reads."""

    def __init__(self, conv: Conversation, call: Call, tools: Mapping[str, Tool]) -> None:
        self.conv = conv
        self.call = call
        self.text = ""
        self.failure: Interrupted | Stop | None = None
        self._thread: threading.Thread | None = None
        try:
            tool, arguments = _prepare(conv, call, tools)
        except ToolError as error:
            self._refused(str(error))
            return
        except (Interrupted, Stop) as error:
            self.failure = error
            return
        if tool.reads:
            self._thread = threading.Thread(target=self._run, args=(tool, arguments), daemon=True)
            self._thread.start()
        else:
            self._run(tool, arguments)

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _run(self, tool: Tool, arguments: dict[str, Any]) -> None:
        try:
            self.text = tool.run(self.conv.context, arguments)
        except ToolError as error:
            self._refused(str(error))
            if str(error).startswith("refused: "):
                return
        except (Interrupted, Stop) as error:
            self.failure = error  # raised again by _collect, in the loop's own thread
            return
        except Exception as error:  # whatever goes wrong in a tool, the model is told and the run goes on
            self.text = f"error: {type(error).__name__}: {error}"
        after = self.conv.hook("post_tool", tool=tool.name, input=arguments, result=self.text)
        if after.block:
            self.text += f"\n{after.text}"

    def _refused(self, message: str) -> None:
        """The call failed with a message; refusals are kept for the run's result."""
        self.text = f"error: {message}"
        if message.startswith("refused: "):
            self.conv.account.deny(self.call.name, self.call.arguments or {}, message.removeprefix("refused: "))


def _prepare(conv: Conversation, call: Call, tools: Mapping[str, Tool]) -> tuple[Tool, dict[str, Any]]:
    """The tool and the arguments to run it with; ToolError says why the call is not run."""
    if call.problem or call.arguments is None:
        raise ToolError(call.problem or "no arguments")
    if conv.repeats.blocks(call):
        raise ToolError("repeated: this call gave the same result three times in a row; do something else")
    tool = tools.get(call.name)
    if call.name in conv.context.permissions.hidden_tools([call.name]):
        approvals.settle(conv.context, call)  # a bare deny rule: refused, whatever the arguments are
    if tool is None:
        raise ToolError(f"there is no tool {call.name}")
    arguments = _without_nulls(call.arguments, tool.parameters)
    if wrong := problem(arguments, tool.parameters):
        raise ToolError(f"{call.name}: {wrong}")
    approvals.settle(conv.context, replace(call, arguments=arguments))
    before = conv.hook("pre_tool", tool=call.name, input=arguments)
    if before.block:
        raise ToolError(f"refused: {before.text}")
    return tool, arguments


def _without_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """A copy in which optional arguments that are null are left out."""
    if isinstance(value, list):
        return [_without_nulls(item, schema.get("items") or {}) for item in value]
    if not isinstance(value, dict):
        return value
    required, properties = schema.get("required") or [], schema.get("properties") or {}
    return {
        name: _without_nulls(item, properties.get(name) or {})
        for name, item in value.items()
        if item is not None or name in required or name not in properties
    }
