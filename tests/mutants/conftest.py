"""Sandboxes for tests of a run: the standard provider, opened once a test module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from triathlon.errors import SandboxUnavailable
from triathlon.sandbox import Provider, provider


@pytest.fixture(scope="module")
def namespaces() -> Iterator[Provider]:
    """The provider `namespaces`; skips where this machine cannot make such a sandbox."""
    try:
        made = provider("namespaces")
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    with made:
        yield made
