"""The engines, each in its file behind the Protocol of `recall.read`; `open_engine` finds one by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from triathlon.errors import UsageError

ENGINES = {
    "transformers": "triathlon.recall.engines.transformers",
    "vllm": "triathlon.recall.engines.vllm",
    "sglang": "triathlon.recall.engines.sglang",
    "llama.cpp": "triathlon.recall.engines.llama_cpp",
    "openai": "triathlon.recall.engines.openai",
    "thinctx": "triathlon.recall.engines.thinctx",
}


@dataclass(frozen=True)
class Options:
    """How to load a model; an engine takes what it knows and refuses what it cannot do."""

    dtype: str = "auto"
    device: str = "auto"
    chunk: int = 1024
    extra: dict[str, str] = field(default_factory=dict)  # engine-specific: base_url, max_tokens, ...


def open_engine(name: str, model: str, options: Options) -> Any:
    """Load a model in an engine: an object with `read`, `tokenizer`, `limit` and `describe()`."""
    if name not in ENGINES:
        raise UsageError(f"--backend {name}: not known (there are {', '.join(ENGINES)})")
    return import_module(ENGINES[name]).load(model, options)
