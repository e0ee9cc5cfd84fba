"""Counts that describe a graph, read off its adjacency."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .edge_blocks import block_within, edge_blocks
from .structures import View

if TYPE_CHECKING:
    from .storage.budget import Budget


def self_loops(view: View, engine: Any, budget: Budget | None = None) -> int:
    """Edges whose two ends are the same vertex (each stands once in a symmetric adjacency too)."""
    blocks = edge_blocks(view.stored, engine.xp, block=block_within(budget))
    return sum(int((edges.src == edges.dst).sum()) for edges in blocks)


def duplicate_edges(view: View, engine: Any, directed: bool, budget: Budget | None = None) -> int:
    """Edges that repeat another; of an undirected edge each direction is one, and is counted once.

    Rows of an adjacency are sorted, so an edge and its repetitions are neighbours.
    """
    found = 0
    for edges in edge_blocks(view.stored, engine.xp, overlap=1, block=block_within(budget)):
        repeated = (edges.src[1:] == edges.src[:-1]) & (edges.dst[1:] == edges.dst[:-1])
        if not directed:
            repeated &= edges.src[1:] <= edges.dst[1:]
        found += int(repeated.sum())
    return found


class PhaseTimes:
    """Seconds by phase; `synchronize` waits for the device, so that each phase pays for its own work."""

    def __init__(self, synchronize: Callable[[], None]) -> None:
        self._synchronize = synchronize
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._synchronize()
        self.seconds[name] = time.perf_counter() - start
