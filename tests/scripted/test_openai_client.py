"""The official OpenAI client against the scripted model: a witness that nobody here wrote."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from scripted_help import Served

Serve = Callable[..., Served]
USER: ChatCompletionMessageParam = {"role": "user", "content": "go"}
TOOLS: list[ChatCompletionToolParam] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("read", "bash")
]


@pytest.fixture
def client_of() -> Any:
    made: list[OpenAI] = []

    def make(served: Served, retries: int = 0, timeout: float = 10) -> OpenAI:
        client = OpenAI(base_url=served.url, api_key="sk-test", max_retries=retries, timeout=timeout)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


def stream_of(client: OpenAI, messages: Any = None) -> Any:
    return client.chat.completions.create(
        model="m",
        messages=messages or [USER],
        tools=TOOLS,
        stream=True,
        stream_options={"include_usage": True},
    )


def test_whole(serve: Serve, client_of: Any) -> None:
    served = serve([{"say": "hello", "usage": {"input": 11, "output": 7, "cached": 3}}])
    answer = client_of(served).chat.completions.create(model="m", messages=[USER])
    assert answer.choices[0].message.content == "hello"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (11, 7, 18)
    assert answer.usage.prompt_tokens_details is not None
    assert answer.usage.prompt_tokens_details.cached_tokens == 3
    assert answer._request_id == "req_1"
    (request,) = served.stop().journal
    assert request.headers["authorization"] == "Bearer sk-test" and not request.stream


def test_tools_whole_round(serve: Serve, client_of: Any) -> None:
    served = serve(
        [
            {"say": "I look", "calls": [{"read": {"path": "a"}}, {"bash": {"command": "ls"}}]},
            {"say": "done", "when": {"tool_result_contains": "result 2", "offers": ["read", "bash"]}},
        ]
    )
    client = client_of(served)
    first = client.chat.completions.create(model="m", messages=[USER], tools=TOOLS).choices[0]
    assert first.finish_reason == "tool_calls" and first.message.content == "I look"
    calls = first.message.tool_calls or []
    assert [(c.id, c.function.name, c.function.arguments) for c in calls] == [
        ("call_1", "read", '{"path":"a"}'),
        ("call_2", "bash", '{"command":"ls"}'),
    ]
    results = [{"role": "tool", "tool_call_id": c.id, "content": f"result {i}"} for i, c in enumerate(calls, 1)]
    second = client.chat.completions.create(
        model="m", messages=[USER, first.message.model_dump(exclude_none=True), *results], tools=TOOLS
    )
    assert second.choices[0].message.content == "done"
    model = served.stop()
    assert model.problems == []
    assert model.journal[1].tool_results == [("call_1", "result 1"), ("call_2", "result 2")]
    assert model.journal[1].tools == ("read", "bash")


def test_stream_of_text_and_usage(serve: Serve, client_of: Any) -> None:
    text = "Zeile eins\nänderung \u2028 \U0001f600 und mehr davon"
    served = serve([{"say": text, "reasoning": "thinking about it", "usage": {"input": 5, "output": 6}}])
    chunks = list(stream_of(client_of(served)))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == text
    reasoning = [getattr(c.choices[0].delta, "reasoning_content", None) or "" for c in chunks if c.choices]
    assert "".join(reasoning) == "thinking about it"
    assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == ["stop"]
    assert chunks[-1].usage is not None and chunks[-1].usage.total_tokens == 11
    assert {c.id for c in chunks} == {"chatcmpl-1"}
    assert served.stop().journal[0].stream


@pytest.mark.parametrize("looks", [["crlf"], ["tight"], ["comments"], ["torn"], ["crlf", "tight", "comments", "torn"]])
def test_streams_of_another_look(serve: Serve, client_of: Any, looks: list[str]) -> None:
    text = "änderung \U0001f600 und\nmehr davon data: x"
    chunks = list(stream_of(client_of(serve([{"say": text, "sse": looks}]))))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == text
    assert chunks[-1].usage is not None


def test_the_clients_own_accumulator(serve: Serve, client_of: Any) -> None:
    """`chat.completions.stream` joins deltas by rules of its own, and parses arguments."""
    served = serve([{"say": "I look", "calls": [{"read": {"path": "a" * 100}}, {"bash": {"command": "ls"}}]}])
    client: OpenAI = client_of(served)
    with client.chat.completions.stream(model="m", messages=[USER], tools=TOOLS) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert {"content.delta", "content.done", "tool_calls.function.arguments.done"} <= kinds
    message = final.choices[0].message
    assert message.content == "I look"
    assert [(c.id, c.function.name) for c in message.tool_calls or []] == [("call_1", "read"), ("call_2", "bash")]
    assert (message.tool_calls or [])[0].function.arguments == '{"path":"%s"}' % ("a" * 100)


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        ({"status": 400}, openai.BadRequestError, "invalid_request"),
        (
            {"status": 400, "error": {"code": "context_length_exceeded"}},
            openai.BadRequestError,
            "context_length_exceeded",
        ),
        ({"status": 401}, openai.AuthenticationError, "invalid_api_key"),
        ({"status": 403}, openai.PermissionDeniedError, "forbidden"),
        ({"status": 404}, openai.NotFoundError, "model_not_found"),
        ({"status": 429}, openai.RateLimitError, "rate_limit_exceeded"),
        ({"status": 503}, openai.InternalServerError, "server_error"),
    ],
)
def test_errors(serve: Serve, client_of: Any, reply: Any, kind: type[openai.APIStatusError], code: str) -> None:
    with pytest.raises(kind) as error:
        stream_of(client_of(serve([reply])))
    assert error.value.code == code
    assert error.value.status_code == reply["status"]


def test_unforeseen(serve: Serve, client_of: Any) -> None:
    served = serve([])
    with pytest.raises(openai.BadRequestError) as error:
        stream_of(client_of(served, retries=2))
    assert error.value.code == "unforeseen_request"
    assert len(served.stop().journal) == 1  # not retried


def test_retries_and_retry_after(serve: Serve, client_of: Any) -> None:
    served = serve(
        [
            {"status": 429, "retry_after": 0.3},
            {"status": 500, "retry_after": 0.1},
            {"fault": {"drop": True}},
            {"say": "ok"},
        ]
    )
    began = time.monotonic()
    answer = client_of(served, retries=3).chat.completions.create(model="m", messages=[USER])
    assert time.monotonic() - began >= 0.4
    assert answer.choices[0].message.content == "ok"
    model = served.stop()
    assert model.problems == []
    assert [r.answered for r in model.journal] == ["status 429", "status 500", "fault drop", "say"]
    assert model.journal[1].time - model.journal[0].time >= 0.3


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("count", [0, 2])
def test_cut_stream(serve: Serve, client_of: Any, hard: bool, count: int) -> None:
    served = serve([{"say": "a long enough text", "fault": {"cut": count, "hard": hard}}])
    got = []
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError, openai.APIConnectionError)):
        got.extend(stream_of(client_of(served)))
    assert len(got) == count


@pytest.mark.parametrize(
    "fault", [{"cut": 20}, {"cut": 20, "hard": True}, {"drop": True}, {"drop": True, "hard": True}]
)
def test_broken_whole(serve: Serve, client_of: Any, fault: Any) -> None:
    served = serve([{"say": "a long enough text", "fault": fault}])
    with pytest.raises(openai.APIConnectionError):
        client_of(served).chat.completions.create(model="m", messages=[USER])


def test_silence_runs_into_the_clients_timeout(serve: Serve, client_of: Any) -> None:
    served = serve(
        [{"say": "a long enough text", "fault": {"silence": 5, "after": 2}}, {"say": "x", "fault": {"silence": 5}}]
    )
    client = client_of(served, timeout=0.3)
    got = []
    with pytest.raises((httpx.ReadTimeout, openai.APITimeoutError)):
        got.extend(stream_of(client))
    assert len(got) == 2
    with pytest.raises(openai.APITimeoutError):
        client.chat.completions.create(model="m", messages=[USER])
    assert all(r.left is not None for r in served.stop().journal)


def test_malformed_and_error_events(serve: Serve, client_of: Any) -> None:
    served = serve(
        [
            {"say": "a long enough text", "fault": {"malformed": True}},
            {"say": "a long enough text", "fault": {"malformed": "error"}},
            {"say": "a long enough text", "fault": {"malformed": True}},
        ]
    )
    client = client_of(served)
    with pytest.raises(ValueError, match=r"Unterminated|Expecting|delimiter"):
        list(stream_of(client))
    with pytest.raises(openai.APIError, match="server had an error"):
        list(stream_of(client))
    with pytest.raises(ValueError, match=r"Unterminated|Expecting|delimiter"):
        client.chat.completions.create(model="m", messages=[USER])


def test_a_stream_without_its_end(serve: Serve, client_of: Any) -> None:
    """The client does not notice; that is why a harness has to."""
    served = serve([{"say": "a long enough text", "fault": {"no_end": True}}])
    chunks = list(stream_of(client_of(served)))
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == "a long enough text"
    assert not any(c.choices[0].finish_reason or c.usage for c in chunks)


def test_arguments_cut_at_the_output_limit(serve: Serve, client_of: Any) -> None:
    served = serve([{"call": {"read": {"path": "abcdef"}}, "fault": {"length": 8}}])
    choice = client_of(served).chat.completions.create(model="m", messages=[USER]).choices[0]
    assert choice.finish_reason == "length"
    assert choice.message.tool_calls[0].function.arguments == '{"path":'


def test_equal_ids_and_nothing(serve: Serve, client_of: Any) -> None:
    same = [{"tool": "read", "args": {"path": p}, "id": "same"} for p in ("a", "b")]
    served = serve([{"calls": same}, {"nothing": True}, {"reasoning": "hm"}])
    client = client_of(served)
    joined: dict[int, str] = {}
    ids = []
    for chunk in stream_of(client):
        for call in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
            joined[call.index] = joined.get(call.index, "") + call.function.arguments
            ids += [call.id] if call.id else []
    assert ids == ["same", "same"] and joined == {0: '{"path":"a"}', 1: '{"path":"b"}'}
    for reasoning in (None, "hm"):
        message = client.chat.completions.create(model="m", messages=[USER]).choices[0].message
        assert message.content is None and message.tool_calls is None
        assert getattr(message, "reasoning_content", None) == reasoning


def test_keep_alive_over_many_requests(serve: Serve, client_of: Any) -> None:
    served = serve([{"say": "a", "times": "forever"}])
    client = client_of(served)
    for i in range(10):
        answer = list(stream_of(client)) if i % 2 else client.chat.completions.create(model="m", messages=[USER])
        assert answer
    ports = {r.headers["host"] for r in served.stop().journal}
    assert len(ports) == 1 and len(served.model.journal) == 10
