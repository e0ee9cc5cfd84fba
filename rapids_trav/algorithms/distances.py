"""Distances between the vertices of pairs.

Engines with the method `pair_distances` search from both ends of a pair.  If many pairs have the same source,
one full search from it answers all of them; full searches run 64 at a time.  The number of edges examined for
the first pairs decides which of the two is cheaper.  Other engines run full searches alone.
"""

from __future__ import annotations

from collections.abc import Sized

import numpy as np

from rapids_trav.algorithms.bfs import searches
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import CentralityOptions
from rapids_trav.algorithms.request import on_engine, resolve
from rapids_trav.algorithms.request import vertices as internal_of
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import BfsOptions, PairDistances, PairSearch
from rapids_trav.errors import TravError, a_type
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.storage.in_memory import MemoryView

AT_ONCE = 64  # full searches that run together; also the number of pairs used to estimate the cost of a pair
DEEP = 32  # beyond this distance, searches that run together have few rows in common
# Break-even cost: edges examined by two-ended searches that take as long as one of 64 full searches, relative
# to the edges of the graph; measured on R-MAT at scale 12 to 18 and on a grid.
SHALLOW_COST, DEEP_COST = 1 / 16, 2.0


def distances(graph: TraversableGraph, pairs: object, options: CentralityOptions) -> Frame:
    """Return the frame that `Graph.distances` documents."""
    where = resolve(graph, options.where)
    none = np.zeros(0, np.int64)
    starts, ends = (
        on_engine(graph, internal_of(graph, f"the {place} column of pairs", side) if len(side) else none)
        for place, side in zip(("first", "second"), _columns(graph, pairs), strict=True)
    )
    view = graph.storage.view(options.direction, where)
    two_ended = graph.engine.pair_distances
    if two_ended is None:
        distance = _by_full_searches(graph, view, starts, ends)
    else:
        distance = _cheapest(graph, view, starts, ends, two_ended)
    columns = graph.id_columns("source", starts) | graph.id_columns("target", ends)
    return graph.deliver(graph.frame(columns | {"distance": Masked(distance, distance >= 0)}))


def _cheapest(
    graph: TraversableGraph, view: MemoryView, starts: Array, ends: Array, two_ended: PairSearch
) -> Array:
    """Return the distances of pairs, by full searches where those cost less than the first pairs did."""
    xp = graph.engine.xp
    distance = xp.empty(len(starts), np.int32)
    first, rest = slice(0, AT_ONCE), slice(AT_ONCE, None)

    def from_both_ends(pairs: Array | slice) -> PairDistances:
        with view.searching(lambda table, _: table.searches(2)):
            return two_ended(view, starts[pairs], ends[pairs])

    tried = from_both_ends(first)
    distance[first] = tried.distance
    if len(starts) <= AT_ONCE:
        return distance
    _, source, count = xp.unique(starts[rest], return_inverse=True, return_counts=True)
    shared = _common(count, tried, view.stored.n_edges)[source]
    together, alone = (AT_ONCE + xp.flatnonzero(chosen) for chosen in (shared, ~shared))
    distance[together] = _by_full_searches(graph, view, starts[together], ends[together])
    if len(alone):
        distance[alone] = from_both_ends(alone).distance
    return distance


def _by_full_searches(graph: TraversableGraph, view: MemoryView, starts: Array, ends: Array) -> Array:
    """Return the distances of pairs by a search from each source, as many at a time as memory allows."""
    xp = graph.engine.xp
    distance = xp.empty(len(starts), np.int32)
    if not len(starts):
        return distance
    sources, source = xp.unique(starts, return_inverse=True)
    options = BfsOptions(predecessors=False, each=True, repeated=False)
    for first, found in searches(graph, view, sources, options, 0, at_once=AT_ONCE):
        own = xp.flatnonzero((source >= first) & (source < first + len(found.distance)))
        distance[own] = found.distance[source[own] - first, ends[own]]
        del found
    return distance


def _common(count: Array, tried: PairDistances, n_edges: int) -> Array:
    """Return a mask of the sources for which a full search is cheaper, given their numbers of pairs."""
    a_pair = tried.edges / len(tried.distance)
    cost = DEEP_COST if int(tried.distance.max()) > DEEP else SHALLOW_COST
    return count * a_pair > cost * n_edges


def _is_sequence(side: object) -> bool:
    is_sparse = type(side).__module__.startswith("scipy.sparse")
    return isinstance(side, Sized) and getattr(side, "ndim", 1) > 0 and not is_sparse


def _columns(graph: TraversableGraph, pairs: object) -> tuple[Sized, Sized]:
    """Return the ids of the first and of the second vertex of each pair."""
    width = graph.ids.width
    names = getattr(pairs, "columns", None)
    if names is not None:
        if len(names) != 2 * width:
            raise TravError(
                f"pairs has {len(names)} columns: give {2 * width}, those of the first vertex and those of "
                f"the second."
            )
        frame: Frame = pairs
        first, second = list(names[:width]), list(names[width:])
        return (frame[first[0]], frame[second[0]]) if width == 1 else (frame[first], frame[second])
    if isinstance(pairs, tuple) and len(pairs) == 2 and all(map(_is_sequence, pairs)):
        if len(pairs[0]) == len(pairs[1]):
            return pairs
        raise TravError(
            f"pairs is a tuple of two sequences, with {len(pairs[0])} and {len(pairs[1])} vertices: give "
            f"sequences of the same length."
        )
    raise TravError(
        f"pairs is {a_type(pairs)}: give a frame with a column for each vertex of a pair, or a tuple of two "
        f"sequences."
    )
