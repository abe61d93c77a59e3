"""`harness -p`: one prompt, or one a line, without a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import output, prompts, signals, stdin
from .conversation import Conversation
from .opening import open_session
from .options import Options
from .output import Output
from .sources import load_json
from .turn import ENDS, INTERRUPTED, Outcome, check_prices, failure, run_turn
from .types import Cancel, Interrupted, Stop, UsageError
from .workplace import Workplace


def run(options: Options) -> int:
    """Run to the end and return the exit code."""
    cancel = Cancel()
    signals.heed(cancel)
    signals.after(options.timeout, cancel)
    out = Output(cancel)
    try:
        return _run(options, cancel, out)
    except UsageError:
        raise
    except Stop as stop:
        return _report(options, out, Outcome(stop.code, failure(stop.subtype, stop.message)))
    except Interrupted as end:
        code, subtype, words = ENDS.get(str(end), INTERRUPTED)
        return _report(options, out, Outcome(code, failure(subtype, words)))


def _run(options: Options, cancel: Cancel, out: Output) -> int:
    session = open_session(options, Path.cwd().resolve(), output.warn)
    place = Workplace(session.workspace, options, output.warn)
    conv = place.conversation(session, _emitter(options, out))
    conv.context.cancel = cancel
    conv.output_schema = _schema(options)
    check_prices(conv, options.max_cost)
    try:
        if options.input_format == "stream-json":
            return _several(conv, options, out)
        prompt = _prompt(options, cancel)
        prompts.check(conv, prompt)
        return _report(options, out, run_turn(conv, prompt, options.max_cost))
    finally:
        conv.end()
        place.close()


def _several(conv: Conversation, options: Options, out: Output) -> int:
    """One prompt a line of stdin; the exit code is that of the last."""
    code = None
    for line in stdin.lines(conv.context.cancel):
        if not line.strip():
            continue
        try:
            prompt = _line(line)
            prompts.check(conv, prompt)
        except UsageError as error:
            out.line({"type": "error", "message": error.message})
            raise
        code = _report(options, out, run_turn(conv, prompt, options.max_cost))
        conv.context.cancel.check()
    if code is None:
        raise UsageError("no prompt on standard input")
    return code


def _line(line: str) -> str:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise UsageError(f"a line of standard input is not JSON: {error}") from error
    if not isinstance(message, dict) or message.get("type") != "user" or not isinstance(message.get("text"), str):
        raise UsageError('a line of standard input is not {"type": "user", "text": TEXT}')
    return str(message["text"])


def _prompt(options: Options, cancel: Cancel) -> str:
    """The prompt and what was piped in after it."""
    given = options.prompt or ""
    piped = stdin.text(cancel, have_prompt=bool(given.strip())) if options.read_stdin else ""
    if given.strip() and piped.strip():
        return given + "\n\n" + piped.rstrip("\r\n")
    prompt = given if given.strip() else piped.rstrip("\r\n")
    if not prompt.strip():
        raise UsageError("there is no prompt: give one with -p or on standard input")
    return prompt


def _schema(options: Options) -> dict[str, Any] | None:
    if options.output_schema is None:
        return None
    schema = load_json(Path(options.output_schema))
    if not isinstance(schema, dict):
        raise UsageError(f"--output-schema: {options.output_schema} is not a file with a JSON schema")
    return schema


def _emitter(options: Options, out: Output) -> Any:
    """Events go to stdout in stream-json; `init` comes once."""
    introduced = False

    def emit(event: dict[str, Any]) -> None:
        nonlocal introduced
        if options.output_format == "stream-json" and not (introduced and event["type"] == "init"):
            introduced = introduced or event["type"] == "init"
            out.line(event)

    return emit


def _report(options: Options, out: Output, outcome: Outcome) -> int:
    """Say how it ended, in the format that was asked for."""
    if outcome.code == 141:
        return outcome.code
    if outcome.code:
        output.complain(outcome.text)
    if options.output_format != "text":
        out.line(outcome.result)
    elif not outcome.code:
        out.text(outcome.text if outcome.text.endswith("\n") else outcome.text + "\n")
    return outcome.code
