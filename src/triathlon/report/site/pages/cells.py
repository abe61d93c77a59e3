"""Cells that more than one page has."""

from __future__ import annotations

from typing import Any

from triathlon.report.names import UNDEFINED, number, percent
from triathlon.report.site.html import Cell

Row = dict[str, Any]


def share(value: float | None) -> Cell:
    """A share as percent."""
    return Cell(percent(value), value)


def figure(value: float | None, digits: int = 3) -> Cell:
    """A number."""
    return Cell(number(value, digits), value)


def plain(value: object) -> Cell:
    """A fact as it is; nothing where it is not known."""
    if isinstance(value, float):
        return Cell(f"{value:,.6g}", value)
    return Cell(value, value if isinstance(value, int | str) else None)


def span(low: float | None, high: float | None, form: str = "g") -> str:
    """From low to high."""
    return UNDEFINED if low is None or high is None else f"{low:{form}} to {high:{form}}"
