"""The labelled items that ship with Triathlon, written for it: small, but enough to run everything offline."""

from __future__ import annotations

from pathlib import Path

from triathlon.oolong.make import Source, read_source

#: What the lines are called in a window.
NOUNS = {"desk": "messages to a library of tools", "outdoors": "sentences of a diary"}
LABELS = {"desk": ("booking", "fault", "fee", "praise"), "outdoors": ("river", "mountain", "garden")}


def shipped() -> list[Source]:
    """The two shipped sources of at least 200 items."""
    folder = Path(__file__).parent / "data"
    return [
        Source(name, read_source(folder / f"{name}.jsonl").items, LABELS[name], noun) for name, noun in NOUNS.items()
    ]
