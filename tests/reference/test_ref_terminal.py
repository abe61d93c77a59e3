"""Keys, the input line, and the rows of the area."""

from __future__ import annotations

import pytest
from harness.editor import Editor
from harness.keys import Decoder, Key
from harness.modals import Approval, Line
from harness.screen import layout, plain
from hypothesis import given
from hypothesis import strategies as st

_SENT = "hé\r\x1b[A\x1bOB\x1b[Z\x03\x1b[200~a\r\nb\x1b[31m\x1b[201~\x1b[99q\n"
_NAMES = ["text", "text", "enter", "up", "down", "shift-tab", "ctrl-c", "paste", "newline"]


def _press(editor: Editor, *keys: str) -> list[bool]:
    return [editor.key(Key("text", key) if len(key) == 1 else Key(key)) for key in keys]


@given(st.integers(1, 60))
def test_keys_come_out_whatever_the_pieces(size: int) -> None:
    raw, decoder = _SENT.encode(), Decoder()
    keys = [key for at in range(0, len(raw), size) for key in decoder.feed(raw[at : at + size])]
    assert [key.name for key in keys] == _NAMES
    assert keys[1].text == "é"
    assert keys[7].text == "a\nb\x1b[31m"


def test_an_escape_that_nothing_follows_is_a_key() -> None:
    decoder = Decoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.waits
    assert decoder.settle() == [Key("esc")]
    assert [key.name for key in decoder.feed(b"\x1bx")] == ["esc", "text"]


def test_a_backslash_before_enter_makes_a_new_line() -> None:
    editor = Editor()
    assert _press(editor, "a", "\\", "enter", "b", "newline", "c", "enter") == [False] * 6 + [True]
    assert editor.take() == "a\nb\nc"
    assert editor.text == ""


def test_up_recalls_and_down_comes_back_to_what_was_typed() -> None:
    editor = Editor(["one", "two"])
    seen = []
    for key in ("x", "up", "up", "up", "down", "down", "down"):
        _press(editor, key)
        seen.append(editor.text)
    assert seen == ["x", "two", "one", "one", "two", "x", "x"]


def test_editing_keys() -> None:
    editor = Editor()
    _press(editor, *"one two", "ctrl-w", *"three", "home", "delete", "end", "backspace", "left", "left", "ctrl-k")
    assert (editor.text, editor.cursor) == ("ne th", 5)


@pytest.mark.parametrize(
    ("sent", "verdict", "reason"),
    [("q Y", "yes", ""), ("s", "session", ""), ("a", "always", ""), ("n", "no", ""), ("rno way\r", "no", "no way")],
)
def test_one_key_answers_an_approval(sent: str, verdict: str, reason: str) -> None:
    modal = Approval(3)
    done = [modal.key(key) for key in Decoder().feed(sent.encode())]
    assert done == [False] * (len(done) - 1) + [True]
    assert (modal.answer.verdict, modal.answer.reason) == (verdict, reason)


@pytest.mark.parametrize("name", ["esc", "ctrl-c", "ctrl-d"])
def test_leaving_a_question_is_a_no(name: str) -> None:
    approval, line = Approval(1), Line("answer: ", secret=False)
    assert approval.key(Key(name))
    assert line.key(Key(name))
    assert (approval.answer.verdict, line.answer) == ("no", None)


def test_a_secret_is_not_drawn() -> None:
    line = Line("answer: ", secret=True)
    for key in Decoder().feed(b"s3cret\r"):
        line.key(key)
    assert (line.answer, line.text, line.said) == ("s3cret", "", "")


@given(st.text(max_size=60), st.integers(10, 40))
def test_rows_fit_the_width_and_the_cursor_stands_in_them(text: str, width: int) -> None:
    rows, row, column = layout("> ", text, len(text) // 2, width)
    assert all(len(line) < width for line in rows)
    assert 0 <= row < len(rows)
    assert 0 <= column < width


def test_what_would_move_the_cursor_is_shown_instead() -> None:
    assert plain("a\x1b[2Jb\rc\n") == "a^[[2Jb^Mc\n"
