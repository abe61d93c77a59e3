"""vLLM: token ids per row (`prompt_logprob_token_ids`, 0.33 or later), all sequences in one call for it to schedule.

Written from the engine's documented interface and tested against a fake that follows it; not run on a GPU here. A
prompt is the sequence cut at its last position plus one token that nobody looks at, because the last row is not scored:
row i of `prompt_token_id_logprobs` says what follows the first start + i + 1 tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from triathlon.errors import MissingExtra, UsageError
from triathlon.recall.engines import Options
from triathlon.recall.read import Answer, EngineError, Read

NEEDS = "prompt_logprob_token_ids"


def load(model: str, options: Options) -> VllmEngine:
    """Start vLLM in this process; `--option NAME=VALUE` is handed to `vllm.LLM`."""
    try:
        import vllm
    except ImportError as error:
        raise MissingExtra("the vllm engine (install vllm 0.33 or later yourself)", "recall") from error
    if NEEDS not in getattr(vllm.SamplingParams, "__struct_fields__", (NEEDS,)):
        raise UsageError(f"vllm {vllm.__version__} cannot score given tokens: 0.33 or later is needed")
    extra: dict[str, Any] = {k: int(v) if v.isdigit() else v for k, v in options.extra.items()}
    llm = vllm.LLM(model=model, dtype=options.dtype, enable_prefix_caching=True, **extra)
    return VllmEngine(llm, vllm.SamplingParams, version=vllm.__version__, name=model, dtype=options.dtype)


class VllmEngine:
    """An `LLM` object of vLLM."""

    def __init__(
        self, llm: Any, params: Callable[..., Any], *, version: str = "", name: str = "", dtype: str = "auto"
    ) -> None:
        self.llm, self.params = llm, params
        self.version, self.name, self.dtype = version, name, dtype
        self.tokenizer = llm.get_tokenizer()
        config = llm.llm_engine.model_config
        self.limit: int | None = config.max_model_len - 1  # one token stands behind the sequence
        self.most = getattr(config, "max_logprobs", 20)

    def describe(self) -> dict[str, Any]:
        """What a result must say about how it was read."""
        return {"engine": "vllm", "model": self.name, "vllm": self.version, "dtype": self.dtype}

    def read(self, ids: Any, positions: Sequence[int], tokens: Sequence[Sequence[int]]) -> Answer:
        """Read one sequence."""
        return self.read_many([Read(ids, tuple(positions), tuple(map(tuple, tokens)), "sequence")])[0]

    def read_many(self, reads: Sequence[Read]) -> list[Answer]:
        """Read all sequences; those whose scores a prefix-cache hit swallowed are read once more without the cache."""
        outputs = self._generate(reads, skip_cache=False)
        lost = [i for i, out in enumerate(outputs) if out.prompt_token_id_logprobs is None]
        for i, out in zip(lost, self._generate([reads[i] for i in lost], skip_cache=True), strict=True):
            outputs[i] = out
        return [_answer(out, read) for out, read in zip(outputs, reads, strict=True)]

    def _generate(self, reads: Sequence[Read], skip_cache: bool) -> list[Any]:
        if not reads:
            return []
        prompts, params = [], []
        for read in reads:
            width = max(map(len, read.tokens))
            if width > self.most:
                raise UsageError(f"{read.name}: {width} tokens are asked at a place, the engine gives {self.most}")
            asked = dict(zip(read.positions, read.tokens, strict=True))
            first, last = read.positions[0], read.positions[-1]
            rows = [list(asked.get(p, (-1,))) for p in range(first, last + 1)]
            prompts.append({"prompt_token_ids": [*map(int, read.ids[:last]), 0]})
            params.append(
                self.params(
                    max_tokens=1,
                    temperature=0.0,
                    prompt_logprobs=1,
                    prompt_logprob_token_ids=rows,
                    prompt_logprob_start=first - 1,
                    skip_reading_prefix_cache=skip_cache,
                )
            )
        outputs = list(self.llm.generate(prompts, params))
        if len(outputs) != len(reads):
            raise EngineError(f"vllm answered {len(outputs)} of {len(reads)} sequences")
        return outputs


def _answer(out: Any, read: Read) -> Answer:
    first, last = read.positions[0], read.positions[-1]
    rows, tops = out.prompt_token_id_logprobs, out.prompt_logprobs
    if rows is None or len(rows) != last - first + 1:
        found = "no" if rows is None else str(len(rows))
        raise EngineError(f"{read.name}: vllm gave {found} rows, {last - first + 1} were asked")
    if tops is None or len(tops) not in (last + 1, last - first + 1):
        raise EngineError(f"{read.name}: vllm gave no top-1 tokens for the prompt")
    shift = 0 if len(tops) == last + 1 else first
    top: list[int | None] = []
    logps = []
    for position, tokens in zip(read.positions, read.tokens, strict=True):
        row = rows[position - first]
        if len(row) < len(tokens):
            raise EngineError(f"{read.name}: position {position}: {len(row)} of {len(tokens)} numbers came back")
        logps.append([float(v) for v in row[: len(tokens)]])
        entry = tops[position - shift] or {}
        best = [token for token, value in entry.items() if value.rank == 1]
        if not best:
            raise EngineError(f"{read.name}: position {position}: no token of rank 1 came back")
        top.append(int(best[0]))
    return Answer(top, logps)
