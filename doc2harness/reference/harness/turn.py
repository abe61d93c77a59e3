"""One turn as every surface runs it: from what the user gave to the result object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import prompts, roles
from .account import Account
from .conversation import Conversation
from .types import Interrupted, Stop, UsageError

# Why a turn can be ended from outside: exit code, subtype, words.
ENDS = {
    "sigint": (130, "interrupted", "interrupted"),
    "sigterm": (143, "interrupted", "terminated"),
    "stdout": (141, "interrupted", "nobody reads the output any more"),
    "timeout": (5, "timeout", "the time limit is over"),
}
INTERRUPTED = (130, "interrupted", "interrupted")


@dataclass
class Outcome:
    """How a turn ended: the exit code it stands for and the result object."""

    code: int
    result: dict[str, Any]

    @property
    def text(self) -> str:
        return str(self.result["result"])


def run_turn(conv: Conversation, prompt: str, max_cost: float | None = None, before: str = "") -> Outcome:
    """Run a prompt to its end, whatever that is; failures are in the outcome. `before` is put before what is sent."""
    conv.account = Account(conv.place.settings.prices, max_cost)
    conv.replies = 0
    try:
        text = _run(conv, prompt, before)
        return _outcome(conv, 0, "success", text)
    except Stop as stop:
        return _outcome(conv, stop.code, stop.subtype, stop.message)
    except Interrupted as end:
        conv.session.append("interrupted")
        return _outcome(conv, *ENDS.get(str(end), INTERRUPTED))


def _run(conv: Conversation, prompt: str, before: str) -> str:
    conv.begin()
    text = before + prompts.resolve(conv, prompt)
    verdict = conv.hook("user_prompt", prompt=text)
    if verdict.block:
        raise Stop(1, "error", verdict.text or "a user_prompt hook stopped the prompt")
    conv.context.cancel.check()
    try:
        return roles.take_turn(conv, text)
    finally:
        conv.hook("stop")


def check_prices(conv: Conversation, max_cost: float | None) -> None:
    """UsageError if a budget is given that cannot be kept."""
    for model in roles.models_of(conv) if max_cost is not None else []:
        if model not in conv.place.settings.prices:
            raise UsageError(f"--max-cost needs a price for the model {model} in the setting prices")


def failure(subtype: str, cause: str) -> dict[str, Any]:
    """The result object of a run that failed before its conversation began."""
    return _result(subtype, cause, None, 0, Account({}))


def _outcome(conv: Conversation, code: int, subtype: str, text: str) -> Outcome:
    return Outcome(code, _result(subtype, text, conv.session.id, conv.replies, conv.account))


def _result(subtype: str, text: str, session: str | None, turns: int, account: Account) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": subtype != "success",
        "result": text,
        "session_id": session,
        "num_turns": turns,
        "usage": {"input_tokens": account.input_tokens, "output_tokens": account.output_tokens},
        "total_cost_usd": account.cost,
        "permission_denials": account.denials,
    }
