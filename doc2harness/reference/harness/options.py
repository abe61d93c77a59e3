"""The command line: words in, a typed object out; whatever is wrong is a UsageError (exit 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .flags import Flag, listing, read
from .settings import MODES
from .types import UsageError

HELP = """\
A coding agent on the command line.

commands:
  harness [PROMPT] [flags]                 talk on a terminal
  harness -p [PROMPT] [flags]              run one prompt without a terminal
  harness sessions list [--json]           the sessions, newest first
  harness sessions export ID [--format md|json]
  harness sessions delete ID
  harness rewind ID N                      put files back as they were before prompt N
  harness config show [--json]             every setting, its value and its source
  harness serve [--port P] [flags]         drive sessions over HTTP on this machine

flags:
{flags}

environment:
  HARNESS_BASE_URL, HARNESS_API_KEY        the model endpoint (chat completions)
  HARNESS_MODEL                            the model's name
  HARNESS_HOME                             the state folder (default ~/.harness)
  HARNESS_MANAGED_SETTINGS                 the managed settings file

exit codes: 0 done, 1 failed, 2 wrong flag, setting or input, 3 turn limit, 4 budget, 5 time limit,
            130 SIGINT, 141 closed output, 143 SIGTERM"""

FLAGS = (
    Flag(("-p", "--print"), "optional", "[PROMPT]", "run one prompt, or standard input, and leave"),
    Flag(("--model",), "text", "NAME", "model to ask"),
    Flag(("--permission-mode",), "text", "MODE", f"what runs without approval: {', '.join(MODES)}", MODES),
    Flag(("--allow",), "texts", "RULE", "allow what matches, in this run (repeatable)"),
    Flag(("--ask",), "texts", "RULE", "always ask for what matches (repeatable)"),
    Flag(("--deny",), "texts", "RULE", "refuse what matches (repeatable)"),
    Flag(("--tools",), "text", "LIST", "the built-in tools to offer, parted by commas; empty: none"),
    Flag(("--system-append",), "text", "TEXT", "text added to the system message"),
    Flag(("--output-format",), "text", "FORMAT", "stdout: text, json or stream-json", ("text", "json", "stream-json")),
    Flag(("--input-format",), "text", "FORMAT", "stdin: text or stream-json", ("text", "stream-json")),
    Flag(("--max-turns",), "whole", "N", "stop after N model replies (exit 3)"),
    Flag(("--max-cost",), "number", "USD", "stop when more than that is spent (exit 4)"),
    Flag(("--timeout",), "number", "SECONDS", "stop after that long (exit 5)"),
    Flag(("--output-schema",), "text", "FILE", "JSON schema that the final text must fit"),
    Flag(("--add-dir",), "texts", "D", "a further folder for the file tools (repeatable)"),
    Flag(("--trust",), help="trust this folder's settings, hooks and servers in this run"),
    Flag(("--continue",), help="go on with this workspace's newest session"),
    Flag(("--resume",), "text", "ID", "go on with a session"),
    Flag(("--fork",), help="with --resume or --continue: go on in a copy under a new id"),
    Flag(("--no-persist",), help="keep no session file"),
    Flag(("--no-stdin",), help="leave standard input unread"),
    Flag(("--role",), "text", "NAME", "architect: one model plans, another edits; or editor", ("architect", "editor")),
    Flag(("--debug",), help="say on stderr what happens"),
    Flag(("--version",), help="print the version"),
    Flag(("--help",), help="print this"),
)
JSON = Flag(("--json",), help="print JSON")
PORT = Flag(("--port",), "whole", "P", "the port to listen on; 0: any free one")
FORMAT = Flag(("--format",), "text", "FORMAT", "md or json", ("md", "json"))


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


def parse(words: Sequence[str]) -> Options:
    """Read the argument list (without the program's name). Raises UsageError."""
    match list(words):
        case ["sessions", "list", *rest]:
            return Options("sessions list", **read(rest, [JSON]))
        case ["sessions", "export", *rest]:
            return _about_session("sessions export", rest, [FORMAT])
        case ["sessions", "delete", *rest]:
            return _about_session("sessions delete", rest, [])
        case ["rewind", *rest]:
            return _about_session("rewind", rest, [], "number")
        case ["config", "show", *rest]:
            return _options("config show", read(rest, [*FLAGS, JSON]))
        case ["sessions" | "config" as command, *_]:
            raise UsageError(f"`harness {command}` needs a word that --help lists after it")
        case ["serve", *rest]:
            return _options("serve", read(rest, [*FLAGS, PORT]))
        case rest:
            return _options("run", read(rest, FLAGS, ["prompt"]))


def help_text() -> str:
    """What `--help` prints."""
    return HELP.format(flags=listing(FLAGS))


def _about_session(command: str, words: Sequence[str], flags: Sequence[Flag], *more: str) -> Options:
    wanted = ["session", *more]
    given = read(words, flags, wanted)
    if not all(name in given for name in wanted):
        raise UsageError(f"`harness {command}` needs {' and '.join('ID' if w == 'session' else 'N' for w in wanted)}")
    if "number" in given:
        if not given["number"].isdecimal():
            raise UsageError(f"rewind: {given['number']} is not the number of a prompt")
        given["number"] = int(given["number"])
    return Options(command, **given)


def _options(command: str, given: dict[str, Any]) -> Options:
    for name in ("version", "help"):
        if given.pop(name, False):
            return Options(name)
    headless = "print" in given
    asked, first = given.pop("print", None), given.pop("prompt", None)
    if asked and first:
        raise UsageError(f"unknown word {first}")
    tools, mode = given.pop("tools", None), given.pop("permission_mode", None)
    permissions = {"mode": mode, "dirs": given.pop("add_dir", [])}
    permissions |= {kind: given.pop(kind, []) for kind in ("allow", "ask", "deny")}
    settings: dict[str, Any] = {"permissions": {key: value for key, value in permissions.items() if value}}
    if model := given.pop("model", None):
        settings["model"] = model
    options = Options(
        command,
        prompt=asked or first,
        headless=headless,
        mode=mode,
        tools=None if tools is None else [name.strip() for name in tools.split(",") if name.strip()],
        settings=settings,
        continue_=given.pop("continue", False),
        persist=not given.pop("no_persist", False),
        read_stdin=not given.pop("no_stdin", False),
        **given,
    )
    _check(options)
    return options


def _check(options: Options) -> None:
    """Ranges and combinations."""
    limits = {"--max-turns": options.max_turns, "--max-cost": options.max_cost, "--timeout": options.timeout}
    for flag, value in limits.items():
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
