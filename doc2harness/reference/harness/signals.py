"""SIGINT, SIGTERM and SIGHUP end the turn; what has to be cleaned up is then cleaned up by the code that runs it."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from .types import Cancel

REASONS = {signal.SIGINT: "sigint", signal.SIGTERM: "sigterm", signal.SIGHUP: "sigterm"}


def heed(cancel: Cancel) -> None:
    """Throw the switch when one of the signals comes."""

    def handler(number: int, frame: FrameType | None) -> None:
        # `Cancel.set` takes a lock that the interrupted code may hold, so it is called from another thread.
        threading.Thread(target=cancel.set, args=(REASONS[signal.Signals(number)],), daemon=True).start()

    for number in REASONS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # `nohup` is respected
            signal.signal(number, handler)


def after(seconds: float | None, cancel: Cancel) -> threading.Timer:
    """Throw the switch when the time limit, if there is one, is over; the timer that does it can be cancelled."""
    timer = threading.Timer(seconds or 0, cancel.set, ("timeout",))
    timer.daemon = True
    if seconds is not None:
        timer.start()
    return timer
