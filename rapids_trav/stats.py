"""Counts that describe a graph, read off its adjacency."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .edge_blocks import edge_blocks, reading
from .structures import View

if TYPE_CHECKING:
    from .storage.budget import Budget

EDGE_BYTES = 32  # of an edge in hand: its ends, and what is compared


def self_loops(view: View, engine: Any, budget: Budget | None = None) -> int:
    """Edges whose two ends are the same vertex (each stands once in a symmetric adjacency too)."""
    stored = view.stored
    with reading(budget, stored.n_edges, EDGE_BYTES) as block:
        blocks = edge_blocks(stored, engine.xp, block=block)
        return sum(int((edges.src == edges.dst).sum()) for edges in blocks)


def duplicate_edges(view: View, engine: Any, directed: bool, budget: Budget | None = None) -> int:
    """Edges that repeat another; of an undirected edge each direction is one, and is counted once.

    Rows of an adjacency are sorted, so an edge and its repetitions are neighbours.
    """
    found, stored = 0, view.stored
    with reading(budget, stored.n_edges, EDGE_BYTES) as block:
        for edges in edge_blocks(stored, engine.xp, overlap=1, block=block):
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
