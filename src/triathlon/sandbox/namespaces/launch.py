"""The runner's handle on the helper process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from triathlon.errors import SandboxError
from triathlon.sandbox.namespaces.inside import wire

# The packages above `inside` are put in place as empty modules, so that the helper loads nothing it does not need:
# every sandbox's init is a fork of it.
_BOOT = """
import sys
for name, path in zip(("triathlon", "triathlon.sandbox", "triathlon.sandbox.namespaces"), sys.argv[2:]):
    sys.modules[name] = module = type(sys)(name)
    module.__path__ = [path]
from triathlon.sandbox.namespaces.inside.helper import main
main(int(sys.argv[1]))
"""


class Helper:
    """One helper process; it ends when this object is closed, or when our process is gone."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        self._lock = threading.Lock()
        here = Path(__file__).resolve().parent
        packages = (here.parents[1], here.parent, here)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, str(theirs.fileno()), *map(str, packages)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                start_new_session=True,  # a Ctrl-C in the terminal is for the runner
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """SandboxError if it has ended (and every sandbox with it)."""
        if self._process.poll() is not None:
            raise SandboxError(f"the sandbox helper has ended: {self._last_words() or 'it was killed'}")

    def hand_over(self, request: wire.Message, descriptors: Sequence[int]) -> None:
        """Send a request that is answered elsewhere; SandboxError says why the helper is gone."""
        try:
            with self._lock:
                wire.send(self._channel, request, descriptors)
        except OSError as error:
            raise SandboxError(f"the sandbox helper has ended: {self._last_words() or error}") from error

    def cpu_seconds(self) -> float:
        """CPU seconds of the helper and of every sandbox that has ended."""
        with self._lock:
            try:
                wire.send(self._channel, {"do": "usage"})
                answer = wire.receive(self._channel)
            except OSError:
                answer = None
        return float(answer[0]["seconds"]) if answer else 0.0

    def close(self) -> None:
        with self._lock:
            self._channel.close()
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()

    def _last_words(self) -> str:
        try:
            _, errors = self._process.communicate(timeout=5)
        except (subprocess.TimeoutExpired, ValueError):
            return ""
        return errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
