"""What is a function without a body, and what only looks like one."""

from __future__ import annotations

import ast

import pytest

from triathlon.harness.stubs import stubs


def found(source: str) -> list[tuple[int, str]]:
    return [(stub.line, stub.name) for stub in stubs(ast.parse(source))]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("pass", "only `pass`"),
        ("...", "only `...`"),
        ("raise NotImplementedError", "only `raise NotImplementedError`"),
        ("raise NotImplementedError('later') from None", "only `raise NotImplementedError`"),
        ("raise builtins.NotImplementedError()", "only `raise NotImplementedError`"),
        ("return", "only `return`"),
        ("return None  # TODO", "only `return`"),
        ('"""Doc."""', "nothing but a docstring"),
        ('"""Doc."""\n    # TODO: all of it', "nothing but a docstring"),
        ('"""Doc."""\n    pass\n    pass\n    ...', "only `pass`, `...`"),
        ("'''Doc.'''\n    'more'", "only a constant"),
    ],
)
def test_a_body_without_effect_is_a_stub(body: str, words: str) -> None:
    (stub,) = stubs(ast.parse(f"def f(x):\n    {body}\n"))
    assert (stub.line, stub.name, stub.body) == (1, "f", words)


@pytest.mark.parametrize(
    "body",
    [
        "return 0",
        "x = 1",
        "raise ValueError",
        "raise",
        "return NotImplemented",
        "if x: pass",
        "try:\n        g()\n    except E:\n        pass",
        "pass\n    return x",
    ],
)
def test_a_body_with_effect_is_none(body: str) -> None:
    assert found(f"def f(x):\n    {body}\n") == []


def test_methods_nested_and_async_functions_are_named_by_their_way() -> None:
    source = """
class A:
    def one(self): pass
    class B:
        async def two(self): ...
    def three(self):
        def inner(): pass
        return inner
if True:
    def four(): pass
"""
    assert found(source) == [(3, "A.one"), (5, "A.B.two"), (7, "A.three.inner"), (10, "four")]


def test_protocols_abstract_overload_and_exception_classes_are_left_out() -> None:
    source = """
class P(Protocol):
    def a(self): ...
class Q(typing.Protocol[T], Generic[T]):
    def a(self): ...
class R(ABC):
    @abc.abstractmethod
    def a(self): ...
    @property
    @abstractmethod
    def b(self): raise NotImplementedError
@overload
def f(x: int) -> int: ...
@typing.overload
def f(x: str) -> str: ...
class Mine(ValueError):
    def a(self): pass
class Yours(Mine):
    def a(self): pass
class Theirs(errors.BaseError):
    def a(self): pass
"""
    assert found(source) == []


def test_a_class_that_only_uses_a_protocol_is_no_protocol() -> None:
    assert found("class P(Protocol):\n    def a(self): ...\nclass Q(P):\n    def a(self): ...\n") == [(4, "Q.a")]


def test_a_function_inside_a_protocol_s_method_is_looked_at() -> None:
    assert found("class P(Protocol):\n    def a(self):\n        def b(): pass\n        return b\n") == [(3, "P.a.b")]


def test_deep_nesting_does_not_need_the_stack() -> None:
    module = ast.parse("def f(): pass\nx = " + "+".join(["1"] * 500))
    deep: ast.expr = ast.Constant(1)
    for _ in range(20_000):
        deep = ast.UnaryOp(ast.USub(), deep)
    module.body.append(ast.Expr(deep))
    assert [stub.name for stub in stubs(module)] == ["f"]
    while isinstance(deep, ast.UnaryOp):  # freed step by step: the interpreter frees nested trees by recursion
        deep = deep.operand
