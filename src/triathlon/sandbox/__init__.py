"""Sandboxes: one Protocol, and the providers `namespaces` (the standard) and `none`."""

from __future__ import annotations

from triathlon.errors import UsageError
from triathlon.sandbox.capture import Capture
from triathlon.sandbox.protocol import (
    UID,
    BoxSpec,
    Entry,
    ExecResult,
    Layer,
    Limits,
    Process,
    ProcessInfo,
    Provider,
    Sandbox,
    Usage,
)

PROVIDERS = ("namespaces", "none")


def provider(name: str = "namespaces") -> Provider:
    """Make the provider of that name; UsageError names the known ones."""
    if name == "namespaces":
        from triathlon.sandbox.namespaces import Namespaces

        return Namespaces()
    if name == "none":
        from triathlon.sandbox.none import Plain

        return Plain()
    raise UsageError(f"no sandbox provider {name!r}; known are {', '.join(PROVIDERS)}")


def sweep() -> None:
    """Remove what a killed runner left: marked folders and cgroups. Called at the start of runs."""
    from triathlon.sandbox import cache
    from triathlon.sandbox.namespaces import cgroups

    cache.sweep()
    cgroups.sweep()


__all__ = [
    "PROVIDERS",
    "UID",
    "BoxSpec",
    "Capture",
    "Entry",
    "ExecResult",
    "Layer",
    "Limits",
    "Process",
    "ProcessInfo",
    "Provider",
    "Sandbox",
    "Usage",
    "provider",
    "sweep",
]
