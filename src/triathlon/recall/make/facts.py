"""Fact items: sentences with a number written over sentences of an article, and asked for again far behind.

The number stands exactly twice in the text: in the fact and in the answer. Behind the answer's full stop comes a space
and a letter, so that the full stop is a token of its own for as many tokenizers as possible.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from triathlon.errors import UsageError
from triathlon.recall.items import FAR_TOKENS, FactItem, FactSource, FactTarget, Span
from triathlon.recall.make.fit import cut
from triathlon.recall.make.session import Article
from triathlon.recall.tokens import Encoded, Tokenizer

PER_ITEM = 8

_NAMES = (
    "Fiona,Marek,Yusuf,Ingrid,Paolo,Greta,Dmitri,Leila,Oskar,Priya,Tomas,Hanna,Rafael,Signe,Viktor,Amara,Lukas,"
    "Noemi,Pavel,Zofia,Bruno,Elena,Kasper,Mirela,Anton,Judit,Stefan,Karin,Emil,Daria,Felix,Marta,Hugo,Irena,Jonas,"
    "Petra,Radek,Sofia,Tibor,Wanda"
)
NAMES = tuple(_NAMES.split(","))

# (the fact and the query's beginning, another way to ask for the same number)
FORMS = (
    ("{name} booked flight", "The flight that {name} booked has the number"),
    ("{name} rented locker", "The locker rented by {name} is number"),
    ("{name} opened account", "The account that {name} opened is number"),
    ("{name} was given badge", "The badge that was given to {name} is number"),
    ("{name} filed report", "The report filed by {name} carries the number"),
    ("{name} bought ticket", "The ticket that {name} bought has the number"),
    ("{name} lives at house", "The house where {name} lives has the number"),
    ("{name} repaired engine", "The engine that {name} repaired has the number"),
)

SENTENCE = re.compile(r"(?<=[a-z0-9)\"][.]) (?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of an item."""

    name: str
    form: tuple[str, str]
    number: str
    other: str  # the distractor's number

    @property
    def stem(self) -> str:
        """Fact and query up to the number."""
        return self.form[0].format(name=self.name)


@dataclass(frozen=True, slots=True)
class Layout:
    """A stretch of prose with the sentences that are written over: spans for facts, distractors and queries."""

    prose: str
    articles: tuple[Article, ...]
    facts: tuple[Fact, ...]
    fact_spans: tuple[Span, ...]
    decoy_spans: tuple[Span, ...]
    query_spans: tuple[Span, ...]  # query i asks for facts[order[i]]
    order: tuple[int, ...]


def fact_items(
    articles: Sequence[Article], tokens: int, count: int, seed: int, tokenizer: Tokenizer, variants: Sequence[str]
) -> list[dict[str, FactItem]]:
    """Up to `count` items of a little more than `tokens` tokens of prose each, in every variant; none overlap.

    A stretch with too few sentences (verse, lists) is passed over; UsageError when no stretch is good enough.
    """
    found: list[dict[str, FactItem]] = []
    tried = 0
    supply = iter(articles)
    why: UsageError | None = None
    while len(found) < count:
        prose, used, size = "", [], 0
        while size < tokens * 1.02 + 1400:
            article = next(supply, None)
            if article is None:
                if not found and why is not None:
                    raise why
                return found
            text = f" = {article.title} = \n\n{article.text}\n\n"
            prose += text
            used.append(article)
            size += tokenizer.count(text)
        tried += 1
        pick = random.Random(f"facts {seed} {tried} {tokens}")
        try:
            layout = _layout(prose, tuple(used), tokens, pick, tokenizer)
            found.append({variant: make_item(layout, variant, tokens, tokenizer) for variant in variants})
        except UsageError as error:
            why = error
    return found


def _layout(
    prose: str, articles: tuple[Article, ...], tokens: int, pick: random.Random, tokenizer: Tokenizer
) -> Layout:
    end = int(tokenizer.encode(prose).end[tokens - 1])
    breaks = [m.start() + 1 for m in SENTENCE.finditer(prose, 0, end)]
    sentences = [(a, b) for a, b in pairwise(breaks) if 25 <= b - a <= 400 and "\n" not in prose[a:b]]
    fact_spans = _spread(sentences, 0.02 * end, 0.24 * end)
    decoys = _spread([s for s in sentences if s not in fact_spans], 0.30 * end, 0.60 * end)
    queries = _spread([s for s in sentences if s not in decoys], 0.68 * end, 0.90 * end)
    names = [n for n in NAMES if n not in prose]
    if len(names) < PER_ITEM:
        raise UsageError(f"the prose names nearly everybody: {len(names)} free names, {PER_ITEM} needed")
    facts: list[Fact] = []
    used: set[str] = set()
    for name, form in zip(pick.sample(names, PER_ITEM), pick.sample(FORMS, PER_ITEM), strict=True):
        numbers: list[str] = []
        while len(numbers) < 2:
            number = str(pick.randrange(10_000, 100_000))
            if number not in prose and number not in used:
                used.add(number)
                numbers.append(number)
        facts.append(Fact(name, form, *numbers))
    order = list(range(PER_ITEM))
    pick.shuffle(order)
    return Layout(prose, articles, tuple(facts), fact_spans, decoys, queries, tuple(order))


def _spread(sentences: Sequence[Span], low: float, high: float) -> tuple[Span, ...]:
    """Eight sentences spread evenly over a zone, the shortest of each eighth."""
    inside = [s for s in sentences if low <= s[0] and s[1] <= high]
    if len(inside) < PER_ITEM:
        raise UsageError(f"the prose has only {len(inside)} sentences in a zone that needs {PER_ITEM}")
    step = len(inside) / PER_ITEM
    groups = [inside[int(i * step) : int((i + 1) * step)] for i in range(PER_ITEM)]
    return tuple(min(group, key=lambda s: (s[1] - s[0], s)) for group in groups)


def make_item(layout: Layout, variant: str, tokens: int, tokenizer: Tokenizer) -> FactItem:
    """An item of `facts`, or of a control: `facts_distractor`, `facts_none`, `facts_paraphrase`."""
    edits: list[tuple[Span, str, str, int]] = []  # what is written over, the new text, its role, its fact
    for i, (fact, span) in enumerate(zip(layout.facts, layout.fact_spans, strict=True)):
        if variant != "facts_none":
            edits.append((span, f"{fact.stem} {fact.number}. ", "fact", i))
        if variant == "facts_distractor":
            edits.append((layout.decoy_spans[i], f"{fact.stem} {fact.other}. ", "decoy", i))
    for i, span in zip(layout.order, layout.query_spans, strict=True):
        fact = layout.facts[i]
        if variant == "facts_distractor":
            # Two numbers stand behind one name: the query says which of them is meant.
            stem = "Going by what was written first, " + fact.stem
        else:
            stem = fact.form[1].format(name=fact.name) if variant == "facts_paraphrase" else fact.stem
        edits.append((span, f"{stem} {fact.number}. ", "query", i))
    edits.sort()
    text, at = "", 0
    placed: dict[tuple[str, int], Span] = {}
    for (start, end), new, role, i in edits:
        text += layout.prose[at:start]
        placed[role, i] = (len(text), len(text) + len(new) - 1)
        text += new
        at = end
    text, encoded = cut(text + layout.prose[at:], tokens, tokenizer)
    if max(span[1] for span in placed.values()) + 2 > len(text):
        raise UsageError("a query lies behind the end of the text")
    targets = tuple(_target(text, encoded, placed, i, layout.facts[i]) for i in layout.order)
    titles = tuple(a.title for a in _inside(layout, len(text)))
    origin = layout.articles[0].origin
    return FactItem(text, targets, FactSource(origin.dataset, origin.revision, origin.license, titles), encoded.ids)


def _target(text: str, encoded: Encoded, placed: dict[tuple[str, int], Span], i: int, fact: Fact) -> FactTarget:
    end = placed["query", i][1]
    answer = f" {fact.number}."
    char = (end - len(answer), end)
    span = placed.get(("fact", i), (0, 0))
    asked = encoded.first_after(char[0] + 1)
    distance = asked - encoded.first_after(span[1]) if span[1] else 0
    if span[1] and distance < FAR_TOKENS:
        raise UsageError(f"a fact lies only {distance} tokens before its query: the length is too short for facts")
    return FactTarget(char, answer, span, text[span[0] : span[1]], distance)


def _inside(layout: Layout, size: int) -> list[Article]:
    """Articles that begin inside the text."""
    found, at = [], 0
    for article in layout.articles:
        if at < size:
            found.append(article)
        at += len(f" = {article.title} = \n\n{article.text}\n\n")
    return found
