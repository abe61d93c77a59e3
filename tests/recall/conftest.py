"""What the recall tests share: the built-in tokenizer and a small data set made from the built-in corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from triathlon.recall import tokens
from triathlon.recall.builtin.corpus import corpus
from triathlon.recall.items import length_tokens
from triathlon.recall.make.build import Plan, build


class HashBackend:
    """An engine whose numbers depend on nothing but the tokens before a position."""

    tokenizer: Any = None
    limit: int | None = None

    def __init__(self, salt: str = "", limit: int | None = None) -> None:
        self.salt, self.limit = salt, limit
        self.reads = 0

    def describe(self) -> dict[str, Any]:
        return {"engine": "hash", "dtype": "float32", "salt": self.salt}

    def read(self, ids: Any, positions: Sequence[int], asked: Sequence[Sequence[int]]) -> Any:
        self.reads += 1
        top, rows = [], []
        for position, row in zip(positions, asked, strict=True):
            seen = np.asarray(ids[:position], dtype=np.int32).tobytes() + self.salt.encode()
            values = [-8 * hashlib.sha256(seen + str(t).encode()).digest()[0] / 255 for t in row]
            rows.append(values)
            top.append(row[0] if hashlib.sha256(seen).digest()[0] < 150 else 0)
        return top, rows


@pytest.fixture(scope="session")
def own_tokenizer() -> tokens.Tokenizer:
    return tokens.load("builtin")


@pytest.fixture(scope="session")
def small_set(tmp_path_factory: pytest.TempPathFactory, own_tokenizer: tokens.Tokenizer) -> Path:
    """Two contexts and two fact items at 2k, with controls."""
    out = tmp_path_factory.mktemp("recall") / "set"
    build(corpus(0, length_tokens("2k"), 4), own_tokenizer, out, Plan(["2k"], contexts=2, fact_items=2))
    return out
