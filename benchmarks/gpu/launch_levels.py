"""Rows of the levels of a search by several GPUs: what each level took from other GPUs, and how long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.gpu.launch_law import exchange_us
from benchmarks.harness import Row, short
from rapids_trav.engines.searches import LevelTrace

COLUMNS = ("level", "direction", "exchange", "frontier", "edges", "mb", "ms", "predicted_exchange_us")
MOST_LEVELS = 64  # of a search, that have rows


def rows(levels: Sequence[LevelTrace], n_vertices: int, count: int, facts: Row) -> Iterator[Row]:
    """Yield a row for each of the first levels of a search: what it took from other GPUs, and how long."""
    for level in levels[:MOST_LEVELS]:
        yield {
            **facts,
            "table": "launch levels",
            "level": level.level,
            "direction": level.direction,
            "exchange": level.exchange,
            "frontier": level.frontier,
            "edges": level.edges,
            "mb": short(level.bytes / 1e6),
            "ms": short(level.milliseconds),
            "predicted_exchange_us": short(exchange_us(level, n_vertices, count)),
        }
