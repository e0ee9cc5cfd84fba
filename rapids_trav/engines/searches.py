"""How an engine is asked for a search: the view of the graph, the options and what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, Protocol

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList


class View(Protocol):
    """One way of reading a graph (a direction, perhaps filtered); each form is built when first asked for."""

    @property
    def n_vertices(self) -> int:
        """Vertices, of which some may have no edge here."""

    @property
    def out(self) -> Adjacency:
        """Edges to follow: row `u` holds the vertices that `u` leads to."""

    @property
    def into(self) -> Adjacency:
        """The transpose: row `v` holds the vertices that lead to `v`; the same object if symmetric."""

    @property
    def coo(self) -> EdgeList:
        """The edges to follow, one by one."""

    @property
    def stored(self) -> Adjacency:
        """`out` where it lies: of a graph larger than the engine's memory, in arrays of the host."""


MOST_LEVELS = 2**31 - 2  # of a search: distances are int32


@dataclass(frozen=True)
class BfsOptions:
    """The parts of a question that an engine needs to know, in internal ids."""

    variant: str = "auto"
    policy: str = "gap"
    depth_limit: int | None = None
    targets: Array | None = None
    predecessors: bool = True
    trace: bool = False
    of_ranks: Mapping[str, Any] = field(default_factory=dict)  # settings of a search over many workers


@dataclass(frozen=True)
class LevelTrace:
    """Record of one level of a search.

    Attributes
    ----------
    level : int
        Distance that the level gave out; the sources are level 0.
    direction : str
        "push" (top-down) or "pull" (bottom-up).
    frontier : int
        Vertices in the frontier that the level expanded.
    edges : int
        Edges examined; -1 where the variant does not count them.
    bytes : int
        Estimated bytes of graph and state that those edges moved.
    milliseconds : float
        Time, with the host's overhead for the level.
    host_bytes : int
        Of those, bytes of edges that the GPU read in host memory.
    """

    level: int
    direction: str
    frontier: int
    edges: int
    bytes: int
    milliseconds: float
    host_bytes: int = 0


@dataclass(frozen=True)
class Search:
    """Distances and predecessors by internal id.

    Attributes
    ----------
    distance : int32 array, (n,) or (k, n)
        -1 where unreached.
    predecessor : vertex array of the same shape, or None
        -1 at sources and where unreached.
    trace : list of LevelTrace
        Empty unless asked for.
    counters : dict of str to int
        What the mechanisms of a variant did in the whole search, by name; empty unless a trace was asked for.
        CPU: "looked", unvisited vertices that bottom-up levels looked at.  CUDA: "looked" likewise,
        "hub_hits", look-ups of the frontier that the hub cache answered, and "levels_alone", levels that one
        block searched alone ("auto"); "kept", vertices that went through a private queue, "overflowed", that
        found it full, and "reserved", places in the global queue that blocks asked for ("private").
    n_unreached : uint64 array, (1,), or None
        Vertices that were not reached, where the engine has counted them.
    """

    distance: Array
    predecessor: Array | None = None
    trace: list[LevelTrace] = field(default_factory=list)
    n_unreached: Array | None = None
    counters: dict[str, int] = field(default_factory=dict)


SumsOf = Literal["vertices", "sources"]


@dataclass(frozen=True)
class DistanceSums:
    """Sums over the distances of many searches: at each vertex over the sources, or the other way round.

    A source and itself do not count.

    Attributes
    ----------
    reached : int64 array
        Sources that reach the vertex, or vertices that the source reaches.
    total : int64 array
        Sum of their distances.
    inverse : float64 array
        Sum of one divided by each distance.
    largest : int32 array
        The largest distance; 0 if none is reached.
    """

    reached: Array
    total: Array
    inverse: Array
    largest: Array

    @classmethod
    def none(cls, length: int, xp: ModuleType) -> DistanceSums:
        """Return sums over no searches."""
        return cls(*(xp.zeros(length, dtype) for dtype in (np.int64, np.int64, np.float64, np.int32)))

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The four arrays."""
        return self.reached, self.total, self.inverse, self.largest

    def mapped(self, function: Callable[[Array], Array]) -> DistanceSums:
        """Return what a function makes of each array."""
        return DistanceSums(*map(function, self.arrays))

    def joined(self, others: Sequence[DistanceSums], xp: ModuleType) -> DistanceSums:
        """Return these sums and those of other sources, one after another."""
        columns = zip(*(sums.arrays for sums in (self, *others)), strict=True)
        return DistanceSums(*map(xp.concatenate, columns))

    def added(self, others: Sequence[DistanceSums], xp: ModuleType) -> DistanceSums:
        """Add those of other searches to the sums at the same vertices; return these."""
        for sums in others:
            self.reached[:] += sums.reached
            self.total[:] += sums.total
            self.inverse[:] += sums.inverse
            xp.maximum(self.largest, sums.largest, out=self.largest)
        return self


@dataclass(frozen=True)
class PairDistances:
    """Distances of pairs of vertices.

    Attributes
    ----------
    distance : int32 array, (k,)
        -1 where there is no path.
    edges : int
        Edges examined; 0 where the engine does not count them, having but one way to search.
    """

    distance: Array
    edges: int = 0


@dataclass(frozen=True)
class PathShares:
    """Sums, over several sources, of shares in the shortest paths from them.

    Attributes
    ----------
    vertices : float64 array, (n,)
        Over the targets, the share of shortest paths that pass through the vertex without ending there.
    edges : float64 array, (m,), or None
        Likewise of the edges of `View.out`; of repeated edges the first one has the share.
    reached : int64 array, (n,)
        Pairs that the vertex is an end of: sources that reach it, and vertices it reaches as a source.
    """

    vertices: Array
    edges: Array | None
    reached: Array
