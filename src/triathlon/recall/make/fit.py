"""Texts of exactly so many tokens: a session, then further documents, cut where the tokenizer still agrees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triathlon.errors import UsageError
from triathlon.recall.items import Source
from triathlon.recall.make.chat import CallMark, Marked, Named, render, render_document, shifted
from triathlon.recall.make.session import Document, Origin, Session
from triathlon.recall.tokens import Encoded, Tokenizer


@dataclass
class Piece:
    """One document of a text: where it ends (in characters) and where it is from."""

    origin: Origin
    end: int


@dataclass
class Fitted:
    """A text of the wanted length with its marks and pieces."""

    text: str
    encoded: Encoded
    marked: Marked  # of the session at the start; its text may go on past the cut
    definitions: list[Named]
    calls: list[CallMark]
    pieces: list[Piece]

    def sources(self) -> tuple[Source, ...]:
        """What the text takes from each data set."""
        return sources(self.pieces, self.encoded, len(self.text))


def sources(pieces: Sequence[Piece], encoded: Encoded, size: int) -> tuple[Source, ...]:
    """Tokens and documents per data set, of the pieces that begin before `size` characters."""
    tokens: dict[Origin, int] = {}
    documents: dict[Origin, int] = {}
    begin = last = 0
    for piece in pieces:
        if begin >= size:
            break
        end = encoded.first_after(min(piece.end, size))
        tokens[piece.origin] = tokens.get(piece.origin, 0) + end - last
        documents[piece.origin] = documents.get(piece.origin, 0) + 1
        begin, last = piece.end, end
    return tuple(Source(o.dataset, o.revision, o.license, tokens[o], documents[o]) for o in tokens)


def cut(text: str, tokens: int, tokenizer: Tokenizer) -> tuple[str, Encoded]:
    """The longest beginning of `text` near the cut that has exactly `tokens` tokens by itself.

    Cutting at a token's end nearly always keeps the count; where it does not (the tokenizer looks ahead, or the end is
    inside a character), the characters around it are tried, and at last a few filling words.
    """
    whole = tokenizer.encode(text)
    if len(whole) < tokens:
        raise UsageError(f"a text has {len(whole)} tokens, {tokens} are needed")
    end = int(whole.end[tokens - 1])
    anchor = max(whole.lead, tokens - 200)  # only what is behind it is tokenized again to find a cut
    while anchor > whole.lead and whole.start[anchor] < 0:
        anchor -= 1
    begin = int(whole.start[anchor]) if anchor > whole.lead else 0
    for at in (end, *(end + d for step in range(1, 40) for d in (step, -step))):
        if begin < at <= len(text) and not _splits(text, at) and anchor + tokenizer.count(text[begin:at]) == tokens:
            encoded = tokenizer.encode(text[:at])
            if len(encoded) == tokens:
                return text[:at], encoded
    for back in range(1, 40):  # a character of several tokens stands at the cut: words in its place
        kept = text[: max(0, end - back)]
        missing = tokens - len(tokenizer.encode(kept))
        filled = kept + " and" * max(0, missing)
        encoded = tokenizer.encode(filled)
        if 0 < missing < 40 and len(encoded) == tokens:
            return filled, encoded
    raise UsageError(f"no cut of a text gives {tokens} tokens with the tokenizer {tokenizer.name}")


def _splits(text: str, at: int) -> bool:
    """A cut before a combining mark would make another character of NFC text."""
    import unicodedata

    return at < len(text) and bool(unicodedata.combining(text[at]))


class Fillers:
    """Further documents, dealt out in turn so that contexts differ."""

    def __init__(self, conversations: Sequence[Session], documents: Sequence[Document]) -> None:
        self.items: list[Session | Document] = []
        a, b = list(conversations), list(documents)
        while a or b:  # alternate, so that both kinds appear in short texts too
            self.items += [*a[:1], *b[:1]]
            a, b = a[1:], b[1:]
        self.at = 0

    def take(self) -> Iterator[Session | Document]:
        """Documents from where the last text stopped, each at most once."""
        for _ in range(len(self.items)):
            item = self.items[self.at % len(self.items)]
            self.at += 1
            yield item


def fit(session: Session, tokens: int, fillers: Fillers, tokenizer: Tokenizer, *, define: bool = True) -> Fitted:
    """A session and further documents, `tokens` long; UsageError where the corpus has not enough text."""
    marked = render(session, define=define)
    text = marked.text
    pieces = [Piece(session.origin, len(text))]
    definitions, calls = list(marked.definitions), list(marked.calls)
    count = tokenizer.count(text) + len(tokenizer.bos)
    supply = fillers.take()
    while count <= tokens + 32:
        item = next(supply, None)
        if item is None:
            raise UsageError(f"the sources have too little text for {tokens} tokens a context")
        more = render(item) if isinstance(item, Session) else render_document(item)
        new_definitions, new_calls = shifted(more, len(text))
        definitions += new_definitions
        calls += new_calls
        count += tokenizer.count(more.text)
        text += more.text
        pieces.append(Piece(item.origin, len(text)))
    text, encoded = cut(text, tokens, tokenizer)
    return Fitted(
        text,
        encoded,
        marked,
        [d for d in definitions if d.char[1] <= len(text)],
        [c for c in calls if c.char[1] <= len(text)],
        pieces,
    )
