"""Summaries by level and by vertex."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from rapids_trav.algorithms.bfs import searches
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.request import DIRECTIONS, ask
from rapids_trav.csr.adjacency import Array
from rapids_trav.frames.columns import Masked
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.memory.model.search import (
    DEGREES_BYTES,
    DISTANCE_BYTES,
    counted_at_once,
    levels_bytes,
    search_bytes,
)
from rapids_trav.utilities.checks import one_of


def levels(
    graph: TraversableGraph,
    sources: Any,
    *,
    mode: str = "joint",
    depth_limit: int | None = None,
    targets: Any = None,
    direction: str = "out",
    where: Hashable | None = None,
    variant: str = "auto",
    policy: str | None = None,
) -> Any:
    """Frame of the counts that `Graph.levels` documents."""
    question = ask(
        graph,
        sources,
        mode=mode,
        depth_limit=depth_limit,
        targets=targets,
        direction=direction,
        predecessors=False,
        where=where,
        variant=variant,
        policy=policy,
    )
    xp, n, storage = graph.engine.xp, graph.n_vertices, graph.storage
    parts = []
    # A joint search gives back what it worked in beside the distances.
    spare = 0 if question.each else search_bytes(graph.engine.place == "host", n, vertex_dtype(n).itemsize)
    spare -= 0 if question.each else DISTANCE_BYTES * n
    for first, found in searches(graph, question, 0, beside=max(levels_bytes(n, n + 1) - spare, 0)):
        for i, distance in enumerate(found.distance.reshape(-1, n)):
            n_bins = int(distance.max()) + 2
            with storage.room(max(levels_bytes(n, n_bins) - spare, 0), "the levels"):
                parts.append((first + i, *_count(xp, distance, n_bins)))
        del found, distance
    lengths = [len(part[1]) for part in parts]
    search = xp.asarray(np.repeat([part[0] for part in parts], lengths))
    columns_of = list(zip(*parts, strict=True))[1:]
    distance, count, cumulative = (c[0] if len(c) == 1 else xp.concatenate(c) for c in columns_of)
    del columns_of
    del parts
    columns = graph.id_columns("source", question.sources[search]) if question.each else {}
    columns |= {"distance": Masked(distance, distance >= 0), "vertices": count, "cumulative": cumulative}
    return graph.deliver(graph.frame(columns))


def _count(xp: Any, distance: Array, n_bins: int) -> tuple[Array, Array, Array]:
    """Return distance (-1: unreached, stands last), vertices and running total of each level of a search.

    There is a bin for each distance, and one for the unreached, which is left out if it is empty.
    """
    counts = xp.zeros(n_bins, xp.uint64)  # the widest type that CuPy adds to
    step = counted_at_once(len(distance))
    for first in range(0, len(distance), step):
        some = distance[first : first + step]
        xp.add.at(counts, xp.where(some < 0, n_bins - 1, some), xp.uint64(1))
    levels = xp.arange(n_bins, dtype=xp.int32)
    levels[-1] = -1
    kept = n_bins if int(counts[-1]) else n_bins - 1
    counts = counts.view(xp.int64)[:kept]
    return levels[:kept], counts, xp.cumsum(counts)


def degrees(graph: TraversableGraph, direction: str = "out") -> Any:
    """Frame of the degrees that `Graph.degrees` documents."""
    one_of("direction", direction, DIRECTIONS)
    offsets = graph.storage.view(direction).out.row_offsets
    xp = graph.engine.xp
    with graph.storage.room(DEGREES_BYTES * graph.n_vertices, "the degrees"):
        degree = xp.diff(offsets).astype(xp.int64)
        if graph.ids.rank is not None:
            degree = degree[graph.ids.rank]
        return graph.deliver(graph.frame(graph.id_columns("vertex") | {"degree": degree}))
