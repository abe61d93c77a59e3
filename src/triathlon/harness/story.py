"""A case as a story for people: what is laid out, what is run, what the model says, what must be seen, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from triathlon.harness.case import Case, Suite, plain
from triathlon.harness.fixture import FixtureFile
from triathlon.harness.match import shorten, terse
from triathlon.harness.setup import Setup
from triathlon.harness.spec import Spec
from triathlon.harness.steps import DEADLINE, Start, Step
from triathlon.scripted.script import Call, Guard, Reply, Script

WIDE = 400


def story(case: Case, suite: Suite, spec: Spec | None) -> str:
    """The case or control as text, some twenty lines."""
    head = f"{case.id}  ({case.category}, {case.kind or (case.form or '').replace('_', '-') + ' control'})"
    lines = [head, f"  {case.about}", f"  {case.file}:{case.line}"]
    if case.origin is not None:
        lines.append(f"  from {_origin(case)}")
    for title, body in (
        ("Laid out", list(_laid_out(case.setup))),
        ("Run", list(_steps(case.steps))),
        ("The model says", list(_script(case.script))),
        ("Must be seen", list(_wanted(terse(plain(case.expect))))),
    ):
        lines += ["", f"{title}:", *(f"  {line}" for line in body or ["nothing"])]
    if case.role == "case":
        lines += ["", "Gated by:"]
        controls = suite.gating(case)
        lines += [f"  {c.id}  ({(c.form or '').replace('_', '-')}) {c.about}" for c in controls] or ["  no control"]
    lines += ["", "Decided by:", *(f"  {line}" for line in _clauses(case, spec))]
    return "\n".join(lines) + "\n"


def record(case: Case, suite: Suite, spec: Spec | None) -> dict[str, Any]:
    """The same as plain data."""
    return {
        **summary(case),
        "role": case.role,
        "form": case.form,
        "about": case.about,
        "file": str(case.file),
        "line": case.line,
        "sha256": case.sha256,
        "cite": list(case.cite),
        "clause_texts": {name: spec.clauses[name].text for name in case.clauses if spec and name in spec.clauses},
        **case.body,
        "control_bodies": {control.id: control.body for control in suite.gating(case)},
    }


def summary(case: Case) -> dict[str, Any]:
    """One case in a list."""
    return {
        "id": case.id,
        "group": case.group,
        "category": case.category,
        "kind": case.kind,
        "clauses": list(case.clauses),
        "origin": None if case.origin is None else plain(case.origin),
        "controls": list(case.controls),
    }


def _origin(case: Case) -> str:
    origin = case.origin
    if origin is None:
        return ""
    if origin.issue is not None:
        return f"the public report {', '.join(origin.issue)}"
    if origin.diff is not None:
        return f"a difference between {origin.diff[0]} and {origin.diff[1]}: {origin.feature}"
    if origin.vary is not None:
        return f"{origin.vary}, with another {case.changed or 'form'}"
    return f"clause {origin.spec} itself"


def _laid_out(setup: Setup) -> Iterator[str]:
    for place in ("workspace", "outside", "beside", "home", "state"):
        for path, file in getattr(setup, place).items():
            yield f"{place}/{path}  {_file(file)}"
    for source, value in plain(setup.settings).items() if setup.settings else ():
        yield f"{source} settings  {shorten(value, WIDE)}"
    if setup.git is not None:
        yield f"the workspace is a git repository  {shorten(plain(setup.git), WIDE)}".removesuffix("  {}")
    for name, stub in setup.stubs.items():
        yield f"command {name}  {shorten(plain(stub), WIDE)}"
    for host, pages in setup.web.items():
        for path, page in pages.items():
            yield f"http://{host}{path}  {shorten(plain(page), WIDE)}"
    for name, server in setup.servers.items():
        yield f"tool server {name}  {shorten(plain(server), WIDE)}"
    for name, text in setup.env.items():
        yield f"environment {name}  {'taken out' if text is None else shorten(text)}"
    if setup.readonly:
        yield "the workspace has no write bits"


def _file(file: FixtureFile) -> str:
    data = plain(file)
    more = "".join(f", {key} {data[key]}" for key in ("mode", "mtime") if key in data)
    if file.kind == "folder":
        return f"folder{more}"
    if file.kind == "link":
        return f"link to {file.link}"
    if file.text is not None:
        return shorten(file.text, WIDE) + more
    return shorten({k: v for k, v in data.items() if k not in ("mode", "mtime")}, WIDE) + more


def _steps(steps: tuple[Step, ...]) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        limit = f" (within {step.within:g} s)" if step.within != DEADLINE else ""
        if step.start is not None:
            yield f"{number}. start {_start(step.start)}"
        elif step.finish is not None:
            yield f"{number}. wait until {step.finish} has ended{limit}"
        else:
            value = plain(step)[step.kind]
            to = f" to {step.to}" if step.to != "main" else ""
            yield f"{number}. {step.kind.replace('_', ' ')} {shorten(value, WIDE)}{to}{limit}"


def _start(start: Start) -> str:
    name = f"{start.name}: " if start.name != "main" else ""
    if start.driver == "api":
        return f"{name}Agent(workspace=..., **{json.dumps(start.settings)}).run({start.prompt!r})"
    words = ["harness"]
    if start.args is not None:
        words += start.args
    else:
        words += ["serve", "--port", "0"] if start.driver == "serve" else []
        words += ["-p", start.prompt] if start.prompt is not None else []
        words += start.flags
    where = {"terminal": " on a terminal"}.get(start.driver, "")
    stdin = plain(start).get("stdin")
    more = f", stdin {shorten(stdin, WIDE)}" if stdin and stdin != {"kind": "closed"} else ""
    more += f", in {start.cwd}" if start.cwd else ""
    more += f", with {shorten(start.env)}" if start.env else ""
    return f"{name}`{' '.join(_quoted(word) for word in words)}`{where}{more}"


def _quoted(word: str) -> str:
    return word if word and all(c.isalnum() or c in "-_./:=,{}@+" for c in word) else repr(word)


def _script(script: Script) -> Iterator[str]:
    for name, lane in script.lanes.items():
        if len(script.lanes) > 1:
            yield f"lane {name}" + (f", for requests with {_guard(lane.when)}" if lane.when else "")
        for number, reply in enumerate(lane.replies, 1):
            yield f"{number}. {_reply(reply)}"


def _guard(guard: Guard) -> str:
    return shorten(plain(guard), WIDE)


def _reply(reply: Reply) -> str:
    said = []
    if reply.reasoning is not None:
        said.append(f"thinks {shorten(reply.reasoning)}")
    if reply.say is not None:
        said.append(f"says {shorten(reply.say, WIDE)}")
    said += [f"calls {_call(call)}" for call in reply.tool_calls]
    if reply.nothing:
        said.append("says nothing")
    if reply.status is not None:
        said.append(f"answers with HTTP {reply.status}")
    data = plain(reply)
    for key in ("error", "body", "retry_after", "headers", "finish", "usage", "fault", "delay", "times", "optional"):
        if key in data:
            said.append(f"{key} {shorten(data[key], WIDE)}")
    first = f"if the request has {_guard(reply.when)}: " if reply.when else ""
    before = "".join(f"after {shorten(plain(action), WIDE)}, " for action in reply.do)
    return f"{first}{before}{', '.join(said)}"


def _call(call: Call) -> str:
    given = shorten(call.args, WIDE) if call.args is not None else f"the raw arguments {shorten(call.raw, WIDE)}"
    return f"{call.tool} {given}" + (f" (id {call.id})" if call.id else "")


def _wanted(value: Any, path: str = "") -> Iterator[str]:
    """Expectations as dotted paths, one a line."""
    if isinstance(value, dict) and value and path.count(".") < 6:
        for key, item in value.items():
            yield from _wanted(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for item in value:
            yield f"{path}: {shorten(item, WIDE)}"
    else:
        yield f"{path}: {shorten(value, WIDE)}"


def _clauses(case: Case, spec: Spec | None) -> Iterator[str]:
    for words in case.cite:
        yield f"“{' '.join(words.split())}”"
    for name in case.clauses:
        text = " ".join(spec.clauses[name].text.split()) if spec is not None and name in spec.clauses else ""
        yield f"{name}  {text}".rstrip()
