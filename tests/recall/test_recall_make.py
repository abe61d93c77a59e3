"""The builder: the card's counts and fields, the same bytes twice, and a check that notices damage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from triathlon.errors import UsageError
from triathlon.recall import parquet
from triathlon.recall.builtin.corpus import corpus
from triathlon.recall.check import check
from triathlon.recall.data import open_dataset
from triathlon.recall.items import MAIN, CallItem, FactItem, RuleItem, length_tokens
from triathlon.recall.make.build import Plan, build
from triathlon.recall.make.session import Corpus
from triathlon.recall.tokens import Tokenizer

FIELDS = {
    "facts": {"text", "targets", "source"},
    "tool_calls": {"text", "definitions", "targets", "sources"},
    "rules": {
        "text_without_rule",
        "text_with_rule",
        "rule",
        "rule_char",
        "family",
        "placement",
        "lang",
        "context_id",
        "targets",
        "sources",
    },
}
TARGETS = {
    "facts": {"answer_char", "answer", "fact_char", "fact", "distance_tokens"},
    "tool_calls": {"char", "target", "kind", "far", "fresh", "definition_id", "distance_tokens"},
    "rules": {
        "char_without_rule",
        "char_with_rule",
        "expected_text",
        "original_text",
        "distance_tokens",
        "first",
        "mentioned",
    },
}


def test_the_counts_of_the_card_at_8k(tmp_path: Path, own_tokenizer: Tokenizer) -> None:
    tokens = length_tokens("8k")
    assert tokens == 8193
    made = build(corpus(0, tokens), own_tokenizer, tmp_path, Plan(["8k"], controls=False))
    counts = {config: made["counts"][config]["8k"]["items"] for config in MAIN}
    assert counts == {"facts": 8, "tool_calls": 16, "rules_en": 82, "rules_cs": 82, "rules_de": 82}
    data = open_dataset(str(tmp_path))
    rules = [item for part in data.parts if part.config == "rules_en" for item in part.items()]
    assert len({item.context_id for item in rules if isinstance(item, RuleItem)}) == 16
    assert {p.config for p in data.parts} == set(MAIN)
    for part in data.parts:
        names = set(pq.read_schema(part.path).names)
        kind = part.config if part.config in FIELDS else "rules"
        assert {n for n in names if not n.startswith("builder_ids")} == FIELDS[kind]
        assert {f.name for f in pq.read_schema(part.path).field("targets").type.value_type} == TARGETS[kind]


def test_items_come_back_as_written_and_the_set_is_in_order(small_set: Path, own_tokenizer: Tokenizer) -> None:
    data = open_dataset(str(small_set))
    assert check(data, own_tokenizer) == []
    kinds = {type(item) for part in data.parts for item in part.items()}
    assert kinds == {FactItem, CallItem, RuleItem}
    part = data.parts[0]
    again = small_set.parent / "again.parquet"
    parquet.write(again, part.config, part.items(), "builder_")
    assert again.read_bytes() == part.path.read_bytes()
    assert "triathlon/builtin" in (small_set / "README.md").read_text()


def test_two_builds_with_one_seed_are_equal_and_another_seed_is_not(tmp_path: Path, own_tokenizer: Tokenizer) -> None:
    def made(name: str, seed: int) -> dict[str, bytes]:
        out = tmp_path / name
        found = corpus(0, length_tokens("2k"), 2)
        build(found, own_tokenizer, out, Plan(["2k"], seed, contexts=1, fact_items=1, controls=False))
        return {p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*.*")) if p.is_file()}

    first, second, other = made("a", 0), made("b", 0), made("c", 1)
    assert first == second
    assert first["data/facts/2k.parquet"] != other["data/facts/2k.parquet"]


def test_far_begins_at_512(small_set: Path) -> None:
    targets = [
        t
        for part in open_dataset(str(small_set), sets=["tool_calls"]).parts
        for item in part.items()
        for t in item.targets
    ]
    assert targets
    for target in targets:
        assert target.far == (target.distance_tokens >= 512)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("config", "field", "damage"),
    [
        ("facts", "answer_char", lambda i: replace(i, targets=(replace(i.targets[0], answer_char=(3, 10)),))),
        ("facts", "answer", lambda i: replace(i, text=i.text.replace(i.targets[0].fact, "x" * len(i.targets[0].fact)))),
        ("facts", "text", lambda i: replace(i, text=i.text[:-5] + "e\u0301 ab")),
        ("facts", "distance_tokens", lambda i: replace(i, targets=(replace(i.targets[0], distance_tokens=9),))),
        ("facts", "source", lambda i: replace(i, source=replace(i.source, license=""))),
        ("tool_calls", "far", lambda i: replace(i, targets=(replace(i.targets[0], far=not i.targets[0].far),))),
        ("tool_calls", "kind", lambda i: replace(i, targets=(replace(i.targets[0], kind="verb"),))),
        ("tool_calls", "sources", lambda i: replace(i, sources=())),
        ("rules_en", "rule_char", lambda i: replace(i, rule_char=(1, 5))),
        ("rules_en", "family", lambda i: replace(i, family="advice")),
        ("rules_en", "char_with_rule", lambda i: replace(i, targets=(replace(i.targets[0], char_with_rule=7),))),
        ("rules_en", "text_with_rule", lambda i: replace(i, text_with_rule=i.text_with_rule + " more")),
    ],
)
def test_check_names_item_and_field(
    small_set: Path, tmp_path: Path, own_tokenizer: Tokenizer, config: str, field: str, damage: object
) -> None:
    part = open_dataset(str(small_set), sets=[config]).parts[0]
    items = part.items()[:2]
    items[1] = damage(items[1])  # type: ignore[operator]
    parquet.write(tmp_path / "data" / config / "2k.parquet", config, items, "builder_")
    found = check(open_dataset(str(tmp_path)), own_tokenizer)
    assert any(f.where == f"{config}/2k item 1" and field in f.field for f in found), [str(f) for f in found]
    assert not any("item 0" in f.where for f in found)


def test_nothing_to_build_from_is_said(tmp_path: Path, own_tokenizer: Tokenizer) -> None:
    with pytest.raises(UsageError, match="nothing to build from"):
        build(Corpus(), own_tokenizer, tmp_path, Plan(["2k"]))


def test_an_existing_set_is_not_overwritten(small_set: Path, own_tokenizer: Tokenizer) -> None:
    with pytest.raises(UsageError, match="already"):
        build(Corpus(), own_tokenizer, small_set, Plan(["2k"]))


def test_lengths() -> None:
    assert [length_tokens(x) for x in ("2k", "8k", "32k", "3000")] == [2049, 8193, 32769, 3001]
    with pytest.raises(ValueError, match="short"):
        length_tokens("5")
