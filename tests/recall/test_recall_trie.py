"""The trie reads every distinct prefix once and knows who asked where."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triathlon.recall import trie
from triathlon.recall.read import Read

_sequences = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9), min_size=1, max_size=7)


@given(_sequences, st.randoms(use_true_random=False))
def test_tokens_are_the_distinct_prefixes_and_rows_are_on_their_path(sequences, random) -> None:  # type: ignore[no-untyped-def]
    reads = []
    for number, ids in enumerate(sequences):
        positions = tuple(sorted(random.sample(range(1, len(ids) + 1), random.randrange(1, len(ids) + 1))))
        reads.append(Read(np.array(ids, dtype=np.int32), positions, ((),) * len(positions), str(number)))
    root = trie.build(reads)
    cut = [r.ids[: r.positions[-1]].tolist() for r in reads]
    assert trie.size(root) == len({tuple(ids[:n]) for ids in cut for n in range(1, len(ids) + 1)})
    found = set()
    for node in root.walk():
        assert len({int(k) for k in node.children}) == len(node.children)
        for position, rows in node.rows.items():
            assert node.start < position <= node.end
            for sequence, at in rows:
                assert node.source[:position].tolist() == cut[sequence][:position]
                assert reads[sequence].positions[at] == position
                found.add((sequence, at))
    assert found == {(s, at) for s, r in enumerate(reads) for at in range(len(r.positions))}


def test_nothing_behind_the_last_position_is_read() -> None:
    read = Read(np.arange(100, dtype=np.int32), (3, 7), ((1,), (2,)), "x")
    assert trie.size(trie.build([read])) == 7
