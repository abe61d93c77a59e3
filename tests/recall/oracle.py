"""A plain oracle of the metrics of guides/recall.md, section 7 (no speed, no I/O), with its edge cases as asserts."""

import math

UNDEF = None


def span_tokens(offsets, a, b, strip=True, text=None):
    """Indices of the tokens that make up text[a:b]; None when the span is unaligned.  offsets: [(start, end)] in
    characters, start None for a token that begins inside a character.  strip: leading white space of the span is
    not asked for (a tokenizer may keep it as a token of its own or glue it to the first digit)."""
    a0 = a
    if strip and text is not None:
        while a0 < b and text[a0].isspace():
            a0 += 1
    idx = [i for i, (s, e) in enumerate(offsets) if s is not None and e > a0 and s < b]
    if not idx:
        return None
    s, e = offsets[idx[0]][0], offsets[idx[-1]][1]
    if s < a or e > b:  # begins before the span, or runs past its end
        return None
    return idx


def facts(queries):
    """queries: list of None (unaligned) or [bool per answer token]."""
    got = [q for q in queries if q is not None]
    toks = [t for q in got for t in q]
    return {
        "n": len(got),
        "unaligned": len(queries) - len(got),
        "query_acc": sum(all(q) for q in got) / len(got) if got else UNDEF,
        "token_acc": sum(toks) / len(toks) if toks else UNDEF,
    }


def rules(e_model, e_ref, threshold=1.0, share=0.5):
    """Effects in nats, one pair a target; None on either side = not scored."""
    pairs = [
        (m, r) for m, r in zip(e_model, e_ref, strict=True) if m is not None and r is not None and abs(r) >= threshold
    ]
    if not pairs:
        return {"n": 0, "follow": UNDEF, "retained": UNDEF, "retained_aligned": UNDEF, "negative_ref": 0}
    sm, sr = math.fsum(m for m, _ in pairs), math.fsum(r for _, r in pairs)
    al = math.fsum(math.copysign(m, m * r) if m and r else 0.0 for m, r in pairs) / math.fsum(abs(r) for _, r in pairs)
    return {
        "n": len(pairs),
        "follow": sum((m * math.copysign(1, r)) >= share * abs(r) for m, r in pairs) / len(pairs),
        "retained": sm / sr if abs(sr) >= threshold else UNDEF,  # literal: signed sums
        "retained_aligned": al,  # each target on the reference's side
        "negative_ref": sum(r < 0 for _, r in pairs),
    }


def worst(cells):
    """cells: {(family, placement, length): retained or None}."""
    live = {k: v for k, v in cells.items() if v is not None}
    if not live:
        return {"worst": UNDEF, "cell": None, "counted": 0, "of": len(cells)}
    k = min(live, key=lambda c: (live[c], c))
    return {"worst": live[k], "cell": k, "counted": len(live), "of": len(cells)}


if __name__ == "__main__":
    import random

    r = [random.Random(1).uniform(-4, 9) for _ in range(500)]
    x = rules(r, r)
    assert x["follow"] == 1.0 and x["retained"] == 1.0 and x["retained_aligned"] == 1.0  # model == reference: exact
    assert rules([0.0], [-2.0])["follow"] == 0.0  # ignoring a negative effect is not following it
    assert rules([-1.0], [-2.0])["follow"] == 1.0
    assert rules([5.0], [0.999])["n"] == 0 and rules([5.0], [1.0])["n"] == 1 and rules([5.0], [-1.0])["n"] == 1
    assert rules([1.0, -2.0], [2.0, -2.0])["retained"] is None  # reference sums to 0: undefined, not inf
    assert rules([1.0, -2.0], [2.0, -2.0])["retained_aligned"] == 0.75
    assert worst({("a", "s", 8): None, ("b", "s", 8): 0.9})["counted"] == 1
    assert worst({("a", "s", 8): None})["worst"] is None
    t = "flight 48213. Then"
    qwen = [(0, 6), (6, 7), (7, 8), (8, 9), (9, 10), (10, 11), (11, 12), (12, 13), (13, 18)]
    gpt2 = [(0, 6), (6, 9), (9, 12), (12, 13), (13, 18)]
    glue = [(0, 6), (6, 9), (9, 12), (12, 18)]  # the "." runs into what follows
    assert span_tokens(qwen, 6, 13, text=t) == [2, 3, 4, 5, 6, 7] and span_tokens(gpt2, 6, 13, text=t) == [1, 2, 3]
    assert span_tokens(glue, 6, 13, text=t) is None
    assert facts([[True, True], [True, False], None]) == {"n": 2, "unaligned": 1, "query_acc": 0.5, "token_acc": 0.75}
    print("ok")
