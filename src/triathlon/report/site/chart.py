"""Charts as SVG in the page: they print, scale, follow the theme, and need no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triathlon.report.site.html import Markup, join, tag

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 16, 48


@dataclass(frozen=True)
class Point:
    """A dot with its name; `series` is a number that picks a colour and a shape."""

    x: float
    y: float
    name: str
    series: int = 0


def scatter(
    title: str,
    x_name: str,
    y_name: str,
    points: Sequence[Point],
    *,
    lines: bool = False,
    ticks: Sequence[tuple[float, str]] = (),
) -> Markup:
    """Dots over two axes that begin at 0; with `lines`, dots of one series are joined in their order.

    `ticks` are the marks of the x axis, by default quarters of it.
    """
    right = ticks[-1][0] if ticks else _end(max((p.x for p in points), default=1))
    top = _end(max((p.y for p in points), default=1))

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            round(LEFT + x / right * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM), 1),
        )

    parts = [tag("title", title)]
    quarters = [(right * step / 4, f"{right * step / 4:g}") for step in range(5)]
    for value, words in ticks or quarters:
        parts.append(_text(at(value, 0)[0], HEIGHT - BOTTOM + 18, words, "middle"))
    for step in range(5):
        y = at(0, top * step / 4)[1]
        parts.append(_text(LEFT - 8, y + 4, f"{top * step / 4:g}", "end"))
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_name, "middle"))
    parts.append(_text(14, TOP + (HEIGHT - TOP - BOTTOM) / 2, y_name, "middle", turned=True))
    for series in dict.fromkeys(p.series for p in points) if lines else ():
        path = " ".join("{},{}".format(*at(p.x, p.y)) for p in points if p.series == series)
        parts.append(tag("polyline", points=path, class_=f"line s{series % 6}"))
    for point in points:
        x, y = at(point.x, point.y)
        parts.append(tag("circle", tag("title", point.name), cx=x, cy=y, r=5, class_=f"dot s{point.series % 6}"))
    drawn = tag("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=title)
    return tag("figure", drawn, tag("figcaption", title))


def _text(x: float, y: float, words: str, anchor: str, *, turned: bool = False) -> Markup:
    turn = f"rotate(-90 {x:g} {y:g})" if turned else None
    return tag("text", words, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor, transform=turn)


def _end(most: float) -> float:
    """A round number at or above the largest value."""
    if most <= 0:
        return 1.0
    size = 1.0
    while size * 10 <= most:
        size *= 10
    while size > most:
        size /= 10
    return next(size * step for step in (1, 2, 4, 6, 8, 10) if size * step >= most)


def legend(names: Sequence[str]) -> Markup:
    """Which colour is which series."""
    items = (
        tag("li", tag("span", "●", class_=f"key s{i % 6}", aria_hidden="true"), " ", name)
        for i, name in enumerate(names)
    )
    return tag("ul", join(items), class_="legend")
