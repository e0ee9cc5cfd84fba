"""Arguments and results of a search on an engine: the view of the graph, the options and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList
from rapids_trav.errors import TravError, listed
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.tuning import published


class View(Protocol):
    """A graph as a search reads it, in one direction, perhaps filtered; each form is built on first use."""

    @property
    def n_vertices(self) -> int:
        """Number of vertices, including those without an edge in this view."""

    @property
    def out(self) -> Adjacency:
        """Edges to follow: row `u` holds the vertices that `u` leads to."""

    @property
    def into(self) -> Adjacency:
        """The transpose: row `v` holds the vertices that lead to `v`; the same object if symmetric."""

    @property
    def coo(self) -> EdgeList:
        """The edges to follow, as a list."""

    @property
    def stored(self) -> Adjacency:
        """`out` in the memory that stores it: host arrays, if the graph exceeds the engine's memory."""


MOST_LEVELS = 2**31 - 2  # most levels of a search, since distances are int32


@dataclass(frozen=True)
class BfsOptions:
    """Options of a search, with vertices as internal ids."""

    variant: str = "auto"
    policy: str = "gap"
    depth_limit: int | None = None
    targets: Array | None = None  # distinct
    predecessors: bool = True
    trace: bool = False
    each: bool = False  # whether each source has a search of its own
    repeated: bool | None = None  # then, whether a source is given more than once; None: it is not known
    of_ranks: Mapping[str, Any] = field(default_factory=dict)  # settings of a search over many workers


class RankCosts(NamedTuple):
    """Costs of a level on one rank.

    Attributes
    ----------
    following_ms : float
        Time in which the rank followed edges.
    exchange_ms : float
        The rest: exchanging messages, which includes waiting for slower ranks, and settling what they sent.
    bytes : int
        Bytes sent to other ranks.
    """

    following_ms: float
    exchange_ms: float
    bytes: int


@dataclass(frozen=True)
class LevelTrace:
    """Record of one level of a search.

    Attributes
    ----------
    level : int
        Distance that the level assigned; the sources are level 0.
    direction : str
        "push" (top-down) or "pull" (bottom-up).
    frontier : int
        Vertices in the frontier that the level expanded.
    edges : int
        Edges examined; -1 where the variant does not count them.
    bytes : int
        Estimated bytes of graph and state that were read or written for those edges.
    milliseconds : float
        Duration, including the host's overhead for the level.
    host_bytes : int
        The part of `bytes` that is edges the GPU read from host memory.
    exchange : str
        Way in which GPUs that reach each other's memory took the frontier from each other: "lists" of
        vertices, "copies" of bitmaps, "words" of them that were sent, or "offers"; empty elsewhere.
    ranks : tuple of RankCosts
        One for each rank of a search over many workers, else empty; `bytes` is then the sum over them, and
        `milliseconds` the time of the slowest.
    """

    level: int
    direction: str
    frontier: int
    edges: int
    bytes: int
    milliseconds: float
    host_bytes: int = 0
    exchange: str = ""
    ranks: tuple[RankCosts, ...] = ()


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
        Counts of a variant's mechanisms over the whole search, by name; empty unless a trace was asked for.
        CPU: "looked", unvisited vertices that bottom-up levels examined.  CUDA: "looked", as on the CPU;
        "hub_hits", look-ups of the frontier that the hub cache answered, and "levels_alone", levels that a
        single block searched ("auto"); "kept", vertices that passed through a private queue, "overflowed",
        vertices that found it full, and "reserved", places in the global queue that blocks reserved
        ("private").
    n_unreached : uint64 array, (1,), or None
        Number of vertices that were not reached, if the engine has counted them.
    device_seconds : float or None
        Time by the clock of the slowest of several devices, which do not wait for the host in between; it
        leaves out the wait for all of them to begin.
    """

    distance: Array
    predecessor: Array | None = None
    trace: list[LevelTrace] = field(default_factory=list)
    n_unreached: Array | None = None
    counters: dict[str, int] = field(default_factory=dict)
    device_seconds: float | None = None


def known_variant(engine: str, known: tuple[str, ...], variant: str) -> Callable[..., Search]:
    """Return a search of the published systems by its name, if the engine has it."""
    if variant not in known:
        raise TravError(
            f"variant={variant!r} is not known to the {engine} engine: choose one of {listed(known)}."
        )
    return published(f"{engine} {variant}")


def one_by_one(
    search: Callable[[View, Array, BfsOptions], Search],
    view: View,
    sources: Array,
    options: BfsOptions,
    xp: ModuleType,
) -> Search:
    """Run one search after another, for variants that only support joint frontiers."""
    shape, dtype = (len(sources), view.n_vertices), vertex_dtype(view.n_vertices)  # `view.out` may not fit
    distance = xp.empty(shape, np.int32)
    predecessor = xp.empty(shape, dtype) if options.predecessors else None
    trace: list[LevelTrace] = []
    for row in range(len(sources)):
        found = search(view, sources[row : row + 1], options)
        distance[row] = found.distance
        if predecessor is not None:
            predecessor[row] = found.predecessor
        trace += found.trace
    return Search(distance, predecessor, trace)


class SearchStream(Protocol):
    """A function that runs searches one after another, some of them ahead of the one that is read."""

    def __call__(
        self, view: View, sources: Iterator[Array], options: BfsOptions, ahead: int
    ) -> Generator[Search, None, None]:
        """Yield the search from each of `sources`, (1,) each, with up to `ahead` later ones under way.

        Sources are read when their searches begin, and asked for again after they have ended.  Only the
        variant "auto" is offered, without a trace; the view has a vertex.
        """


SumsOf = Literal["vertices", "sources"]


@dataclass(frozen=True)
class DistanceSums:
    """Sums over the distances of many searches: for each vertex over the sources, or the other way round.

    The distance of a source to itself does not count.

    Attributes
    ----------
    reached : int64 array
        Sources that reach the vertex, or vertices that the source reaches.
    total : int64 array
        Sum of their distances.
    inverse : float64 array
        Sum of the reciprocal distances.
    largest : int32 array
        The largest distance; 0 if none is reached.
    """

    reached: Array
    total: Array
    inverse: Array
    largest: Array

    @classmethod
    def none(cls, length: int, xp: ModuleType) -> DistanceSums:
        """Return the sums of zero searches."""
        return cls(*(xp.zeros(length, dtype) for dtype in (np.int64, np.int64, np.float64, np.int32)))

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The four arrays."""
        return self.reached, self.total, self.inverse, self.largest

    def mapped(self, function: Callable[[Array], Array]) -> DistanceSums:
        """Return sums with `function` applied to each array."""
        return DistanceSums(*map(function, self.arrays))

    def joined(self, others: Sequence[DistanceSums], xp: ModuleType) -> DistanceSums:
        """Return these sums followed by those of other sources."""
        columns = zip(*(sums.arrays for sums in (self, *others)), strict=True)
        return DistanceSums(*map(xp.concatenate, columns))

    def added(self, others: Sequence[DistanceSums], xp: ModuleType) -> DistanceSums:
        """Add the sums of other searches, at the same vertices, to these; return these."""
        for sums in others:
            self.reached[:] += sums.reached
            self.total[:] += sums.total
            self.inverse[:] += sums.inverse
            xp.maximum(self.largest, sums.largest, out=self.largest)
        return self


@dataclass(frozen=True)
class PairDistances:
    """Distances between pairs of vertices.

    Attributes
    ----------
    distance : int32 array, (k,)
        -1 where there is no path.
    edges : int
        Edges examined.
    """

    distance: Array
    edges: int


# Searches a view from both ends of the pairs (starts[i], ends[i]).
PairSearch = Callable[[View, Array, Array], PairDistances]


class Ordered(NamedTuple):
    """An order of vertices other than that of their ids.

    Attributes
    ----------
    order : vertex array, (n,)
        Place of each vertex.
    rank : vertex array, (n,)
        Vertex at each place.
    """

    order: Array
    rank: Array


@dataclass(frozen=True)
class PathShares:
    """Sums, over several sources, of the shares of vertices and edges in the shortest paths from them.

    Attributes
    ----------
    vertices : float64 array, (n,)
        Sum over the targets of the share of shortest paths that pass through the vertex without ending there.
    edges : float64 array, (m,), or None
        The same sum for each edge of `View.out`; of repeated edges only the first has the share.
    reached : int64 array, (n,)
        Number of pairs that have the vertex at one end: the sources that reach it, plus the vertices that it
        reaches as a source.
    """

    vertices: Array
    edges: Array | None
    reached: Array


_MEANING = {
    "rule_1": "vertices that do not lead to the root, or a root that is not its own parent",
    "rule_2": "tree edges whose levels do not differ by exactly one",
    "rule_3": "input edges whose levels differ by more than one",
    "rule_4": "input edges that leave the tree",
    "rule_5": "vertices that no input edge joins to their parent",
    "levels": "vertices whose level is not their depth in the tree",
}


@dataclass(frozen=True)
class Verdict:
    """Number of faults under each rule, over all ranks if several hold the tree.

    Attributes
    ----------
    rule_1, rule_2, rule_5 : int
        Vertices that break the rule (a tree edge counts as its child).
    rule_3, rule_4 : int
        Input tuples that break it.
    levels : int
        Vertices whose level, as the search gave it, is not their depth in the tree; 0 if none were given.
    """

    rule_1: int = 0
    rule_2: int = 0
    rule_3: int = 0
    rule_4: int = 0
    rule_5: int = 0
    levels: int = 0

    @property
    def valid(self) -> bool:
        return not self.broken

    @property
    def broken(self) -> dict[str, int]:
        """Return the checks that fail, with their counts."""
        return {field.name: n for field in fields(self) if (n := getattr(self, field.name))}

    def __str__(self) -> str:
        if self.valid:
            return "valid"
        return "; ".join(f"{name}: {n:,} {_MEANING[name]}" for name, n in self.broken.items())
