"""The items of the five configs, typed, with exactly the fields of the published card.

Spans are half-open `(start, end)` pairs of code points into the item's text; distances are counted in tokens of the
tokenizer the set was built with. Control configs carry the same fields under names of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Span = tuple[int, int]

FAR_TOKENS = 512  # a fixed parameter of the benchmark: what is needed ends this many tokens before the target
FAMILIES = ("substitution", "redirect", "required")
PLACEMENTS = ("system", "user")
KINDS = ("name", "param", "next", "command")
LANGS = ("en", "cs", "de")

MAIN = ("facts", "tool_calls", "rules_en", "rules_cs", "rules_de")
CONTROLS = {
    "facts_distractor": "facts",  # a second fact of the same form and name with another number stands nearer
    "facts_none": "facts",  # the fact is left out: what guessing alone gives
    "facts_paraphrase": "facts",  # the query says it in other words than the fact
    "tool_calls_nodef": "tool_calls",  # the definition is left out
    "rules_mention": "rules_en",  # the command is named at the rule's place, without a rule
    "rules_near": "rules_en",  # the rule at distance 0: the ceiling
    "rules_reversed": "rules_en",  # the rule asks for what the session did anyway
}
CONFIGS = (*MAIN, *CONTROLS)

Kind = Literal["facts", "tool_calls", "rules"]


def kind_of(config: str) -> Kind:
    """Which of the three shapes a config has."""
    main = CONTROLS.get(config, config)
    return "rules" if main.startswith("rules") else "facts" if main == "facts" else "tool_calls"


@dataclass(frozen=True, slots=True)
class FactTarget:
    """One query: `text[answer_char]` is the answer, with the space before and the full stop after it."""

    answer_char: Span
    answer: str
    fact_char: Span
    fact: str
    distance_tokens: int


@dataclass(frozen=True, slots=True)
class FactSource:
    """Where the prose comes from."""

    corpus: str
    revision: str
    license: str
    articles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that stands in an item's text, with what the item takes from it."""

    dataset: str
    revision: str
    license: str
    tokens: int
    documents: int


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool definition or a documented command."""

    definition_id: int
    name: str
    definition: str
    char: Span


@dataclass(frozen=True, slots=True)
class CallTarget:
    """One token of a call that its definition decides."""

    char: Span
    target: str
    kind: str
    far: bool
    fresh: bool
    definition_id: int
    distance_tokens: int


@dataclass(frozen=True, slots=True)
class RuleTarget:
    """One governed action: where it starts in both texts, what the rule implies and what the session did."""

    char_without_rule: int
    char_with_rule: int
    expected_text: str
    original_text: str
    distance_tokens: int
    first: bool
    mentioned: bool


@dataclass(frozen=True, slots=True)
class FactItem:
    """A long text with facts and queries written over parts of it."""

    text: str
    targets: tuple[FactTarget, ...]
    source: FactSource
    ids: Any = field(default=None, compare=False)  # int32 array of the builder's token ids, or None


@dataclass(frozen=True, slots=True)
class CallItem:
    """An agent session and further documents, with the tokens that tool definitions decide."""

    text: str
    definitions: tuple[Definition, ...]
    targets: tuple[CallTarget, ...]
    sources: tuple[Source, ...]
    ids: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RuleItem:
    """One session read twice: as it is, and with one rule line added."""

    text_without_rule: str
    text_with_rule: str
    rule: str
    rule_char: Span
    family: str
    placement: str
    lang: str
    context_id: str
    targets: tuple[RuleTarget, ...]
    sources: tuple[Source, ...]
    ids_without: Any = field(default=None, compare=False)
    ids_with: Any = field(default=None, compare=False)


Item = FactItem | CallItem | RuleItem


def length_tokens(name: str) -> int:
    """Tokens of an item of a length: `8k` is 8 * 1024 + 1 (the last token is only predicted), `3000` is 3001."""
    text = name.strip().lower()
    number = int(text[:-1]) * 1024 if text.endswith("k") else int(text)
    if number < 64:
        raise ValueError(f"length {name!r} is too short")
    return number + 1


def length_key(name: str) -> tuple[int, str]:
    """Sort key of length names: by tokens; a name that is no length goes last."""
    try:
        return (length_tokens(name), name)
    except ValueError:
        return (1 << 60, name)
