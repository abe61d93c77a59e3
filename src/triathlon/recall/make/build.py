"""`recall make`: from a corpus to the files of a data set, byte for byte the same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall import parquet
from triathlon.recall.files import write_json
from triathlon.recall.items import CONFIGS, LANGS, MAIN, Item, length_tokens
from triathlon.recall.make import calls, card, facts, rules
from triathlon.recall.make.chat import render
from triathlon.recall.make.fit import Fillers, Fitted, fit
from triathlon.recall.make.session import Corpus, Session
from triathlon.recall.tokens import Tokenizer

Progress = Callable[[str], None]


@dataclass
class Plan:
    """What to build; the defaults are the card's counts."""

    lengths: Sequence[str] = ("8k", "32k")
    seed: int = 0
    contexts: int = 16
    fact_items: int = 8
    controls: bool = True
    configs: Sequence[str] = field(default_factory=lambda: list(MAIN))


def build(
    corpus: Corpus, tokenizer: Tokenizer, out: Path, plan: Plan, progress: Progress = lambda _: None
) -> dict[str, Any]:
    """Write the data set into `out`; returns its manifest (also written, as dataset.json, beside README.md)."""
    if any((out / "data").glob("*/*.parquet")):
        raise UsageError(f"{out}: there is a data set already; give another folder or remove it")
    prefix = "qwen_" if tokenizer.name.startswith("qwen3.5") else "builder_"
    counts: dict[str, dict[str, Any]] = {}
    for length in plan.lengths:
        made = build_length(corpus, tokenizer, length, plan, progress)
        for config in CONFIGS:
            items = made.get(config)
            if items:
                parquet.write(out / "data" / config / f"{length}.parquet", config, items, prefix)
                counts.setdefault(config, {})[length] = {
                    "items": len(items),
                    "targets": sum(len(i.targets) for i in items),
                }
    if not counts:
        raise UsageError("the sources have nothing to build from: no articles and no sessions")
    manifest = {
        "format": "triathlon-recall-data/1",
        "seed": plan.seed,
        "tokenizer": {"name": tokenizer.name, "sha256": tokenizer.fingerprint},
        "lengths": {length: length_tokens(length) for length in plan.lengths},
        "counts": counts,
        "skipped": dict(sorted(corpus.skipped.items())),
        "sources": card.origins(corpus),
    }
    write_json(out / "dataset.json", manifest)
    (out / "README.md").write_text(card.card(manifest), encoding="utf-8")
    return manifest


def build_length(
    corpus: Corpus, tokenizer: Tokenizer, length: str, plan: Plan, progress: Progress = lambda _: None
) -> dict[str, list[Item]]:
    """All items of a length, by config."""
    tokens = length_tokens(length)
    made: dict[str, list[Item]] = {config: [] for config in CONFIGS}
    if "facts" in plan.configs and corpus.articles:
        variants = ["facts", *(c for c in CONFIGS if c.startswith("facts_") and plan.controls)]
        found = facts.fact_items(corpus.articles, tokens, plan.fact_items, plan.seed, tokenizer, variants)
        for variant in variants:
            made[variant] += [by_variant[variant] for by_variant in found]
        progress(f"{length}: {len(made['facts'])} fact items")
    if set(plan.configs) - {"facts"} and corpus.sessions:
        _agents(corpus, tokenizer, tokens, length, plan, made, progress)
    return made


def _agents(
    corpus: Corpus,
    tokenizer: Tokenizer,
    tokens: int,
    length: str,
    plan: Plan,
    made: dict[str, list[Item]],
    progress: Progress,
) -> None:
    fillers = Fillers(_shuffled(corpus.conversations, plan.seed), _shuffled(corpus.documents, plan.seed))
    for number, session in enumerate(chosen(corpus.sessions, plan, tokens, tokenizer)):
        start = fillers.at
        fitted = fit(session, tokens, fillers, tokenizer)
        if "tool_calls" in plan.configs:
            item = calls.call_item(fitted)
            if item.targets:
                made["tool_calls"].append(item)
                if plan.controls:
                    _undefined(item, fitted, session, tokens, fillers, start, tokenizer, made)
        context = f"{length}-{number:02d}-{session.task}"
        pick = random.Random(f"rules {plan.seed} {length} {session.task}")
        for planted, by_lang in rules.rule_items(fitted, context, pick, tokenizer):
            for lang in LANGS:
                made[f"rules_{lang}"].append(by_lang[lang])
            if plan.controls:
                for name, control in rules.controls(fitted, planted, by_lang["en"], context, tokenizer).items():
                    if control is not None:
                        made[name].append(control)
        progress(f"{length}: context {number + 1}, {len(made['rules_en'])} rules")
    for config in ("tool_calls", *(f"rules_{lang}" for lang in LANGS)):
        if config not in plan.configs:
            made[config] = []


def _undefined(
    item: Any,
    fitted: Fitted,
    session: Session,
    tokens: int,
    fillers: Fillers,
    start: int,
    tokenizer: Tokenizer,
    made: dict[str, list[Item]],
) -> None:
    """The control without definitions; it is filled up from the same documents as the item."""
    after, fillers.at = fillers.at, start
    bare = fit(session, tokens, fillers, tokenizer, define=False)
    fillers.at = after
    control = calls.undefined(item, bare, fitted)
    if control is not None:
        made["tool_calls_nodef"].append(control)


def _shuffled(items: Sequence[Any], seed: int) -> list[Any]:
    mixed = list(items)
    random.Random(f"order {seed}").shuffle(mixed)
    return mixed


def chosen(sessions: Sequence[Session], plan: Plan, tokens: int, tokenizer: Tokenizer) -> list[Session]:
    """The sessions that become contexts: one a task, those first that fill more of the length and have more actions.

    Of a task with several sessions the longest is taken.
    """
    best: dict[str, tuple[int, int, Session]] = {}
    names: dict[str, str] = {}  # what is asked -> task: the same question under another name is the same task
    for session in _shuffled(sessions, plan.seed):
        marked = render(session)
        size, actions = len(marked.text), len(marked.actions)
        if actions < 2:
            continue
        task = names.setdefault(_question(session), session.task)
        if task not in best or size > best[task][0]:
            best[task] = (size, actions, session)
    enough = 3 * tokens  # characters: a session at least this long fills the text
    ranked = sorted(best.values(), key=lambda v: (-min(v[0], enough), -v[1]))
    return [session for _, _, session in ranked[: plan.contexts]]


def _question(session: Session) -> str:
    """The beginning of what a session was asked, without the frame around it."""
    first = next(m.content for m in session.messages if m.role == "user")
    asked = re.split(r"ISSUE:|<pr_description>|solve this issue:|<issue>", first, maxsplit=1)[-1]
    return session.task if asked == first else " ".join(asked.split())[:120]
