"""Made-up suites and stores: as many candidates and cases as a test wants, and no sandbox."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from triathlon.harness.case import Case, Suite
from triathlon.harness.load import load_suite
from triathlon.population.read import unit_hash
from triathlon.store import Key, Row, Store

CATEGORIES = ("permissions", "files", "session", "headless")
NASTY = '</script><img src=x onerror="alert(1)"> & \u2028 \U0001f600'


def suite(root: Path, groups: int = 4, cases: int = 3) -> Suite:
    """A suite of `groups` files; each has a control that gates its first case, the rest are ungated."""
    for g in range(groups):
        lines = [f"group: g{g}", f"about: Group {g} <of> many & more.", "clauses: [PERM-01]", "controls:"]
        lines += _arm("control", "same_form: true")
        lines += ["cases:"]
        for c in range(cases):
            gates = "[control]" if c == 0 else "[]"
            kind = "boundary" if c % 2 else "ordinary"
            origin = "{issue: 'anomalyco/opencode#1'}" if c == 0 else "{spec: PERM-01}"
            lines += _arm(f"c{c}", f"kind: {kind}", f"origin: {origin}", f"controls: {gates}")
        file = root / CATEGORIES[g % len(CATEGORIES)] / f"g{g}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")
    return load_suite(root, ("PERM-01",))


def _arm(name: str, *more: str) -> list[str]:
    return [
        f"  - id: {name}",
        *(f"    {line}" for line in more),
        "    run: {prompt: go}",
        "    script: [{call: {read: {path: a.txt}}}, {say: done}]",
        "    expect: {requests: {last: {tool_result: {not_contains: hidden}}}}",
    ]


def row(unit: Case, candidate: str, passed: bool, started: str = "2026-11-01T00:00:00.000+00:00", **key: Any) -> Row:
    """One verdict. The tree's hash follows from the name."""
    given = {"tree": f"{abs(hash_of(candidate)):064x}", "runner": "r" * 64, "protocol": "p" * 64, "root": "o" * 64}
    given |= {"provider": "namespaces", "seed": 0, "repetition": 1} | key
    findings = (
        ()
        if passed
        else (
            {
                "channel": "requests",
                "where": "requests.last.tool_result",
                "wanted": "not contains 'hidden'",
                "saw": "hidden " + NASTY,
                "negative": True,
            },
        )
    )
    return Row(
        key=Key(case=unit_hash(unit), **given),
        candidate=candidate,
        case_id=unit.id,
        category=unit.category,
        kind=unit.kind or "control",
        passed=passed,
        late=False,
        reasons=() if passed else (f"requests.last.tool_result: wanted not contains 'hidden'; saw 'hidden {NASTY}'",),
        findings=findings,
        seconds=0.5,
        cpu_s=0.1,
        started=started,
        spec="1.0.0",
        suite="s",
        facts={"triathlon": "0.1.0", "non_standard": [], "root": "o" * 64},
    )


def hash_of(name: str) -> int:
    """The same number in every process for a name."""
    return random.Random(name).getrandbits(255)


def channels(text: str = NASTY, size: int = 0) -> dict[str, bytes]:
    """What a sandbox would have left: two requests, two files, an exit, an output."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are."}, {"role": "user", "content": "go"}]
    later = [
        *messages,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.txt"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "hidden " + text + "x" * size},
    ]
    requests = [
        {
            "index": i + 1,
            "lane": "main",
            "reply": i + 1,
            "time": 0.1,
            "method": "POST",
            "path": "/v1/chat/completions",
            "headers": {"authorization": "Bearer k"},
            "answered": "say",
            "stream": True,
            "done": 0.2,
            "left": None,
            "raw": json.dumps({"model": "default", "messages": m, "tools": []}),
        }
        for i, m in enumerate((messages, later))
    ]
    files = [
        {"name": "workspace/a.txt", "state": "changed", "kind": "file", "mode": "0o644", "text": text, "size": 3},
        {"name": "workspace/b.bin", "state": "new", "kind": "file", "mode": "0o644", "base64": "AP8="},
        {"name": "workspace/old", "state": "gone"},
    ]
    output = [{"of": "main", "part": "stdout", "text": "done \udcff\n", "cut": False}]
    return {
        name: json.dumps({"cut": False, "left_out": 0, "items": items}).encode("ascii")
        for name, items in (
            ("requests", requests),
            ("files", files),
            ("exit", [{"of": "main", "exit": 0, "seconds": 0.4}]),
            ("output", output),
        )
    }


def fill(
    path: Path,
    cases: Suite,
    candidates: Mapping[str, float],
    verdict: Callable[[str, Case], bool] | None = None,
    kept: Mapping[str, bytes] | None = None,
) -> Path:
    """A store in which each candidate passes each unit with its probability, or as `verdict` says."""
    kept = channels() if kept is None else kept
    with Store(path) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        for name, share in candidates.items():
            luck = random.Random(name)
            for unit in (*cases.controls.values(), *cases.cases):
                lucky = luck.random() < (0.95 if unit.role == "control" else share)
                store.put(row(unit, name, verdict(name, unit) if verdict else lucky), kept)
    return path
