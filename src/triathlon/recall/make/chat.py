"""Sessions in the Qwen3.5 chat format, with marks on everything that targets are made from.

The frame (message borders, `<tools>` with one JSON line a definition, `<tool_call><function=...>` blocks) is the
format's; the sentences around it are ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from triathlon.recall.items import Span
from triathlon.recall.make.session import Call, Document, Session

START, END = "<|im_start|>", "<|im_end|>"
HOW_TO_CALL = """

To call a function, answer with a block of this form and nothing after it:

<tool_call>
<function=name_of_the_function>
<parameter=name_of_a_parameter>
value, over as many lines as it needs
</parameter>
</function>
</tool_call>"""

SHELL_TOOLS = {"bash", "shell", "execute_bash", "run", "terminal"}
DOCUMENTED = re.compile(r"(?m)^([a-z][a-z0-9_]*):\n +docstring:(?:.+\n?)+")


@dataclass(frozen=True, slots=True)
class Named:
    """A definition in the text: a tool or a documented command."""

    name: str
    char: Span


@dataclass(frozen=True, slots=True)
class CallMark:
    """A call in the text: where it stands and where its decided parts are, each with its kind."""

    name: str
    char: Span
    parts: tuple[tuple[str, Span], ...]


@dataclass(frozen=True, slots=True)
class Action:
    """A shell command in the text (its first line), and the end of the user message before it."""

    char: Span
    user_end: int


@dataclass
class Marked:
    """A text with its marks; all positions are characters."""

    text: str = ""
    definitions: list[Named] = field(default_factory=list)
    calls: list[CallMark] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    system_end: int | None = None
    user_ends: list[int] = field(default_factory=list)

    def put(self, text: str) -> Span:
        """Append; returns where it stands."""
        start = len(self.text)
        self.text += text
        return start, len(self.text)


def render(session: Session, *, define: bool = True) -> Marked:
    """A session as text with marks; without `define`, tool definitions and documented commands are left out."""
    out = Marked()
    messages = list(session.messages)
    system = messages.pop(0).content if messages and messages[0].role == "system" else ""
    if session.tools or system:
        out.put(f"{START}system\n")
        if session.tools and define:
            out.put("# Tools\n\nThese functions may be called:\n\n<tools>")
            for tool in session.tools:
                out.put("\n")
                line = json.dumps(tool, ensure_ascii=False)
                out.definitions.append(Named(_tool_name(tool), out.put(line)))
            out.put("\n</tools>" + HOW_TO_CALL + ("\n\n" if system else ""))
        _system(out, system, define)
        out.system_end = len(out.text)
        out.put(f"{END}\n")
    known = {d.name for d in out.definitions} | ({d[1] for d in _documented(system)} if system else set())
    for message in messages:
        role = "user" if message.role == "tool" else message.role
        out.put(f"{START}{role}\n")
        if message.role == "tool":
            out.put(f"<tool_response>\n{message.content}\n</tool_response>")
        else:
            out.put(message.content)
        if message.action:
            _action(out, message.action, known, bool(message.content))
        for i, call in enumerate(message.calls):
            out.put("\n\n" if message.content and not i else "\n" if i else "")
            _call(out, call)
        if role == "user":
            out.user_ends.append(len(out.text))
        out.put(f"{END}\n")
    return out


def _tool_name(tool: Mapping[str, Any]) -> str:
    inner = tool.get("function")
    return str((inner if isinstance(inner, Mapping) else tool).get("name", ""))


def _documented(system: str) -> list[tuple[Span, str]]:
    return [(m.span(), m.group(1)) for m in DOCUMENTED.finditer(system)]


def _system(out: Marked, text: str, define: bool) -> None:
    at = 0
    for (start, end), name in _documented(text):
        out.put(text[at:start])
        if define:
            body = text[start:end].rstrip("\n")
            out.definitions.append(Named(name, out.put(body)))
            out.put(text[start + len(body) : end])
        at = end
    out.put(text[at:])


def _action(out: Marked, action: str, known: set[str], after_text: bool) -> None:
    out.put("\n\n```\n" if after_text else "```\n")
    start, end = out.put(action.strip("\n"))
    line = out.text.find("\n", start)
    first = (start, end if line < 0 else line)
    out.actions.append(Action(first, out.user_ends[-1] if out.user_ends else 0))
    word = re.match(r"[a-z][a-z0-9_]*", out.text[first[0] : first[1]])
    if word and word.group() in known:
        out.calls.append(CallMark(word.group(), (start, end), (("command", (start, start + word.end())),)))
    out.put("\n```")


def _call(out: Marked, call: Call) -> None:
    parts: list[tuple[str, Span]] = []
    begin = len(out.text)
    out.put("<tool_call>\n<function=")
    start, end = out.put(call.name)
    parts.append(("name", (start, end + 1)))  # the token that closes the name belongs to it
    out.put(">\n")
    for name, value in call.arguments.items():
        parts.append(("next", (len(out.text), len(out.text) + 1)))
        out.put("<parameter=")
        start, end = out.put(name)
        parts.append(("param", (start, end + 1)))
        out.put(">\n")
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        start, end = out.put(text)
        if call.name in SHELL_TOOLS and name in ("command", "cmd"):
            line = text.find("\n")
            first = (start, start + line if line >= 0 else end)
            out.actions.append(Action(first, out.user_ends[-1] if out.user_ends else 0))
        out.put("\n</parameter>\n")
    parts.append(("next", (len(out.text), len(out.text) + 1)))
    out.put("</function>\n</tool_call>")
    out.calls.append(CallMark(call.name, (begin, len(out.text)), tuple(parts)))


def render_document(document: Document) -> Marked:
    """Code behind its repository and path, or a page as it is."""
    out = Marked()
    if document.repository:
        out.put(f"<|repo_name|>{document.repository}\n<|file_sep|>{document.path}\n")
    out.put(document.text.rstrip("\n") + "\n")
    return out


def shifted(marked: Marked, by: int) -> tuple[list[Named], list[CallMark]]:
    """Definitions and calls of a text that stands `by` characters further on."""

    def move(span: Span) -> Span:
        return span[0] + by, span[1] + by

    calls = [CallMark(c.name, move(c.char), tuple((k, move(s)) for k, s in c.parts)) for c in marked.calls]
    return [Named(d.name, move(d.char)) for d in marked.definitions], calls
