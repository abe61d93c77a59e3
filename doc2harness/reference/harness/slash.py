"""The terminal's own commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import compaction, prompts, sessions
from .account import Account
from .settings import MODES
from .types import Mode, UsageError
from .workplace import Workplace

if TYPE_CHECKING:
    from .talk import Talk


def run(talk: Talk, name: str, argument: str) -> bool:
    """Do a command; False if it is a custom command or a skill, which is a prompt. Raises Stop with what is wrong."""
    if name not in prompts.TERMINAL:
        try:
            prompts.check(talk.conv, f"/{name}")
        except UsageError as error:
            raise UsageError(f"unknown command: /{name} (see /help)") from error
        return False
    _COMMANDS[name](talk, argument)
    return True


def short(arguments: dict[str, Any]) -> str:
    """Arguments on one line."""
    text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= 120 else text[:117] + "..."


def first_line(text: str) -> str:
    lines = text.splitlines() or [""]
    return lines[0][:120] + (f" (+{len(lines) - 1} lines)" if len(lines) > 1 else "")


def _say(talk: Talk, text: str) -> None:
    talk.ui.screen.show(text)


def _help(talk: Talk, argument: str) -> None:
    _say(talk, "\n".join(f"/{name} {what}" for name, what in prompts.TERMINAL.items()))
    _say(talk, "!COMMAND runs a command, @PATH adds a file, Shift-Tab changes the mode, Esc interrupts")


def _clear(talk: Talk, argument: str) -> None:
    session = sessions.new(talk.place.state, talk.place.workspace, talk.options.persist)
    talk.go_on_with(talk.place, talk.new_conversation(talk.place, session))
    _say(talk, f"new session {session.id}")


def _compact(talk: Talk, argument: str) -> None:
    def work() -> None:
        conv = talk.conv
        conv.account = Account(talk.place.settings.prices)
        conv.session.open(conv.context.warn)
        compaction.compact(conv, argument)  # the event says `compacted`, a warning that it failed
        talk.totals.add(conv.account)

    talk.work(work)


def _resume(talk: Talk, argument: str) -> None:
    state = talk.place.state
    if not argument:
        found = sessions.entries(state, talk.place.workspace)
        _say(talk, "\n".join(map(sessions.line, found)) or "there is no session")
        return
    path = sessions.find(state, argument)
    if path == talk.conv.session.path:
        return
    session = sessions.load(path, talk.place.workspace, talk.warn)
    same = session.workspace == talk.place.workspace
    place = talk.place if same else Workplace(session.workspace, talk.options, talk.warn, talk)
    if talk.options.persist:
        session.open(talk.warn)
    else:
        session = sessions.unkept(session)
    talk.go_on_with(place, talk.new_conversation(place, session))
    _say(talk, f"session {session.id}")


def _rewind(talk: Talk, argument: str) -> None:
    if not argument.isdecimal():
        raise UsageError("/rewind needs the number of a prompt")
    talk.conv.session.open(talk.warn)
    lines = talk.conv.rewind(int(argument))
    _say(talk, "\n".join([*lines, f"back to before prompt {argument}"]))


def _mode(talk: Talk, argument: str) -> None:
    mode: Mode | None = next((mode for mode in MODES if mode == argument), None)
    if not argument:
        _say(talk, f"mode {talk.place.permissions.mode}")
    elif mode is None:
        raise UsageError(f"unknown mode {argument}; there are: {', '.join(MODES)}")
    elif mode == "bypass" and not talk.may_bypass:
        _say(talk, "bypass is not available: it must be chosen at the start")
    else:
        talk.place.permissions.mode = mode
        _say(talk, f"mode {mode}")


def _model(talk: Talk, argument: str) -> None:
    if argument:
        talk.conv.model = talk.place.settings.model = argument
    _say(talk, f"model {talk.conv.model}")


def _permissions(talk: Talk, argument: str) -> None:
    lines = [f"mode {talk.place.permissions.mode}"]
    for source in talk.place.settings.sources:
        rules = source.values.get("permissions", {})
        lines += [f"{kind} {rule} ({source.name})" for kind in ("deny", "ask", "allow") for rule in rules.get(kind, [])]
    _say(talk, "\n".join(lines))


def _cost(talk: Talk, argument: str) -> None:
    totals = talk.totals
    cost = "unknown" if totals.cost is None else f"{totals.cost:.6g} USD"
    _say(talk, f"input {totals.input_tokens} tokens, output {totals.output_tokens} tokens, cost {cost}")


def _export(talk: Talk, argument: str) -> None:
    text = sessions.markdown(talk.conv.session)
    if not argument:
        _say(talk, text)
        return
    file = talk.place.workspace / Path(argument).expanduser()
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    _say(talk, f"exported to {file}")


def _exit(talk: Talk, argument: str) -> None:
    talk.left = True


_COMMANDS = {
    "help": _help,
    "clear": _clear,
    "compact": _compact,
    "resume": _resume,
    "rewind": _rewind,
    "mode": _mode,
    "model": _model,
    "permissions": _permissions,
    "cost": _cost,
    "export": _export,
    "exit": _exit,
}
