"""Numbers and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def number(value: float | None) -> str:
    """Format a number with three digits and separators; a dash means not measured."""
    if value is None:
        return "-"
    if value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}" if value < 1000 else f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".") if value >= 0.001 else f"{value:.2g}"


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table, whose first column is text."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return ["| " + " | ".join(line) + " |" for line in lines]
