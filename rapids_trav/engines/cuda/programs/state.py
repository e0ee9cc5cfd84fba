"""The state of a vertex program on the device, and the kernels that advance it; an executor holds one.

If all rows gather, there are as many blocks as can be resident on the GPU, and each keeps the messages of the
first vertices in shared memory.  If only some rows gather, or messages change meanwhile, there are as many
blocks as the rows need, and no copies of messages.

The message of a vertex is computed once, when its value changes, so that an edge reads a single number
besides the id of its neighbour.  Only the vertex itself reads its value.  Values are therefore replaced in
place, and in a synchronous run only the messages have a second array, for the new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.link import program_kernels
from rapids_trav.engines.cuda.programs.row_gather import GATHER_BLOCK, Lists, expansion_blocks
from rapids_trav.engines.cuda.runtime.arguments import ArgumentStruct, arguments_of
from rapids_trav.engines.cuda.runtime.loader import (
    BLOCK,
    PROGRAM_TUNABLES,
    Kernels,
    most_blocks,
    multiprocessors,
    shared_bytes,
)
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey
from rapids_trav.programs.run_state import RunState

HEAVY_DEGREE = PROGRAM_TUNABLES["gas_push.cu"]["HEAVY_DEGREE"]
RESIDENT = PROGRAM_TUNABLES["gas_rows.cu"]["GATHER_RESIDENT"]
RowArguments = arguments_of("gas_rows.cu", "RowArguments")
AheadArguments = arguments_of("gas_rows.cu", "AheadArguments")
MOST_BYTES = 96 << 10  # bytes of messages in a block; the rest of the memory is first-level cache

Edges = tuple[Array | int, Array | int | None]  # columns and weights, or the addresses of them


class Tally(NamedTuple):
    """The counters that `kernels/gas_*.cu` fill, and two sums in float64."""

    active: int
    scout: int
    edges: int
    light: int
    heavy: int
    residual: float
    total: float


# Words of a row: the counters of kernels/level.cuh, then the sums of kernels/gas_vertex.cuh.
_FOUND, FRONTIER, _EDGES, _SCOUT, _LIGHT, _HEAVY, _RESIDUAL, _TOTAL = 0, 1, 2, 3, 4, 5, 7, 8
_COUNTS, _SUMS = (_FOUND, _SCOUT, _EDGES, _LIGHT, _HEAVY), (_RESIDUAL, _TOTAL)
WORDS = 9


class Tallies:
    """Supply of zeroed rows, allocated `n_rows` at a time; each lives as long as it is referenced."""

    def __init__(self, n_rows: int) -> None:
        self._host = cupyx.empty_pinned((n_rows, WORDS), np.uint64)
        self._rows: cupy.ndarray = None
        self._n_rows = self._used = n_rows

    def fresh(self) -> Array:
        return self.fresh_rows(1)[0]

    def fresh_rows(self, n: int) -> Array:
        """Return `n` rows, at most as many as are allocated at a time, in one array."""
        if self._used + n > self._n_rows:
            self._rows = cupy.zeros((self._n_rows, WORDS), np.uint64)
            self._used = 0
        self._used += n
        return self._rows[self._used - n : self._used]

    def read(self, row: cupy.ndarray) -> Tally:
        """Wait for the kernels and return a row's numbers."""
        return next(self.read_all(row[None]))

    def read_all(self, rows: cupy.ndarray) -> Iterator[Tally]:
        """Wait for the kernels; return the numbers of each row, one after another."""
        host = self._host[: len(rows)]
        rows.get(out=host)
        counts, sums = host.tolist(), host.view(np.float64).tolist()
        return (
            Tally(*(words[i] for i in _COUNTS), *(floats[i] for i in _SUMS))
            for words, floats in zip(counts, sums, strict=True)
        )


def write_total(row: Array, total: float) -> None:
    """Set a row's sum of the program's `total`."""
    row[_TOTAL : _TOTAL + 1].view(np.float64).fill(total)


class PreparedGather(NamedTuple):
    """A launch of `gather_rows` that can be repeated, with pointers of `arguments` set to other arrays."""

    arguments: ArgumentStruct
    launch: Callable[[], None]


class ProgramState:
    """Values, messages and active vertices of a run; `start` is copied.

    An executor calls `set_out` before the first iteration and `finish` at the end of each.  The offsets and
    degrees of the view are on the device; the executor knows where its edges are.
    """

    before: Array  # the row of counters of the last iteration
    tally: Tally  # its numbers

    def __init__(
        self, view: GatherView, program: Program, start: RunState, options: RunOptions, tally_rows: int
    ) -> None:
        self.view, self.program = view, program
        self.n = view.n_vertices
        self.dtype = np.dtype(program.dtype)
        self._source = ProgramKey(program)
        self._loaded: dict[str, Kernels] = {}
        self._near: dict[str, int] = {}  # by kernel
        self._n_places = RESIDENT * multiprocessors(cupy.cuda.runtime.getDevice())
        self.tallies = Tallies(tally_rows)  # which are allocated at once
        self.values = cupy.array(start.values, self.dtype)
        self.flags = cupy.array(start.active, np.bool_)  # the active vertices, unless a queue holds them
        self.messages = cupy.empty(self.n, self.dtype)
        # What an iteration writes.
        self.new_messages = self.messages if options.asynchronous else cupy.empty(self.n, self.dtype)
        degree_type = np.int64 if view.weights is None else np.float64
        self.degrees: cupy.ndarray = None if view.degrees is None else cupy.asarray(view.degrees, degree_type)
        self._parameters = cupy.asarray(np.array([*options.parameters, 0], np.float64))
        # The active vertices, light ones from the front and heavy ones from the back, and the row of counters
        # whose LIGHT and HEAVY are their numbers; None: the flags are valid.
        self.queue: cupy.ndarray = None
        self.queue_sizes: cupy.ndarray = None

    def set_out(self) -> None:
        """Compute the messages of the first iteration from the values and flags to start from."""
        self.queue_sizes = None
        self.before = self.tallies.fresh()
        self.kernels("gas_state.cu").launch(
            "offer_all", self.n, self.n, self.values, self.messages, self.flags, self.degrees,
            self.view.out.row_offsets, self.before,
        )  # fmt: skip
        self.tally = self.tallies.read(self.before)

    def finish(self, row: Array, queue_sizes: Array | None = None) -> None:
        """End an iteration that counted in `row`; with `queue_sizes` the queue holds the active vertices."""
        self.before = row
        self.queue_sizes = queue_sizes
        tally = self.tallies.read(row)
        self.tally = tally if queue_sizes is None else tally._replace(active=tally.light + tally.heavy)

    def swap_messages(self) -> None:
        """Swap the new messages with the old ones."""
        self.messages, self.new_messages = self.new_messages, self.messages

    @property
    def n_active(self) -> int:
        return self.tally.active

    @property
    def n_edges(self) -> int:
        return self.view.out.n_edges

    @property
    def active(self) -> Array:
        """Flags of the active vertices."""
        if self.queue_sizes is not None:
            self.flags.fill(False)
            state = self.kernels("gas_state.cu")
            state.launch("queue_to_flags", self.n_active, self.queue, self.n, self.queue_sizes, self.flags)
        return self.flags

    @cached_property
    def marks(self) -> cupy.ndarray:
        """A byte for each vertex, 0 between iterations: whether an active vertex leads to it."""
        return cupy.zeros(self.n, np.uint8)

    def gather(self, lists: Lists, edges: Edges, marks: Array | None, row: Array) -> None:
        """Gather at the listed rows over `edges`, the columns and weights, and apply."""
        if lists.n_threads > 0:
            self.repeat(self.prepared_gather(lists, edges, marks), row)

    def prepared_gather(self, lists: Lists, edges: Edges, marks: Array | None) -> PreparedGather:
        """Return a launch of `gather` for `repeat`, with work for at least one thread."""
        near = marks is None and self.messages is not self.new_messages
        most = self._n_places if near else most_blocks() * BLOCK // GATHER_BLOCK
        n_near = self._n_near("gather_rows") if near else 0
        arguments = RowArguments(n_near=n_near, **self._of_rows(lists, edges, marks, self.before))
        launch = self.rows_kernels.prepared(
            "gather_rows",
            (min(-(-lists.n_threads // GATHER_BLOCK), most),),
            arguments,
            block=GATHER_BLOCK,
            shared_bytes=n_near * self.dtype.itemsize,
        )
        return PreparedGather(arguments, launch)

    def repeat(self, gather: PreparedGather, row: Array) -> None:
        """Launch a prepared gather over the messages of this iteration, which counts in `row`."""
        gather.arguments.point(
            messages=self.messages, new_messages=self.new_messages, before=self.before, counters=row
        )
        gather.launch()

    def gather_ahead(self, lists: Lists, edges: Edges, n: int, tolerance: float) -> Iterator[Tally]:
        """Run up to `n` iterations at all rows, until the run ends; return their counts.

        Counts after those of the last iteration are 0.
        """
        barrier, *_ = rows = self.tallies.fresh_rows(1 + n)
        n_near = self._n_near("gather_ahead") if self.messages is not self.new_messages else 0
        arguments = AheadArguments(
            n_near=n_near,
            **self._of_rows(lists, edges, None, rows[1]),
            n_iterations=n,
            tolerance=tolerance,
            barrier=barrier,
        )
        self.rows_kernels.launch_grid(
            "gather_ahead",
            (min(-(-lists.n_threads // GATHER_BLOCK), self._n_places),),  # they wait for each other
            arguments,
            block=GATHER_BLOCK,
            shared_bytes=n_near * self.dtype.itemsize,
            cooperative=True,
        )
        if n % 2:  # unless the run has ended
            self.swap_messages()
        self.before = rows[n]
        self.queue_sizes = None
        return self.tallies.read_all(rows[1:])

    def _n_near(self, name: str) -> int:
        """Return the number of messages that a block of a kernel keeps in shared memory."""
        if name not in self._near:
            n_bytes = min(shared_bytes(self.rows_kernels, name, RESIDENT), MOST_BYTES)
            self._near[name] = min(self.n, n_bytes // self.dtype.itemsize)
        return self._near[name]

    def _of_rows(
        self, lists: Lists, edges: Edges, marks: Array | None, row: Array
    ) -> dict[str, Array | int | None]:
        """Return the arguments of a kernel that gathers at the listed rows, but for `n_near`."""
        (columns, weights), hubs = edges, lists.hubs
        return {
            "row_offsets": self.view.into.row_offsets,
            "column_indices": columns,
            "weights": weights,
            "messages": self.messages,
            "rows": lists.rows,
            "begins": lists.begins,
            "sizes": lists.sizes,
            "piece_hubs": hubs.piece_hubs,
            "hubs": hubs.rows,
            "first_pieces": hubs.first_pieces,
            "n_pieces": hubs.n_pieces,
            "results": hubs.results,
            "tickets": hubs.tickets,
            "marks": marks,
            **self.vertices(row),
        }

    def vertices(self, row: Array) -> dict[str, Array]:
        """Return the vertex arguments of a kernel that applies, with the last counter row and its own."""
        return {
            "values": self.values,
            "new_messages": self.new_messages,
            "active": self.flags,
            "degrees": self.degrees,
            "out_offsets": self.view.out.row_offsets,
            "parameters": self._parameters,
            "before": self.before,
            "counters": row,
        }

    def notify(self) -> Array:
        """Return the marks of the vertices that an active one leads to."""
        self.enqueue()
        self.expand("notify", self.marks, self.tallies.fresh())
        return self.marks

    def expand(self, step: str, *arguments: Array | None) -> None:
        """Run a step of `gas_push.cu` along the out-edges of the queue."""
        out, kernels = self.view.out, self.kernels("gas_push.cu")
        light, heavy = expansion_blocks(*self._queue_bounds)
        for name, grid in (("light", light), ("heavy", heavy)):
            if grid is not None:
                kernels.launch_grid(
                    f"{step}_{name}", grid, out.row_offsets, out.column_indices, self.n, self.queue,
                    self.queue_sizes, *arguments,
                )  # fmt: skip

    def enqueue(self) -> None:
        """Put the active vertices into a queue, unless they are in one."""
        if self.queue_sizes is not None:
            self._queue_bounds = self.tally.light, self.tally.heavy
            return
        if self.queue is None:
            self.queue = cupy.empty(self.n, self.vertex)
        self.queue_sizes = self.tallies.fresh()
        self.kernels("gas_state.cu").launch(
            "flags_to_queue", self.n, self.view.out.row_offsets, self.n, self.flags, self.queue,
            self.queue_sizes,
        )  # fmt: skip
        # The host does not learn how many vertices are light and heavy, only how many there can be.
        self._queue_bounds = self.n_active, min(self.n_active, self.tally.scout // HEAVY_DEGREE)

    @property
    def vertex(self) -> np.dtype:
        """The dtype of a vertex."""
        return self.view.into.column_indices.dtype

    @property
    def out_weights(self) -> Array | None:
        """The weights of the out-edges, if there are any."""
        view = self.view
        if view.weights is None:
            return None
        return view.weights if view.into is view.out else view.out_weights

    @cached_property
    def rows_kernels(self) -> Kernels:
        """The kernels of `gas_rows.cu`."""
        return self.kernels("gas_rows.cu")

    def kernels(self, file: str, **tunables: int) -> Kernels:
        """Return the kernels of a file, with the program's functions in them; loaded once."""
        if file not in self._loaded:
            view = self.view
            self._loaded[file] = program_kernels(self._source, file, view.out, view.weights, **tunables)
        return self._loaded[file]
