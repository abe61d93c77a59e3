"""Each fault, as a stream and as its twin for a whole body, looked at byte by byte."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from scripted_help import USER, Served, events, read_all, request_bytes, unchunk

Serve = Callable[..., Served]
SAY = "one two three four five six"  # three pieces of a stream
BODY: dict[str, Any] = {"model": "m", "messages": [USER]}
STREAM: dict[str, Any] = BODY | {"stream": True, "stream_options": {"include_usage": True}}


def ask(served: Served, body: dict[str, Any], extra: str = "Connection: close\r\n") -> tuple[bytes, str]:
    """The raw answer and how the connection ended."""
    with served.connect() as sock:
        sock.sendall(request_bytes(body, extra))
        return read_all(sock)


def whole(data: bytes) -> tuple[int, bytes]:
    """(promised length, body as far as it came) of an answer that is no stream."""
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length: "))
    return int(length[16:]), body


def text_of(found: list[Any]) -> str:
    return "".join(e["choices"][0]["delta"].get("content") or "" for e in found if isinstance(e, dict) and e["choices"])


def test_sound_stream(serve: Serve) -> None:
    served = serve([{"say": SAY}])
    data, end = ask(served, STREAM)
    body, complete = unchunk(data)
    found = events(body)
    assert complete and end == "closed"
    assert text_of(found) == SAY
    assert [e["choices"][0]["finish_reason"] for e in found[:-2]] == [None, None, None, None, "stop"]
    assert found[-2]["choices"] == [] and found[-2]["usage"]["completion_tokens"] == 7
    assert all(e["usage"] is None for e in found[:-2])
    assert found[-1] == "[DONE]"


def test_usage_rides_on_the_finish_event_when_not_asked_for(serve: Serve) -> None:
    body, _ = unchunk(ask(serve([{"say": SAY}]), BODY | {"stream": True})[0])
    found = events(body)
    assert all(e["choices"] for e in found[:-1])
    assert [("usage" in e) for e in found[:-1]] == [False, False, False, False, True]


@pytest.mark.parametrize("count", [0, 1, 3, 99])
@pytest.mark.parametrize("hard", [False, True])
def test_cut_stream(serve: Serve, count: int, hard: bool) -> None:
    served = serve([{"say": SAY, "fault": {"cut": count, "hard": hard}}])
    data, end = ask(served, STREAM, "")
    body, complete = unchunk(data)
    found = events(body)
    assert len(found) == min(count, 4)  # never the finish event
    assert not complete
    assert end == ("reset" if hard else "closed")
    assert b"Transfer-Encoding: chunked" in data
    assert served.stop().problems == []


@pytest.mark.parametrize("count", [0, 1, 40, 10_000])
@pytest.mark.parametrize("hard", [False, True])
def test_cut_whole(serve: Serve, count: int, hard: bool) -> None:
    served = serve([{"say": SAY, "fault": {"cut": count, "hard": hard}}])
    data, end = ask(served, BODY, "")
    length, body = whole(data)
    assert len(body) == min(count, length - 1)
    assert end == ("reset" if hard else "closed")


def test_cut_whole_counts_characters_and_splits_none(serve: Serve) -> None:
    served = serve([{"say": "ä" * 400, "fault": {"cut": 300}}])
    _, body = whole(ask(served, BODY)[0])
    assert len(body.decode()) == 300 < len(body)


@pytest.mark.parametrize("body", [BODY, STREAM])
@pytest.mark.parametrize("hard", [False, True])
def test_drop(serve: Serve, body: dict[str, Any], hard: bool) -> None:
    served = serve([{"fault": {"drop": True, "hard": hard}}])
    assert ask(served, body, "") == (b"", "reset" if hard else "closed")
    assert served.stop().journal[0].answered == "fault drop"


@pytest.mark.parametrize("body", [BODY, STREAM])
@pytest.mark.parametrize("after", [None, 2])
def test_silence_then_the_rest(serve: Serve, body: dict[str, Any], after: int | None) -> None:
    fault = {"silence": 0.3} | ({} if after is None else {"after": after})
    served = serve([{"say": SAY, "fault": fault}])
    with served.connect() as sock:
        began = time.monotonic()
        sock.sendall(request_bytes(body, "Connection: close\r\n"))
        first = sock.recv(65536)
        assert time.monotonic() - began < 0.25
        got = first.partition(b"\r\n\r\n")[2]
        if body is STREAM:
            assert len(events(unchunk(first)[0])) == (after or 0)
        else:
            assert len(got) == (after or 0)
        rest, _ = read_all(sock)
        assert time.monotonic() - began >= 0.29
    text = (
        text_of(events(unchunk(first + rest)[0]))
        if body is STREAM
        else json.loads(whole(first + rest)[1])["choices"][0]["message"]["content"]
    )
    assert text == SAY


def test_a_client_that_leaves_during_the_silence_is_seen(serve: Serve) -> None:
    served = serve([{"say": SAY, "fault": {"silence": 30, "after": 1}}, {"say": "again"}])
    with served.connect() as sock:
        sock.sendall(request_bytes(STREAM))
        sock.recv(65536)
    assert served.post()[0] == 200
    first, second = served.stop().journal
    assert first.left is not None and first.done is None
    assert second.left is None and second.done is not None


@pytest.mark.parametrize("after", [None, 0, 99])
def test_malformed_event(serve: Serve, after: int | None) -> None:
    fault = {"malformed": True} | ({} if after is None else {"after": after})
    served = serve([{"say": SAY, "fault": fault}])
    body, complete = unchunk(ask(served, STREAM)[0])
    found = events(body)
    broken = [i for i, e in enumerate(found) if isinstance(e, bytes)]
    assert broken == [min(1 if after is None else after, 3)]
    assert complete and found[-1] == "[DONE]"


@pytest.mark.parametrize("after", [None, 10])
def test_malformed_whole(serve: Serve, after: int | None) -> None:
    fault = {"malformed": True} | ({} if after is None else {"after": after})
    served = serve([{"say": SAY, "fault": fault}])
    length, body = whole(ask(served, BODY)[0])
    assert length == len(body) and (after is None or length == after)
    with pytest.raises(ValueError):
        json.loads(body)


def test_error_object_in_the_middle(serve: Serve) -> None:
    served = serve(
        [{"say": SAY, "fault": {"malformed": "error", "after": 2}}, {"say": "x", "fault": {"malformed": "error"}}]
    )
    body, complete = unchunk(ask(served, STREAM)[0])
    found = events(body)
    assert complete and len(found) == 3
    assert found[2]["error"]["code"] == "server_error"
    data, _ = ask(served, BODY)
    assert data.startswith(b"HTTP/1.1 200 ")
    assert json.loads(whole(data)[1])["error"]["code"] == "server_error"


@pytest.mark.parametrize(
    ("no_end", "finish", "usage", "done"),
    [(True, False, False, False), ("done", True, True, False), ("finish", False, True, True)],
)
def test_no_end_of_a_stream(serve: Serve, no_end: object, finish: bool, usage: bool, done: bool) -> None:
    served = serve([{"say": SAY, "fault": {"no_end": no_end}}])
    body, complete = unchunk(ask(served, STREAM)[0])
    found = events(body)
    assert complete and text_of(found) == SAY
    assert any(isinstance(e, dict) and e["choices"] and e["choices"][0]["finish_reason"] for e in found) is finish
    assert any(isinstance(e, dict) and e["usage"] for e in found) is usage
    assert ("[DONE]" in found) is done


@pytest.mark.parametrize(("no_end", "reason"), [(True, None), ("done", "stop"), ("finish", None)])
def test_no_end_of_a_whole(serve: Serve, no_end: object, reason: str | None) -> None:
    served = serve([{"say": SAY, "fault": {"no_end": no_end}}])
    _, body = whole(ask(served, BODY)[0])
    assert json.loads(body)["choices"][0]["finish_reason"] == reason


@pytest.mark.parametrize("stream", [False, True])
def test_length_cuts_the_last_arguments(serve: Serve, stream: bool) -> None:
    calls = [{"read": {"path": "a"}}, {"write": {"path": "f", "content": "abcdef"}}]
    served = serve([{"calls": calls, "fault": {"length": True}}, {"calls": calls, "fault": {"length": 3}}])
    cut = [collect(served, stream) for _ in range(2)]
    assert [c[0] for c in cut] == [
        [("read", '{"path":"a"}'), ("write", '{"path":"f","co')],
        [("read", '{"path":"a"}'), ("write", '{"p')],
    ]
    assert [c[1] for c in cut] == ["length", "length"]


@pytest.mark.parametrize("stream", [False, True])
def test_length_cuts_the_text_or_the_reasoning(serve: Serve, stream: bool) -> None:
    served = serve(
        [
            {"say": "abcdef", "fault": {"length": True}},
            {"say": ["ab", "cdef"], "fault": {"length": 3}},
            {"reasoning": "abcdef", "fault": {"length": 2}},
            {"nothing": True, "fault": {"length": True}},
        ]
    )
    found = [collect(served, stream) for _ in range(4)]
    assert [(text or "", reasoning) for _, _, text, reasoning in found] == [
        ("abc", ""),
        ("abc", ""),
        ("", "ab"),
        ("", ""),
    ]
    assert {finish for _, finish, _, _ in found} == {"length"}


def collect(served: Served, stream: bool) -> tuple[list[tuple[str, str]], str | None, str, str]:
    """(calls, finish, text, reasoning) of one answer, joined as a client would."""
    data, _ = ask(served, STREAM if stream else BODY)
    if not stream:
        choice = json.loads(whole(data)[1])["choices"][0]
        message = choice["message"]
        calls = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", [])]
        return calls, choice["finish_reason"], message["content"] or "", message.get("reasoning_content", "")
    joined: dict[int, list[str]] = {}
    finish, text, reasoning = None, "", ""
    for event in events(unchunk(data)[0])[:-2]:
        choice = event["choices"][0]
        delta = choice["delta"]
        finish = choice["finish_reason"] or finish
        text += delta.get("content") or ""
        reasoning += delta.get("reasoning_content") or ""
        for call in delta.get("tool_calls", []):
            entry = joined.setdefault(call["index"], ["", ""])
            entry[0] += call["function"].get("name", "")
            entry[1] += call["function"]["arguments"]
    return [(a, b) for a, b in joined.values()], finish, text, reasoning


@pytest.mark.parametrize("stream", [False, True])
def test_faults_that_need_no_fault(serve: Serve, stream: bool) -> None:
    """Arguments that are not JSON, equal ids, reasoning only, nothing, a reason that does not fit, a changed mind."""
    served = serve(
        [
            {"calls": [{"tool": "write", "raw": '{"path": "f'}, {"tool": "x", "raw": ""}]},
            {"reasoning": "hm"},
            {"nothing": True},
            {"say": "x", "finish": "tool_calls"},
            {"say": "yes"},
            {"say": "no"},
        ]
    )
    found = [collect(served, stream) for _ in range(6)]
    assert found == [
        ([("write", '{"path": "f'), ("x", "")], "tool_calls", "", ""),
        ([], "stop", "", "hm"),
        ([], "stop", "", ""),
        ([], "tool_calls", "x", ""),
        ([], "stop", "yes", ""),
        ([], "stop", "no", ""),
    ]


def test_the_other_form_than_asked_for(serve: Serve) -> None:
    served = serve([{"say": "a", "form": "whole"}, {"say": "b", "form": "stream"}])
    data, _ = ask(served, STREAM)
    assert b"Content-Type: application/json\r\n" in data and json.loads(whole(data)[1])["choices"]
    data, _ = ask(served, BODY)
    assert b"Content-Type: text/event-stream" in data and text_of(events(unchunk(data)[0])) == "b"


def test_parts(serve: Serve) -> None:
    served = serve([{"say": ["a", "b"]}, {"say": ["a", "b"]}])
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    _, body = whole(ask(served, BODY)[0])
    assert json.loads(body)["choices"][0]["message"]["content"] == parts
    found = events(unchunk(ask(served, STREAM)[0])[0])
    assert [e["choices"][0]["delta"].get("content") for e in found[1:3]] == [[parts[0]], [parts[1]]]


def test_looks_of_a_stream_are_byte_exact(serve: Serve) -> None:
    served = serve([{"nothing": True, "sse": looks} for looks in ([], ["crlf"], ["tight"], ["comments"], ["torn"])])
    plain, crlf, tight, comments, torn = (ask(served, BODY | {"stream": True})[0] for _ in range(5))
    body = unchunk(plain)[0]
    for i, data in enumerate((crlf, tight, comments, torn), 2):  # the id counts requests
        got, complete = unchunk(data)
        again = got.replace(f"chatcmpl-{i}".encode(), b"chatcmpl-1")
        wanted = {
            2: body.replace(b"\n", b"\r\n"),
            3: body.replace(b"data: ", b"data:"),
            4: body.replace(b"data: ", b": still here\n\ndata: "),
            5: body,
        }[i]
        assert complete and again == wanted
    assert torn.count(b"\r\n7\r\n") > 20


def test_a_stream_for_http_1_0_has_no_chunks(serve: Serve) -> None:
    served = serve([{"say": SAY}])
    with served.connect() as sock:
        sock.sendall(request_bytes(STREAM).replace(b"HTTP/1.1", b"HTTP/1.0"))
        data, end = read_all(sock)
    assert b"chunked" not in data and end == "closed"
    assert events(data.partition(b"\r\n\r\n")[2])[-1] == "[DONE]"
