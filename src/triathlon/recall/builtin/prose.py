"""Articles in the raw WikiText form: rows of {text}, one line each."""

from __future__ import annotations

import random
from typing import Any

from triathlon.recall.builtin import words


def rows(seed: int, articles: int, sentences: int = 90) -> list[dict[str, Any]]:
    """Lines of `articles` invented articles of about so many sentences."""
    out: list[dict[str, Any]] = []
    for number in range(articles):
        pick = random.Random(f"prose {seed} {number}")
        title = (
            f"{pick.choice(words.ADJECTIVES).title()} {pick.choice(words.NOUNS).title()} of {pick.choice(words.PLACES)}"
        )
        out += [{"text": ""}, {"text": f" = {title} {number} = \n"}, {"text": ""}]
        for start in range(0, sentences, 9):
            if start and start % 27 == 0:
                out.append({"text": f" = = {pick.choice(words.NOUNS).title()} = = \n"})
            paragraph = " ".join(sentence(pick) for _ in range(min(9, sentences - start)))
            out.append({"text": f" {paragraph} \n"})
    return out


def sentence(pick: random.Random) -> str:
    """One sentence of one of a few forms."""
    noun, other = pick.sample(words.NOUNS, 2)
    adjective, second = pick.sample(words.ADJECTIVES, 2)
    place, trade = pick.choice(words.PLACES), pick.choice(words.TRADES)
    verb, time, reason = pick.choice(words.VERBS), pick.choice(words.TIMES), pick.choice(words.REASONS)
    forms = (
        f"The {adjective} {noun} near {place} was {verb} {time}, {reason}.",
        f"{time.capitalize()} the {trade} of {place} {verb} the {adjective} {noun} beside the {second} {other}.",
        f"Little is known about the {noun}, {reason}.",
        f"In {place} a {adjective} {noun} stood between the {other} and the {second} road.",
        f"Later accounts say that the {trade} {verb} it {time}.",
        f"It took the {trade} {pick.randrange(2, 30)} days to reach the {second} {other}, {reason}.",
        f"The {other} of {place} had {pick.randrange(3, 90)} rooms and a {adjective} {noun}.",
        f"Of the {pick.randrange(4, 60)} {noun}s, only the {second} ones were {verb}.",
    )
    return pick.choice(forms)
