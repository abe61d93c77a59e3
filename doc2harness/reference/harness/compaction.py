"""Making room: the history is replaced by a summary and the latest exchange."""

from __future__ import annotations

from .conversation import Conversation
from .history import Message
from .model import ModelError
from .reply import Reply
from .types import Stop

FULL = 0.8  # of the context window
SHORTENED = 2_000  # characters that stay of an old result, when the whole history did not fit

INSTRUCTION = """\
Summarize this conversation for yourself: you will go on with the work and see nothing but your summary and the latest
exchange. Say what the user wants and has decided, what was done and found out (files, commands, results that matter, in
exact words where words matter), what failed and why, and what is left to do. Answer with the summary alone."""


def is_due(conv: Conversation) -> bool:
    """Whether the last reply reported an input that fills the window."""
    full = conv.session.history.last_input > FULL * conv.place.settings.context_window
    return full and not conv.compaction_failed


def compact(conv: Conversation, hint: str = "", smallest: bool = False, shorten: bool = False) -> bool:
    """Send a summary request and shorten the history; False, with a warning, if it failed and nothing changed.

    `smallest` keeps the newest prompt alone; `shorten` cuts old results in the request, for a history that did not fit.
    """
    history = conv.session.history
    keep = min(_latest_exchange(history.messages), 1) if smallest else _latest_exchange(history.messages)
    messages = conv.messages()
    if shorten:
        messages = [_shortened(message) for message in messages]
    instruction = f"{INSTRUCTION}\n\nWhat matters most: {hint}" if hint else INSTRUCTION
    try:
        reply = conv.ask([*messages, {"role": "user", "content": instruction}], tools=False)
        _check(reply)
    except ModelError as error:
        conv.compaction_failed = True
        conv.context.warn(f"compaction failed, the history stays as it is: {error}")
        return False
    conv.session.append("compaction", summary=reply.text, keep=keep)
    conv.emit({"type": "compaction", "summary": reply.text})
    return True


def _check(reply: Reply) -> None:
    if not reply.text.strip():
        raise ModelError("the summary is empty")
    if reply.finish == "content_filter":
        raise ModelError("the summary was stopped (content_filter)")


def _latest_exchange(messages: list[Message]) -> int:
    """How many messages the newest prompt and the last reply after it, with its results, are."""
    newest = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=None)
    if newest is None:
        return 0
    reply = max((index for index, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    return 1 + (len(messages) - reply if reply > newest else 0)


def _shortened(message: Message) -> Message:
    text = message["content"]
    if message["role"] != "tool" or len(text) <= SHORTENED:
        return message
    half = SHORTENED // 2
    return message | {"content": f"{text[:half]}\n[{len(text) - SHORTENED} characters cut]\n{text[-half:]}"}


def no_room(cause: object) -> Stop:
    return Stop(1, "error", f"the conversation does not fit into the model's context: {cause}")
