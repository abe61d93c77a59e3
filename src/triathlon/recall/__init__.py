"""Recall: does a model still use the facts, tool definitions and rules far back in its context?

`score_sets(backend, tokenizer, data, ...)` is the Python entry; everything else is reached from the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triathlon.recall.score import score_sets

__all__ = ["score_sets"]


def __getattr__(name: str) -> Any:
    """Import `score_sets` only when it is asked for: the command line starts without numpy and pyarrow."""
    if name == "score_sets":
        from triathlon.recall.score import score_sets

        return score_sets
    raise AttributeError(name)
