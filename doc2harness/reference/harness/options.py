"""The command line: flags in, a typed object out; every wrong one is a UsageError (exit 2)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .settings import MODES
from .types import UsageError

COMMANDS = """\
commands:
  harness [flags]                          talk on a terminal
  harness -p PROMPT [flags]                run one prompt without a terminal
  harness sessions list [--json]           the sessions, newest first
  harness sessions export ID [--format md|json]
  harness sessions delete ID
  harness rewind ID N                      put files back as they were before prompt N
  harness config show [--json]             every setting, its value and its source
  harness serve [--port P] [flags]         drive sessions over HTTP on the loopback

environment:
  HARNESS_BASE_URL, HARNESS_API_KEY        the model endpoint (chat completions)
  HARNESS_MODEL                            the model's name
  HARNESS_HOME                             the state folder (default ~/.harness)
  HARNESS_MANAGED_SETTINGS                 the managed settings file

exit codes: 0 done, 1 failed, 2 wrong flag, setting or input, 3 turn limit, 4 budget, 5 time limit,
            130 SIGINT, 143 SIGTERM, 141 closed output
"""


@dataclass
class Options:
    """What the command line said. `settings` holds what flags set, in the form of a settings file."""

    command: str = "run"
    prompt: str | None = None
    headless: bool = False
    output_format: str = "text"
    input_format: str = "text"
    max_turns: int | None = None
    max_cost: float | None = None
    timeout: float | None = None
    output_schema: str | None = None
    tools: list[str] | None = None
    system_append: str = ""
    mode: str | None = None
    trust: bool = False
    resume: str | None = None
    continue_: bool = False
    fork: bool = False
    persist: bool = True
    read_stdin: bool = True
    role: str | None = None
    debug: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    # of the commands
    session: str = ""
    number: int = 0
    json: bool = False
    format: str = "md"
    port: int = 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def parse(arguments: Sequence[str]) -> Options:
    """Read the argument list (without the program's name). Raises UsageError; --help and --version exit at once."""
    words = list(arguments)
    if words[:1] in (["sessions"], ["rewind"]):
        return _about_sessions(words)
    parser = _flags()
    command = "run"
    if words[:1] == ["serve"]:
        command, words = "serve", words[1:]
        parser.add_argument("--port", type=int, default=0, metavar="P")
    elif words[:1] == ["config"]:
        if words[1:2] != ["show"]:
            raise UsageError("config: there is only `config show`")
        command, words = "config show", words[2:]
        parser.add_argument("--json", action="store_true")
    else:
        parser.add_argument("words", nargs="?", metavar="PROMPT", help="the first prompt, on a terminal")
    given = vars(parser.parse_args(words))
    return _options(command, given)


def _options(command: str, given: dict[str, Any]) -> Options:
    prompt, first = given.pop("print"), given.pop("words", None)
    if prompt and first:
        raise UsageError(f"unrecognized argument: {first}")
    tools, mode = given.pop("tools"), given.pop("permission_mode")
    rules = {"mode": mode, **{key: given.pop(key) for key in ("allow", "ask", "deny")}, "dirs": given.pop("add_dir")}
    settings: dict[str, Any] = {"permissions": {key: value for key, value in rules.items() if value}}
    if model := given.pop("model"):
        settings["model"] = model
    options = Options(
        command=command,
        prompt=prompt or first,
        headless=prompt is not None,
        mode=mode,
        tools=None if tools is None else [name.strip() for name in tools.split(",") if name.strip()],
        settings=settings,
        **given,
    )
    _check(options)
    return options


def _flags() -> _Parser:
    from . import __version__

    parser = _Parser(
        prog="harness",
        description="A coding agent on the command line.",
        epilog=COMMANDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("-p", "--print", nargs="?", const="", metavar="PROMPT", help="run one prompt (or standard input) and leave")
    add("--model", metavar="NAME", help="model to ask")
    add("--permission-mode", choices=MODES, help="what runs without approval")
    add("--allow", action="append", default=[], metavar="RULE", help="allow what matches, this run only (repeatable)")
    add("--ask", action="append", default=[], metavar="RULE", help="always ask for what matches (repeatable)")
    add("--deny", action="append", default=[], metavar="RULE", help="refuse what matches (repeatable)")
    add("--tools", metavar="LIST", help="the built-in tools to offer, separated by commas; empty: none")
    add("--system-append", default="", metavar="TEXT", help="text added to the system message")
    add("--output-format", choices=("text", "json", "stream-json"), default="text", help="what stdout gets")
    add("--input-format", choices=("text", "stream-json"), default="text", help="how standard input is read")
    add("--max-turns", type=int, metavar="N", help="stop after N model replies (exit 3)")
    add("--max-cost", type=float, metavar="USD", help="stop when that much is spent (exit 4)")
    add("--timeout", type=float, metavar="SECONDS", help="stop after that long (exit 5)")
    add("--output-schema", metavar="FILE", help="JSON schema that the final text must fit")
    add("--add-dir", action="append", default=[], metavar="D", help="a further folder for the file tools (repeatable)")
    add("--trust", action="store_true", help="trust this folder's settings, hooks and servers for this run")
    add("--continue", dest="continue_", action="store_true", help="go on with this workspace's newest session")
    add("--resume", metavar="ID", help="go on with a session")
    add("--fork", action="store_true", help="with --resume or --continue: go on in a copy under a new id")
    add("--no-persist", dest="persist", action="store_false", help="keep no session file")
    add("--no-stdin", dest="read_stdin", action="store_false", help="leave standard input unread")
    add("--role", choices=("architect", "editor"), metavar="NAME", help="architect: one model plans, another edits")
    add("--debug", action="store_true", help="say on stderr what happens")
    add("--version", action="version", version=f"harness {__version__}")
    return parser


def _check(options: Options) -> None:
    """What argparse cannot say: ranges and combinations."""
    for flag, value in (
        ("--max-turns", options.max_turns),
        ("--max-cost", options.max_cost),
        ("--timeout", options.timeout),
    ):
        if value is not None and not value > 0:
            raise UsageError(f"{flag} must be more than 0")
    if options.command == "serve":
        if options.headless or options.resume or options.continue_ or not options.persist:
            raise UsageError("serve takes no prompt and no session: its clients choose them")
        if not 0 <= options.port <= 65535:
            raise UsageError("--port must be from 0 to 65535")
    if options.fork and not (options.resume or options.continue_):
        raise UsageError("--fork needs --resume or --continue")
    if options.resume and options.continue_:
        raise UsageError("--resume and --continue exclude each other")
    if options.input_format == "stream-json":
        if options.output_format != "stream-json":
            raise UsageError("--input-format stream-json needs --output-format stream-json")
        if not options.headless or options.prompt:
            raise UsageError("--input-format stream-json needs -p without a prompt")


def _about_sessions(words: list[str]) -> Options:
    parser = _Parser(prog="harness", allow_abbrev=False)
    kinds = parser.add_subparsers(dest="command", required=True)
    sessions = kinds.add_parser("sessions").add_subparsers(dest="action", required=True)
    sessions.add_parser("list").add_argument("--json", action="store_true")
    export = sessions.add_parser("export")
    export.add_argument("session", metavar="ID")
    export.add_argument("--format", choices=("md", "json"), default="md")
    sessions.add_parser("delete").add_argument("session", metavar="ID")
    rewind = kinds.add_parser("rewind")
    rewind.add_argument("session", metavar="ID")
    rewind.add_argument("number", metavar="N", type=int)
    given = vars(parser.parse_args(words))
    command = " ".join(given.pop(key) for key in ("command", "action") if key in given)
    return Options(command=command, **given)
