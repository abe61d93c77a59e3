"""Train the tokenizer of the built-in set again: byte-level BPE on its own text, Qwen's control tokens, single digits.

    python benchmarks/recall_train_tokenizer.py OUT

The file in src/triathlon/recall/builtin came out of this. Training it again with another version of the `tokenizers`
library may give another vocabulary; the data of the built-in set would change with it.
"""

from __future__ import annotations

import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from triathlon.recall.builtin.corpus import corpus
from triathlon.recall.make.catalogue import RULES, WORDINGS
from triathlon.recall.make.chat import render, render_document

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<tool_call>",
    "</tool_call>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
)
PATTERN = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def main(out: str) -> None:
    """Write the tokenizer."""
    found = corpus(1, 4000)
    texts = [render(s).text for s in (*found.sessions, *found.conversations)]
    texts += [render_document(d).text for d in found.documents] + [a.text for a in found.articles]
    texts += [w.format(old=r.old[0], new=r.new) for r in RULES for w in WORDINGS[r.place].values()] * 3
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False, trim_offsets=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=3000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL])
    tokenizer.save(out, pretty=False)


if __name__ == "__main__":
    main(sys.argv[1])
