"""The judge: each expectation of a case against the four channels, one line for each that does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triathlon.harness.expect import Expect, OutputMatch, Seconds, Streams
from triathlon.harness.fresh import Fresh, UnknownPlaceholder
from triathlon.harness.judge_files import check_files
from triathlon.harness.judge_requests import check_requests, check_web
from triathlon.harness.match import NOTHING, Missing, Result, spoken, within
from triathlon.harness.match_text import check_text
from triathlon.harness.match_value import check_paths, check_value

if TYPE_CHECKING:
    from triathlon.harness.channels import Channels, HttpAnswer


@dataclass(frozen=True)
class Finding:
    """One expectation that did not hold. `channel` is requests, web, files, exit, output, seconds or run.

    `run` is what went wrong while the case was driven: an unforeseen request, a deadline, a step that found nothing.
    `negative` is true if the expectation says what must not be.
    """

    channel: str
    where: str
    wanted: str
    saw: str
    negative: bool = False

    def __str__(self) -> str:
        return f"{self.where}: wanted {self.wanted}; saw {self.saw}" if self.wanted else f"{self.where}: {self.saw}"


def judge(expect: Expect, channels: Channels, fresh: Fresh) -> list[Finding]:
    """What does not hold, problems of the run first; an empty list is a pass."""
    findings = [Finding("run", "run", "", " ".join(problem.split("\n"))) for problem in channels.problems]
    for result in results(expect, channels, fresh):
        if not result.held:
            channel = result.where.partition(".")[0]
            findings.append(Finding(channel, result.where, result.wanted, result.saw, result.negative))
    return list(dict.fromkeys(findings))


def only_late(findings: list[Finding], channels: Channels) -> bool:
    """Whether a deadline is all that failed: such a case is run once more, alone."""
    late = [f for f in findings if f.channel == "seconds"]
    if channels.late:
        return True
    return bool(findings) and len(late) == len(findings)


def results(expect: Expect, channels: Channels, fresh: Fresh) -> Iterator[Result]:
    """Every atomic expectation, held or not."""
    if expect.requests is not None:
        yield from _guarded("requests", check_requests(channels.requests, expect.requests, fresh))
    if expect.web is not None:
        yield from _guarded("web", check_web(channels.web, expect.web, fresh))
    if expect.files is not None:
        for path, match in expect.files.items():
            yield from _guarded(f"files.{path}", check_files(channels, {path: match}, fresh))
    for name, match_exit in (expect.exit or {}).items():
        yield _check_exit(name, channels.exits.get(name), name in channels.exits, match_exit.one_of, match_exit.not_)
    if expect.output is not None:
        yield from _guarded("output", _check_output(channels, expect.output, fresh))
    for seconds in expect.seconds or []:
        yield _check_seconds(channels.seconds.get(seconds.of), seconds)


def _guarded(where: str, checks: Iterator[Result]) -> Iterator[Result]:
    """A placeholder without a value makes what needs it fail, and what stands after it in the same channel."""
    try:
        yield from checks
    except UnknownPlaceholder as error:
        yield Result(where, f"a value for {{{{{error.name}}}}}", "none was captured", held=False)


def _check_exit(
    name: str, status: int | None, ran: bool, one_of: list[int] | None, none_of: list[int] | None
) -> Result:
    where = "exit" if name == "main" else f"exit.{name}"
    saw = str(status) if status is not None else "it had to be ended" if ran else "it was not started"
    wanted, held = [], status is not None
    if one_of is not None:
        wanted.append(" or ".join(map(str, one_of)))
        held = held and status in one_of
    if none_of is not None:
        wanted.append(f"not {' or '.join(map(str, none_of))}")
        held = held and status not in none_of
    return Result(where, ", ".join(wanted), saw, held)


def _check_output(channels: Channels, match: OutputMatch, fresh: Fresh) -> Iterator[Result]:
    yield from _check_streams("output", "main", channels, match, fresh)
    for name, streams in (match.model_extra or {}).items():
        yield from _check_streams(f"output.{name}", name, channels, streams, fresh)
    for name, wanted in match.http.items():
        where, answer = f"output.http.{name}", channels.http.get(name)
        if answer is None or answer.status is None:
            why = "no answer" if answer is None else answer.error or "no answer"
            yield Result(where, "an answer", why, held=False)
            continue
        if wanted.status is not None:
            held = within(wanted.status, answer.status)
            yield Result(f"{where}.status", spoken(wanted.status), f"{answer.status}: {answer.text[:100]!r}", held)
        for header, value in (wanted.headers or {}).items():
            yield from check_value(f"{where}.headers.{header}", _header(answer, header), value, fresh)
        if wanted.as_json is not None:
            body = answer.json if answer.json is not None else Missing(f"no JSON: {answer.text[:100]!r}")
            yield from check_paths(f"{where}.json", body, wanted.as_json, fresh)
        if wanted.body is not None:
            yield from check_text(f"{where}.body", answer.text, wanted.body, fresh)
    for name, paths in match.result.items():
        result = channels.results.get(name, Missing("no result"))
        yield from check_paths(f"output.result.{name}", result, paths, fresh)


def _header(answer: HttpAnswer, name: str) -> Any:
    return next((value for key, value in answer.headers.items() if key.lower() == name.lower()), NOTHING)


def _check_streams(where: str, name: str, channels: Channels, match: Streams, fresh: Fresh) -> Iterator[Result]:
    output = channels.outputs.get(name)
    for stream in ("stdout", "stderr", "screen"):
        wanted = getattr(match, stream)
        if wanted is None:
            continue
        text: str | Missing
        if output is None:
            text = Missing(f"{name} was not started")
        elif stream == "screen":
            text = Missing("no terminal") if output.screen is None else output.screen
        else:
            text = output.stdout_text if stream == "stdout" else output.stderr_text
        whole = output is None or stream not in output.cut
        yield from check_text(f"{where}.{stream}", text, wanted, fresh, whole)


def _check_seconds(seconds: float | None, match: Seconds) -> Result:
    where = "seconds" if match.of == "main" else f"seconds.{match.of}"
    bounds = [f"at least {match.min:g}"] if match.min is not None else []
    bounds += [f"at most {match.max:g}"] if match.max is not None else []
    held = (
        seconds is not None
        and (match.min is None or seconds >= match.min)
        and (match.max is None or seconds <= match.max)
    )
    return Result(where, f"{' and '.join(bounds)} s", "no end" if seconds is None else f"{seconds:.2f} s", held)
