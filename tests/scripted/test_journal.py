"""The decoded views of a request."""

from __future__ import annotations

from triathlon.scripted.journal import Ask, Message, Request, ToolCall


def test_views_of_a_request() -> None:
    request = Request(
        1,
        0.0,
        "POST",
        "/",
        {},
        b"\xff",
        body={"a": ["x", {"b": "y"}], "c": 1},
        ask=Ask(
            messages=(
                Message("system", "s1"),
                Message("user", "u1"),
                Message("assistant", "", calls=(ToolCall("c1", "read", "{}"),), reasoning="hm"),
                Message("tool", "r1", result_of="c1"),
                Message("tool", "r2", result_of="c2"),
            )
        ),
    )
    assert request.system == "s1" and request.last_user == "u1"
    assert request.tool_results == [("c1", "r1"), ("c2", "r2")]
    assert request.last_tool_result == "r2"
    assert request.text == "s1\nu1\n\nr1\nr2"
    assert request.all_text == "x\ny"
    assert request.roles == ("system", "user", "assistant", "tool", "tool")
    assert request.turn == 1
    assert request.record()["raw_base64"] == "/w=="
