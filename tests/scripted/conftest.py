"""A scripted model on a loopback port."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scripted_help import Served

from triathlon.scripted.script import parse_script
from triathlon.scripted.server import ScriptedModel

Serve = Callable[..., Served]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=256) as sock:
        yield sock


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a model for a script: `served = serve([{"say": "hi"}])`."""
    running: list[tuple[ScriptedModel, socket.socket]] = []

    def start(script: Any, **options: Any) -> Served:
        sock = socket.create_server(("127.0.0.1", 0), backlog=256)
        options.setdefault("act", lambda action: None)
        model = ScriptedModel(parse_script(script), sock, **options)
        running.append((model, sock))
        model.start()
        return Served(model, sock.getsockname()[1])

    yield start
    for model, sock in running:
        model.stop()
        sock.close()
