"""YAML as the case files use it: YAML 1.2's core schema, read by PyYAML's C parser, with a line for every complaint.

Against PyYAML's own loader: `yes`, `no`, `on`, `off`, dates and `12:30` are strings, a key that stands twice is an
error, `<<` is a plain key, tags are refused. Against YAML 1.2: a number with leading zeros and `.inf`, `.nan` are
refused, since no reader agrees on the first and JSON has no word for the others; keys are strings or whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from triathlon.errors import CaseError

MOST_VALUES = 1_000_000
PLAIN, QUOTED, COLLECTION = "plain", "quoted", "collection"
WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
LOOKS_LIKE_A_NUMBER = frozenset("0123456789+-.")
INTEGER = re.compile(r"[-+]?[0-9]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
NOT_IN_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class _Parser(CParser):
    """PyYAML's C composer, told to leave every decision about types to `_Builder`."""

    def resolve(self, kind: type[Node], value: str, implicit: Any) -> str:
        """The tag of a node that has none: whether it was written plain or quoted."""
        return COLLECTION if kind is not ScalarNode else PLAIN if implicit[0] else QUOTED

    def descend_resolver(self, current: Any, index: Any) -> None:
        """Path resolvers are not used."""

    def ascend_resolver(self) -> None:
        """Path resolvers are not used."""


def compose(text: str, file: Path | str | None = None) -> Node | None:
    """The node tree of one document, with marks; None if the text holds none. Raises CaseError."""
    parser = _Parser(text)
    try:
        node: Node | None = parser.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise CaseError(f"not YAML: {error.problem or error.context}", file, mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1 if isinstance(error.position, int) else None
        raise CaseError(f"not YAML: {error.reason}", file, line) from None
    finally:
        parser.dispose()
    return node


def parse(text: str, file: Path | str | None = None) -> tuple[Any, Node]:
    """The one document in the text as plain data, and its node tree, for `line_of`. Raises CaseError."""
    node = compose(text, file)
    if node is None:
        raise CaseError("the file is empty", file, 1)
    try:
        return _Builder(file).build(node), node
    except RecursionError:
        raise CaseError("nested too deep", file, 1) from None


def load(text: str, file: Path | str | None = None) -> Any:
    """The one document in the text as plain data: dict, list, str, int, float, bool, None. Raises CaseError."""
    return parse(text, file)[0]


class _Builder:
    def __init__(self, file: Path | str | None) -> None:
        self.file = file
        self.open: set[int] = set()
        self.left = MOST_VALUES

    def build(self, node: Node) -> Any:
        """Plain data of a node."""
        tag = node.tag
        if tag == QUOTED:
            return node.value
        if tag == PLAIN:
            return self.scalar(node.value, node)
        if tag != COLLECTION:
            raise self.wrong(f"tags are not used in case files: {tag}", node)
        if id(node) in self.open:
            raise self.wrong("an alias inside of what it names", node)
        self.left -= len(node.value)
        if self.left < 0:  # aliases of aliases: a few lines that mean millions of values
            raise self.wrong(f"over {MOST_VALUES:,} values in one file, aliases counted as what they name", node)
        self.open.add(id(node))
        built = self.mapping(node) if isinstance(node, MappingNode) else [self.build(item) for item in node.value]
        self.open.discard(id(node))
        return built

    def mapping(self, node: MappingNode) -> dict[str | int, Any]:
        """A mapping whose keys are strings or whole numbers, none twice."""
        built: dict[str | int, Any] = {}
        for key_node, value_node in node.value:
            key = self.build(key_node) if isinstance(key_node, ScalarNode) else None
            if isinstance(key, bool) or not isinstance(key, (str, int)):
                raise self.wrong("a key must be a string or a whole number (quote it)", key_node)
            if key in built:
                raise self.wrong(f"the key {key!r} stands twice", key_node)
            built[key] = self.build(value_node)
        return built

    def scalar(self, text: str, node: Node) -> Any:
        """A plain scalar by the core schema."""
        if text in WORDS:
            return WORDS[text]
        if text[0] not in LOOKS_LIKE_A_NUMBER:
            return text
        if INTEGER.fullmatch(text):
            digits = text.lstrip("+-")
            if len(digits) > 1 and digits[0] == "0":
                raise self.wrong(f"{text}: a number does not begin with 0; quote it to make it text", node)
            if len(digits) > 1000:
                raise self.wrong("a number of over 1,000 digits; quote it to make it text", node)
            return int(text)
        if FLOAT.fullmatch(text):
            number = float(text)
            if number in (float("inf"), float("-inf")):
                raise self.wrong(f"{text}: too large a number", node)
            return number
        if BASED.fullmatch(text):
            if len(text) > 1000:
                raise self.wrong("a number of over 1,000 digits; quote it to make it text", node)
            return int(text, 0)
        if NOT_IN_JSON.fullmatch(text):
            raise self.wrong(f"{text}: JSON has no such number; quote it to make it text", node)
        return text

    def wrong(self, message: str, node: Node) -> CaseError:
        """An error at a node."""
        return CaseError(message, self.file, node.start_mark.line + 1)


def line_of(root: Node | None, path: Sequence[str | int]) -> int:
    """The line where the value at a path of keys and places stands; as near as the path leads.

    Parts of the path that are not in the file (names of forms, keys of a long form written short) are passed over.
    """
    node, line = root, 1 if root is None else root.start_mark.line + 1
    for part in path:
        if isinstance(node, MappingNode):
            for key, value in node.value:
                if isinstance(key, ScalarNode) and key.value == str(part):
                    node, line = value, key.start_mark.line + 1
                    break
        elif isinstance(node, SequenceNode) and isinstance(part, int) and -len(node.value) <= part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line
