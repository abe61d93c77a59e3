"""One provider for all tests of a worker, and a fresh sandbox for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from triathlon.errors import SandboxUnavailable
from triathlon.sandbox import BoxSpec
from triathlon.sandbox.namespaces import Namespaces
from triathlon.sandbox.namespaces.sandbox import Box


@pytest.fixture(scope="session")
def made() -> Iterator[Namespaces]:
    """The provider `namespaces`; a machine without it skips, and `triathlon doctor` says why."""
    try:
        provider = Namespaces()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with provider:
        yield provider


@pytest.fixture
def box(made: Namespaces) -> Iterator[Box]:
    with made.open(BoxSpec()) as opened:
        yield opened
