"""Rows as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from .rows import Row

TEXT = ("graph", "name", "order", "direction", "claim", "note")


def make(title: str, columns: Sequence[str], rows: Iterable[Row]) -> Table:
    """Make a table of those columns; columns that no row has are omitted."""
    rows = list(rows)
    columns = [column for column in columns if any(row.get(column) is not None for row in rows)]
    table = Table(title=title)
    for column in columns:
        justify, fixed = ("left" if column in TEXT else "right"), column in TEXT and column != "note"
        table.add_column(column.replace("_", " "), justify=justify, no_wrap=fixed, overflow="fold")
    for row in rows:
        table.add_row(*(cell(row.get(column)) for column in columns))
    return table


def cell(value: Any) -> str:
    """Format integers with separators, other numbers with four digits, and None as nothing."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    return str(value)


def show(
    rows: Sequence[Row], columns: Mapping[str, Mapping[str, Sequence[str]]], console: Console | None = None
) -> None:
    """Print every table that has rows; `columns` are those of each benchmark's tables."""
    console = console or Console(width=170)
    for benchmark, tables in columns.items():
        for name, shown in tables.items():
            chosen = [row for row in rows if (row["benchmark"], row["table"]) == (benchmark, name)]
            if chosen:
                title = benchmark if name == benchmark else f"{benchmark}: {name}"
                console.print(make(title, shown, chosen))
