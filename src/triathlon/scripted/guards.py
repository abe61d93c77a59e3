"""Whether a guard holds on a request, and if not, why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from triathlon.scripted.journal import Request
from triathlon.scripted.script import Guard, Texts

Fill = Callable[[Any], Any]


def why_not(guard: Guard | None, request: Request, fill: Fill) -> str | None:
    """The first key of the guard that does not hold, in words; None if all hold. `fill` fills placeholders in."""
    if guard is None:
        return None
    checks: list[Callable[[], str | None]] = [
        lambda: _equal("turn", guard.turn, request.turn),
        lambda: _equal("model", None if guard.model is None else fill(guard.model), request.model),
        lambda: _equal("has_tool_result", guard.has_tool_result, bool(request.tool_results)),
        lambda: _equal("offers_tools", guard.offers_tools, bool(request.tools)),
        lambda: _offers(_texts(guard.offers, fill), request.tools),
        lambda: _held("system_contains", _texts(guard.system_contains, fill), [request.system]),
        lambda: _held("user_contains", _texts(guard.user_contains, fill), [request.last_user]),
        lambda: _held(
            "tool_result_contains", _texts(guard.tool_result_contains, fill), [request.last_tool_result or ""]
        ),
        lambda: _held("contains", _texts(guard.contains, fill), [m.text for m in request.messages]),
        lambda: _absent(_texts(guard.not_contains, fill), [m.text for m in request.messages]),
    ]
    return next((reason for check in checks if (reason := check()) is not None), None)


def _texts(value: Texts | None, fill: Fill) -> list[str]:
    """One text or several, filled in."""
    if value is None:
        return []
    return [str(fill(text)) for text in ([value] if isinstance(value, str) else value)]


def _equal(key: str, wanted: object, saw: object) -> str | None:
    return None if wanted is None or wanted == saw else f"{key}: wanted {wanted!r}, saw {saw!r}"


def _offers(wanted: Iterable[str], tools: tuple[str, ...]) -> str | None:
    missing = [name for name in wanted if name not in tools]
    return f"offers: {', '.join(missing)} not among {', '.join(tools) or 'no tools'}" if missing else None


def _held(key: str, wanted: Iterable[str], texts: list[str]) -> str | None:
    missing = next((text for text in wanted if not any(text in t for t in texts)), None)
    return None if missing is None else f"{key}: {_short(missing)} is not in {_short(' | '.join(texts))}"


def _absent(unwanted: Iterable[str], texts: list[str]) -> str | None:
    found = next((text for text in unwanted if any(text in t for t in texts)), None)
    return None if found is None else f"not_contains: {_short(found)} is there"


def _short(text: str) -> str:
    """A text, quoted, cut in the middle if it is long."""
    return repr(text if len(text) <= 200 else f"{text[:100]} ... {text[-90:]}")
