"""`triathlon doctor`: what works on this machine."""

from __future__ import annotations


def doctor() -> None:
    """Try what works on this machine and say what does not, and what to do about it."""
