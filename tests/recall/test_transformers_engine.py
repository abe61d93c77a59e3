"""The reader on tiny random models in fp32: sharing changes nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from transformers import AutoModelForCausalLM, DynamicCache, Gemma2Config, LlamaConfig, MistralConfig  # noqa: E402
from transformers.models.qwen3_5 import Qwen3_5TextConfig  # noqa: E402

from triathlon.errors import UsageError  # noqa: E402
from triathlon.recall.engines import attention, cache, head  # noqa: E402
from triathlon.recall.engines.transformers import TransformersEngine  # noqa: E402
from triathlon.recall.read import EngineError, Read, read_all  # noqa: E402

BASE = {
    "vocab_size": 400,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
}
CONFIGS: dict[str, Any] = {
    "llama": LlamaConfig(**BASE),
    "sliding": MistralConfig(**BASE, sliding_window=60),
    "softcap": Gemma2Config(
        **BASE,
        head_dim=8,
        sliding_window=48,
        query_pre_attn_scalar=8,
        attn_logit_softcapping=2.0,
        final_logit_softcapping=3.0,
    ),
    "gated-delta-net": Qwen3_5TextConfig(
        **BASE,
        head_dim=8,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        layer_types=["linear_attention"] * 3 + ["full_attention"],
    ),
}


def _model(config: Any, blocked: bool = True) -> Any:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    kwargs = {"attn_implementation": attention.register()} if blocked else {}
    model = AutoModelForCausalLM.from_config(config, **kwargs)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(std=0.15)
    return model.float()


def _reads() -> list[Read]:
    """Sequences that branch off one another at many places, one of them twice."""
    make = np.random.default_rng(1)
    common = make.integers(0, 400, 420)
    reads = []
    for number, cut in enumerate((120, 120, 121, 300, 419, 1, 300)):
        ids = np.concatenate([common[:cut], make.integers(0, 400, 430 - cut)]).astype(np.int32)
        positions = tuple(sorted({1, max(1, cut - 1), cut, cut + 1, 290, 400 + number}))
        reads.append(Read(ids, positions, tuple((int(ids[p % 430]), 5, p % 400) for p in positions), f"s{number}"))
    return reads


def _plain(model: Any, read: Read) -> tuple[list[int], list[list[float]]]:
    """The whole sequence in one forward pass with the model's own attention and full logits."""
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        logits = model(torch.tensor(read.ids[None].astype(np.int64)), use_cache=False).logits[0].double()
    logp = torch.log_softmax(logits, -1)
    rows = [[float(logp[p - 1, t]) for t in row] for p, row in zip(read.positions, read.tokens, strict=True)]
    return [int(logits[p - 1].argmax()) for p in read.positions], rows


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("chunk", [64, 1000])
def test_trie_reads_equal_plain_reads(name: str, chunk: int) -> None:
    model = _model(CONFIGS[name])
    engine = TransformersEngine(model, chunk=chunk)
    assert engine.shares and not engine.own_head
    reads = _reads()
    shared = read_all(engine, reads)
    whole = [engine.read(r.ids, r.positions, r.tokens) for r in reads]
    for read, answer, again in zip(reads, shared, whole, strict=True):
        top, rows = _plain(model, read)
        assert list(answer.top) == top == list(again.top)
        assert np.allclose(answer.logps, rows, atol=1e-4, rtol=0)
        assert np.allclose(again.logps, rows, atol=1e-4, rtol=0)
    assert max(abs(v) for a in shared for row in a.logps for v in row) > 2  # not a uniform model


def test_forking_without_cloning_the_state_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _model(CONFIGS["gated-delta-net"])
    engine = TransformersEngine(model, chunk=64)
    right = read_all(engine, _reads())

    def shallow(value: Any) -> Any:
        return {k: shallow(v) for k, v in value.items()} if isinstance(value, dict) else value

    monkeypatch.setattr(cache, "_clone", shallow)
    wrong = read_all(engine, _reads())
    assert max(np.abs(np.subtract(a.logps, b.logps)).max() for a, b in zip(right, wrong, strict=True)) > 1e-3


def test_a_model_without_pluggable_attention_is_read_whole() -> None:
    model = _model(CONFIGS["llama"], blocked=False)
    engine = TransformersEngine(model)
    assert not engine.shares and engine.describe()["shared"] is False
    read = _reads()[0]
    top, rows = _plain(model, read)
    answer = engine.read_many([read])[0]
    assert list(answer.top) == top and np.allclose(answer.logps, rows, atol=1e-4, rtol=0)


def test_a_model_that_scales_its_logits_keeps_its_own_head() -> None:
    from transformers import GraniteConfig

    model = _model(GraniteConfig(**BASE, logits_scaling=4.0))
    engine = TransformersEngine(model)
    assert engine.own_head and engine.describe()["head"] == "own"
    read = _reads()[2]
    top, rows = _plain(model, read)
    answer = engine.read_many([read])[0]
    assert list(answer.top) == top and np.allclose(answer.logps, rows, atol=1e-4, rtol=0)


def test_the_cache_has_the_layout_that_rewinding_relies_on() -> None:
    config = CONFIGS["gated-delta-net"]
    kinds = [type(layer).__name__ for layer in DynamicCache(config=config).layers]
    assert kinds == ["LinearAttentionLayer"] * 3 + ["DynamicLayer"]
    made = cache.fresh(config, 4, 100)
    assert isinstance(made.layers[3], cache.BufferLayer)
    kept = cache.snapshot(made)
    made.layers[3].update(torch.ones(1, 2, 5, 8), torch.ones(1, 2, 5, 8))
    assert made.layers[3].get_seq_length() == 5
    cache.restore(made, kept)
    assert made.layers[3].get_seq_length() == 0


def test_nan_is_an_error_that_names_the_sequence() -> None:
    model = _model(CONFIGS["llama"])
    engine = TransformersEngine(model)
    with torch.no_grad():
        model.model.norm.weight.fill_(math.nan)
    with pytest.raises(EngineError, match="s0: the model gives NaN"):
        engine.read_many(_reads()[:1])


def test_tokens_the_model_does_not_know_are_refused() -> None:
    engine = TransformersEngine(_model(CONFIGS["llama"]))
    with pytest.raises(UsageError, match="token 400"):
        engine.read_many([Read(np.array([1, 2], dtype=np.int32), (2,), ((400,),), "x")])


def test_ties_go_to_the_lowest_id_and_are_counted() -> None:
    weight = torch.zeros(70_000, 2)
    weight[[3, 50_000, 60_000], 0] = 1.0
    top, logps, tied = head.score(torch.tensor([[2.0, 0.0]]), [[3, 9]], head.linear_slices(weight, None, None))
    assert top == [3] and tied == [True]
    total = math.log(3 * math.exp(2) + 70_000 - 3)
    assert logps[0] == pytest.approx([2 - total, -total], abs=1e-5)
