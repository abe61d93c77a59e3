"""llama.cpp in this process, through llama-cpp-python.

llama.cpp's HTTP server is not supported: it gives log-probabilities of generated tokens only. The table of logits has a
row a token of the context, which is what `logits_all` means; a model for which it would not fit is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from triathlon.errors import MissingExtra, UsageError
from triathlon.recall.engines import Options
from triathlon.recall.engines.gguf import SMOLLM2, smollm2_file
from triathlon.recall.read import Answer, EngineError, Read

TABLE_GIB = 16.0  # the largest table of logits; `--option table_gib=N` changes it


def load(model: str, options: Options) -> LlamaCppEngine:
    """Load a .gguf file; `--option n_ctx=N` sets the context, `--option n_threads=N` the threads."""
    try:
        import llama_cpp
    except ImportError as error:
        raise MissingExtra("the llama.cpp engine (install llama-cpp-python yourself)", "recall") from error
    extra = {k: int(v) for k, v in options.extra.items() if k != "table_gib"}
    path = str(smollm2_file()) if model == SMOLLM2 else model
    probe = llama_cpp.Llama(model_path=path, vocab_only=True, verbose=False)
    length = extra.pop("n_ctx", 8192)
    table = length * probe.n_vocab() * 4 / 2**30
    most = float(options.extra.get("table_gib", TABLE_GIB))
    if table > most:
        raise UsageError(
            f"{model}: the logits of {length} tokens take {table:.0f} GiB: give a smaller n_ctx or a larger table_gib"
        )
    llm = llama_cpp.Llama(
        model_path=path, n_ctx=length, n_batch=min(options.chunk, length), logits_all=True, verbose=False, **extra
    )
    return LlamaCppEngine(llm, version=llama_cpp.__version__, name=model)


class LlamaCppEngine:
    """A `Llama` object with `logits_all`."""

    def __init__(self, llm: Any, *, version: str = "", name: str = "") -> None:
        self.llm, self.version, self.name = llm, version, name
        self.tokenizer = None  # its own has no character offsets: name one with --tokenizer
        self.limit: int | None = int(llm.n_ctx())
        self.held = np.zeros(0, dtype=np.int32)  # the tokens whose keys, values and logits are in the context

    def describe(self) -> dict[str, Any]:
        """What a result must say about how it was read."""
        return {"engine": "llama.cpp", "model": self.name, "llama_cpp_python": self.version, "dtype": "quantised"}

    def read_many(self, reads: Sequence[Read]) -> list[Answer]:
        """In the order of their tokens, so that neighbours share as much as they can."""
        order = sorted(range(len(reads)), key=lambda i: np.asarray(reads[i].ids).astype(">i4").tobytes())
        answers = {i: self._read(reads[i].ids, reads[i].positions, reads[i].tokens, reads[i].name) for i in order}
        return [answers[i] for i in range(len(reads))]

    def read(self, ids: Any, positions: Sequence[int], tokens: Sequence[Sequence[int]]) -> Answer:
        """Read one sequence from its beginning."""
        self.held = self.held[:0]
        return self._read(ids, positions, tokens, "sequence")

    def _read(self, ids: Any, positions: Sequence[int], tokens: Sequence[Sequence[int]], name: str) -> Answer:
        ids = np.asarray(ids[: positions[-1]], dtype=np.int32)
        size = min(len(ids), len(self.held))
        differ = np.flatnonzero(ids[:size] != self.held[:size])
        shared = int(differ[0]) if len(differ) else size
        if not shared:
            self.llm.reset()
        self.llm.n_tokens = shared  # eval drops what the context holds behind this
        if shared < len(ids):
            self.llm.eval([int(t) for t in ids[shared:]])
        self.held = ids
        if self.llm.n_tokens != len(ids):
            raise EngineError(f"{name}: llama.cpp has read {self.llm.n_tokens} of {len(ids)} tokens")
        top: list[int | None] = []
        logps = []
        ties = 0
        for position, row in zip(positions, tokens, strict=True):
            logits = np.asarray(self.llm.scores[position - 1], dtype=np.float64)
            high = logits.max()
            if not np.isfinite(high):
                raise EngineError(f"{name}: the model gives NaN or inf at position {position}")
            total = high + np.log(np.exp(logits - high).sum())
            top.append(int(logits.argmax()))
            ties += int((logits == high).sum() > 1)
            logps.append([float(min(0.0, logits[t] - total)) for t in row])
        return Answer(top, logps, ties)
