"""Finds functions that were left without a body."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef

_BODILESS = frozenset({"overload", "abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})
_EXCEPTION_ENDINGS = ("Error", "Exception", "Warning", "ExceptionGroup", "KeyboardInterrupt", "SystemExit")


@dataclass(frozen=True)
class Stub:
    """A function whose whole body does nothing; `name` is dotted from the module's top."""

    line: int
    name: str
    body: str
    """What stands there, in words."""


def stubs(module: ast.Module) -> Iterator[Stub]:
    """Every function whose body, its docstring apart, is only `pass`, `...`, `return`, strings or
    `raise NotImplementedError`; in the order of lines.

    Left out are members of protocols and of exception classes, and abstract and overload functions.
    """
    exceptions = _exceptions(module)
    found: list[Stub] = []
    # No recursion: a hostile file may nest deeper than the interpreter can.
    waiting: list[tuple[ast.AST, str, bool]] = [(module, "", False)]
    while waiting:
        node, prefix, free = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                is_free = child.name in exceptions or any(_last_name(base) == "Protocol" for base in child.bases)
                waiting.append((child, f"{prefix}{child.name}.", is_free))
            elif isinstance(child, Function):
                name = prefix + child.name
                if not free and not any(_last_name(item) in _BODILESS for item in child.decorator_list):
                    body = _empty(child)
                    if body is not None:
                        found.append(Stub(child.lineno, name, body))
                waiting.append((child, f"{name}.", False))
            else:
                waiting.append((child, prefix, free))
    return iter(sorted(found, key=lambda stub: (stub.line, stub.name)))


def _empty(function: Function) -> str | None:
    """What a body without effect is made of, or None if it does something."""
    body = function.body
    if (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        body = body[1:]
    said = [_nothing(statement) for statement in body]
    if None in said:
        return None
    return "nothing but a docstring" if not said else "only " + ", ".join(dict.fromkeys(filter(None, said)))


def _nothing(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Pass():
            return "`pass`"
        case ast.Expr(value=ast.Constant(value=value)):
            return "`...`" if value is ... else "a constant"
        case ast.Return(value=None) | ast.Return(value=ast.Constant(value=None)):
            return "`return`"
        case ast.Raise(exc=exc) if exc is not None and _last_name(exc) == "NotImplementedError":
            return "`raise NotImplementedError`"
    return None


def _exceptions(module: ast.Module) -> set[str]:
    """Names of the module's classes that are exceptions, also through each other."""
    classes = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)]
    known: set[str] = set()
    while True:
        more = {
            node.name
            for node in classes
            if any((name := _last_name(base)) in known or name.endswith(_EXCEPTION_ENDINGS) for base in node.bases)
        }
        if more <= known:
            return known
        known |= more


def _last_name(node: ast.expr) -> str:
    """`abstractmethod` of `abc.abstractmethod`, `Protocol` of `typing.Protocol[T]`, `E` of `E("x")`."""
    while True:
        match node:
            case ast.Call(func=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Attribute(attr=name) | ast.Name(id=name):
                return name
            case _:
                return ""
