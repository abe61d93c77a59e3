"""Results as text for people: tables with `-` where a value is not defined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triathlon.recall.show import Excerpt


def number(value: float | None, digits: int = 2) -> str:
    """A value, or `-`."""
    return "-" if value is None else f"{value:.{digits}f}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Left-aligned first column, right-aligned others."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def result(value: dict[str, Any]) -> str:
    """The rows, the controls, what was left out, warnings."""
    rows = [["row", "value", "95 % interval", "n", "contexts", ""]]
    for row in value["rows"]:
        interval = f"{number(row['low'])} - {number(row['high'])}" if row["low"] is not None else "-"
        cell = f"{row['cell'] or '-'} ({row['cells_counted']} of {row['cells']} cells)" if "cell" in row else ""
        rows.append([row["row"], number(row["value"]), interval, str(row["n"]), str(row["contexts"]), cell])
    parts = [table(rows)]
    if value["controls"]:
        lines = [["control", "length", "metric", "value", "control", "difference", "n"]]
        lines += [
            [
                c["control"],
                c["length"],
                c["metric"],
                number(c["value"]),
                number(c["control_value"]),
                number(c["difference"]),
                str(c["n"]),
            ]
            for c in value["controls"]
        ]
        parts.append(table(lines))
    counts = ", ".join(f"{n} {name}" for name, n in value["counts"].items())
    facts = [f"targets: {counts}", f"mode: {value['mode']}"]
    if value["reference"] is None:
        facts.append("reference: the model itself")
    else:
        facts.append(f"reference: {value['reference']['engine'].get('model', value['reference']['engine']['engine'])}")
    if value.get("check"):
        c = value["check"]
        facts.append(
            f"second reading of {c['sequences']} sequences: at most {c['max_abs_difference']:.2g} nats apart, "
            f"{c['flips']} flips"
        )
    parts.append("\n".join(facts))
    parts += [f"warning: {w}" for w in value["warnings"]]
    return "\n\n".join(parts)


def comparison(value: dict[str, Any], most: int) -> str:
    """Both sides, their difference with a paired interval, and the changed targets."""
    rows = [["set", "length", "metric", "A", "B", "B - A", "95 % interval", "lost", "gained", "n"]]
    for row in value["rows"]:
        interval = f"{number(row['low'])} - {number(row['high'])}" if row["low"] is not None else "-"
        sides = [number(row["a"]), number(row["b"]), number(row["difference"])]
        counts = [str(row["lost"]), str(row["gained"]), str(row["n"])]
        rows.append([row["set"], row["length"], row["metric"], *sides, interval, *counts])
    parts = [table(rows)]
    changes = value["changed"][:most]
    if changes:
        lines = [["target", "distance", "A", "B"]]
        for change in changes:
            name = f"{change['set']}/{change['length']}/{change['item']} target {change['target']}"
            lines.append([name, str(change["distance"]), _evidence(change["a"]), _evidence(change["b"])])
        parts.append(table(lines))
        left = len(value["changed"]) - len(changes)
        if left:
            parts.append(f"and {left} more (--changed)")
    return "\n\n".join(parts)


def _evidence(side: dict[str, Any]) -> str:
    if "with" in side:
        moved = side["with"] - side["without"]
        return f"{'followed' if side['verdict'] else 'not followed'} ({side['without']:.2f} {moved:+.2f})"
    return f"{'right' if side['verdict'] else 'wrong'} (said {side['top']})"


def print_excerpts(found: Sequence[Excerpt]) -> None:
    """Excerpts with the marked part in colour, where the output is a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True, highlight=False)
    for excerpt in found:
        console.print(Text(f"-- {excerpt.label}", style="bold cyan"))
        line = Text(f"...{excerpt.before}")
        line.append(excerpt.marked, style="bold black on yellow")
        line.append(f"{excerpt.after}...")
        console.print(line)
        console.print()
