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
    hub_degree: int | None = None  # least degree of the hub cache; None: there is none
    depth_limit: int | None = None
    targets: Array | None = None  # distinct
    predecessors: bool = True
    trace: bool = False
    each: bool = False  # whether each source has a search of its own
    repeated: bool | None = None  # then, whether a source is given more than once; None: it is not known
    of_ranks: Mapping[str, Any] = field(default_factory=dict)  # settings of a search over many workers


class RankCosts(NamedTuple):
    """Costs of a level on one rank."""

    following_ms: float  # time in which the rank followed edges
    exchange_ms: float  # the rest: messages, which includes waiting for slower ranks, and settling them
    bytes: int  # sent to other ranks


@dataclass(frozen=True)
class LevelTrace:
    """Record of one level of a search."""

    level: int  # distance that the level assigned; the sources are level 0
    direction: str  # "push" (top-down) or "pull" (bottom-up)
    frontier: int  # vertices in the frontier that the level expanded
    edges: int  # examined; -1 where the variant does not count them
    bytes: int  # estimated, of graph and state that were read or written for those edges
    milliseconds: float  # including the host's overhead for the level
    host_bytes: int = 0  # the part of `bytes` that is edges the GPU read from host memory
    # How GPUs that reach each other's memory took the frontier from each other: "lists" of vertices, "copies"
    # of bitmaps, "words" of them that were sent, or "offers"; empty elsewhere.
    exchange: str = ""
    # Of a search over many workers; `bytes` is then their sum, and `milliseconds` the time of the slowest.
    ranks: tuple[RankCosts, ...] = ()


@dataclass(frozen=True)
class Search:
    """Distances and predecessors by internal id."""

    distance: Array  # int32, (n,) or (k, n); -1 where unreached
    predecessor: Array | None = None  # vertices, of the same shape; -1 at sources and where unreached
    trace: list[LevelTrace] = field(default_factory=list)  # empty unless asked for
    n_unreached: Array | None = None  # uint64, (1,), if the engine has counted them
    # Counts of a variant's mechanisms over the whole search; empty unless a trace was asked for.
    # CPU: "looked", unvisited vertices that bottom-up levels examined.
    # CUDA: "looked", as on the CPU; "hub_hits", look-ups of the frontier that the hub cache answered, and
    # "levels_alone", levels that a single block searched ("auto"); "kept", vertices that passed through a
    # private queue, "overflowed", vertices that found it full, and "reserved", places in the global queue
    # that blocks reserved ("private").
    counters: dict[str, int] = field(default_factory=dict)
    # Time by the clock of the slowest of several devices, which do not wait for the host in between; it
    # leaves out the wait for all of them to begin.
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
    """

    reached: Array  # int64: sources that reach the vertex, or vertices that the source reaches
    total: Array  # int64: sum of their distances
    inverse: Array  # float64: sum of the reciprocal distances
    largest: Array  # int32: the largest distance; 0 if none is reached

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
    """Distances between pairs of vertices."""

    distance: Array  # int32, (k,); -1 where there is no path
    edges: int  # examined


# Searches a view from both ends of the pairs (starts[i], ends[i]).
PairSearch = Callable[[View, Array, Array], PairDistances]


class Ordered(NamedTuple):
    """An order of vertices other than that of their ids."""

    order: Array  # place of each vertex
    rank: Array  # vertex at each place


@dataclass(frozen=True)
class PathShares:
    """Sums, over several sources, of the shares of vertices and edges in the shortest paths from them."""

    # float64: sum over the targets of the share of shortest paths through a vertex that end elsewhere
    vertices: Array
    # The same sum for each edge of `View.out`, if asked for; of repeated edges only the first has the share.
    edges: Array | None
    # int64: number of pairs that have the vertex at one end: the sources that reach it, plus the vertices
    # that it reaches as a source.
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
    """Number of faults under each rule, over all ranks if several hold the tree."""

    rule_1: int = 0  # vertices that break the rule
    rule_2: int = 0  # likewise; a tree edge counts as its child
    rule_3: int = 0  # input tuples
    rule_4: int = 0
    rule_5: int = 0  # vertices
    levels: int = 0  # vertices whose level, if given by the search, is not their depth in the tree

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
