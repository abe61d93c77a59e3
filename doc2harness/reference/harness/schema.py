"""The part of JSON Schema that tools and `--output-schema` use: what is wrong with a value, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def problem(value: Any, schema: Mapping[str, Any], place: str = "") -> str | None:
    """The first thing in which `value` does not fit, naming its place (`edits[0].old`), or None."""
    where = place or "the value"
    kinds = schema.get("type")
    if kinds is not None and not any(_is(value, kind) for kind in (kinds if isinstance(kinds, list) else [kinds])):
        return f"{where} must be of type {kinds}, not {_short(value)}"
    if "enum" in schema and not any(_same(value, item) for item in schema["enum"]):
        return f"{where} must be one of {_short(schema['enum'])}, not {_short(value)}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{where} must be {_short(schema['const'])}, not {_short(value)}"
    if isinstance(value, str):
        return _string(value, schema, where)
    if isinstance(value, dict):
        return _object(value, schema, place)
    if isinstance(value, list):
        return _array(value, schema, place)
    if _is(value, "number"):
        return _number(value, schema, where)
    return None


def _object(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> str | None:
    for name in schema.get("required") or []:
        if name not in value:
            return f"{_inner(place, name)} is missing"
    known = schema.get("properties") or {}
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in known:
            found = problem(item, known[name], _inner(place, name))
        elif others is False:
            found = f"{_inner(place, name)} is not allowed"
        else:
            found = problem(item, others, _inner(place, name)) if isinstance(others, dict) else None
        if found:
            return found
    return None


def _array(value: list[Any], schema: Mapping[str, Any], place: str) -> str | None:
    if len(value) < schema.get("minItems", 0):
        return f"{place or 'the value'} must have at least {schema['minItems']} items"
    items = schema.get("items")
    if not isinstance(items, dict):
        return None
    found = (problem(item, items, f"{place}[{index}]") for index, item in enumerate(value))
    return next((text for text in found if text), None)


def _string(value: str, schema: Mapping[str, Any], where: str) -> str | None:
    if len(value) < schema.get("minLength", 0):
        return f"{where} must have at least {schema['minLength']} characters"
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        return f"{where} must have at most {schema['maxLength']} characters"
    return None


def _number(value: float, schema: Mapping[str, Any], where: str) -> str | None:
    if "minimum" in schema and value < schema["minimum"]:
        return f"{where} must be at least {schema['minimum']}, not {value}"
    if "maximum" in schema and value > schema["maximum"]:
        return f"{where} must be at most {schema['maximum']}, not {value}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        return f"{where} must be more than {schema['exclusiveMinimum']}, not {value}"
    return None


def _is(value: Any, kind: str) -> bool:
    """JSON's types: true and false are no numbers, and an integer has no decimal point."""
    if kind == "null":
        return value is None
    if isinstance(value, bool):
        return kind == "boolean"
    kinds: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "object": (dict,),
        "array": (list,),
    }
    return isinstance(value, kinds.get(kind, ()))


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _inner(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
