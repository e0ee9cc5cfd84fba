"""Arguments and results of a vertex program's run on an engine: the view of the graph, options, outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, WeightedRows
from rapids_trav.csr.packed import PackedHome
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.program import RunShape
from rapids_trav.programs.definition import Program, n_arguments
from rapids_trav.programs.run_state import RunState


@dataclass(frozen=True)
class Pages:
    """Pages into which the edges of a `GatherView` are cut for streaming (docs/systems.md, G4).

    Attributes
    ----------
    firsts : int64 NumPy array, (k + 1,)
        Page `i` is the rows `firsts[i]` to `firsts[i + 1] - 1` of `into`: a slice of the adjacency.
    budget
        Limit on the bytes that may be allocated, with a tracked peak; see `memory.budget`.
    n_streams : int
        Pages that fit into the budget at once, next to the arrays with an entry for each vertex.
    cut : callable(resident_bytes, n_streams, most_bytes, more_edge_bytes) -> (firsts, n_streams), optional
        Cuts the pages again, for an engine that knows how many other bytes a run holds, and how many more for
        each edge of a page than its destination and weight.  Each page has at most `most_bytes`, unless a
        single row is longer.
    packed : PackedHome, optional
        Keeper of the columns in fewer bits, for an engine that can unpack them.
    framed : PackedHome, optional
        Keeper of those of the out-edges in frames, for an engine that reads blocks of them.
    """

    firsts: np.ndarray
    budget: Budget
    n_streams: int = 1
    cut: Callable[[int, int, int, int], tuple[np.ndarray, int]] | None = None
    packed: PackedHome | None = None
    framed: PackedHome | None = None


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
        None: everything is in the engine's memory.  Otherwise the large arrays of `into` are on the host,
        perhaps mapped from a file, and are streamed.
    out_weights : array or None
        One for each of `out.column_indices`, if the program may push; `weights` itself if symmetric.
    budget
        Limit on the engine's memory, if there is one; see `memory.budget`.
    weight_range : callable() -> tuple or None
        The smallest and largest of the weights, which are read once; None without edges.
    by_weight : callable() -> tuple or None
        The edges by source and by destination with each row sorted by weight, which the first call sorts;
        None if the engine does not search such rows, or lacks the memory.
    """

    into: Adjacency
    out: Adjacency
    weights: Array | None
    degrees: Array
    pages: Pages | None = None
    out_weights: Array | None = None
    budget: Budget | None = None
    weight_range: Callable[[], tuple[float, float] | None] = lambda: None
    by_weight: Callable[[], tuple[WeightedRows, WeightedRows] | None] = lambda: None

    @property
    def n_vertices(self) -> int:
        return self.into.n_vertices

    @property
    def limited(self) -> Budget | None:
        """The budget of the engine's memory; None without a limit."""
        return self.budget if self.pages is None else self.pages.budget


class WeightedPaths(NamedTuple):
    """Shortest paths by weight.

    Attributes
    ----------
    distance : array, (n,)
        int64 for integer weights, else float64; the largest int64 or infinity where unreached.
    predecessor : vertex array, (n,), or None
        The smallest nearer neighbour that explains the distance; -1 if there is none.
    """

    distance: Array
    predecessor: Array | None


@dataclass(frozen=True)
class LinkView:
    """The edges of a graph for finding its weakly connected components; directions do not matter.

    Attributes
    ----------
    rows : Adjacency
        Each edge is in the row of one of its ends, or of both.
    other : Adjacency or None
        Rows that, together with `rows`, hold each edge at both its ends: `rows` itself if it is symmetric;
        None if there are no such rows.
    paged : bool
        Whether the large arrays are in files.
    budget
        Limit on the engine's memory, if there is one; see `memory.budget`.
    """

    rows: Adjacency
    other: Adjacency | None
    paged: bool = False
    budget: Budget | None = None

    @property
    def n_vertices(self) -> int:
        return len(self.rows.row_offsets) - 1


@dataclass(frozen=True)
class RunOptions:
    """Options of a vertex program's run.

    Attributes
    ----------
    weighted : bool
    max_iterations : int or None
        Stop after this many, counted from the start of the run, not from its resumption.
    asynchronous : bool or None
        Whether new values may be used in the iteration that computes them; None if it makes no difference to
        the values, and the engine may change it during the run.
    parameters : tuple of float
        Passed to the program's `apply`.
    mode : {"auto", "pull", "notify", "push"}
        "pull": all vertices gather; "notify": only vertices that an active vertex leads to gather; "push":
        active vertices send out their values, for min and max only; on a GPU only with edges in its memory.
    gather : {"rows", "replicas"}
        Way in which the CUDA engine pulls, over edges in memory or page by page.  "rows": the number of
        threads for a row depends on its length; "replicas": by shards in shared memory, with several copies
        of each vertex.
    replication : {"auto", "formula", 1, 2, 4, 8, 16, 32}
        Copies of each vertex of a shard; "formula": by Garaph's formula; "auto": the number measured best.
    schedule : {"auto", "sweep", "paths"}
        Way in which edges outside the engine's memory are brought into it.  "sweep": page by page; "paths":
        as blocks, some of which stay.
    compress : bool, optional
        Whether a sweep on a GPU copies the edges' columns in fewer bits, if these take at most three quarters
        of their bytes; None: unless all pages stay on the GPU as they are.
    trace : bool
    n_streams : int
        Pages that are in progress at once.
    checkpoint : callable(RunState, bool) or None
        Called after each iteration, with whether it is the last.
    record_page : callable(int, array) or None
        In an asynchronous run called, perhaps on several threads, whenever a page is done or a block has been
        loaded and used: with the first row that it may have changed, and the values from there on, in host
        memory.  Other rows may change meanwhile.
    on_page : callable(pages, bytes) or None
        Called with the pages and bytes that were streamed since the last call.
    """

    weighted: bool = False
    max_iterations: int | None = None
    asynchronous: bool | None = False
    parameters: tuple[float, ...] = ()
    mode: str = "auto"
    gather: str = "rows"
    replication: int | str = "auto"
    schedule: str = "auto"
    compress: bool | None = None
    trace: bool = False
    n_streams: int = 3
    checkpoint: Callable[[RunState, bool], None] | None = None
    record_page: Callable[[int, Array], None] | None = None
    on_page: Callable[[int, int], None] | None = None

    def uninspected(self, iteration: int, most: int) -> int:
        """Return how many iterations, at most `most`, may follow `iteration` until the state is inspected."""
        if self.trace or self.checkpoint is not None:
            return 1
        if self.max_iterations is not None:
            most = min(most, self.max_iterations - iteration)
        return most


class PageSpan(NamedTuple):
    """Start and end of a page's copy (None if it was not copied) and of the computation on it.

    Times are in milliseconds of the device's clock from the start of the iteration.
    """

    page: int
    copy: tuple[float, float] | None
    computing: tuple[float, float]


class BlockCounts(NamedTuple):
    """Counts of one iteration over blocks, or of a whole run.

    Attributes
    ----------
    loads, loaded : int
        Blocks that were loaded, and their bytes.
    in_place : int
        Bytes of edges that were read where they are stored, without a load.
    reloads, evictions : int
        Loads started of blocks that had been loaded before, and hot blocks that a more frequently used one
        displaced.
    launches, rounds : int
        Calls of the kernel, and iterations inside those calls over all blocks that were loaded.
    """

    loads: int = 0
    loaded: int = 0
    in_place: int = 0
    reloads: int = 0
    evictions: int = 0
    launches: int = 0
    rounds: int = 0


class BlockSpan(NamedTuple):
    """A time in which a block was loaded ("load"), stayed in memory ("stay") or had rows to work on ("work").

    Work on a block that is not in memory reads its rows where they are stored.  Times are in milliseconds
    from the start of the run.
    """

    block: int
    what: str
    begin: float
    end: float


class Moved(NamedTuple):
    """The transfers of one iteration to the device.

    These are the number of pages, their bytes, the share of the transfer time that overlaps computation, and
    the times at which each page was copied and computed; over blocks, the blocks' counts and times.
    """

    pages: int = 0
    n_bytes: int = 0
    overlap: float = 0.0
    spans: tuple[PageSpan, ...] = ()
    blocks: BlockCounts | None = None
    block_spans: tuple[BlockSpan, ...] = ()


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
        Vertices that were active before the iteration; with linking, vertices whose rows were linked.
    edges : int
        Edges gathered over, pushed along or linked.
    pages, bytes : int
        Pages streamed, and bytes moved for them; 0 in memory.
    milliseconds : float
    overlap : float
        Share of the copy time that was hidden behind computation; 0 if nothing is copied.
    residual : float
        Sum of the absolute changes if the program has a tolerance, else NaN.
    spans : tuple of PageSpan
        Times at which each page was copied and computed, in launch order; empty in memory.
    blocks : BlockCounts or None
        For an iteration over blocks; its `pages` and `bytes` are then those that were loaded.
    block_spans : tuple of BlockSpan
        Likewise: the loads that ended in this iteration, and its work and stays; empty without blocks.
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
    block_spans: tuple[BlockSpan, ...] = ()


@dataclass(frozen=True)
class Run:
    """Result of a vertex program.

    Attributes
    ----------
    values : array of the program's dtype, (n,)
    iterations : int
        Number of iterations, including those before a checkpoint from which the run resumed.
    converged : bool
        Whether no vertex is active any more, or the residual is below the tolerance.
    residual : float
        Sum of the absolute changes in the last iteration if the program has a tolerance, else NaN.
    trace : list of IterationTrace
        Empty unless asked for.
    counters : dict of str to int
        With gather="replicas" on the CUDA engine, if a trace was asked for: "filled", the copies beyond a
        vertex's first that received a value, and "merged", the vertices of a block whose first copy the
        others changed.  For a run over blocks, the counts of `BlockCounts`.
    """

    values: Array
    iterations: int
    converged: bool
    residual: float = float("nan")
    trace: list[IterationTrace] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)


def uses_degrees(program: Program) -> bool:
    """Return whether a function of the program takes the degree of a vertex."""
    return any(f is not None and n_arguments(f) == 2 for f in (program.scatter, program.total))


def run_shape(view: GatherView, program: Program, options: RunOptions) -> RunShape:
    """Return the numbers from which `memory.model.program` computes the memory of the run."""
    return RunShape(
        n_vertices=view.n_vertices,
        n_edges=view.into.n_edges,
        vertex=view.into.column_indices.dtype.itemsize,
        value=np.dtype(program.dtype).itemsize,
        weight=0 if view.weights is None else view.weights.dtype.itemsize,
        symmetric=view.into is view.out,
        asynchronous=bool(options.asynchronous),
        scatters=program.scatter is not None,
        notifies=program.may_notify and options.mode in ("auto", "notify"),
        uses_degrees=uses_degrees(program),
        copies_degrees=isinstance(view.degrees, np.ndarray) and not view.degrees.flags.writeable,
        counts_degrees=view.degrees.dtype.kind != "i" and options.mode != "push",
        shards=options.gather != "rows",
    )
