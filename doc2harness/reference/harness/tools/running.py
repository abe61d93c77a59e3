"""A shell command that runs: its output, its end, and the folder it ends in."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
import time
from pathlib import Path

from harness.processes import end_leftovers, kill_group, start
from harness.shelloutput import Output, Stream
from harness.types import Context, ToolError

GRACE = 1.0  # seconds in which output may still come after the main process's end
AFTER_KILL = 0.5


class Running:
    """A command that was just started; `follow` reads its output until it ends."""

    def __init__(self, context: Context, command: str, folder: Path) -> None:
        """ToolError: it cannot be started."""
        self.output = Output(lambda: context.state / "outputs" / f"{context.session_id}-{os.urandom(4).hex()}.txt")
        # The shell tells on a pipe of its own where it ends; that is how the folder carries over.
        self._ends_in, told = os.pipe()
        telling = f"trap '{{ pwd -P || pwd; }} 2>/dev/null >&{told}' EXIT; "
        env = {name: text for name, text in context.env.items() if name != "CDPATH"}  # `cd` goes where it says
        try:
            self.process = start(
                ["bash", "-c", telling + command],
                folder,
                env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(told,),
            )
        except (OSError, ValueError) as error:
            os.close(self._ends_in)
            raise ToolError(f"the command cannot be started: {error}") from None
        finally:
            os.close(told)

    @property
    def exit_code(self) -> int | None:
        """As the shell says it; None while the command runs."""
        code = self.process.poll()
        return code if code is None or code >= 0 else 128 - code

    def follow(self, seconds: float | None, ends_children: bool = True) -> bool:
        """Read until the command has ended and all output came; False if it was killed after `seconds`.

        With `ends_children`, children that keep the output open get a little time, and then are ended.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        in_time = True
        exited = os.pidfd_open(self.process.pid)
        with selectors.DefaultSelector() as selector:
            selector.register(exited, selectors.EVENT_READ)
            for pipe in (self.process.stdout, self.process.stderr):
                assert pipe is not None
                selector.register(pipe, selectors.EVENT_READ, Stream())
            while selector.get_map():
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    if self.process.poll() is not None:
                        break
                    kill_group(self.process.pid)
                    in_time, deadline = False, time.monotonic() + AFTER_KILL
                    continue
                for key, _ in selector.select(left):
                    if key.data is not None:
                        self._read(selector, key)
                        continue
                    selector.unregister(exited)
                    self.process.wait()
                    if ends_children:
                        grace = time.monotonic() + GRACE
                        deadline = grace if deadline is None else min(deadline, grace)
            if ends_children:
                end_leftovers(self.process.pid)
            for key in list(selector.get_map().values()):
                if key.data is not None:
                    self.output.add(b"", key.data.feed(b"", final=True))
                    threading.Thread(target=_drain, args=(key.fileobj,), daemon=True).start()
        os.close(exited)
        return in_time

    def ended_in(self) -> Path | None:
        """The folder the shell was in at its end, if it told; to be asked once."""
        os.set_blocking(self._ends_in, False)
        try:
            told = os.read(self._ends_in, 65536)
        except BlockingIOError:
            told = b""
        finally:
            os.close(self._ends_in)
        return Path(os.fsdecode(told.removesuffix(b"\n"))) if told else None

    def _read(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        data = os.read(key.fd, 65536)
        self.output.add(data, key.data.feed(data, final=not data))
        if not data:
            selector.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr]


def _drain(pipe: object) -> None:
    """Read on for what may go on, so that it does not die of a closed pipe."""
    with pipe:  # type: ignore[attr-defined]
        while os.read(pipe.fileno(), 65536):  # type: ignore[attr-defined]
            continue
