"""How an engine runs a vertex program: the view of the graph, the options and the outcome."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.memory.budget import Beside, Budget
from rapids_trav.programs.run_state import RunState


@dataclass(frozen=True)
class Pages:
    """How the edges of a `GatherView` are cut, where they are streamed (SYSTEMS G4).

    Attributes
    ----------
    firsts : int64 NumPy array, (k + 1,)
        Page `i` is the rows `firsts[i]` to `firsts[i + 1] - 1` of `into`: a slice of the adjacency.
    budget
        Bytes that may be allocated, with a tracked peak; see `memory.budget`.
    n_streams : int
        Pages that fit into it at once, beside what each vertex takes.
    cut : callable(resident_bytes, n_streams, most_bytes) -> (firsts, n_streams), optional
        Cuts them again, where an engine knows what a run holds beside them: each of at most `most_bytes`, if
        no row is longer.
    """

    firsts: np.ndarray
    budget: Budget
    n_streams: int = 1
    cut: Callable[[int, int, int], tuple[np.ndarray, int]] | None = None


@dataclass(frozen=True)
class GatherView:
    """The parts of a graph that a vertex program needs, in one direction and perhaps filtered.

    Attributes
    ----------
    into : Adjacency
        Row `v` holds the vertices that `v` gathers from.
    out : Adjacency
        The transpose: the vertices that a vertex notifies; the same object if symmetric.
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
        Of the engine's memory, where it is limited; see `memory.budget`.
    """

    into: Adjacency
    out: Adjacency
    weights: Array | None
    degrees: Array
    pages: Pages | None = None
    out_weights: Array | None = None
    budget: Budget | None = None

    @property
    def n_vertices(self) -> int:
        return self.into.n_vertices

    @property
    def limited(self) -> Budget | None:
        """The budget of the engine's memory; None without a limit."""
        return self.budget if self.pages is None else self.pages.budget

    def charged(self, n_bytes: int, what: str, beside: Beside = 0) -> AbstractContextManager[None]:
        """Hold so many bytes of the limit, if there is one, for the time of a block; see `Budget.hold`."""
        return nullcontext() if self.limited is None else self.limited.hold(n_bytes, what, beside)


@dataclass(frozen=True)
class LinkView:
    """The edges of a graph, to tell which vertices hang together; directions do not matter.

    Attributes
    ----------
    rows : Adjacency
        Each edge stands in a row of one of its ends, or of both.
    other : Adjacency or None
        Rows such that each edge stands, in these or in `rows`, in the rows of both its ends: `rows` itself if
        it reads the same both ways; None: they are not there.
    paged : bool
        Whether the large arrays lie in files.
    budget
        Of the engine's memory, where it is limited; see `memory.budget`.
    """

    rows: Adjacency
    other: Adjacency | None
    paged: bool = False
    budget: Budget | None = None

    def charged(self, n_bytes: int, what: str) -> AbstractContextManager[None]:
        """Hold so many bytes of the limit, if there is one, for the time of a block."""
        return nullcontext() if self.budget is None else self.budget.hold(n_bytes, what)


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
    schedule : {"auto", "sweep", "paths"}
        How edges outside the engine's memory come into it: page by page, or as blocks of which some stay.
    trace : bool
    n_streams : int
        Pages under way at once.
    checkpoint : callable(RunState, bool) or None
        Called after each iteration, with whether it is the last.
    between : callable(RunState) -> RunState, or None
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
    schedule: str = "auto"
    trace: bool = False
    n_streams: int = 3
    checkpoint: Callable[[RunState, bool], None] | None = None
    between: Callable[[RunState], RunState] | None = None
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


class Moved(NamedTuple):
    """The transfers of an iteration to the device: pages, their bytes, the share of it behind computing, and
    when each page was copied and computed."""

    pages: int = 0
    n_bytes: int = 0
    overlap: float = 0.0
    spans: tuple[PageSpan, ...] = ()


class BlockCounts(NamedTuple):
    """What an iteration over blocks did, or a whole run.

    Attributes
    ----------
    loads, loaded : int
        Blocks that were loaded, and their bytes.
    in_place : int
        Bytes of edges that were read where they lie.
    reloads, evictions : int
        Loads begun of blocks that had been there before, and hot blocks that a more frequent one displaced.
    launches, rounds : int
        Calls of the kernel, and iterations in them over all that was there.
    """

    loads: int = 0
    loaded: int = 0
    in_place: int = 0
    reloads: int = 0
    evictions: int = 0
    launches: int = 0
    rounds: int = 0


@dataclass(frozen=True)
class IterationTrace:
    """Record of one iteration of a vertex program.

    Attributes
    ----------
    iteration : int
        From 1.
    mode : str
        "pull", "notify", "push" or "blocks"; of components by linking "hook" or "rest".
    active : int
        Vertices that were active before it; those whose rows were linked.
    edges : int
        Edges gathered over, pushed along or linked.
    pages, bytes : int
        Pages streamed, and bytes moved for them; 0 in memory.
    milliseconds : float
    overlap : float
        Share of the time of copies that was hidden behind computing; 0 where nothing is copied.
    residual : float
        Sum of the absolute changes if the program has a tolerance, else NaN.
    spans : tuple of PageSpan
        When each page was copied and computed, in the order of launching; empty in memory.
    blocks : BlockCounts or None
        Of an iteration over blocks, whose `pages` and `bytes` are those that were loaded.
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
    blocks: BlockCounts | None = None


@dataclass(frozen=True)
class Run:
    """Result of a vertex program.

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
        changed.  Of a run over blocks those of `BlockCounts`.
    """

    values: Array
    iterations: int
    converged: bool
    residual: float = float("nan")
    trace: list[IterationTrace] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
