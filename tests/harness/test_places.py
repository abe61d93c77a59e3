"""Places: every path has one key, patterns find what they say."""

from __future__ import annotations

import pytest

from triathlon.harness.channels import Channels
from triathlon.harness.places import find, key_of, roots

PLACES = {
    "workspace": "/work/w",
    "outside": "/work/outside",
    "beside": "/work",
    "home": "/home/agent",
    "state": "/home/agent/.harness",
    "tmp": "/tmp",
    "stubs": "/work/stubs",
}


def test_the_innermost_place_names_a_path() -> None:
    assert key_of("/work/w/a/b", PLACES) == "workspace/a/b"
    assert key_of("/work/w", PLACES) == "workspace"
    assert key_of("/work/w-evil/x", PLACES) == "beside/w-evil/x"
    assert key_of("/home/agent/.harness/sessions/s.jsonl", PLACES) == "state/sessions/s.jsonl"
    assert key_of("/home/agent/.bashrc", PLACES) == "home/.bashrc"
    assert key_of("/etc/passwd", PLACES) == "/etc/passwd"


def test_roots_are_read_once() -> None:
    assert roots(PLACES) == ["/home/agent", "/tmp", "/work"]


def test_channels_take_paths_as_cases_write_them() -> None:
    channels = Channels(places=PLACES)
    assert channels.key("a.txt") == "workspace/a.txt"
    assert channels.key("../outside/shared/x") == "outside/shared/x"
    assert channels.key("/home/agent/.harness/sessions/**/*.jsonl") == "state/sessions/**/*.jsonl"
    assert channels.key("../../etc/passwd") == "/etc/passwd"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("/s/*.jsonl", ["/s/a.jsonl"]),
        ("/s/**/*.jsonl", ["/s/a.jsonl", "/s/k/b.jsonl", "/s/k/l/c.jsonl"]),
        ("/s/?.jsonl", ["/s/a.jsonl"]),
        ("/s/k/*", ["/s/k/b.jsonl"]),
        ("/s/a+jsonl", []),
    ],
)
def test_patterns(pattern: str, found: list[str]) -> None:
    assert find(pattern, ["/s/k/l/c.jsonl", "/s/a.jsonl", "/s/k/b.jsonl", "/s/other"]) == found
