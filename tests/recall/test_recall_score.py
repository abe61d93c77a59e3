"""Scoring with an engine that is a hash: what is fed, counted, saved, resumed, merged and compared."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HashBackend

from triathlon.errors import NothingToDo, UsageError
from triathlon.recall import parquet, report, score_sets
from triathlon.recall.compare import compare
from triathlon.recall.data import open_dataset
from triathlon.recall.items import MAIN
from triathlon.recall.read import EngineError, Read, checked
from triathlon.recall.score import Options, parse_shard, run
from triathlon.recall.scores import Scores, merge, target_of
from triathlon.recall.tokens import Tokenizer


@pytest.fixture(scope="module")
def scored(small_set: Path, own_tokenizer: Tokenizer) -> Scores:
    return run(HashBackend(), own_tokenizer, open_dataset(str(small_set)), Options())[0]


def _small(small_set: Path, *sets: str) -> Any:
    return open_dataset(str(small_set), sets=sets)


def test_rows_are_named_as_on_the_card_and_the_reference_is_exactly_one(
    small_set: Path, own_tokenizer: Tokenizer
) -> None:
    got = score_sets(HashBackend(), own_tokenizer, small_set, check=2)
    assert [r["row"] for r in got["rows"]] == [
        "Facts recalled at 2k tokens",
        "Distant tool calls at 2k tokens",
        "Rules followed at 2k tokens",
        "Rules kept far back, worst case (1.00 = as the original)",
        "Czech rules kept far back, worst case",
        "German rules kept far back, worst case",
        "Rules in Czech followed at 2k tokens",
        "Rules in German followed at 2k tokens",
    ]
    for row in got["rows"][2:]:
        assert row["value"] == 1.0 and row["low"] == 1.0 and row["high"] == 1.0
    worst = got["rows"][3]
    assert worst["cell"] and worst["cells"] == 6 and worst["cells_counted"] + len(worst["empty_cells"]) == 6
    assert got["mode"] == "ids" and got["check"]["max_abs_difference"] == 0 and got["check"]["passed"]
    for config in ("rules_en", "rules_cs", "rules_de"):
        cell = got["sets"][config]["2k"]["all"]
        assert cell["follow"] == cell["retained_aligned"] == 1.0
        assert cell["retained"] in (1.0, None)  # None where the hash's effects happen to add up to nothing
    assert {c["control"] for c in got["controls"]} >= {"facts_none", "facts_distractor", "rules_mention", "rules_near"}
    json.dumps(got, allow_nan=False)


def test_the_shared_text_is_read_once_a_context(small_set: Path, own_tokenizer: Tokenizer) -> None:
    class Many(HashBackend):
        def __init__(self) -> None:
            super().__init__()
            self.batches: list[int] = []

        def read_many(self, reads: Any) -> Any:
            self.batches.append(len(reads))
            return [self.read(r.ids, r.positions, r.tokens) for r in reads]

    engine = Many()
    data = _small(small_set, *MAIN)
    run(engine, own_tokenizer, data, Options(check=0))
    contexts = {i.context_id for p in data.parts if p.config == "rules_en" for i in p.items()}  # type: ignore[union-attr]
    assert len(engine.batches) == 2 + len(contexts)  # two fact texts, and everything of a context together


def test_a_score_file_is_the_same_reference_again(scored: Scores, tmp_path: Path) -> None:
    path = tmp_path / "ref.json.gz"
    scored.save(path)
    first = path.read_bytes()
    again = Scores.load(path)
    again.save(path)
    assert path.read_bytes() == first
    got = report.build(scored, again)
    for row in got["rows"][2:]:
        assert row["value"] == 1.0
    assert got["reference"]["engine"]["engine"] == "hash"


def test_minus_infinity_survives_a_file(scored: Scores, tmp_path: Path) -> None:
    records = [dict(r) for r in scored.records]
    record = next(r for r in records if "family" in r)
    record["with"] = -math.inf
    Scores(records, scored.mode, scored.data, scored.tokenizer, scored.engine).save(tmp_path / "x.json")
    loaded = Scores.load(tmp_path / "x.json")
    assert next(r for r in loaded.records if target_of(r) == target_of(record))["with"] == -math.inf
    got = report.build(loaded, scored)
    assert got["clamped"] == 1
    json.dumps(got, allow_nan=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "text"}, "mode"),
        ({"data": {"rules_en/2k": "other"}}, "another rules_en/2k"),
        ({"thresholds": {"effect": 2.0}}, "thresholds"),
        ({"tokenizer": {"name": "t", "sha256": "x"}}, "tokenizer"),
        ({"records": []}, "lacks"),
        ({"data": {}}, "no scores for"),
    ],
)
def test_a_reference_read_otherwise_is_refused(scored: Scores, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        report.build(scored, replace(scored, **change))


def test_another_tokenizer_needs_a_word(scored: Scores) -> None:
    model, ref = replace(scored, mode="text"), replace(scored, mode="text", tokenizer={"name": "t", "sha256": "x"})
    with pytest.raises(UsageError, match="allow-tokenizer-mismatch"):
        report.build(model, ref)
    assert report.build(model, ref, allow_tokenizer_mismatch=True)["rows"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": "other"}', b"\x1f\x8b broken"])
def test_a_damaged_score_file_is_a_usage_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.json.gz"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="score file"):
        Scores.load(path)


def test_a_model_that_is_too_short_skips_and_counts(small_set: Path, own_tokenizer: Tokenizer) -> None:
    got = score_sets(HashBackend(limit=1000), own_tokenizer, small_set)
    assert got["counts"]["too_long"] > 0 and got["sets"]["facts"]["2k"]["too_long"] == 16
    assert got["rows"][0]["value"] is None and got["rows"][0]["low"] is None
    # What counts is the last asked position: 2,048 tokens are fed of 2,049 at most.
    whole = score_sets(HashBackend(limit=2048), own_tokenizer, small_set)
    assert "too_long" not in whole["counts"]


def test_text_mode_maps_by_characters(small_set: Path, own_tokenizer: Tokenizer) -> None:
    from test_recall_tokens import _bytes

    other = Tokenizer(_bytes(), "bytes")
    got = score_sets(HashBackend(), other, small_set, sets=["facts", "tool_calls"])
    assert got["mode"] == "text"
    assert got["sets"]["facts"]["2k"]["n"] == 16 and got["counts"]["ok"] > 16
    with pytest.raises(UsageError, match="mode ids"):
        score_sets(HashBackend(), other, small_set, sets=["facts"], mode="ids")


def test_answers_that_cannot_be_scores_are_refused() -> None:
    read = Read(np.arange(5, dtype=np.int32), (2, 4), ((1,), (2, 3)), "facts/8k item 3")
    assert checked(([1, 2], [[-1.0], [-2.0, -math.inf]]), read).logps[1][1] == -math.inf
    for answer, message in [
        (([1], [[-1.0]]), "1 of 2 positions"),
        (([1, 2], [[-1.0], [-2.0]]), "1 of 2 log-probabilities"),
        (([1, 2], [[math.nan], [-2.0, -1.0]]), "not a log-probability"),
        (([1, 2], [[math.inf], [-2.0, -1.0]]), "not a log-probability"),
    ]:
        with pytest.raises(EngineError, match=f"facts/8k item 3.*{message}"):
            checked(answer, read)


def test_an_engine_without_top_one_cannot_do_facts(small_set: Path, own_tokenizer: Tokenizer) -> None:
    class Blind(HashBackend):
        def read(self, ids: Any, positions: Any, asked: Any) -> Any:
            return [None] * len(positions), super().read(ids, positions, asked)[1]

    with pytest.raises(EngineError, match="top-1"):
        score_sets(Blind(), own_tokenizer, small_set, sets=["facts"])
    assert score_sets(Blind(), own_tokenizer, small_set, sets=["rules_en"])["rows"][0]["value"] is not None


def test_a_stopped_run_goes_on_and_another_run_is_refused(
    small_set: Path, own_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    data, journal = _small(small_set, "facts", "tool_calls"), tmp_path / "o.partial"

    class Stops(HashBackend):
        def read(self, ids: Any, positions: Any, asked: Any) -> Any:
            if self.reads == 2:
                raise KeyboardInterrupt
            return super().read(ids, positions, asked)

    with pytest.raises(KeyboardInterrupt):
        run(Stops(), own_tokenizer, data, Options(check=0), journal=journal)
    with journal.open("a") as handle:
        handle.write('{"unit": "half a li')
    engine = HashBackend()
    got = run(engine, own_tokenizer, data, Options(check=0), journal=journal, resume=True)[0]
    plain = HashBackend()
    assert got.records == run(plain, own_tokenizer, data, Options(check=0))[0].records
    assert engine.reads == plain.reads - 2
    with pytest.raises(UsageError, match="another run"):
        run(HashBackend("other"), own_tokenizer, data, Options(check=0), journal=journal, resume=True)


def test_shards_merge_into_the_whole(small_set: Path, own_tokenizer: Tokenizer, scored: Scores) -> None:
    data = open_dataset(str(small_set))
    parts = [run(HashBackend(), own_tokenizer, data, Options(check=0, shard=(i, 3)))[0] for i in (1, 2, 3)]
    whole = merge(parts, ["a", "b", "c"])
    assert whole.records == scored.records and report.build(whole) == report.build(scored)
    with pytest.raises(UsageError, match="missing or twice"):
        merge(parts[:2], ["a", "b"])
    with pytest.raises(UsageError, match="in two of the files"):
        merge([replace(parts[0], parts=[]), replace(parts[0], parts=[])], ["a", "a"])
    assert parse_shard("2/3") == (2, 3)
    with pytest.raises(UsageError, match="i/n"):
        parse_shard("4/3")
    with pytest.raises(NothingToDo):
        run(HashBackend(), own_tokenizer, _small(small_set, "facts"), Options(shard=(9, 9)))


def test_a_limit_expects_fewer_cells(small_set: Path, own_tokenizer: Tokenizer) -> None:
    got = score_sets(HashBackend(), own_tokenizer, small_set, sets=["rules_en"], limit=1)
    assert got["rows"][1]["cells"] == 1 and got["limit"] == 1


def test_compare_names_what_changed(scored: Scores, small_set: Path, own_tokenizer: Tokenizer) -> None:
    same = compare(scored, scored)
    assert same["changed"] == [] and all(r["difference"] == 0.0 for r in same["rows"] if r["n"])
    other = run(HashBackend("other"), own_tokenizer, open_dataset(str(small_set)), Options(check=0))[0]
    got = compare(scored, other)
    rules = next(r for r in got["rows"] if r["set"] == "rules_en")
    assert rules["a"] == 1.0 and rules["lost"] > 0 and rules["gained"] == 0 and rules["low"] <= rules["difference"]
    change = next(c for c in got["changed"] if c["set"] == "rules_en")
    assert change["a"]["verdict"] is True and change["b"]["verdict"] is False and "with" in change["b"]
    with pytest.raises(UsageError, match="different data"):
        compare(scored, replace(other, data={"facts/2k": "x"}))


@pytest.mark.parametrize("config", ["facts", "tool_calls", "rules_en"])
def test_spans_that_do_not_match_are_refused(
    small_set: Path, own_tokenizer: Tokenizer, tmp_path: Path, config: str
) -> None:
    items = _small(small_set, config).parts[0].items()
    if config == "facts":
        damaged = replace(items[1], text="x" + items[1].text[1:-9] + "12345678" + items[1].text[-1])
        damaged = replace(damaged, targets=(replace(items[1].targets[0], answer=" 00000."),))
    elif config == "tool_calls":
        damaged = replace(items[1], targets=(replace(items[1].targets[0], target="nothing"),))
    else:
        damaged = replace(items[1], rule="another rule")
    parquet.write(tmp_path / "data" / config / "2k.parquet", config, [items[0], damaged], "builder_")
    with pytest.raises(UsageError, match=f"{config}/2k item 1"):
        score_sets(HashBackend(), own_tokenizer, tmp_path)


def test_a_damaged_parquet_file_is_named(small_set: Path, own_tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "data" / "facts" / "2k.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes((_small(small_set, "facts").parts[0].path).read_bytes()[:500])
    with pytest.raises(UsageError, match=r"2k\.parquet"):
        score_sets(HashBackend(), own_tokenizer, tmp_path)
    with pytest.raises(UsageError, match="no recall data"):
        open_dataset(str(tmp_path / "data" / "facts"))
    with pytest.raises(UsageError, match="not a hub name"):
        open_dataset(str(tmp_path / "nowhere"))
