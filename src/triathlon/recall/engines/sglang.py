"""SGLang: `token_ids_logprob` from the first position on; its radix cache keeps what sequences begin with.

Written from the engine's documented interface and tested against a fake that follows it; not run on a GPU here. With
`logprob_start_len` s, entry j of the input lists is about prompt token s + j, and the entry of token s itself is empty.
One list of tokens serves all rows of a request, so the union is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triathlon.errors import MissingExtra
from triathlon.recall.engines import Options
from triathlon.recall.read import Answer, EngineError, Read


def load(model: str, options: Options) -> SglangEngine:
    """Start SGLang in this process; `--option NAME=VALUE` is handed to `sglang.Engine`."""
    try:
        import sglang
    except ImportError as error:
        raise MissingExtra("the sglang engine (install sglang 0.5 or later yourself)", "recall") from error
    extra: dict[str, Any] = {k: int(v) if v.isdigit() else v for k, v in options.extra.items()}
    engine = sglang.Engine(model_path=model, dtype=options.dtype, **extra)
    return SglangEngine(engine, version=sglang.__version__, name=model, dtype=options.dtype)


class SglangEngine:
    """An `Engine` object of SGLang."""

    def __init__(self, engine: Any, *, version: str = "", name: str = "", dtype: str = "auto") -> None:
        self.engine, self.version, self.name, self.dtype = engine, version, name, dtype
        manager = engine.tokenizer_manager
        self.tokenizer = manager.tokenizer
        length = getattr(manager.model_config, "context_len", None)
        self.limit: int | None = None if length is None else length - 2  # one token behind, one generated

    def describe(self) -> dict[str, Any]:
        """What a result must say about how it was read."""
        return {"engine": "sglang", "model": self.name, "sglang": self.version, "dtype": self.dtype}

    def read_many(self, reads: Sequence[Read]) -> list[Answer]:
        """One request a sequence; those that others begin with go first, so that the cache has them."""
        order = sorted(range(len(reads)), key=lambda i: (len(reads[i].ids), i))
        answers: dict[int, Answer] = {
            i: self.read(reads[i].ids, reads[i].positions, reads[i].tokens, reads[i].name) for i in order
        }
        return [answers[i] for i in range(len(reads))]

    def read(
        self, ids: Any, positions: Sequence[int], tokens: Sequence[Sequence[int]], name: str = "sequence"
    ) -> Answer:
        """Read one sequence."""
        first, last = positions[0], positions[-1]
        start = first - 1
        union = sorted({t for row in tokens for t in row})
        out = self.engine.generate(
            input_ids=[*map(int, ids[:last]), 0],
            sampling_params={"max_new_tokens": 1, "temperature": 0.0},
            return_logprob=True,
            logprob_start_len=start,
            top_logprobs_num=1,
            token_ids_logprob=union,
        )
        meta = (out[0] if isinstance(out, list) else out)["meta_info"]
        asked, best = meta.get("input_token_ids_logprobs"), meta.get("input_top_logprobs")
        wanted = last + 1 - start
        if asked is None or best is None or len(asked) != wanted or len(best) != wanted:
            sizes = [None if part is None else len(part) for part in (asked, best)]
            raise EngineError(f"{name}: sglang gave {sizes} rows, {wanted} were asked")
        top: list[int | None] = []
        logps = []
        for position, row in zip(positions, tokens, strict=True):
            entries, ranked = asked[position - start], best[position - start]
            found = {int(token): float(value) for value, token, *_ in entries or ()}
            if not ranked or any(t not in found for t in row):
                raise EngineError(f"{name}: position {position}: sglang left out numbers that were asked")
            top.append(int(ranked[0][1]))
            logps.append([found[t] for t in row])
        return Answer(top, logps)
