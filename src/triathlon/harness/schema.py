"""The case format as a JSON Schema, for editors."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from triathlon.harness import case_file, expect, fixture, setup, steps
from triathlon.harness.strict import Strict

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODULES = (fixture, setup, steps, expect, case_file)


def schema() -> dict[str, Any]:
    """The schema of one case file. The format's own docstrings are its descriptions."""
    made = case_file.GroupFile.model_json_schema(by_alias=True, mode="validation")
    for module in MODULES:
        for name, field, text in _docstrings(module):
            model = getattr(module, name)
            owners = [made] if name == "GroupFile" else []
            owners += [body for title, body in made["$defs"].items() if _is_kind_of(title, model)]
            for owner in owners:
                if field in owner.get("properties", {}):
                    owner["properties"][field].setdefault("description", text)
    for title, body in (("GroupFile", made), *made["$defs"].items()):
        _without_nulls(body, getattr(_model(title), "nullable", frozenset()))
    return {"$schema": DIALECT, **made, "title": "A Triathlon case file"}


def keys_at(place: Sequence[str | int]) -> set[str]:
    """The keys that may stand in the mapping at a place of a case file (a `loc` of pydantic)."""
    whole = case_file.GroupFile.model_json_schema(by_alias=True, mode="validation")
    nodes = [whole]
    for part in place:
        below = [found for node in _forms(nodes, whole) for found in _below(node, part)]
        nodes = below or nodes
    return {key for node in _forms(nodes, whole) for key in node.get("properties", {})}


def _forms(nodes: list[dict[str, Any]], whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes with references and alternatives opened."""
    for node in nodes:
        if "$ref" in node:
            yield from _forms([whole["$defs"][node["$ref"].rpartition("/")[2]]], whole)
        yield node
        yield from _forms(node.get("anyOf", []), whole)


def _below(node: dict[str, Any], part: str | int) -> Iterator[dict[str, Any]]:
    if part in node.get("properties", {}):
        yield node["properties"][part]
    elif isinstance(node.get("additionalProperties"), dict):
        yield node["additionalProperties"]
    if isinstance(part, int) and isinstance(node.get("items"), dict):
        yield node["items"]


def _model(title: str) -> Any:
    return next((getattr(module, title) for module in MODULES if hasattr(module, title)), None)


def _is_kind_of(title: str, model: type[Strict]) -> bool:
    found = _model(title)
    return isinstance(found, type) and issubclass(found, model)


def _docstrings(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    """(class, key in the file, docstring below the field)."""
    for node in ast.parse(inspect.getsource(module)).body:
        model = vars(module).get(node.name) if isinstance(node, ast.ClassDef) else None
        if not isinstance(node, ast.ClassDef) or not (isinstance(model, type) and issubclass(model, Strict)):
            continue
        for field, below in zip(node.body, node.body[1:], strict=False):
            if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
                continue
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                name = field.target.id
                key = model.model_fields[name].alias if name in model.model_fields else None
                yield node.name, key or name, " ".join(str(below.value.value).split())


def _without_nulls(body: dict[str, Any], nullable: frozenset[str]) -> None:
    """A key that is left out is not a key that is null."""
    for key, value in body.get("properties", {}).items():
        if "default" in value and value["default"] is None:
            del value["default"]
        choices = value.get("anyOf", [])
        if key not in nullable and {"type": "null"} in choices:
            choices.remove({"type": "null"})
