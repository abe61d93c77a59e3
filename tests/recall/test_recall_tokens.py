"""Tokenizers: offsets that fit the text, one BOS, characters in several tokens."""

from __future__ import annotations

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

from triathlon.errors import UsageError
from triathlon.recall import tokens


def _bytes(*, trim: bool = False, bos: bool = False) -> Tokenizer:
    """A byte tokenizer with a merged " a"."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {c: i for i, c in enumerate(alphabet)} | {"Ġa": 256}
    made = Tokenizer(models.BPE(vocab=vocab, merges=[("Ġ", "a")]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=trim)
    if bos:
        made.add_special_tokens([AddedToken("<s>", special=True)])
        number = made.token_to_id("<s>")
        made.post_processor = processors.Sequence(
            [processors.ByteLevel(trim_offsets=trim), processors.TemplateProcessing("<s> $A", None, [("<s>", number)])]
        )
    return made


def test_white_space_is_never_trimmed_from_offsets() -> None:
    got = tokens.Tokenizer(_bytes(trim=True), "x").encode("b a.")
    assert got.offsets() == [(0, 1), (1, 3), (3, 4)]
    assert got.at(1) == 1 and got.at(2) is None


def test_a_token_inside_a_character_has_no_start() -> None:
    got = tokens.Tokenizer(_bytes(), "x").encode("bé a")
    assert got.offsets() == [(0, 1), (1, 2), (None, 2), (2, 4)]
    assert got.at(1) == 1 and got.at(2) == 3
    assert got.first_after(4) == 4 and got.first_after(0) == 0


def test_bos_is_added_once_and_a_second_one_refused() -> None:
    made = tokens.Tokenizer(_bytes(bos=True), "x")
    got = made.encode("b a")
    assert got.lead == 1 and len(got) == 3 and got.at(0) == 1 and got.at(1) == 2
    assert got.offsets()[0] == (None, 0)
    assert len(made.encode("b a", bos=False)) == 2
    with pytest.raises(UsageError, match="BOS"):
        made.encode("<s>b a")


def test_a_tokenizer_without_offsets_is_refused() -> None:
    class Slow:
        name_or_path = "slow"

    with pytest.raises(UsageError, match="offsets"):
        tokens.wrap(Slow())


def test_the_fingerprint_is_of_what_decides_the_ids(own_tokenizer: tokens.Tokenizer) -> None:
    assert tokens.load("builtin").fingerprint == own_tokenizer.fingerprint
    assert tokens.Tokenizer(_bytes(), "x").fingerprint == tokens.Tokenizer(_bytes(trim=True), "y").fingerprint
    assert tokens.Tokenizer(_bytes(bos=True), "x").fingerprint != tokens.Tokenizer(_bytes(), "x").fingerprint


def test_ids_are_reproduced_or_not(own_tokenizer: tokens.Tokenizer) -> None:
    text = "<|im_start|>user\nno 48213. Then<|im_end|>\n"
    got = own_tokenizer.encode(text)
    assert own_tokenizer.reproduces(text, got.ids) is not None
    assert own_tokenizer.reproduces(text, got.ids[:-1]) is None
    assert own_tokenizer.decode(got.ids) == text
    assert int(got.ids[0]) == own_tokenizer.backend.token_to_id("<|im_start|>")
    assert (np.diff(got.end) >= 0).all()


def test_an_unknown_file_is_a_usage_error(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(UsageError, match="cannot be loaded"):
        tokens.load(str(path))
