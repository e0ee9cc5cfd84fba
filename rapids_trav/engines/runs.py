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
    """Pages into which the edges of a `GatherView` are cut for streaming (docs/systems.md, G4)."""

    firsts: np.ndarray  # int64, (k + 1,): page `i` is the rows `firsts[i]` to `firsts[i + 1] - 1` of `into`
    budget: Budget  # on the bytes that may be allocated
    n_streams: int = 1  # pages that fit into the budget at once, next to the arrays of all vertices
    # Cuts the pages again, for an engine that knows how many other bytes a run holds, and how many more for
    # each edge of a page than its destination and weight: takes the resident bytes, the streams, the most
    # bytes of a page, unless a single row is longer, and those more; returns `firsts` and `n_streams`.
    cut: Callable[[int, int, int, int], tuple[np.ndarray, int]] | None = None
    packed: PackedHome | None = None  # keeps the columns in fewer bits, for an engine that can unpack them
    framed: PackedHome | None = None  # those of the out-edges in frames, for one that reads blocks of them


@dataclass(frozen=True)
class GatherView:
    """The parts of a graph that a vertex program needs, in one direction and perhaps filtered."""

    into: Adjacency  # row `v` holds the vertices that `v` gathers from
    out: Adjacency  # the transpose, whose rows a vertex notifies; the same object if symmetric
    weights: Array | None  # of `into.column_indices`, int32, int64, float32 or float64; None: unweighted
    degrees: Array  # out-edges of each vertex, int64; in a weighted run the sum of their weights, float64
    # None: everything is in the engine's memory.  Otherwise the large arrays of `into` are on the host,
    # perhaps mapped from a file, and are streamed.
    pages: Pages | None = None
    # Of `out.column_indices`, if the program may push; `weights` itself if symmetric.
    out_weights: Array | None = None
    budget: Budget | None = None  # limit on the engine's memory, if there is one
    # The smallest and largest of the weights, which are read once; None without edges.
    weight_range: Callable[[], tuple[float, float] | None] = lambda: None
    # The edges by source and by destination with each row sorted by weight, which a call sorts; None if
    # the engine does not search such rows, lacks the memory, or does not gain the time of sorting.
    by_weight: Callable[[], tuple[WeightedRows, WeightedRows] | None] = lambda: None

    @property
    def n_vertices(self) -> int:
        return self.into.n_vertices

    @property
    def limited(self) -> Budget | None:
        """The budget of the engine's memory; None without a limit."""
        return self.budget if self.pages is None else self.pages.budget


class WeightedPaths(NamedTuple):
    """Shortest paths by weight."""

    distance: Array  # int64 for integer weights, else float64; the largest int64 or infinity where unreached
    predecessor: Array | None  # the smallest nearer neighbour that explains the distance; -1 if there is none


@dataclass(frozen=True)
class LinkView:
    """The edges of a graph for finding its weakly connected components; directions do not matter."""

    rows: Adjacency  # each edge is in the row of one of its ends, or of both
    # With `rows` it holds each edge at both its ends: `rows` itself if symmetric; None: there are none.
    other: Adjacency | None
    paged: bool = False  # whether the large arrays are in files
    budget: Budget | None = None  # limit on the engine's memory, if there is one

    @property
    def n_vertices(self) -> int:
        return len(self.rows.row_offsets) - 1


@dataclass(frozen=True)
class RunOptions:
    """Options of a vertex program's run."""

    weighted: bool = False
    max_iterations: int | None = None  # counted from the start of the run, not from its resumption
    # Whether new values may be used in the iteration that computes them; None if it makes no difference to
    # the values, and the engine may change it during the run.
    asynchronous: bool | None = False
    parameters: tuple[float, ...] = ()  # passed to the program's `apply`
    # "pull": all vertices gather; "notify": only vertices that an active vertex leads to gather; "push":
    # active vertices send out their values, for min and max only; on a GPU only with edges in its memory.
    mode: str = "auto"
    # How the CUDA engine pulls, over edges in memory or page by page.  "rows": the number of threads for a
    # row depends on its length; "replicas": by shards in shared memory, with several copies of each vertex.
    gather: str = "rows"
    # Copies of each vertex of a shard, 1 to 32; "formula": by Garaph's formula; "auto": by its cost model.
    replication: int | str = "auto"
    # How edges outside the engine's memory are brought into it.  "sweep": page by page; "paths": as blocks,
    # some of which stay.
    schedule: str = "auto"
    # Whether a sweep on a GPU copies the edges' columns in fewer bits, if these take at most three quarters
    # of their bytes; None: unless all pages stay on the GPU as they are.
    compress: bool | None = None
    trace: bool = False
    n_streams: int = 3  # pages that are in progress at once
    checkpoint: Callable[[RunState, bool], None] | None = None  # after each iteration: whether it is the last
    # In an asynchronous run called, perhaps on several threads, whenever a page is done or a block has been
    # loaded and used: with the first row that it may have changed, and the values from there on, in host
    # memory.  Other rows may change meanwhile.
    record_page: Callable[[int, Array], None] | None = None
    on_page: Callable[[int, int], None] | None = None  # with pages and bytes streamed since the last call

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
    """Counts of one iteration over blocks, or of a whole run."""

    loads: int = 0  # blocks that were loaded
    loaded: int = 0  # their bytes
    in_place: int = 0  # bytes of edges that were read where they are stored, without a load
    reloads: int = 0  # loads started of blocks that had been loaded before
    evictions: int = 0  # hot blocks that a more frequently used one displaced
    launches: int = 0  # calls of the kernel
    rounds: int = 0  # iterations inside those calls over all blocks that were loaded


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
    """The transfers of one iteration to the device."""

    pages: int = 0  # pages or blocks, 0 in memory
    n_bytes: int = 0  # bytes moved for them
    overlap: float = 0.0  # share of the copy time that was hidden behind computation; 0 if nothing is copied
    spans: tuple[PageSpan, ...] = ()  # of each page, in launch order, if they are traced
    blocks: BlockCounts | None = None  # of an iteration over blocks
    block_spans: tuple[BlockSpan, ...] = ()  # the loads that ended in it, and its work and stays


@dataclass(frozen=True)
class IterationTrace:
    """Record of one iteration of a vertex program, from 1."""

    iteration: int
    mode: str  # "pull", "notify", "push" or "blocks"; of components by linking "hook" or "rest"
    active: int  # vertices that were active before the iteration; with linking, those whose rows were linked
    edges: int  # gathered over, pushed along or linked
    pages: int  # this and what follows as in `Moved`, over blocks those that were loaded
    bytes: int
    milliseconds: float
    overlap: float
    residual: float  # sum of the absolute changes if the program has a tolerance, else NaN
    spans: tuple[PageSpan, ...] = ()
    blocks: BlockCounts | None = None
    block_spans: tuple[BlockSpan, ...] = ()


@dataclass(frozen=True)
class Run:
    """Result of a vertex program."""

    values: Array
    iterations: int  # including those before a checkpoint from which the run resumed
    converged: bool  # whether no vertex is active any more, or the residual is below the tolerance
    residual: float = float("nan")  # of the last iteration, as in `IterationTrace`
    trace: list[IterationTrace] = field(default_factory=list)  # empty unless asked for
    # With gather="replicas" on the CUDA engine, if a trace was asked for: "filled", the copies beyond a
    # vertex's first that received a value, and "merged", the vertices of a block whose first copy the others
    # changed.  For a run over blocks, the counts of `BlockCounts`.
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
