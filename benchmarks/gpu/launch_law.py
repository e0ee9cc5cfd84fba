"""Time of a search in one launch on each of several GPUs, predicted from its time on one and from its levels.

The work of one GPU is divided among all, as edges are dealt evenly; each level takes a meeting of the GPUs in
place of a barrier of one; and what a level takes from others crosses the link, except words of the bitmap,
which cross it while the level before works.  Nothing is fitted: the rates were measured on two H200s of one
host (NV18), inside running kernels of two processes, and the barrier on one H100 from the clocks of every
warp.  Differences between GPUs, and between vertices of a GPU, are not in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.harness import Row, short
from rapids_trav.engines.searches import LevelTrace

COLUMNS = ("level", "direction", "exchange", "frontier", "edges", "mb", "ms", "predicted_exchange_us")
MOST_LEVELS = 64  # of a search, that have rows
BARRIER_US = 1.35  # of one GPU, with the totals of a level
MEETING_US = 2.6  # of both whole grids
COPIED_GB_S = 313.0  # read from the other's memory in runs, 16 MiB at a time, both ways at once
LISTED_GB_S = 157.0  # likewise 1 MiB at a time


def predicted_ms(one_ms: float, levels: Sequence[LevelTrace], n_vertices: int, n_gpus: int) -> float:
    """Return the milliseconds on several GPUs of a search that takes `one_ms` on one."""
    meetings = len(levels) + 1
    work = max(one_ms - 1e-3 * BARRIER_US * meetings, 0.0) / n_gpus
    crossing = sum(exchange_us(level, n_vertices, n_gpus) for level in levels)
    return work + 1e-3 * (MEETING_US * meetings + crossing)


def exchange_us(level: LevelTrace, n_vertices: int, n_gpus: int) -> float:
    """Return the microseconds that a GPU takes to get what it needs from the others before a level."""
    others = (n_gpus - 1) / n_gpus
    vertex = 4 if n_vertices < 2**31 else 8
    if level.exchange == "copies":
        return others * n_vertices / 8 / COPIED_GB_S / 1e3
    if level.exchange == "lists":
        return others * vertex * level.frontier / LISTED_GB_S / 1e3
    if level.exchange == "offers":  # at most one for each edge, read by the owners
        return others * 2 * vertex * level.edges / n_gpus / COPIED_GB_S / 1e3
    return 0.0


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
