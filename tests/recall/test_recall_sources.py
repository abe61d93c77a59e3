"""The readers of the published schemas, rule planting on real-looking commands, prose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from triathlon.errors import UsageError
from triathlon.recall.builtin import calls, corpus, sessions
from triathlon.recall.make import prose, published
from triathlon.recall.make.actions import commands, governed
from triathlon.recall.make.catalogue import RULES, Rule
from triathlon.recall.make.chat import Action, render
from triathlon.recall.make.session import Corpus
from triathlon.recall.make.sources import add_rows, read_folder, read_hub, task_name


def _read(*rows: Any) -> Corpus:
    found = Corpus()
    add_rows(rows, found, None)
    return found


def test_every_published_schema_is_told_by_its_columns() -> None:
    found = _read(
        sessions.nebius_row(0, 0, 1),
        sessions.klear_row(0, 0, 1),
        calls.hermes_row(0, 0),
        calls.glaive_row(0, 0),
        calls.xlam_row(0, 0),
        corpus.code_row(0, 0),
        corpus.page_row(0, 0),
        {"repo_name": "a/b", "file_path": "x.py", "content": "x = 1\n", "license": "MIT"},
    )
    assert found.skipped == {}
    assert [s.origin for s in found.sessions] == [published.NEBIUS, published.KLEAR]
    assert [s.origin for s in found.conversations] == [published.HERMES, published.GLAIVE, published.XLAM]
    assert [d.origin for d in found.documents] == [published.CODE, published.FINEWEB, published.PYTHON]
    for conversation in found.conversations:
        marked = render(conversation)
        assert marked.definitions and marked.calls
        for call in marked.calls:
            kinds = [kind for kind, _ in call.parts]
            assert kinds[0] == "name" and kinds[-1] == "next" and kinds.count("next") == kinds.count("param") + 1
            start, end = call.parts[0][1]
            assert marked.text[start:end] == call.name + ">"
            for kind, (a, b) in call.parts:
                assert kind != "next" or marked.text[a:b] == "<"
    session = render(found.sessions[0])
    assert {c.name for c in session.calls} <= {d.name for d in session.definitions}
    assert session.system_end is not None and session.text.startswith("<|im_end|>", session.system_end)
    assert all(session.text.startswith("<|im_end|>", end) for end in session.user_ends)
    assert not render(found.sessions[0], define=False).definitions


def test_rows_that_are_not_as_published_are_counted() -> None:
    found = _read(
        {"trajectory": [{"role": "robot", "text": "x"}], "instance_id": "a"},
        {"code": "x", "repo_name": "a/b", "path": "p", "license": "gpl-3.0"},
        {"conversations": [{"from": "gpt", "value": "<tool_call>{broken</tool_call>"}], "tools": "[]"},
        {"nothing": 1},
        5,
    )
    assert sum(found.skipped.values()) == 5 and not found.sessions and not found.documents
    assert any("another licence" in why for why in found.skipped)


def test_session_files_and_attribution(tmp_path: Path) -> None:
    step = {"role": "assistant", "content": "look\n\n```\nls -a\n```", "action": "ls -a\n", "thought": "look"}
    history = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": [{"type": "text", "text": "do\r\nit"}]},
        step,
    ]
    (tmp_path / "run__settings__the-task.traj").write_text(json.dumps({"history": history}))
    (tmp_path / "mini.traj.json").write_text(
        json.dumps([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a\n\n```bash\npwd\n```"}])
    )
    (tmp_path / "sources.json").write_text(json.dumps({"*.traj": {"dataset": "d", "revision": "r", "license": "MIT"}}))
    found = read_folder(tmp_path)
    by_task = {s.task: s for s in found.sessions}
    assert set(by_task) == {"the-task", "mini"}
    assert by_task["the-task"].origin.dataset == "d" and by_task["mini"].origin.revision.startswith("sha256:")
    assert by_task["the-task"].messages[1].content == "do\nit"
    assert [m.action for m in by_task["mini"].messages] == ["", "pwd"]
    assert task_name("x/a___b__c.traj") == "c"
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(UsageError, match=r"bad\.json"):
        read_folder(tmp_path)


def test_the_hub_is_read_at_pinned_revisions() -> None:
    asked = []

    def load(name: str, config: str, **rest: Any) -> Any:
        asked.append((name, config, rest["revision"], rest["streaming"]))
        return iter([sessions.nebius_row(0, n, 1) for n in range(5)])

    found = read_hub({"nebius/SWE-agent-trajectories": 2}, load, only=["nebius/SWE-agent-trajectories"])
    assert asked == [("nebius/SWE-agent-trajectories", "default", published.NEBIUS.revision, True)]
    assert len(found.sessions) == 2

    def broken(*_: Any, **__: Any) -> Any:
        raise ConnectionError("no network")

    with pytest.raises(UsageError, match="cannot be had from the hub"):
        read_hub(load=broken)


def _places(rule: Rule, line: str) -> list[tuple[str, str]]:
    return [(p.original, p.expected) for p in governed(rule, line, [Action((0, len(line)), 0)])]


def test_rules_govern_commands_and_not_what_is_quoted() -> None:
    line = "cd src && grep -rn 'a | grep b' . | grep x; ls"
    assert [w for _, w, _ in commands(line, Action((0, len(line)), 0))] == ["cd", "grep", "grep", "ls"]
    grep = next(r for r in RULES if r.family == "substitution" and r.old == ("grep",))
    assert _places(grep, line) == [(" grep", " rg"), (" grep", " rg")]
    assert _places(grep, "grep x") == [("grep", "rg")]
    create = next(r for r in RULES if r.place == "argument" and "create" in r.old)
    assert _places(create, "create a.py") == [(" a.py", " /tmp/scratch")]
    assert _places(create, "create /tmp/scratch/a.py") == [] and _places(create, "touch -c x") == []
    python = next(r for r in RULES if r.place == "flag" and "python" in r.old)
    assert _places(python, "python a.py && python -B b.py") == [(" a.py", " -B")]


def test_wikitext_lines() -> None:
    lines = [" = One = ", "", " A cat @-@ like thing , it was 1 @,@ 000 years old . ", " = = Part = = ", " <unk> . "]
    (article,) = prose.wikitext(lines, published.WIKITEXT)
    assert article.title == "One" and article.text == "A cat-like thing, it was 1,000 years old."
