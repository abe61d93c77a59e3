"""The scripted model as a whole: strictness, the journal, actions, ids, and its end."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from scripted_help import USER, Served, call, calls, message, request_bytes, result

from triathlon.scripted import server
from triathlon.scripted.script import Action, parse_script
from triathlon.scripted.server import ScriptedModel

Serve = Callable[..., Served]


def test_a_foreseen_run_has_no_problems(serve: Serve) -> None:
    served = serve([{"call": {"read": {"path": "a"}}}, {"say": "done", "when": {"has_tool_result": True}}])
    status, headers, body = served.post()
    assert (status, headers["content-type"], headers["x-request-id"]) == (200, "application/json", "req_1")
    answer = json.loads(body)
    assert (answer["id"], answer["created"], answer["model"]) == ("chatcmpl-1", 1735689600, "m")
    assert message(body)["tool_calls"] == [call("call_1", '{"path":"a"}')]
    _, _, body = served.post([USER, calls("call_1"), result("call_1")], tools=[])
    assert message(body)["content"] == "done"
    model = served.stop()
    assert model.problems == [] and model.left_over == [] and model.notes == []
    first, second = model.journal
    assert (first.index, first.lane, first.reply, first.answered) == (1, "main", 1, "calls read")
    assert (second.index, second.reply, second.answered, second.method) == (2, 2, "say", "POST")
    assert second.path == "/v1/chat/completions" and second.headers["content-type"] == "application/json"
    assert json.loads(second.raw) == second.body
    assert second.tool_results == [("call_1", "ok")]
    assert 0 <= first.time <= (first.done or -1) <= second.time


def test_what_is_left_over_is_a_problem(serve: Serve) -> None:
    model = serve([{"say": "x"}, {"say": "y", "optional": True}]).stop()
    assert model.problems == ["left over: lane main: reply 1 of 2 was never asked for: say"]
    model.stop()
    assert len(model.problems) == 1


def test_one_request_too_many(serve: Serve) -> None:
    served = serve([{"say": "x"}])
    assert [served.post()[0] for _ in range(2)] == [200, 400]
    model = served.stop()
    assert model.problems == ["request 2, unforeseen: lane main: all 1 replies are used up"]
    assert (model.journal[1].lane, model.journal[1].reply) == ("main", None)


def test_many_problems_are_counted_not_listed(serve: Serve) -> None:
    served = serve([])
    for _ in range(server.MAX_PROBLEMS + 5):
        served.post()
    model = served.stop()
    assert len(model.journal) == server.MAX_PROBLEMS + 5
    assert len(model.problems) == server.MAX_PROBLEMS + 1
    assert model.problems[-1] == "and 5 more of this kind"


def test_the_journal_is_bounded(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_REQUESTS", 2)
    served = serve([{"say": "x", "times": "forever"}])
    assert [served.post()[0] for _ in range(4)] == [200, 200, 400, 400]
    model = served.stop()
    assert len(model.journal) == 2
    assert "than the journal holds" in model.problems[0]


def test_a_small_body_that_is_large_in_memory_counts_as_large(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_JOURNAL", 5_000_000)
    served = serve([])
    assert served.send(b"[" + b"[]," * 100_000 + b"[]]")[0] == 400
    assert served.stop().journal == []


@pytest.mark.parametrize(
    ("reply", "status", "headers", "error"),
    [
        ({"status": 429}, 429, {}, {"code": "rate_limit_exceeded", "type": "rate_limit_error"}),
        ({"status": 429, "retry_after": 1}, 429, {"retry-after": "1"}, {}),
        ({"status": 429, "retry_after": 0.5}, 429, {"retry-after": "0.5"}, {}),
        ({"status": 503, "retry_after": "soon"}, 503, {"retry-after": "soon"}, {"code": "server_error"}),
        ({"status": 529}, 529, {}, {"type": "overloaded_error"}),
        ({"status": 418}, 418, {}, {"type": "api_error"}),
        ({"status": 400, "error": {"code": "context_length_exceeded"}}, 400, {}, {"code": "context_length_exceeded"}),
        ({"status": 500, "error": {"message": "m", "type": "t", "code": 7}}, 500, {}, {"message": "m", "code": 7}),
        ({"status": 401, "headers": {"X-A": "b"}}, 401, {"x-a": "b"}, {"code": "invalid_api_key"}),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_statuses(
    serve: Serve, reply: Any, status: int, headers: dict[str, str], error: dict[str, Any], stream: bool
) -> None:
    served = serve([reply])
    got = served.post(stream=stream)
    assert got[0] == status and got[1]["content-type"] == "application/json"
    assert headers.items() <= got[1].items()
    assert error.items() <= json.loads(got[2])["error"].items()
    model = served.stop()
    assert model.problems == [] and model.journal[0].answered == f"status {status}"


def test_a_raw_body(serve: Serve) -> None:
    served = serve([{"status": 502, "body": "<h1>bad</h1>", "headers": {"content-type": "text/html"}}])
    status, headers, body = served.post()
    assert (status, headers["content-type"], body) == (502, "text/html", b"<h1>bad</h1>")


def test_usage_is_counted_or_given(serve: Serve) -> None:
    served = serve([{"say": "x" * 9}, {"say": "x", "usage": {"input": 900_000, "output": -3, "cached": 5}}])
    data = json.dumps({"model": "m", "messages": [USER]}).encode()
    usage = json.loads(served.send(data)[2])["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (-(-len(data) // 4), 3)
    assert usage["total_tokens"] == usage["prompt_tokens"] + 3
    usage = json.loads(served.send(data)[2])["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (900_000, -3, 899_997)
    assert usage["prompt_tokens_details"] == {"cached_tokens": 5}


def test_ids_follow_the_lane_and_the_script(serve: Serve) -> None:
    script = {
        "lanes": {
            "kid": {
                "when": {"contains": "kid"},
                "replies": [{"calls": [{"a": {}}, {"tool": "b", "args": {}, "id": "z"}, {"c": {}}]}],
            },
            "main": {"replies": [{"call": {"a": {}}, "times": 2}]},
        }
    }
    served = serve(script)
    kid = [{"role": "user", "content": "kid"}]
    ids = [[c["id"] for c in message(served.post(m)[2])["tool_calls"]] for m in ([USER], kid, [USER])]
    assert ids == [["call_1"], ["call_kid_1", "z", "call_kid_3"], ["call_2"]]


def test_placeholders_are_filled_in_when_the_reply_goes_out(serve: Serve) -> None:
    words = {"w": "early"}

    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{{w}}", words["w"])
        if isinstance(value, dict):
            return {key: fill(item) for key, item in value.items()}
        return [fill(item) for item in value] if isinstance(value, list) else value

    served = serve(
        [
            {"say": "{{w}}", "reasoning": "r {{w}}", "calls": [{"t": {"a": ["{{w}}"]}}, {"tool": "u", "raw": "{{w}}"}]},
            {"status": 400, "error": {"message": "{{w}}"}, "headers": {"X-W": "{{w}}"}},
            {"status": 500, "body": "{{w}}"},
            {"say": ["a {{w}}"], "when": {"contains": "{{w}}"}},
        ],
        fill=fill,
    )
    words["w"] = "late"
    first = message(served.post()[2])
    assert (first["content"], first["reasoning_content"]) == ("late", "r late")
    assert [c["function"]["arguments"] for c in first["tool_calls"]] == ['{"a":["late"]}', "late"]
    _, headers, body = served.post()
    assert headers["x-w"] == "late" and json.loads(body)["error"]["message"] == "late"
    assert served.post()[2] == b"late"
    assert message(served.post([{"role": "user", "content": "so late"}])[2])["content"] == [
        {"type": "text", "text": "a late"}
    ]
    assert served.stop().problems == []


def test_a_fill_that_fails_is_our_fault_and_no_problem(serve: Serve) -> None:
    def fill(value: Any) -> Any:
        raise KeyError("captured")

    served = serve([{"say": "x"}], fill=fill)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        served.post()
    served.model.stop()
    assert [type(e) for e in served.model.errors] == [KeyError]
    assert served.model.problems == []


def test_actions_are_done_before_the_reply_and_hold_nobody_else_up(serve: Serve) -> None:
    done: list[Action] = []
    go = threading.Event()

    def act(action: Action) -> None:
        assert action.release is None or go.wait(10)
        done.append(action)

    script = {
        "lanes": {
            "slow": {"when": {"contains": "slow"}, "replies": [{"say": "s", "do": [{"touch": "a"}, {"release": "x"}]}]},
            "main": {"replies": [{"say": "m"}]},
        }
    }
    served = serve(script, act=act)
    answers: list[str] = []
    slow = threading.Thread(
        target=lambda: answers.append(message(served.post([{"role": "user", "content": "slow"}])[2])["content"])
    )
    slow.start()
    assert served.model.wait_for(1, 10)
    assert message(served.post()[2])["content"] == "m"
    assert answers == []
    go.set()
    slow.join(10)
    assert answers == ["s"] and [a.kind for a in done] == ["touch", "release"]


def test_an_action_that_fails_is_our_fault_and_the_reply_goes_out(serve: Serve) -> None:
    def act(action: Action) -> None:
        raise RuntimeError("no such file")

    served = serve([{"say": "x", "do": [{"touch": "a"}]}], act=act)
    assert served.post()[0] == 200
    served.model.stop()
    assert [str(e) for e in served.model.errors] == ["no such file"]
    assert served.model.problems == []


def test_an_action_that_fails_after_the_end_is_nobodys_fault(serve: Serve) -> None:
    ended = threading.Event()
    workers: list[threading.Thread] = []

    def act(action: Action) -> None:
        workers.append(threading.current_thread())
        ended.wait(10)
        raise RuntimeError("the sandbox is gone")

    served = serve([{"say": "x", "do": [{"touch": "a"}]}], act=act)
    with served.connect() as sock:
        sock.sendall(request_bytes({"model": "m", "messages": [USER]}))
        while not workers:
            time.sleep(0.01)
        model = served.stop()
    ended.set()
    workers[0].join(10)
    assert model.errors == [] and model.problems == []


def test_delay(serve: Serve) -> None:
    served = serve([{"say": "x", "delay": 0.2}, {"status": 500, "delay": 0.2}])
    for _ in range(2):
        began = time.monotonic()
        served.post()
        assert 0.19 <= time.monotonic() - began < 5


def test_wait_for(serve: Serve) -> None:
    served = serve([{"say": "x", "optional": True}])
    assert not served.model.wait_for(1, 0.01)
    poster = threading.Timer(0.05, served.post)
    poster.start()
    assert served.model.wait_for(1, 10)
    poster.join()
    threading.Timer(0.05, served.model.stop).start()
    assert not served.model.wait_for(9, 10)


def test_stop_is_quick_whatever_goes_on(serve: Serve) -> None:
    hold = threading.Event()
    script = [
        {"say": "x", "fault": {"silence": 60}},
        {"say": "x", "delay": 60},
        {"say": "x", "do": [{"wait": 60}]},
    ]
    served = serve(script, act=lambda action: void(hold.wait(60)))
    socks = [served.connect() for _ in range(8)]
    try:
        for i, sock in enumerate(socks[:3], 1):
            data = json.dumps({"model": "m", "messages": [USER]}).encode()
            sock.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data)
            )
            assert served.model.wait_for(i, 10)
        socks[3].sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
        time.sleep(0.05)
        began = time.monotonic()
        model = served.stop()
        assert time.monotonic() - began < 0.5
        assert model.problems == []
        assert model.notes == ["a request never came to its end: POST /: 4 bytes of its body"]
        assert all(r.done is None for r in model.journal[:3])
    finally:
        hold.set()
        for sock in socks:
            sock.close()


def void(_: object) -> None:
    """Takes a value and gives none."""


def test_stop_without_start_and_twice(listener: Any) -> None:
    model = ScriptedModel(parse_script([]), listener, act=lambda action: None)
    model.stop()
    model.stop()
    assert model.problems == []


def test_the_base_of_the_path_can_be_chosen(serve: Serve) -> None:
    from triathlon.scripted.chat import Chat

    served = serve([{"say": "x"}], wire=Chat("/deep/base/"))
    data = json.dumps({"model": "m", "messages": [USER]}).encode()
    assert served.send(data, "/deep/base/chat/completions")[0] == 200


def test_the_same_script_gives_the_same_bytes(serve: Serve) -> None:
    def play() -> list[Any]:
        served = serve([{"say": "hello", "call": {"read": {"path": "ä"}}}, {"status": 429}, {"say": "x"}])
        return [served.post(stream=True), served.post(), served.post()]

    assert play() == play()
