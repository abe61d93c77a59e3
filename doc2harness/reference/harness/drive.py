"""The Python class: a conversation driven from a program."""

from __future__ import annotations

import atexit
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .types import Cancel, Stop, UsageError

if TYPE_CHECKING:
    from .conversation import Conversation
    from .options import Options

_TEXTS = {"type": "array", "items": {"type": "string"}}

# What stands for a flag; everything else is a key of the settings table.
FLAGS: dict[str, Any] = {
    "permission_mode": {"type": "string"},
    "allow": _TEXTS,
    "ask": _TEXTS,
    "deny": _TEXTS,
    "tools": _TEXTS,
    "system_append": {"type": "string"},
    "add_dirs": _TEXTS,
    "max_turns": {"type": "integer", "minimum": 1},
    "max_cost": {"type": "number", "exclusiveMinimum": 0},
    "timeout": {"type": "number", "exclusiveMinimum": 0},
    "trust": {"type": "boolean"},
    "persist": {"type": "boolean"},
    "resume": {"type": "string"},
}


class Agent:
    """One conversation in a workspace.

    `settings` are keys of the settings table (`model="m"`, `permissions={"mode": "bypass"}`), and `permission_mode`,
    `allow`, `ask`, `deny`, `tools`, `system_append`, `add_dirs`, `max_turns`, `max_cost`, `timeout`, `trust`, `persist`
    and `resume`, with the meaning of the flags. An unknown or wrong one raises ValueError. The endpoint is read from
    the environment. There is nobody to ask: what needs approval is refused.
    """

    def __init__(self, workspace: str | Path = ".", **settings: Any) -> None:
        from . import opening, output
        from .workplace import Workplace

        folder = Path(workspace).resolve()
        if not folder.is_dir():
            raise ValueError(f"the workspace {workspace} is not a folder")
        self._failure: Stop | None = None
        self._conversation: Conversation | None = None
        try:
            self._options = _options(settings)
            self._session = opening.open_session(self._options, folder, output.warn)
            self._place = Workplace(self._session.workspace, self._options, output.warn)
        except UsageError as error:
            raise ValueError(error.message) from error
        except Stop as stop:
            self._failure = stop  # a session that cannot be resumed: `run` says so
        atexit.register(self.close)

    def run(self, prompt: str) -> dict[str, Any]:
        """Run a prompt to its end; again to go on in the same session. Returns the result object, also of a failure."""
        from . import signals, turn

        if not isinstance(prompt, str):
            raise TypeError("the prompt must be a string")
        try:
            conv = self._open()
            turn.check_prices(conv, self._options.max_cost)
        except Stop as stop:
            return turn.failure(stop.subtype, stop.message)
        cancel = conv.context.cancel = Cancel()
        timer = signals.after(self._options.timeout, cancel)
        try:
            return turn.run_turn(conv, prompt, self._options.max_cost).result
        except BaseException:
            cancel.set("sigint")  # Ctrl-C in the calling program: nothing of ours goes on
            raise
        finally:
            timer.cancel()
            conv.session.close()

    def close(self) -> None:
        """End servers and background commands; done at exit at the latest."""
        atexit.unregister(self.close)
        if self._conversation is not None:
            self._conversation.end()
            self._place.close()
            self._conversation = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _open(self) -> Conversation:
        if self._failure is not None:
            raise self._failure
        if self._conversation is None:
            self._conversation = self._place.conversation(self._session)
        return self._conversation


def _options(given: dict[str, Any]) -> Options:
    """The keyword arguments as a command line would have said them."""
    from .options import Options
    from .schema import problem
    from .sources import check_flags

    flags = {name: value for name, value in given.items() if name in FLAGS and value is not None}
    settings = {name: value for name, value in given.items() if name not in FLAGS}
    if wrong := problem(flags, {"type": "object", "properties": FLAGS}):
        raise UsageError(wrong)
    check_flags(settings)
    permissions = dict(settings.get("permissions", {}))
    for name in ("allow", "ask", "deny"):
        permissions[name] = [*flags.pop(name, []), *permissions.get(name, [])]
    permissions["dirs"] = [*flags.pop("add_dirs", []), *permissions.get("dirs", [])]
    permissions["mode"] = flags.pop("permission_mode", permissions.get("mode"))
    settings["permissions"] = {name: value for name, value in permissions.items() if value}
    check_flags(settings)
    return Options(mode=permissions["mode"], settings=settings, **flags)
