"""Which session a run works in: a new one, an old one, a copy of one, or one that is not kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import sessions
from .checkpoints import Checkpoints
from .options import Options
from .session import Session
from .sources import state_folder


def open_session(options: Options, here: Path, warn: Callable[[str], None]) -> Session:
    """The session the flags ask for. Its workspace is where the run works. Stop if there is no such session."""
    state = state_folder()
    if options.continue_:
        path = sessions.newest(state, here)
    elif options.resume:
        path = sessions.find(state, options.resume)
    else:
        return sessions.new(state, here, options.persist)
    old = sessions.load(path, here, warn)
    if options.fork:
        return forked(state, old, options.persist)
    return old if options.persist else sessions.unkept(old)


def forked(state: Path, old: Session, persist: bool = True) -> Session:
    """A copy under a new id, with the checkpoints of the old one."""
    new = sessions.fork(state, old, persist)
    if persist:
        Checkpoints(state / "checkpoints" / old.id).copy_to(state / "checkpoints" / new.id)
    return new
