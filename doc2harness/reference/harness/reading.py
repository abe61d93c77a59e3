"""The commands that talk to no model: `sessions`, `rewind`, `config show`, `--help`, `--version`."""

from __future__ import annotations

from pathlib import Path

from . import __version__, output, sessions
from .options import Options, help_text
from .output import Output
from .sources import state_folder
from .types import Cancel


def run(options: Options) -> int:
    """Print what was asked for; the exit code."""
    out = Output(Cancel())
    state = state_folder()
    if options.command == "rewind":
        return _rewind(options, out, state)
    text = ""
    if options.command in ("version", "help"):
        text = f"harness {__version__}" if options.command == "version" else help_text()
    elif options.command == "config show":
        text = _config(options, state)
    elif options.command == "sessions list":
        text = sessions.listing(state, options.json)
    elif options.command == "sessions export":
        text = sessions.export(sessions.find(state, options.session), options.format, output.warn)
    else:
        sessions.delete(state, sessions.find(state, options.session))
    out.text(f"{text}\n" if text else "")
    return 0


def _config(options: Options, state: Path) -> str:
    from .config_show import show
    from .sources import read
    from .trust import is_trusted

    workspace = Path.cwd().resolve()
    trusted = options.trust or is_trusted(state, workspace)
    return show(read(workspace, trusted, options.settings, output.warn), options.json)


def _rewind(options: Options, out: Output, state: Path) -> int:
    """Put files back and take the prompts back; 1 if a file could not be restored."""
    from .rewind import rewind

    session = sessions.load(sessions.find(state, options.session), Path.cwd().resolve(), output.warn)
    session.open(output.warn)
    done = rewind(session, state, options.number)
    out.text("".join(f"{line}\n" for line in done))
    return 1 if any(line.startswith("not restored ") for line in done) else 0
