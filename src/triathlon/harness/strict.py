"""The base of every model of the case format: an unknown key or a wrong type is an error, nothing is converted.

Shorthands (a string where a mapping may stand) are opened before validation: the rest of the code meets one form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError


class Strict(BaseModel):
    """A part of a case file. A key without a value is an error, save those in `nullable`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    nullable: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _no_key_without_value(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for key, value in data.items():
                if value is None and key not in cls.nullable and key in cls._keys():
                    raise PydanticCustomError("no_value", "has no value", {"key": key})
        return data

    @classmethod
    def _keys(cls) -> Collection[str]:
        return {field.alias or name for name, field in cls.model_fields.items()}


class Filled(Strict):
    """A part of which at least one key must be given: an empty one would hold always, or say nothing."""

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set and not self.model_extra:
            raise ValueError("is empty: give at least one key")
        return self


def short(key: str, kinds: tuple[type, ...] = (str,)) -> Callable[[Any], Any]:
    """A validator that opens a shorthand: a value of `kinds` stands for `{key: value}`."""

    def open_shorthand(value: Any) -> Any:
        return (
            {key: value} if isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds) else value
        )

    return open_shorthand


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _as_words(value: Any) -> Any:
    items = value if isinstance(value, list) else [value]
    return [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in items]


def _not_zero(value: int) -> int:
    if value == 0:
        raise ValueError("numbers count from 1 (or from the end: -1)")
    return value


def _variable(value: str) -> str:
    if not value or "=" in value or "\0" in value:
        raise ValueError("a name in the environment is not empty and has no `=`")
    return value


def _no_zero_byte(value: str) -> str:
    if "\0" in value:
        raise ValueError("no program can be given a zero byte in its arguments or environment")
    return value


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return value


Argument = Annotated[str, AfterValidator(_no_zero_byte)]
Variable = Annotated[str, AfterValidator(_variable)]
Number = Annotated[int, AfterValidator(_not_zero)]
"""The number of a request, message or line: from 1, or from the end by -1, -2 ..."""

Many = Annotated[list[str], BeforeValidator(_as_list, json_schema_input_type=str | list[str])]
"""One string or a list of strings."""

Words = Annotated[list[Argument], BeforeValidator(_as_words, json_schema_input_type=str | list[str | int])]
"""Words of a command line; whole numbers are taken as they are written."""

Patterns = Annotated[
    list[Annotated[str, AfterValidator(_pattern)]],
    BeforeValidator(_as_list, json_schema_input_type=str | list[str]),
]
"""One regular expression or a list of them (Python's `re`, searched, `.` does not match a newline)."""


def exactly_one(model: BaseModel, names: tuple[str, ...], what: str) -> str:
    """The one field of `names` that is given; ValueError if there is none or more than one."""
    given = [name for name in names if name in model.model_fields_set]
    if len(given) != 1:
        found = "none" if not given else " and ".join(_key(model, name) for name in given)
        raise ValueError(f"{what} needs exactly one of {', '.join(_key(model, n) for n in names)}; found {found}")
    return given[0]


def _key(model: BaseModel, name: str) -> str:
    return type(model).model_fields[name].alias or name
