"""The loop: from a prompt to the reply that ends its turn."""

from __future__ import annotations

import json

from . import calls, compaction, runner
from .conversation import Conversation
from .model import Overflow
from .reply import Reply
from .schema import problem
from .types import Stop

EMPTY_TRIES = 3


def take_turn(conv: Conversation, prompt: str) -> str:
    """Send the prompt, go on until a reply has text and no call, and return that text.

    Raises Stop when the run fails or a limit is reached, Interrupted when it is ended from outside.
    """
    conv.add_prompt(prompt)
    return go_on(conv)


def go_on(conv: Conversation) -> str:
    """The rest of a turn whose next message is in the history."""
    while True:
        check_limits(conv)
        reply = next_reply(conv)
        wanted = calls.read(reply, set(conv.session.history.ids))
        conv.add_reply(reply, wanted)
        if not wanted:
            if reply.finish == "length":
                conv.context.warn("the final text was cut at the model's output limit")
            return reply.text
        check_limits(conv)
        runner.run_calls(conv, wanted)


def next_reply(conv: Conversation) -> Reply:
    """A reply that says or calls something; empty ones are asked again, and too large a history is made smaller."""
    compactions = 0
    if compaction.is_due(conv):
        compaction.compact(conv)
        compactions = 1
    for _ in range(EMPTY_TRIES):
        reply = _reply_with_room(conv, compactions)
        if reply.finish == "content_filter":
            raise Stop(1, "error", "the endpoint stopped the reply (content_filter)")
        if reply.calls or reply.text.strip():
            return reply
    raise Stop(1, "error", f"the model gave an empty reply {EMPTY_TRIES} times")


def _reply_with_room(conv: Conversation, compactions: int) -> Reply:
    """Ask; when the history does not fit, compact it, at most twice counting `compactions` made before."""
    while True:
        try:
            return conv.ask(conv.messages())
        except Overflow as overflow:
            compactions += 1
            if compactions <= 2 and not conv.compaction_failed:
                compaction.compact(conv, smallest=compactions == 2, shorten=True)
            if compactions > 2 or conv.compaction_failed:
                raise compaction.no_room(overflow) from overflow


def check_limits(conv: Conversation) -> None:
    """Stop before anything more is asked or run."""
    if conv.max_turns is not None and conv.replies >= conv.max_turns:
        raise Stop(3, "max_turns", f"the limit of {conv.max_turns} turns is reached")
    conv.account.check()


def fit_schema(conv: Conversation, text: str) -> str:
    """The final text, which must be JSON that fits `--output-schema`; the model is told once if it is not."""
    wrong = _misfit(conv, text)
    if wrong is None:
        return text
    conv.add_user(f"Your answer does not fit the JSON schema that was asked for: {wrong}. Answer with that JSON alone.")
    text = go_on(conv)
    wrong = _misfit(conv, text)
    if wrong is not None:
        raise Stop(1, "error", f"the final text does not fit the schema: {wrong}")
    return text


def _misfit(conv: Conversation, text: str) -> str | None:
    if conv.output_schema is None:
        return None
    try:
        return problem(json.loads(text), conv.output_schema)
    except ValueError as error:
        return f"it is not JSON ({error})"
