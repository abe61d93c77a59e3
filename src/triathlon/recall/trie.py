"""A trie of token sequences: what several of them begin with is read once.

Sequences are sorted, neighbours compared, and every stretch between two branchings becomes one node, so building costs
one pass over the tokens. Positions are placed by walking each sequence's path once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from triathlon.recall.read import Read

Row = tuple[int, int]  # (sequence, index of its position)


@dataclass(slots=True, eq=False)
class Node:
    """The tokens `source[start:end]`, and the rows asked after some of them."""

    start: int
    end: int
    source: Any  # an array that has these tokens at [start, end)
    children: dict[int, Node] = field(default_factory=dict)
    rows: dict[int, list[Row]] = field(default_factory=dict)  # position -> who asked

    @property
    def ids(self) -> Any:
        """The node's own tokens."""
        return self.source[self.start : self.end]

    def walk(self) -> Iterator[Node]:
        """This node and everything below it."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(node.children.values())


def build(reads: Sequence[Read]) -> Node:
    """The trie of `reads`, each cut at its last position; the root is empty."""
    cut = [np.asarray(r.ids[: max(r.positions, default=0)], dtype=np.int32) for r in reads]
    order = sorted(range(len(cut)), key=lambda i: cut[i].astype(">i4").tobytes())
    root = Node(0, 0, np.zeros(0, dtype=np.int32))
    path = [root]
    last = root.source
    for i in order:
        ids = cut[i]
        shared = _common(last, ids)
        while path[-1].start >= shared and path[-1] is not root:
            path.pop()
        top = path[-1]
        if top.end > shared:
            lower = Node(shared, top.end, top.source, top.children)
            top.end, top.children = shared, {int(top.source[shared]): lower}
        if len(ids) > shared:
            node = Node(shared, len(ids), ids)
            top.children[int(ids[shared])] = node
            path.append(node)
        last = ids
    for i, read in enumerate(reads):
        _place(root, cut[i], read, i)
    return root


def _common(a: Any, b: Any) -> int:
    size = min(len(a), len(b))
    differ = np.flatnonzero(a[:size] != b[:size])
    return int(differ[0]) if len(differ) else size


def _place(root: Node, ids: Any, read: Read, sequence: int) -> None:
    node = root
    for at, position in enumerate(read.positions):
        while node.end < position:
            node = node.children[int(ids[node.end])]
        node.rows.setdefault(position, []).append((sequence, at))


def size(root: Node) -> int:
    """Tokens that have to be read."""
    return sum(node.end - node.start for node in root.walk())
