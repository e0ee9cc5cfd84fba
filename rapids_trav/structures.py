"""The few types that storage, engines and algorithms hand to each other.

Arrays are NumPy arrays on the CPU engine and CuPy arrays on the CUDA engine.  Vertices are dense internal
ids, 0 to n-1 in ascending order of the caller's ids; -1 stands for "none".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from .durable import array_checksum

Array = Any
_ROWS_AT_ONCE = 1 << 12  # so that what is made of them on the way stays small


@dataclass(frozen=True)
class Adjacency:
    """Compressed sparse rows: the neighbours of `v` are `column_indices[row_offsets[v]:row_offsets[v + 1]]`.

    Each row is in ascending order.  The same type holds CSR (rows are sources) and CSC (rows are
    destinations).  `weights`, if there are any, stand beside `column_indices`, one for each edge.

    The CUDA engine keeps the first neighbour of each row apart as well, -1 if the row is empty, -2 - u if u
    is alone in it; `neighbor_degree`, the mean degree of the vertices that edges lead to; and `n_hubs`, how
    many rows are long.  Where the columns lie in host memory, `resident` is the end of them that the device
    holds as well: the edge, at which a row begins, from which on it does, and the array.
    """

    row_offsets: Array
    column_indices: Array
    first_neighbors: Array | None = None
    neighbor_degree: float = 0.0
    n_hubs: int | None = None
    weights: Array | None = None
    resident: tuple[int, Array] | None = None

    @property
    def n_vertices(self) -> int:
        return len(self.row_offsets) - 1

    @property
    def n_edges(self) -> int:
        return len(self.column_indices)

    @cached_property
    def n_linked(self) -> int:
        """Rows up to the last that has an edge (SYSTEMS V5); looked up at the first asking."""
        return bisect_left(self.row_offsets, self.n_edges)

    @cached_property
    def linked(self) -> Array:
        """A bit for each row, 64 to the int64 word, that tells whether it has an edge; empty if all have.

        Of rows on the host; made at the first asking, since searches from the bottom up alone ask for it, and
        counted among what the adjacency holds until `forget_linked`.
        """
        words = np.zeros(-(-self.n_vertices // 64), np.int64)
        bits = words.view(np.uint8)
        whole = True
        for first in range(0, self.n_vertices, _ROWS_AT_ONCE):
            rows = np.diff(self.row_offsets[first : first + _ROWS_AT_ONCE + 1]) > 0
            whole = whole and bool(rows.all())
            packed = np.packbits(rows, bitorder="little")
            bits[first // 8 : first // 8 + len(packed)] = packed
        return words[:0] if whole else words

    def forget_linked(self) -> None:
        """Give the memory of `linked` back; the next search makes it anew."""
        self.__dict__.pop("linked", None)

    @cached_property
    def hub_words(self) -> dict[int, int]:
        """By threshold, how many words of the frontier the hub cache holds; filled by the CUDA engine."""
        return {}

    @property
    def parts(self) -> list[Array]:
        """Its arrays."""
        resident = self.resident and self.resident[1]
        apart = (self.first_neighbors, self.weights, resident, self.__dict__.get("linked"))
        return [part for part in (self.row_offsets, self.column_indices, *apart) if part is not None]

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    @cached_property
    def checksum(self) -> int:
        """CRC-32 of offsets and columns, the same wherever they lie; computed at the first asking."""
        checksum = array_checksum(self.row_offsets, dtype=np.int64)  # some engines keep them in 32 bits
        return array_checksum(self.column_indices, checksum)


@dataclass(frozen=True)
class EdgeList:
    """Coordinate form: edge `i` goes from `src[i]` to `dst[i]`."""

    src: Array
    dst: Array

    @property
    def nbytes(self) -> int:
        return self.src.nbytes + self.dst.nbytes


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
    """What an engine needs to know of a question, in internal ids."""

    variant: str = "auto"
    policy: str = "gap"
    depth_limit: int | None = None
    targets: Array | None = None
    predecessors: bool = True
    trace: bool = False


@dataclass(frozen=True)
class LevelTrace:
    """What one level of a search did.

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


@dataclass(frozen=True)
class Pages:
    """How the edges of a `GatherView` are cut, where they are streamed (SYSTEMS G4).

    Attributes
    ----------
    firsts : int64 NumPy array, (k + 1,)
        Page `i` is the rows `firsts[i]` to `firsts[i + 1] - 1` of `into`: a slice of the adjacency.
    budget
        Bytes that may be allocated, with a tracked peak; see `storage.budget`.
    n_streams : int
        Pages that fit into it at once, beside what each vertex takes.
    cut : callable(resident_bytes, n_streams, most_bytes) -> (firsts, n_streams), optional
        Cuts them anew, where an engine knows what a run holds beside them: each of at most `most_bytes`, if
        no row is longer.
    """

    firsts: np.ndarray
    budget: Any
    n_streams: int = 1
    cut: Callable[[int, int, int], tuple[np.ndarray, int]] | None = None


@dataclass(frozen=True)
class GatherView:
    """What a vertex program needs of a graph, in one direction and perhaps filtered.

    Attributes
    ----------
    into : Adjacency
        Row `v` holds the vertices that `v` gathers from.
    out : Adjacency
        The transpose: whom a vertex notifies; the same object if symmetric.
    weights : array or None
        One for each of `into.column_indices`, float32, float64, int32 or int64; None: an unweighted run.
    degrees : array, (n,)
        Out-edges of each vertex, int64; in a weighted run the sum of their weights, float64.
    pages : Pages or None
        None: all in the engine's memory.  Else the large arrays of `into` lie on the host, perhaps mapped
        from a file, and are streamed.
    out_weights : array or None
        One for each of `out.column_indices`, if the program may push; `weights` itself if symmetric.
    budget
        Of the engine's memory, where it is limited; see `storage.budget`.
    """

    into: Adjacency
    out: Adjacency
    weights: Array | None
    degrees: Array
    pages: Pages | None = None
    out_weights: Array | None = None
    budget: Any = None

    @property
    def n_vertices(self) -> int:
        return self.into.n_vertices

    @property
    def limited(self) -> Any:
        """The budget of the engine's memory; None without a limit."""
        return self.budget if self.pages is None else self.pages.budget

    def charged(self, n_bytes: int, what: str) -> AbstractContextManager[None]:
        """Hold so many bytes of the limit, if there is one, for the time of a block."""
        return nullcontext() if self.limited is None else self.limited.hold(n_bytes, what)


@dataclass(frozen=True)
class State:
    """A vertex program under way, as a checkpoint holds it.

    Attributes
    ----------
    values : array of the program's dtype, (n,)
    active : bool array, (n,)
        The vertices whose last change their neighbours have not seen.
    iteration : int
        Iterations done.
    total : float
        Sum of the program's `total` that the last iteration used; it is computed anew from the values.
    residual : float
        Sum of the absolute changes in the last iteration if the program has a tolerance, else NaN.
    """

    values: Array
    active: Array
    iteration: int = 0
    total: float = 0.0
    residual: float = float("nan")


@dataclass(frozen=True)
class RunOptions:
    """How an engine runs a vertex program.

    Attributes
    ----------
    weighted : bool
    max_iterations : int or None
        End after so many, counted from the start of the run and not of its resumption.
    asynchronous : bool
        New values may be used in the iteration that makes them.
    parameters : tuple of float
        Handed to the program's `apply`.
    mode : {"auto", "pull", "notify", "push"}
        "pull": all vertices gather; "notify": those that an active vertex leads to; "push": active vertices
        hand out their values, for min and max alone; on a GPU in its memory alone.
    gather : {"rows", "replicas"}
        How the CUDA engine pulls in memory: each row by as many threads as it is long, or by shards in shared
        memory, with copies of each vertex.
    replication : {"auto", "formula", 1, 2, 4, 8, 16, 32}
        Copies of each vertex of a shard; by Garaph's formula, or as measured best.
    trace : bool
    n_streams : int
        Pages under way at once.
    checkpoint : callable(State, bool) or None
        Called after each iteration, with whether it is the last.
    between : callable(State) -> State, or None
        Called after each iteration, from number `between_from` on, that leaves vertices active: gives the
        values and active vertices to go on from, in arrays of its own.
    between_bytes : int
        What that takes for each vertex.
    on_page : callable(pages, bytes) or None
        Called with the pages and bytes that were streamed since the last call.
    """

    weighted: bool = False
    max_iterations: int | None = None
    asynchronous: bool = False
    parameters: tuple[float, ...] = ()
    mode: str = "auto"
    gather: str = "rows"
    replication: int | str = "auto"
    trace: bool = False
    n_streams: int = 3
    checkpoint: Callable[[State, bool], None] | None = None
    between: Callable[[State], State] | None = None
    between_from: int = 0
    between_bytes: int = 0
    on_page: Callable[[int, int], None] | None = None


class PageSpan(NamedTuple):
    """Begins and ends of a page's copy (None if it was not copied) and of its computing.

    In milliseconds of the device's clock from the start of the iteration.
    """

    page: int
    copy: tuple[float, float] | None
    computing: tuple[float, float]


@dataclass(frozen=True)
class IterationTrace:
    """What one iteration of a vertex program did.

    Attributes
    ----------
    iteration : int
        From 1.
    mode : str
        "pull", "notify" or "push".
    active : int
        Vertices that were active before it.
    edges : int
        Edges gathered over, or pushed along.
    pages, bytes : int
        Pages streamed, and bytes moved for them; 0 in memory.
    milliseconds : float
    overlap : float
        Share of the time of copies that was hidden behind computing; 0 where nothing is copied.
    residual : float
        Sum of the absolute changes if the program has a tolerance, else NaN.
    spans : tuple of PageSpan
        When each page was copied and computed, in the order of launching; empty in memory.
    """

    iteration: int
    mode: str
    active: int
    edges: int
    pages: int
    bytes: int
    milliseconds: float
    overlap: float
    residual: float
    spans: tuple[PageSpan, ...] = ()


@dataclass(frozen=True)
class Run:
    """What a vertex program came to.

    Attributes
    ----------
    values : array of the program's dtype, (n,)
    iterations : int
        Those done, with the ones before a checkpoint that was resumed.
    converged : bool
        No vertex is active, or the residual is below the tolerance.
    residual : float
        Sum of the absolute changes in the last iteration if the program has a tolerance, else NaN.
    trace : list of IterationTrace
        Empty unless asked for.
    counters : dict of str to int
        With gather="replicas" on the CUDA engine, if a trace was asked for: "filled", copies beyond the first
        of a vertex in which something arrived, and "merged", vertices of a block whose first copy the others
        changed.
    """

    values: Array
    iterations: int
    converged: bool
    residual: float = float("nan")
    trace: list[IterationTrace] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
