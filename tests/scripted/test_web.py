"""The small web server: hosts, statuses, redirects and bodies of all kinds."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError
from scripted_help import read_all

from triathlon.scripted.web import Page, WebServer

Get = Callable[..., tuple[int, dict[str, str], bytes]]


@pytest.fixture
def web() -> Iterator[Callable[..., tuple[WebServer, Get]]]:
    running: list[tuple[WebServer, socket.socket]] = []

    def start(sites: Any, **options: Any) -> tuple[WebServer, Get]:
        sock = socket.create_server(("127.0.0.1", 0))
        server = WebServer(sites, sock, **options)
        running.append((server, sock))
        server.start()

        def get(
            url: str, method: str = "GET", body: bytes | None = None, timeout: float = 10
        ) -> tuple[int, dict[str, str], bytes]:
            host, _, path = url.partition("/")
            client = http.client.HTTPConnection("127.0.0.1", sock.getsockname()[1], timeout=timeout)
            try:
                client.request(method, f"/{path}", body, {"Host": host})
                answer = client.getresponse()
                return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
            finally:
                client.close()

        return server, get

    yield start
    for server, sock in running:
        server.stop()
        sock.close()
        assert server.errors == []


def test_hosts_paths_and_the_journal(web: Any) -> None:
    server, get = web({"a.test": {"/": "at a", "/q?x=1": "query", "/q": "any"}, "B.test": {"/": "at b"}})
    assert get("a.test/")[0::2] == (200, b"at a")
    assert get("b.test:80/")[2] == b"at b"
    assert get("A.TEST/")[2] == b"at a"
    assert [get(f"a.test/q{q}")[2] for q in ("?x=1", "?x=2", "")] == [b"query", b"any", b"any"]
    assert get("a.test/no")[0] == 404
    assert get("c.test/", "POST", b"data")[0] == 404
    server.stop()
    assert [(r.index, r.method, r.url, r.answered) for r in server.journal[-2:]] == [
        (7, "GET", "http://a.test/no", "status 404"),
        (8, "POST", "http://c.test/", "status 404"),
    ]
    assert server.journal[-1].raw == b"data"
    assert server.journal[0].headers["host"] == "a.test"
    assert all(r.done is not None for r in server.journal)


def test_statuses_headers_and_types(web: Any) -> None:
    _, get = web(
        {
            "a.test": {
                "/500": {"status": 500, "body": "sorry", "headers": {"X-A": "b"}},
                "/html": {"body": "<p>x", "type": "text/html"},
                "/204": {"status": 204},
                "/bin": {"base64": "/wD+"},
                "/json": {"body": "{}", "headers": {"content-type": "application/json"}},
            }
        }
    )
    status, headers, body = get("a.test/500")
    assert (status, body, headers["x-a"], headers["content-type"]) == (500, b"sorry", "b", "text/plain; charset=utf-8")
    assert get("a.test/html")[1]["content-type"] == "text/html"
    assert get("a.test/204")[0::2] == (204, b"")
    assert get("a.test/bin")[2] == b"\xff\x00\xfe"
    assert get("a.test/bin")[1]["content-type"] == "application/octet-stream"
    assert get("a.test/json")[1]["content-type"] == "application/json"


def test_redirects(web: Any) -> None:
    server, get = web({"a.test": {"/go": {"redirect": "http://b.test/x"}, "/for": {"redirect": "/x", "status": 308}}})
    status, headers, _ = get("a.test/go")
    assert (status, headers["location"]) == (302, "http://b.test/x")
    status, headers, _ = get("a.test/for")
    assert (status, headers["location"]) == (308, "/x")
    assert [r.answered for r in server.journal] == ["redirect http://b.test/x", "redirect /x"]


def test_head(web: Any) -> None:
    _, get = web({"a.test": {"/": "hello"}})
    status, headers, body = get("a.test/", "HEAD")
    assert (status, headers["content-length"], body) == (200, "5", b"")


@pytest.mark.parametrize(
    ("page", "length"),
    [
        ({"body": "abc", "repeat": 1_000_003}, 3_000_009),
        ({"body": "x" * 100_000, "repeat": 30}, 3_000_000),
        ({"base64": "AAEC", "repeat": 10}, 30),
        ({"body": "", "repeat": 10}, 0),
    ],
)
def test_repeated_bodies(web: Any, page: dict[str, Any], length: int) -> None:
    _, get = web({"a.test": {"/": page}})
    body = get("a.test/")[2]
    unit = page["body"].encode() if "body" in page else b"\0\1\2"
    assert len(body) == length and body == unit * page["repeat"]


def test_a_huge_body_is_not_made_and_does_not_hold_up_the_end(web: Any) -> None:
    server, get = web({"a.test": {"/": {"body": "x" * 100, "repeat": 100_000_000}, "/small": "s"}})
    with socket.create_connection(server._loop._listener.getsockname()) as sock:
        sock.settimeout(10)
        sock.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        assert b"Content-Length: 10000000000" in sock.recv(4096)
        assert get("a.test/small")[2] == b"s"
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 0.5
    assert server.journal[0].done is None


def test_slow_and_late_bodies(web: Any) -> None:
    _, get = web(
        {
            "a.test": {
                "/late": {"body": "x", "delay": 0.2},
                "/slow": {"body": "abcdefghij", "slow": {"pieces": 4, "pause": 0.05}},
                "/slow2": {"body": "abc", "repeat": 50_000, "slow": {"pieces": 2, "pause": 0.1}},
            }
        }
    )
    for path, body in (("late", b"x"), ("slow", b"abcdefghij"), ("slow2", b"abc" * 50_000)):
        began = time.monotonic()
        assert get(f"a.test/{path}")[2] == body
        assert 0.19 <= time.monotonic() - began < 5


def test_broken_answers(web: Any) -> None:
    server, get = web({"a.test": {"/cut": {"body": "abcdef", "cut": 2}, "/drop": {"drop": True}}})
    with pytest.raises(http.client.IncompleteRead) as error:
        get("a.test/cut")
    assert error.value.partial == b"ab"
    with pytest.raises(http.client.RemoteDisconnected):
        get("a.test/drop")
    with socket.create_connection(server._loop._listener.getsockname()) as sock:
        sock.settimeout(10)
        sock.sendall(b"nonsense\0")
        assert read_all(sock)[0].startswith(b"HTTP/1.1 400 ")
    assert server.notes[0].startswith("no HTTP request: ")


def test_texts_are_filled_in(web: Any) -> None:
    def fill(value: Any) -> Any:
        return value.replace("{{m}}", "word")

    _, get = web(
        {"a.test": {"/": {"body": "{{m}}", "headers": {"X-M": "{{m}}"}}, "/r": {"redirect": "/{{m}}"}}}, fill=fill
    )
    assert get("a.test/")[2] == b"word" and get("a.test/")[1]["x-m"] == "word"
    assert get("a.test/r")[1]["location"] == "/word"


def test_pages_as_objects_of_another_kind(web: Any) -> None:
    page = SimpleNamespace(status=201, headers={}, body="b", repeat=2, redirect=None, delay=0.0)
    _, get = web({"a.test": {"/": page, "/p": Page(body="q")}})
    assert get("a.test/")[0::2] == (201, b"bb")
    assert get("a.test/p")[2] == b"q"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ({"bdy": "x"}, "Extra inputs"),
        ({"body": "x", "base64": "AA=="}, "not both"),
        ({"base64": "?"}, "not base64"),
        ({"status": 1000}, "less than or equal to 599"),
    ],
)
def test_refused_pages(listener: socket.socket, page: Any, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        WebServer({"a.test": {"/": page}}, listener)
