"""How an engine is asked for a search: the view of the graph, the options and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

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
