"""The built-in corpus: rows of every published schema, read by the readers that read the published data."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from triathlon.recall.builtin import calls, prose, sessions, words
from triathlon.recall.files import cache_dir
from triathlon.recall.items import length_tokens
from triathlon.recall.make import sources
from triathlon.recall.make.session import Corpus, Origin
from triathlon.recall.tokens import load

ORIGIN = Origin("triathlon/builtin", "1", "MIT", "written by a generator of this project")
VERSION = 1  # of the generator: a change of its text makes another data set
LENGTHS = ("2k",)
PLAIN = 7  # of 16 sessions: they give two rules fewer, so that a full set has 82 items a language


def code_row(seed: int, number: int) -> dict[str, Any]:
    """A file as a row of github-code-clean."""
    repo = sessions.Repository(random.Random(f"code {seed} {number}"))
    return {
        "code": "\n".join(repo.code(40)) + "\n",
        "repo_name": f"{repo.name.split('-')[0]}/{repo.name}",
        "path": repo.files[0],
        "language": "Python",
        "license": "mit",
        "size": 1000,
    }


def page_row(seed: int, number: int) -> dict[str, Any]:
    """A page as a row of fineweb-edu."""
    pick = random.Random(f"page {seed} {number}")
    text = "\n".join(" ".join(prose.sentence(pick) for _ in range(6)) for _ in range(6))
    return {"text": text, "id": f"p{number}", "url": f"https://{pick.choice(words.NOUNS)}.example/{number}"}


def rows(seed: int, tokens: int, contexts: int = 16) -> Iterator[dict[str, Any]]:
    """Rows enough for `contexts` contexts and 8 fact items of about `tokens` tokens."""
    rounds = max(2, tokens // 1000)
    for number in range(contexts):
        plain = number % 16 < PLAIN
        if number % 4 == 3:  # no documented commands: short enough that documents with tools follow
            yield sessions.klear_row(seed, number, max(2, rounds * 3 // (3 if plain else 5)), plain)
        else:
            yield sessions.nebius_row(seed, number, rounds * (2 if plain else 1), plain)
    for number in range(60):
        yield (calls.hermes_row, calls.glaive_row, calls.xlam_row)[number % 3](seed, number)
        if number % 2:
            yield code_row(seed, number)
        else:
            yield page_row(seed, number)
    yield from prose.rows(seed, 12, 60 + tokens // 11)


def corpus(seed: int, tokens: int, contexts: int = 16) -> Corpus:
    """The built-in corpus for a length."""
    found = Corpus()
    sources.add_rows(rows(seed, tokens, contexts), found, ORIGIN)
    return found


def shipped(lengths: Sequence[str] = LENGTHS) -> Path:
    """The built-in data set, made once and kept in the cache folder: 4 contexts and 4 fact items a length."""
    from triathlon.recall.make.build import Plan, build

    tokenizer = load("builtin")
    stamp = hashlib.sha256(json.dumps([VERSION, list(lengths), tokenizer.fingerprint]).encode()).hexdigest()[:12]
    place = cache_dir() / f"recall-builtin-{stamp}"
    if not (place / "dataset.json").is_file():
        most = max(map(length_tokens, lengths))
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        shutil.rmtree(beside, ignore_errors=True)
        build(corpus(0, most), tokenizer, beside, Plan(lengths=lengths, contexts=4, fact_items=4))
        try:
            beside.replace(place)
        except OSError:  # another process was first
            shutil.rmtree(beside, ignore_errors=True)
    return place
