"""Tokenizers as recall needs them: ids with character offsets, one BOS at most, and a fingerprint.

A token that begins inside a character (byte-level pieces of a rare character) or that covers no character has no start:
no target can be aligned with it. White space is never trimmed from offsets, whatever the tokenizer's file says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from triathlon.errors import UsageError

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A text as token ids; `start[i]` is the character token i begins at, -1 where it begins at none."""

    ids: npt.NDArray[np.int32]
    start: Ints
    end: Ints
    lead: int  # BOS tokens in front, which stand for no character

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, char: int) -> int | None:
        """Index of the token that starts at a character, or None."""
        low = int(np.searchsorted(self.end, char, side="right"))  # first token that ends after the character
        return low if low < len(self.ids) and self.start[low] == char else None

    def first_after(self, char: int) -> int:
        """Index after the last token that has a part before `char`: the tokens of text[:char] end there."""
        low = int(np.searchsorted(self.end, char, side="left"))  # first token that ends at the character or behind it
        return low + 1 if low < len(self.ids) and self.start[low] < char else low

    def offsets(self, low: int = 0, high: int | None = None) -> list[tuple[int | None, int]]:
        """(start, end) of the tokens in [low, high), start None where a token begins at no character."""
        pairs = zip(self.start[low:high].tolist(), self.end[low:high].tolist(), strict=True)
        return [(None if s < 0 else s, e) for s, e in pairs]


class Tokenizer:
    """A fast (Rust) tokenizer with offsets."""

    def __init__(self, backend: Any, name: str) -> None:
        spec = json.loads(backend.to_str())
        if _untrim(spec):
            import tokenizers

            backend = tokenizers.Tokenizer.from_str(json.dumps(spec))
        backend.no_truncation()
        backend.no_padding()
        self.backend = backend
        self.name = name
        self.bos: tuple[int, ...] = _bos(backend)
        self.fingerprint = _fingerprint(spec)

    def encode(self, text: str, *, bos: bool = True) -> Encoded:
        """Ids and offsets of a text, with the tokenizer's own BOS in front; a BOS already there is refused."""
        enc = self.backend.encode(text, add_special_tokens=False)
        ids = np.asarray(enc.ids, dtype=np.int32)
        pairs = np.asarray(enc.offsets, dtype=np.int64).reshape(-1, 2)
        start, end = pairs[:, 0].copy(), np.maximum.accumulate(pairs[:, 1]) if len(pairs) else pairs[:, 1]
        before = np.concatenate([np.zeros(1, dtype=np.int64), end[:-1]]) if len(end) else end
        start[(start < before) | (pairs[:, 1] <= start)] = -1
        lead = len(self.bos) if bos else 0
        if lead:
            if tuple(ids[:lead].tolist()) == self.bos:
                raise UsageError(
                    f"the text begins with the BOS that the tokenizer {self.name} adds: it would stand twice"
                )
            ids = np.concatenate([np.asarray(self.bos, dtype=np.int32), ids])
            start = np.concatenate([np.full(lead, -1), start])
            end = np.concatenate([np.zeros(lead, dtype=np.int64), end])
        return Encoded(ids, start, end, lead)

    def count(self, text: str) -> int:
        """Number of tokens of a text, without BOS."""
        return len(self.backend.encode(text, add_special_tokens=False).ids)

    def ids(self, text: str) -> list[int]:
        """Token ids of a text, without BOS."""
        return list(self.backend.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of token ids, special tokens included."""
        return str(self.backend.decode([int(i) for i in ids], skip_special_tokens=False))

    def reproduces(self, text: str, stored: Any) -> Encoded | None:
        """The encoding of a text if its ids are the stored ones, else None."""
        enc = self.encode(text)
        return enc if len(enc) == len(stored) and bool(np.array_equal(enc.ids, stored)) else None


def _untrim(spec: Any) -> bool:
    """Switch off every `trim_offsets` of a tokenizer's JSON; true if one was on."""
    found = False
    if isinstance(spec, dict):
        if spec.get("trim_offsets"):
            spec["trim_offsets"], found = False, True
        for key in ("post_processor", "pre_tokenizer", "processors", "pretokenizers"):
            found |= _untrim(spec.get(key))
    elif isinstance(spec, list):
        found = sum(map(_untrim, spec)) > 0  # not any(): every part must be visited
    return found


def _bos(backend: Any) -> tuple[int, ...]:
    plain = backend.encode("a", add_special_tokens=False).ids
    full = backend.encode("a", add_special_tokens=True).ids
    for lead in range(len(full) - len(plain) + 1):
        if full[lead : lead + len(plain)] == plain:
            return tuple(full[:lead])
    return ()


def _fingerprint(spec: dict[str, Any]) -> str:
    model = spec["model"]
    parts = [model.get("vocab"), model.get("merges"), spec.get("normalizer"), spec.get("pre_tokenizer")]
    parts.append([[t["id"], t["content"]] for t in spec.get("added_tokens") or ()])
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def wrap(tokenizer: Any) -> Tokenizer:
    """Our view of a tokenizer: ours, a `tokenizers.Tokenizer`, or a transformers one that is fast."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    name = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str"):
        raise UsageError(
            f"the tokenizer {name} gives no character offsets (it is not a fast one): targets cannot be placed"
        )
    import tokenizers

    return Tokenizer(tokenizers.Tokenizer.from_str(backend.to_str()), name)


def load(name: str) -> Tokenizer:
    """A tokenizer by name.

    `builtin`, `qwen3.5`, `smollm2`, a tokenizer.json, a folder, a .gguf file, or a Hugging Face name.
    """
    import tokenizers

    given = name
    if name == "builtin":
        path = Path(__file__).parent / "builtin" / "tokenizer.json"
        return Tokenizer(tokenizers.Tokenizer.from_file(str(path)), "builtin")
    if name in ("qwen3.5", "qwen3.6"):
        from triathlon.recall.qwen import qwen35

        return Tokenizer(qwen35(), "qwen3.5")
    if name == "smollm2":
        from triathlon.recall.engines.gguf import resolve

        name = resolve(name)
    path = Path(name)
    if path.is_dir() and (path / "tokenizer.json").is_file():
        path = path / "tokenizer.json"
    try:
        if path.is_file() and path.suffix == ".json":
            return Tokenizer(tokenizers.Tokenizer.from_file(str(path)), given)
        from transformers import AutoTokenizer

        if path.is_file() and path.suffix == ".gguf":
            return wrap(AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name))
        return wrap(AutoTokenizer.from_pretrained(name))
    except UsageError:
        raise
    except Exception as error:  # the libraries raise bare Exceptions for a damaged file or an unknown name
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UsageError(f"the tokenizer {name} cannot be loaded: {first}") from error
