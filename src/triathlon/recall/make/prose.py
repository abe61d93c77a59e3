"""Prose from lines: the raw WikiText form, its tokenised form, and files with one article a line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from triathlon.recall.make.session import Article, Origin, clean

HEADING = re.compile(r"^ ?= ([^=].*?) = *$")
SUBHEADING = re.compile(r"^ ?(= ){2,}")


def wikitext(lines: Iterable[str], origin: Origin) -> list[Article]:
    """Articles of WikiText lines (` = Title = ` begins one; section headings are left out)."""
    articles: list[Article] = []
    title = ""
    body: list[str] = []
    for line in (*lines, " = end = "):
        found = HEADING.match(line.rstrip("\n")) if not SUBHEADING.match(line) else None
        if found is None:
            if title and line.strip() and not SUBHEADING.match(line):
                body.append(line.strip())
            continue
        text = "\n".join(filter(None, map(untokenised, body)))
        if title and text:
            articles.append(Article(origin, clean(title), clean(text)))
        title, body = untokenised(found.group(1)), []
    return articles


def untokenised(line: str) -> str:
    """Undo WikiText's spaced punctuation; a line with <unk> says nothing any more and is dropped."""
    if "<unk>" in line:
        return ""
    line = re.sub(r" @([-,.])@ ", r"\1", line)
    line = re.sub(r" ([,.;:!?)%\]])", r"\1", line)
    line = re.sub(r"([(\[$£]) ", r"\1", line)
    line = re.sub(r" '(s|t|re|ve|m|ll|d)\b", r"'\1", line)
    line = re.sub(r'(^| )" (.*?) "', r'\1"\2"', line)
    return re.sub(r" +", " ", line).strip()


def one_a_line(lines: Iterable[str], origin: Origin) -> list[Article]:
    """Articles of a file with a paragraph or an article a line; the title is the first words."""
    articles = []
    for line in lines:
        text = clean(line).strip()
        if len(text) < 200:
            continue
        title = re.split(r" (?:is|was|are|were|refers) |[(,.:]", text, maxsplit=1)[0].strip()
        articles.append(Article(origin, title[:80], text))
    return articles
