"""Summaries by level and by vertex."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, get_args

import numpy as np

from rapids_trav.algorithms.bfs import searches
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import Direction, SearchOptions
from rapids_trav.algorithms.request import ask
from rapids_trav.csr.adjacency import Array
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.storage.search_memory import COUNTED_BYTES, DEGREES_BYTES, LEVEL_BYTES, LEVELS_BYTES
from rapids_trav.utilities.checks import one_of

FEW_BINS = 1 << 12  # that CuPy may count in copies


def levels(graph: TraversableGraph, sources: object, options: SearchOptions) -> Frame:
    """Frame of the counts that `Graph.levels` documents."""
    question = ask(graph, sources, options)
    xp, n = graph.engine.xp, graph.n_vertices
    parts = []
    with ExitStack() as counted:
        for first, found in searches(graph, question, LEVELS_BYTES, beside=LEVEL_BYTES):
            k, bins = found.distance.size // max(n, 1), int(found.distance.max()) + 2
            step = max(n // bins, 1)  # searches that are counted at once
            for i in range(0, k, step):
                some = found.distance.reshape(k, -1)[i : i + step]
                with graph.storage.room(LEVEL_BYTES * len(some) * bins, "the levels"):
                    search, *counts = _count(xp, some, bins)
                counted.enter_context(graph.storage.room(COUNTED_BYTES * len(search), "counted levels"))
                parts.append((search + first + i, *counts))
            del found, some
        search, distance, count, cumulative = (xp.concatenate(column) for column in zip(*parts, strict=True))
        del parts
        columns = graph.id_columns("source", question.sources[search]) if question.each else {}
        columns |= {"distance": Masked(distance, distance >= 0), "vertices": count, "cumulative": cumulative}
        return graph.deliver(graph.frame(columns))


def _count(xp: Any, distance: Array, bins: int) -> tuple[Array, Array, Array, Array]:
    """Of (k, n) distances: search, distance (-1: unreached, stands last), vertices, running total.

    There is a bin for each distance, and one for the unreached.
    """
    k = len(distance)
    key = xp.where(distance < 0, bins - 1, distance) + xp.arange(k, dtype=xp.int64)[:, None] * bins
    counts = _bincount(xp, key.reshape(-1), k * bins).reshape(k, bins)
    del key
    cumulative = xp.cumsum(counts, axis=1)
    search, level = xp.nonzero(counts)
    found = xp.where(level == bins - 1, -1, level).astype(xp.int32)
    return search, found, counts[search, level], cumulative[search, level]


def _bincount(xp: Any, key: Array, n_bins: int) -> Array:
    """Count each key, int64 (n_bins,).

    CuPy's `bincount` holds the bins once for each block of its kernel: gigabytes for a million of them.
    """
    if xp is np or n_bins <= FEW_BINS:
        return xp.bincount(key, minlength=n_bins).astype(xp.int64, copy=False)
    counts = xp.zeros(n_bins, xp.uint64)  # the widest type that it adds to
    xp.add.at(counts, key, 1)
    return counts.view(xp.int64)


def degrees(graph: TraversableGraph, direction: Direction) -> Frame:
    """Frame of the degrees that `Graph.degrees` documents."""
    one_of("direction", direction, get_args(Direction))
    offsets = graph.storage.view(direction).out.row_offsets
    xp = graph.engine.xp
    with graph.storage.room(DEGREES_BYTES * graph.n_vertices, "the degrees"):
        degree = xp.diff(offsets).astype(xp.int64)
        if graph.ids.rank is not None:
            degree = degree[graph.ids.rank]
        return graph.deliver(graph.frame(graph.id_columns("vertex") | {"degree": degree}))
