"""Items in Parquet: one file per config and length, with exactly the card's columns.

The builder's token ids are stored beside the texts: `qwen_ids` (for rules `qwen_ids_without_rule` and
`qwen_ids_with_rule`) when they are Qwen3.5's, `builder_ids...` otherwise. Reading takes any integer list column
whose name begins so, because the names of these reference columns are not part of the card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from triathlon.errors import MissingExtra, UsageError
from triathlon.recall.items import (
    CallItem,
    CallTarget,
    Definition,
    FactItem,
    FactSource,
    FactTarget,
    Item,
    RuleItem,
    RuleTarget,
    Source,
    Span,
    kind_of,
)

ID_PREFIXES = ("qwen_", "builder_")


def arrow() -> Any:
    """The pyarrow module, or an error that says which extra brings it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("reading and writing recall data", "recall") from error
    return pyarrow


def schema(config: str, prefix: str = "qwen_") -> Any:
    """The Arrow schema of a config, in the card's order of fields."""
    pa = arrow()
    text, integer, span = pa.string(), pa.int64(), pa.list_(pa.int64())
    ids = pa.list_(pa.int32())
    sources = pa.list_(
        pa.struct(
            [("dataset", text), ("revision", text), ("license", text), ("tokens", integer), ("documents", integer)]
        )
    )
    kind = kind_of(config)
    if kind == "facts":
        target = [("answer_char", span), ("answer", text), ("fact_char", span), ("fact", text)]
        source = pa.struct([("corpus", text), ("revision", text), ("license", text), ("articles", pa.list_(text))])
        fields = [
            ("text", text),
            ("targets", pa.list_(pa.struct([*target, ("distance_tokens", integer)]))),
            ("source", source),
            (f"{prefix}ids", ids),
        ]
    elif kind == "tool_calls":
        definition = [("definition_id", integer), ("name", text), ("definition", text), ("char", span)]
        target = [("char", span), ("target", text), ("kind", text), ("far", pa.bool_()), ("fresh", pa.bool_())]
        fields = [
            ("text", text),
            ("definitions", pa.list_(pa.struct(definition))),
            ("targets", pa.list_(pa.struct([*target, ("definition_id", integer), ("distance_tokens", integer)]))),
            ("sources", sources),
            (f"{prefix}ids", ids),
        ]
    else:
        target = [
            ("char_without_rule", integer),
            ("char_with_rule", integer),
            ("expected_text", text),
            ("original_text", text),
            ("distance_tokens", integer),
            ("first", pa.bool_()),
            ("mentioned", pa.bool_()),
        ]
        strings = ("family", "placement", "lang", "context_id")
        fields = [
            ("text_without_rule", text),
            ("text_with_rule", text),
            ("rule", text),
            ("rule_char", span),
            *((name, text) for name in strings),
            ("targets", pa.list_(pa.struct(target))),
            ("sources", sources),
            (f"{prefix}ids_without_rule", ids),
            (f"{prefix}ids_with_rule", ids),
        ]
    return pa.schema(fields)


def to_row(item: Item, prefix: str) -> dict[str, Any]:
    """An item as a plain row of its schema."""
    row: dict[str, Any] = {}
    for name in item.__slots__:
        value = getattr(item, name)
        if name == "ids":
            row[f"{prefix}ids"] = value
        elif name in ("ids_without", "ids_with"):
            row[f"{prefix}{name}_rule"] = value
        else:
            row[name] = _plain(value)
    return row


def _plain(value: Any) -> Any:
    if hasattr(value, "__slots__"):
        return {name: _plain(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value


def write(path: Path, config: str, items: Sequence[Item], prefix: str = "qwen_") -> None:
    """Write items; equal items give equal bytes."""
    pa = arrow()
    table = pa.Table.from_pylist([to_row(item, prefix) for item in items], schema=schema(config, prefix))
    path.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(table, path, compression="zstd", row_group_size=16)


def read(path: Path, config: str, limit: int | None = None) -> list[Item]:
    """Read the first `limit` items of a file; a damaged file or a missing field is a UsageError that names it."""
    pa = arrow()
    try:
        handle = pa.parquet.ParquetFile(path)
        names = handle.schema_arrow.names
        items: list[Item] = []
        for batch in handle.iter_batches(batch_size=8):
            ids = {n: batch.column(n) for n in names if n.startswith(ID_PREFIXES)}
            rows = batch.select([n for n in names if n not in ids]).to_pylist()
            for at, row in enumerate(rows):
                stored = {n: _ids(column[at]) for n, column in ids.items()}
                items.append(_item(config, row, stored, f"{path}: {config} item {len(items)}"))
                if limit is not None and len(items) >= limit:
                    return items
    except UsageError:
        raise
    except (OSError, pa.ArrowException, ValueError) as error:
        raise UsageError(f"{path}: not a readable Parquet file ({str(error).splitlines()[0]})") from error
    return items


def _ids(scalar: Any) -> Any:
    values = scalar.values
    if values is None or not arrow().types.is_integer(values.type):
        return None
    return values.to_numpy(zero_copy_only=False).astype("int32")


def _item(config: str, row: Mapping[str, Any], ids: Mapping[str, Any], where: str) -> Item:
    kind = kind_of(config)
    whole = {name: value for name, value in ids.items() if value is not None}
    try:
        if kind == "facts":
            return FactItem(
                _text(row, "text"),
                tuple(_fact_target(t) for t in row["targets"]),
                _fact_source(row.get("source") or {}),
                next(iter(whole.values()), None),
            )
        if kind == "tool_calls":
            return CallItem(
                _text(row, "text"),
                tuple(_definition(i, d) for i, d in enumerate(row.get("definitions") or ())),
                tuple(_call_target(t) for t in row["targets"]),
                _sources(row.get("sources") or ()),
                next(iter(whole.values()), None),
            )
        return RuleItem(
            _text(row, "text_without_rule"),
            _text(row, "text_with_rule"),
            row["rule"],
            _span(row["rule_char"]),
            row["family"],
            row["placement"],
            row["lang"],
            str(row["context_id"]),
            tuple(_rule_target(t) for t in row["targets"]),
            _sources(row.get("sources") or ()),
            next((v for n, v in whole.items() if "without" in n), None),
            next((v for n, v in whole.items() if "without" not in n), None),
        )
    except KeyError as error:
        raise UsageError(f"{where}: field {error.args[0]!r} is missing") from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where}: {error}") from error


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if not isinstance(value, str):
        raise ValueError(f"field {name!r} is not a text")
    return value


def _span(value: Any) -> Span:
    if isinstance(value, Mapping):
        value = [value["start"], value["end"]]
    start, end = value
    return int(start), int(end)


def _start(value: Any) -> int:
    """A place: a number, or a span of which the start counts."""
    return int(value) if isinstance(value, int) else _span(value)[0]


def _fact_target(t: Mapping[str, Any]) -> FactTarget:
    return FactTarget(_span(t["answer_char"]), t["answer"], _span(t["fact_char"]), t["fact"], int(t["distance_tokens"]))


def _fact_source(s: Mapping[str, Any]) -> FactSource:
    corpus = s.get("corpus") or s.get("dataset") or ""
    return FactSource(corpus, s.get("revision") or "", s.get("license") or "", tuple(s.get("articles") or ()))


def _definition(index: int, d: Mapping[str, Any]) -> Definition:
    number = d.get("definition_id", d.get("id", index))
    text = d.get("definition") or d.get("text") or ""
    return Definition(int(number), d.get("name") or "", text, _span(d.get("char") or d.get("definition_char")))


def _call_target(t: Mapping[str, Any]) -> CallTarget:
    return CallTarget(
        _span(t["char"]),
        t["target"],
        t["kind"],
        bool(t["far"]),
        bool(t["fresh"]),
        int(t["definition_id"]),
        int(t["distance_tokens"]),
    )


def _rule_target(t: Mapping[str, Any]) -> RuleTarget:
    return RuleTarget(
        _start(t["char_without_rule"]),
        _start(t["char_with_rule"]),
        t["expected_text"],
        t["original_text"],
        int(t["distance_tokens"]),
        bool(t["first"]),
        bool(t["mentioned"]),
    )


def _sources(rows: Iterable[Mapping[str, Any]]) -> tuple[Source, ...]:
    return tuple(Source(s["dataset"], s["revision"], s["license"], int(s["tokens"]), int(s["documents"])) for s in rows)
