"""Asking: resumable, every sample has a status, the labels stay hidden, numbers are defined or said to be undefined."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from triathlon.errors import NothingToDo, UsageError
from triathlon.oolong import items as shipped_items
from triathlon.oolong import models, numbers, prompts
from triathlon.oolong.agents import PromptAgent, Reply, check_guard
from triathlon.oolong.answers import Answers, judge, read, rescore
from triathlon.oolong.choose import Choice, check, choose, from_environment
from triathlon.oolong.gateway import Gateway
from triathlon.oolong.make import make
from triathlon.oolong.models import Completion, Usage
from triathlon.oolong.run import Condition, Limits, run
from triathlon.oolong.windows import RealRow, Row

ROWS: list[Row | RealRow] = [row for source in shipped_items.shipped() for row in make(source, 1024, seed=5)]
CONDITION = Condition("simulated/oracle", "prompt", "plain", False, True)
NAMES: dict[str, Any] = {
    "condition": "c",
    "model": "m",
    "agent": "a",
    "profile": "plain",
    "labels": False,
    "simulated": True,
}


def _ask(path: Path, rows: Sequence[Row | RealRow], limits: Limits = Limits(retries=0)) -> tuple[int, int]:  # noqa: B008
    answers = Answers(path)
    try:
        agent = PromptAgent(models.open_model("simulated/oracle"), prompts.profile("plain"))
        ran = run(rows, agent, CONDITION, answers, limits=limits, in_flight=4)
    finally:
        answers.close()
    return ran.asked, ran.from_file


def test_the_same_command_goes_on_and_a_cut_line_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert _ask(path, ROWS[:6]) == (6, 0)
    assert _ask(path, ROWS[:8]) == (2, 6)
    path.write_bytes(path.read_bytes()[:-20])
    assert _ask(path, ROWS[:8]) == (1, 7)
    assert {record["status"] for record in read(path)} == {"ok"}


def test_a_token_limit_stops_and_keeps_what_was_answered(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    asked, _ = _ask(path, ROWS[:20], Limits(tokens=1, retries=0))
    assert 1 <= asked < 20
    assert len(list(read(path))) == asked


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply(None, "timeout", error="late"), "timeout"),
        (Reply(None, "error", error="x"), "error"),
        (Reply("", "content_filter"), "refused"),
        (Reply("Answer: 1", "length"), "truncated"),
        (Reply("  "), "empty"),
        (Reply("no idea at all about any of this"), "unparsed"),
        (Reply("Label: nothing"), "wrong"),
    ],
)
def test_every_sample_has_a_status_and_stays_in_the_denominator(reply: Reply, status: str) -> None:
    answer = judge(ROWS[0], reply, **NAMES)
    assert (answer.status, answer.score) == (status, 0.0)


def test_rescoring_asks_nobody_and_changes_nothing_that_was_right(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    _ask(path, ROWS[:4])
    for record in read(path):
        assert rescore(record) == record


def test_an_ordinary_run_never_shows_labels() -> None:
    row = ROWS[0]
    assert isinstance(row, Row)
    leaking = replace(row, context_window_text=row.context_window_text_with_labels)
    with pytest.raises(UsageError, match="Label"):
        check_guard(leaking, leaking.context_window_text)
    check_guard(row, row.context_window_text, row.question)


def test_rows_are_spread_over_windows_and_kinds() -> None:
    chosen = choose(ROWS, Choice(per_source=10))
    for source in ("desk", "outdoors"):
        mine = [row for row in chosen if row.dataset == source]
        assert len(mine) == 10
        assert len({row.window for row in mine}) == 2
        assert len({(row.task_group, row.task, row.answer_type) for row in mine}) >= 8
    assert len(choose(ROWS, Choice(per_source=0))) == len(ROWS)
    with pytest.raises(NothingToDo):
        choose(ROWS, Choice(lengths=(4096,)))
    with pytest.raises(UsageError, match="unknown source"):
        check(Choice(sources=("spma",)))


def test_environment_variables_of_the_port() -> None:
    assert from_environment({"OOLONG_MAX_PER_DATASET": "0", "OOLONG_CONTEXT_LEN": "1024"}) == {
        "per_source": 0,
        "length": 1024,
    }
    with pytest.raises(UsageError, match="OOLONG_CONTEXT_LEN"):
        from_environment({"OOLONG_CONTEXT_LEN": "1k"})
    assert models.resolve(None, {"EVAL_RUNNER": "sonnet-4-5"}).startswith("anthropic/")
    for name, environ in ((None, {}), (None, {"EVAL_RUNNER": "x"}), ("x", {}), ("simulated/x", {})):
        with pytest.raises(UsageError, match="known"):
            models.resolve(name, environ)


def test_numbers_are_defined_or_undefined() -> None:
    records = [{"id": str(i), "dataset": "d", "window": str(i % 3), "score": float(i % 2)} for i in range(12)]
    found = numbers.mean(records)
    assert found is not None and found.value == 0.5 and found.low is not None
    alone = numbers.mean(records[:1])
    assert alone is not None and alone.low is None
    assert numbers.mean([]) is None
    assert numbers.difference(records, []) is None
    assert numbers.matrix({("a", "m"): records})["shares"] is None
    better = [record | {"score": 1.0} for record in records]
    grid = numbers.matrix({("a", "m"): records, ("a", "n"): better, ("b", "m"): records, ("b", "n"): better})
    assert grid["shares"]["model"] == pytest.approx(1.0) and grid["shares"]["agent"] == pytest.approx(0.0)
    same = numbers.matrix({(a, m): records for a in "ab" for m in "mn"})
    assert same["shares"] is None


def _post(port: int, body: bytes) -> tuple[int, bytes]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_the_gateway_answers_whole_and_streamed_and_keeps_errors() -> None:
    def complete(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Completion:
        if messages[0]["content"] == "fail":
            raise RuntimeError("no such model")
        return Completion("hello", (), "stop", Usage(1, 3, 1))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        gateway = Gateway(listener, complete, max_calls=2)
        gateway.start()
        port = listener.getsockname()[1]
        ask = {"messages": [{"role": "user", "content": "hi"}]}
        status, whole = _post(port, json.dumps(ask).encode())
        assert status == 200 and json.loads(whole)["choices"][0]["message"]["content"] == "hello"
        status, stream = _post(port, json.dumps(ask | {"stream": True}).encode())
        assert status == 200 and b'"hello"' in stream and stream.endswith(b"data: [DONE]\n\n")
        assert _post(port, b"nonsense")[0] == 400
        status, said = _post(port, json.dumps(ask).encode())
        assert status == 400 and b"call_limit" in said
        gateway.stop()
    assert (gateway.usage.calls, gateway.errors) == (2, [])
