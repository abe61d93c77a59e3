"""The screen: what was written is what is seen; keys are what a terminal sends."""

from __future__ import annotations

import pytest

from triathlon.harness.screen import Screen, key


def test_text_cursor_moves_and_resize() -> None:
    screen = Screen(4, 10, lambda data: None)
    screen.feed("héllo\r\n\x1b[31mred\x1b[0m   ".encode())
    assert screen.text == "héllo\nred"
    screen.feed(b"\x1b[2J\x1b[Hnew")
    assert screen.text == "new"
    screen.resize(2, 5)
    screen.feed(b"\r\n12345678")
    assert screen.text == "12345\n678"


def test_a_question_about_the_cursor_is_answered() -> None:
    said: list[bytes] = []
    screen = Screen(4, 10, said.append)
    screen.feed(b"ab\x1b[6n")
    assert said == [b"\x1b[1;3R"]


def test_broken_sequences_do_no_harm() -> None:
    screen = Screen(4, 20, lambda data: None)
    for data in (b"\xff\xfe\x1b[999999999999999999999;1H", b"\x1b[?1;2;;;z", b"\x1b]0;title", b"\x07", b"\x1b[38;5m"):
        screen.feed(data)
    screen.feed(b"\x1bc after")
    assert "after" in screen.text


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("Enter", b"\r"),
        ("Ctrl-C", b"\x03"),
        ("Ctrl-D", b"\x04"),
        ("Ctrl-J", b"\n"),
        ("Shift-Tab", b"\x1b[Z"),
        ("Alt-b", b"\x1bb"),
        ("y", b"y"),
        ("-", b"-"),
    ],
)
def test_keys(name: str, sent: bytes) -> None:
    assert key(name) == sent


def test_an_unknown_key_is_named() -> None:
    with pytest.raises(ValueError, match="no such key: Hyper-X"):
        key("Hyper-X")
