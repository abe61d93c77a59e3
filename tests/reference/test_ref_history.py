"""The history folded from records, and what a request is made of."""

from __future__ import annotations

from typing import Any

from harness.history import effective, fold, kept, repaired


def _user(text: str, prompt: int | None = None) -> dict[str, Any]:
    record: dict[str, Any] = {"type": "message", "message": {"role": "user", "content": text}}
    return record if prompt is None else record | {"prompt": prompt}


def _calls(*ids: str) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}} for id in ids]
    return {"type": "message", "message": {"role": "assistant", "content": None, "tool_calls": calls}}


def _result(id: str, text: str = "ok") -> dict[str, Any]:
    return {"type": "message", "message": {"role": "tool", "tool_call_id": id, "content": text}}


def _texts(messages: list[dict[str, Any]]) -> list[Any]:
    return [message["content"] for message in messages]


def test_calls_without_results_get_one_and_strays_are_left_out() -> None:
    records = [_user("a", 1), _result("x"), _calls("1", "2"), _result("2", "two"), _result("2", "again"), _user("b", 2)]
    fixed = repaired(record["message"] for record in records)
    assert [message["role"] for message in fixed] == ["user", "assistant", "tool", "tool", "user"]
    assert _texts(fixed)[2:4] == ["error: interrupted", "two"]
    assert [message["tool_call_id"] for message in fixed[2:4]] == ["1", "2"]


def test_a_compaction_keeps_the_newest_prompt_and_the_last_exchange() -> None:
    records = [_user("old", 1), _calls("1"), _result("1"), _user("new", 2), _calls("2"), _result("2", "two")]
    records += [_calls("3"), _result("3", "three"), {"type": "compaction", "summary": "S", "keep": 3}]
    history = fold(records)
    assert _texts(history.messages) == ["Summary of the conversation so far:\nS", "new", None, "three"]
    assert history.ids == {"1", "2", "3"}
    assert kept(history.messages, 1) == [history.messages[1]]
    assert kept(history.messages, 0) == []


def test_the_todo_list_stands_in_the_summary() -> None:
    items = [{"text": "feed the cat", "status": "active"}]
    records = [_user("a", 1), {"type": "todo", "items": items}, {"type": "compaction", "summary": "S", "keep": 1}]
    assert "feed the cat" in fold(records).messages[0]["content"]


def test_a_rewind_takes_back_a_prompt_and_all_after_it() -> None:
    records = [_user("a", 1), _user("b", 2), {"type": "compaction", "summary": "S", "keep": 1}, _user("c", 3)]
    again = [*records, {"type": "rewind", "prompt": 2}, _user("d", 2)]
    assert _texts(fold(again).messages) == ["a", "d"]
    assert fold(again).prompts == 2
    assert effective([*again, {"type": "rewind", "prompt": 9}]) == effective(again)


def test_only_the_last_reply_says_how_full_the_window_is() -> None:
    full = _calls("1") | {"usage": {"input_tokens": 100_000, "output_tokens": 1}}
    assert fold([_user("a", 1), full]).last_input == 100_000
    assert fold([_user("a", 1), full, _calls("2")]).last_input == 0
    assert fold([_user("a", 1), full, {"type": "compaction", "summary": "S", "keep": 1}]).last_input == 0
