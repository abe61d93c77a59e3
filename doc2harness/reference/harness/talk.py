"""The conversation behind the terminal: inputs, turns, and what is shown of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import commands, slash
from .account import Account
from .conversation import Conversation
from .editor import Editor
from .inputs import Inputs
from .modals import Approval, Asked, Line
from .options import Options
from .session import Session
from .shown import target
from .turn import Outcome, run_turn
from .types import Answer, Call, Cancel, Decision, Interrupted, Mode, Stop, ToolError
from .workplace import Workplace

if TYPE_CHECKING:
    from .terminal import Terminal

NEXT_MODE: dict[Mode, Mode] = {"default": "accept-edits", "accept-edits": "plan"}
PATIENCE = 4.0  # seconds for a turn to end when the terminal is left


class Talk:
    """One user's talk. It is the user whom the conversation asks: the terminal puts the questions."""

    def __init__(self, ui: Terminal, options: Options, session: Session) -> None:
        self.ui = ui
        self.options = options
        self.left = False
        self.busy = False
        self.place = Workplace(session.workspace, options, self.warn, self)
        self.may_bypass = self.place.permissions.mode == "bypass"
        self.conv: Conversation = self.place.conversation(session, self._event)
        self.inputs = Inputs(self.place.state, session.workspace)
        self.editor = Editor(self.inputs.texts)
        self.totals = Account(self.place.settings.prices)
        self._waiting: list[str] = []  # inputs sent during a turn
        self._shell: list[str] = []  # `!` commands and their results, for the next prompt
        self._approvals = 0
        self._thread: threading.Thread | None = None
        if session.records and session.path:
            session.open(self.warn)

    @property
    def label(self) -> str:
        """What stands before the input."""
        if self.busy:
            waiting = "".join(f"\nwaiting: {text}" for text in self._waiting)
            return f"working (Esc interrupts){waiting}\n"
        return f"{self.place.permissions.mode} {self.conv.session.history.prompts + 1}> "

    def begin(self) -> None:
        if self.options.prompt:
            self.submit(self.options.prompt)

    def end(self, reason: str) -> None:
        """Leave: the turn is ended, and what was started for the workspace."""
        if self.busy:
            self.conv.context.cancel.set(reason)
        if self._thread is not None:
            self._thread.join(PATIENCE)
        self.conv.end()
        self.place.close()

    def submit(self, text: str) -> None:
        """An input: a command, a shell line, or a prompt."""
        if not text.strip():
            return
        self.ui.screen.show(self.label + text)
        self.inputs.add(text)
        if text.startswith("!"):
            if command := text[1:].strip():
                self.work(lambda: self._run_shell(command))
            return
        found = commands.split(text)
        try:
            if found and slash.run(self, *found):
                return
        except Stop as stop:
            self.ui.screen.show(f"error: {stop.message}")
            return
        before, self._shell = "".join(self._shell), []
        self.work(lambda: self._run_prompt(text, before))

    def wait_with(self, text: str) -> None:
        """An input sent during a turn."""
        if text.strip():
            self._waiting.append(text)

    def interrupt(self) -> None:
        self.conv.context.cancel.set("user")

    def next_mode(self) -> None:
        """Shift-Tab."""
        mode = self.place.permissions.mode
        after_plan: Mode = "bypass" if self.may_bypass else "default"
        self.place.permissions.mode = after_plan if mode == "plan" else NEXT_MODE.get(mode, "default")

    def warn(self, text: str) -> None:
        self.show(f"warning: {' '.join(text.split())}")

    def show(self, text: str) -> None:
        """Show text, from any thread."""
        self.ui.post(lambda: self.ui.screen.show(text))

    def work(self, action: Callable[[], None]) -> None:
        """Do something that takes time; it can be interrupted, and inputs wait for its end."""
        self.busy = True
        self.conv.context.cancel = Cancel()

        def run() -> None:
            try:
                action()
            except Interrupted:
                self.show("interrupted")
            except Stop as stop:
                self.show(f"error: {stop.message}")
            except Exception as error:  # a fault of ours ends the turn, not the talk
                self.show(f"error: {type(error).__name__}: {error}")
            self.ui.post(self._done)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def go_on_with(self, place: Workplace, conv: Conversation) -> None:
        """Another conversation takes the place of this one."""
        self.conv.end()
        if place is not self.place:
            self.place.close()
            self.inputs = Inputs(place.state, place.workspace)
            self.editor = Editor(self.inputs.texts)
        self.place, self.conv = place, conv
        self._shell = []

    def new_conversation(self, place: Workplace, session: Session) -> Conversation:
        return place.conversation(session, self._event)

    def approve(self, call: Call, decision: Decision) -> Answer:
        return self._approve(f"{call.name}: {target(call, decision)}")

    def question(self, text: str, choices: list[str], secret: bool) -> str | None:
        modal = Line("answer: ", secret)
        listed = [f"{number}) {choice}" for number, choice in enumerate(choices, 1)]
        self._ask(Asked(modal, "\n".join([text, *listed])))
        answer = modal.answer
        if answer is not None and answer.isdecimal() and 1 <= int(answer) <= len(choices):
            return choices[int(answer) - 1]
        return answer

    def plan(self, text: str) -> Answer:
        return self._approve(f"exit_plan:\n{text}")

    def _approve(self, what: str) -> Answer:
        self._approvals += 1
        modal = Approval(self._approvals)
        self._ask(Asked(modal, what))
        return modal.answer

    def _ask(self, asked: Asked) -> None:
        """Put a question and wait; an interrupt answers it like Esc."""
        handle = self.conv.context.cancel.on_set(asked.settled.set)
        self.ui.post(lambda: self.ui.ask(asked))
        asked.settled.wait()
        self.conv.context.cancel.forget(handle)
        self.conv.context.cancel.check()

    def _run_prompt(self, text: str, before: str) -> None:
        outcome = run_turn(self.conv, text, before=before)
        self._count(self.conv.account)
        self._say_end(outcome)

    def _say_end(self, outcome: Outcome) -> None:
        if outcome.result["subtype"] == "interrupted":
            self.show("interrupted")
        elif outcome.code:
            self.show(f"error: {outcome.text}")

    def _run_shell(self, command: str) -> None:
        """A `!` line: run at once, for the user; shown to the model with the next prompt."""
        try:
            text = self.conv.builtin["bash"].run(self.conv.context, {"command": command})
        except ToolError as error:
            text = f"error: {error}"
        self.show(text)
        shown = text.removesuffix("\n")
        self._shell.append(f"$ {command}\n{shown}\n\n")

    def _count(self, account: Account) -> None:
        self.totals.add(account)

    def _done(self) -> None:
        """The work has ended: what waits comes next, unless it was interrupted."""
        self.busy = False
        self.ui.drop_questions()
        if self.conv.context.cancel.is_set():
            texts = [*self._waiting, self.editor.text] if self.editor.text else self._waiting
            self.editor.set("\n".join(texts))
            self._waiting = []
        elif self._waiting:
            self.submit(self._waiting.pop(0))

    def _event(self, event: dict[str, Any]) -> None:
        """What is shown of a turn as it goes on."""
        kind = event["type"]
        if kind == "assistant":
            if event["text"].strip():
                self.show(event["text"])
            for call in event["tool_calls"]:
                self.show(f"- {call['name']} {slash.short(call['input'])}")
        elif kind == "tool_result" and event["name"] != "ask":  # an answer may be a secret
            self.show(f"  {slash.first_line(event['content'])}")
        elif kind == "compaction":
            self.show("compacted")
