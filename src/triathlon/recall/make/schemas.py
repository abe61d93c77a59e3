"""One function a published schema: a row becomes a session, a conversation, a document or a line of prose.

A row's schema is told by its columns, so local files need no declaration. A row that is not as its schema says is
skipped and counted, with the reason.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triathlon.recall.make import published
from triathlon.recall.make.session import (
    CODE_LICENSES,
    Call,
    Corpus,
    Document,
    Message,
    Origin,
    Role,
    Session,
    clean,
)

Row = Mapping[str, Any]
FENCE = re.compile(r"\n*```[A-Za-z_]*\n(.*?)\n?```\s*$", re.DOTALL)
ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "observation": "tool",
    "function_response": "tool",
    "function-response": "tool",
}


class WrongRow(ValueError):
    """A row that is not as its schema says."""


def said(role: Role, text: str, *, fenced: bool = False) -> Message:
    """A message; with `fenced` the code block at the end of an assistant's text is its action."""
    text = clean(text).strip("\n")
    if role == "assistant" and fenced and (found := FENCE.search(text)):
        return Message(role, text[: found.start()].rstrip("\n"), action=found.group(1).strip("\n"))
    return Message(role, text)


def text_of(content: Any) -> str:
    """Content as a text: itself, or its text parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(p.get("text", "")) for p in content if isinstance(p, Mapping))
    return ""


def session(task: str, origin: Origin, messages: Iterable[Message], tools: Iterable[Row] = ()) -> Session:
    """A session of at least a question and an answer."""
    kept = tuple(m for m in messages if m.content or m.calls or m.action)
    if not any(m.role == "assistant" for m in kept) or not any(m.role in ("user", "tool") for m in kept):
        raise WrongRow("no question and answer")
    return Session(task, origin, kept, tuple(tools))


def nebius(row: Row, origin: Origin, corpus: Corpus) -> None:
    """SWE-agent-trajectories: `trajectory` of {role, system_prompt, text}, roles system, user, ai."""
    messages = []
    for step in row["trajectory"]:
        role = ROLES[step["role"]]
        text = step.get("system_prompt") if role == "system" else step.get("text")
        messages.append(said(role, text or "", fenced=True))
    corpus.sessions.append(session(str(row["instance_id"]), origin, messages))


def traj(row: Row, origin: Origin, corpus: Corpus) -> None:
    """A SWE-agent `.traj` file: `history` of {role, content, action, thought}."""
    messages = []
    for step in row["history"]:
        if step.get("is_demo") or "--- DEMONSTRATION ---" in text_of(step.get("content")):
            continue  # the task of another session, shown as an example
        role = ROLES[step["role"]]
        if role == "assistant" and step.get("action"):
            thought = clean(step.get("thought") or "").strip("\n")
            messages.append(Message(role, FENCE.sub("", thought), action=clean(step["action"]).strip("\n")))
        else:
            plain: Role = "user" if role == "tool" else role
            messages.append(said(plain, text_of(step.get("content")), fenced=True))
    corpus.sessions.append(session(str(row.get("instance_id") or row["__name__"]), origin, messages))


def fenced_messages(row: Row, origin: Origin, corpus: Corpus) -> None:
    """mini-swe-agent: `messages` of {role, content}, the command in a fenced block."""
    messages = [said(ROLES[m["role"]], text_of(m.get("content")), fenced=True) for m in row["messages"]]
    corpus.sessions.append(session(str(row.get("instance_id") or row["__name__"]), origin, messages))


def tools_of(value: Any) -> list[Row]:
    """Tool definitions from JSON text or a list, each in the form {"type": "function", "function": {...}}."""
    if isinstance(value, str):
        value = json.loads(value) if value.strip() else []
    out: list[Row] = []
    for tool in value or ():
        inner = tool.get("function") if isinstance(tool, Mapping) and "function" in tool else tool
        if not isinstance(inner, Mapping) or not inner.get("name"):
            raise WrongRow("a tool without a name")
        out.append({"type": "function", "function": dict(inner)})
    return out


def call_of(value: Any) -> Call:
    """A call from {name, arguments}; arguments may be JSON text, or JSON text in single quotes (glaive)."""
    if isinstance(value, str):
        value = loads(value)
    inner = value.get("function", value) if isinstance(value, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise WrongRow("a call without a name")
    arguments = inner.get("arguments", inner.get("parameters")) or {}
    if isinstance(arguments, str):
        arguments = loads(arguments) if arguments.strip() else {}
    if not isinstance(arguments, Mapping):
        raise WrongRow("arguments that are no object")
    return Call(clean(inner["name"]), {clean(str(k)): _clean(v) for k, v in arguments.items()})


def _clean(value: Any) -> Any:
    return clean(value) if isinstance(value, str) else value


def loads(text: str) -> Any:
    """JSON, or the near-JSON of the sources: an argument object in single quotes, a Python literal."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    unquoted = re.sub(r"'(\{.*\})'", r"\1", text.strip(), flags=re.DOTALL)
    try:
        return json.loads(unquoted)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise WrongRow("a call that is not JSON") from error


TOOL_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
TOOL_RESPONSE = re.compile(r"</?tool_response>")


def conversations(row: Row, origin: Origin, corpus: Corpus) -> None:
    """Hermes v1 and its like: `conversations` of {from, value} and `tools`; calls in tags or as turns of their own."""
    tools = tools_of(row.get("tools"))
    messages: list[Message] = []
    for turn in row["conversations"]:
        who, value = str(turn["from"]).replace("-", "_"), clean(turn["value"] or "")
        if who == "function_call":
            found = loads(value)
            calls = tuple(call_of(c) for c in (found if isinstance(found, list) else [found]))
            messages.append(Message("assistant", "", calls))
            continue
        role = ROLES[who]
        if role == "system" and tools:
            continue  # it repeats the definitions, which are rendered from `tools`
        if role == "assistant" and "<tool_call>" in value:
            calls = tuple(call_of(c) for c in TOOL_CALL.findall(value))
            messages.append(Message(role, TOOL_CALL.sub("", value).strip(), calls))
        else:
            messages.append(Message(role, TOOL_RESPONSE.sub("", value).strip() if role == "tool" else value.strip()))
    corpus.conversations.append(session(str(row.get("id", "")), origin, messages, tools))


GLAIVE_TURN = re.compile(r"(USER|ASSISTANT|FUNCTION RESPONSE): ")


def glaive(row: Row, origin: Origin, corpus: Corpus) -> None:
    """glaive v2: `system` with the definitions as JSON objects in a row, `chat` with named turns."""
    system = row["system"]
    tools, decoder, at = [], json.JSONDecoder(), system.find("{")
    while at >= 0:
        value, end = decoder.raw_decode(system, at)
        tools.append(value)
        at = system.find("{", end)
    parts = GLAIVE_TURN.split(row["chat"])
    messages: list[Message] = []
    for who, value in zip(parts[1::2], parts[2::2], strict=True):
        text = clean(value.replace("<|endoftext|>", "")).strip()
        if who == "ASSISTANT" and "<functioncall>" in text:
            before, _, call = text.partition("<functioncall>")
            messages.append(Message("assistant", before.strip(), (call_of(call.strip()),)))
        else:
            role: Role = "user" if who == "USER" else "assistant" if who == "ASSISTANT" else "tool"
            messages.append(Message(role, text))
    corpus.conversations.append(session("", origin, messages, tools_of(tools)))


def xlam(row: Row, origin: Origin, corpus: Corpus) -> None:
    """xlam: `query`, `answers`, `tools`; the parsed form: `messages` with `tool_calls`, and `tools`."""
    tools = tools_of(row.get("tools"))
    if "query" in row:
        answers = row["answers"]
        calls = tuple(call_of(c) for c in (json.loads(answers) if isinstance(answers, str) else answers))
        messages = [Message("user", clean(row["query"]).strip()), Message("assistant", "", calls)]
    else:
        found = row["messages"]
        messages = [
            Message(
                ROLES[m["role"]],
                clean(text_of(m.get("content"))).strip(),
                tuple(call_of(c) for c in m.get("tool_calls") or ()),
            )
            for m in (json.loads(found) if isinstance(found, str) else found)
        ]
    corpus.conversations.append(session(str(row.get("id", "")), origin, messages, tools))


def code(row: Row, origin: Origin, corpus: Corpus) -> None:
    """github-code-clean and repository files; only files under the card's licences."""

    def first(*names: str) -> str:
        return next((str(row[n]) for n in names if row.get(n)), "")

    if first("license", "repo_license", "licence").lower() not in CODE_LICENSES:
        raise WrongRow("code under another licence")
    text = first("code", "content", "text")
    if not text.strip():
        raise WrongRow("an empty file")
    repository = first("repo_name", "repository", "repo", "repository_name")
    path = first("path", "file_path", "file")
    corpus.documents.append(Document(origin, clean(text), clean(repository), clean(path)))


def page(row: Row, origin: Origin, corpus: Corpus) -> None:
    """fineweb-edu: `text` with `url`."""
    if not str(row["text"]).strip():
        raise WrongRow("an empty page")
    corpus.documents.append(Document(origin, clean(row["text"])))


Reader = Callable[[Row, Origin, Corpus], None]


def detect(row: Row) -> tuple[Reader, Origin] | None:
    """The reader of a row, told by its columns, with the published origin of that schema."""
    has = row.keys()
    if "trajectory" in has and "instance_id" in has and "history" not in has:
        return nebius, published.NEBIUS
    if "history" in has:
        return traj, Origin("SWE-agent/SWE-agent", "local", "MIT")
    if "conversations" in has:
        return conversations, published.HERMES
    if "chat" in has and "system" in has:
        return glaive, published.GLAIVE
    if {"query", "answers"} <= has or ("messages" in has and "tools" in has):
        return xlam, published.XLAM
    if "messages" in has:
        return fenced_messages, published.KLEAR
    if has & {"code", "content"} and has & {"repo_name", "repository", "repo", "repository_name"}:
        return code, published.CODE if "code" in has else published.PYTHON
    if "text" in has and "url" in has:
        return page, published.FINEWEB
    return None
