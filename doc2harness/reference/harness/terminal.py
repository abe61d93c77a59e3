"""The interactive terminal: one thread reads keys and draws, another runs the turn."""

from __future__ import annotations

import os
import queue
import select
import signal
import termios
import time
from collections.abc import Callable
from pathlib import Path

from . import output, signals, trust
from .approvals import has_project_files
from .keys import ESC_WAIT, Decoder, Key
from .modals import Asked, YesOrNo
from .opening import open_session
from .options import Options
from .screen import Screen
from .sources import state_folder
from .talk import Talk
from .turn import ENDS
from .types import Cancel

TWICE = 2.0  # seconds within which a second Ctrl-C leaves


def run(options: Options) -> int:
    """Talk until the user leaves; the exit code."""
    here = Path.cwd().resolve()
    session = open_session(options, here, output.warn)
    ui = Terminal()
    with _RawMode():
        ui.screen.start()
        try:
            options.trust = options.trust or ui.trusts(session.workspace)
            talk = Talk(ui, options, session)
            return ui.loop(talk)
        finally:
            ui.screen.stop()


class Terminal:
    """Keys, the area at the bottom, and the questions that take its place."""

    def __init__(self) -> None:
        self.screen = Screen()
        self.cancel = Cancel()  # thrown by SIGTERM
        self._keys = Decoder()
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake_read, self._wake_write = os.pipe()
        self._asked: list[Asked] = []
        self._interrupted_at = 0.0

    def post(self, action: Callable[[], None]) -> None:
        """Have the reading thread do something; called by other threads."""
        self._todo.put(action)
        os.write(self._wake_write, b"x")

    def ask(self, asked: Asked) -> None:
        """Put a question to the user; its `settled` is set when it is answered."""
        self.screen.show(asked.lines)
        self._asked.append(asked)

    def drop_questions(self) -> None:
        """The turn that asked has ended."""
        for asked in self._asked:
            asked.settled.set()
        self._asked.clear()

    def trusts(self, workspace: Path) -> bool:
        """Ask whether to trust a folder whose project files want to do something."""
        state = state_folder()
        if trust.is_trusted(state, workspace) or not has_project_files(workspace):
            return False
        question = YesOrNo("trust this folder? [y/n] ")
        self.screen.show(f"{workspace} has settings or servers of its own.")
        self.screen.area(question.label)
        keys: list[Key] = []
        while not keys:
            keys = self._read(None)
        question.key(keys[0])
        self.screen.show(question.label + question.said)
        if question.answer:
            trust.trust(state, workspace)
        return question.answer

    def loop(self, talk: Talk) -> int:
        """Read and draw until the user leaves or a signal comes."""
        signals.heed(self.cancel)
        signal.signal(signal.SIGINT, lambda *_: self.post(lambda: self._key(Key("ctrl-c"), talk)))
        self.cancel.on_set(lambda: self.post(lambda: None))
        try:
            talk.begin()
            while not talk.left and not self.cancel.is_set():
                self._draw(talk)
                for key in self._read(talk):
                    self._key(key, talk)
            return ENDS[self.cancel.reason][0] if self.cancel.reason == "sigterm" else 0
        finally:
            talk.end(self.cancel.reason or "user")

    def _draw(self, talk: Talk) -> None:
        if self._asked:
            modal = self._asked[0].modal
            self.screen.area(modal.label, modal.text, modal.cursor)
        else:
            self.screen.area(talk.label, talk.editor.text, talk.editor.cursor)

    def _read(self, talk: Talk | None) -> list[Key]:
        """The next keys; actions of other threads are done on the way."""
        wait = ESC_WAIT if self._keys.waits else None
        readable = select.select([0, self._wake_read], [], [], wait)[0]
        if not readable:
            return self._keys.settle()
        if self._wake_read in readable:
            os.read(self._wake_read, 4096)
            while not self._todo.empty():
                self._todo.get()()
        if 0 not in readable:
            return []
        try:
            data = os.read(0, 65536)
        except OSError:
            data = b""
        if not data and talk is not None:
            talk.left = True  # the terminal is gone
        return self._keys.feed(data)

    def _key(self, key: Key, talk: Talk) -> None:
        if self._asked:
            asked = self._asked[0]
            if asked.modal.key(key):
                self._asked.pop(0)
                self.screen.show(asked.modal.label + asked.modal.said)
                asked.settled.set()
        elif talk.busy:
            if key.name in ("esc", "ctrl-c"):
                talk.interrupt()
            elif talk.editor.key(key):
                talk.wait_with(talk.editor.take())
        elif key.name == "ctrl-c":
            self._leave_if_meant(talk)
        elif key.name == "ctrl-d" and not talk.editor.text:
            talk.left = True
        elif key.name == "shift-tab":
            talk.next_mode()
        elif talk.editor.key(key):
            talk.submit(talk.editor.take())

    def _leave_if_meant(self, talk: Talk) -> None:
        """Ctrl-C when idle: the first empties the input, a second one soon after leaves."""
        now = time.monotonic()
        talk.left = now - self._interrupted_at < TWICE
        self._interrupted_at = now
        talk.editor.set("")
        if not talk.left:
            self.screen.show("press Ctrl-C again to leave")


class _RawMode:
    """Keys arrive one by one and unechoed while this is entered."""

    def __enter__(self) -> None:
        self._before = termios.tcgetattr(0)
        raw = termios.tcgetattr(0)
        raw[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INLCR | termios.INPCK | termios.ISTRIP | termios.IXON)
        raw[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        termios.tcsetattr(0, termios.TCSADRAIN, raw)

    def __exit__(self, *failure: object) -> None:
        termios.tcsetattr(0, termios.TCSADRAIN, self._before)
