"""The state of a vertex program on the device, and the kernels that advance it; an executor holds one.

The message of a vertex is computed once, when its value changes, so that an edge reads a single number
besides the id of its neighbour.  Only the vertex itself reads its value.  Values are therefore replaced in
place, and in a synchronous run only the messages have a second array, for the new ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.link import program_kernels
from rapids_trav.engines.cuda.programs.row_gather import (
    Hubs,
    Lists,
    PreparedGather,
    RowGather,
    expansion_blocks,
)
from rapids_trav.engines.cuda.programs.tally import Tallies, Tally
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, Kernels
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey
from rapids_trav.programs.run_state import RunState

HEAVY_DEGREE = PROGRAM_TUNABLES["gas_push.cu"]["HEAVY_DEGREE"]

Edges = tuple[Array | int, Array | int | None]  # columns and weights, or the addresses of them


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

    def gather(
        self,
        lists: Lists,
        hubs: Hubs,
        n_threads: int,
        edges: Edges,
        marks: Array | None,
        row: Array,
    ) -> None:
        """Gather at the listed rows over `edges`, the columns and weights, and apply."""
        if n_threads > 0:
            self.repeat(self.prepared_gather(lists, hubs, n_threads, edges, marks), row)

    def prepared_gather(
        self, lists: Lists, hubs: Hubs, n_threads: int, edges: Edges, marks: Array | None
    ) -> PreparedGather:
        """Return a launch of `gather` for `repeat`, with work for at least one thread."""
        near = marks is None and self.messages is not self.new_messages
        arguments = self._of_rows(lists, hubs, edges, marks, self.before)
        return self._row_gather.prepared(n_threads, near, **arguments)

    def repeat(self, gather: PreparedGather, row: Array) -> None:
        """Launch a prepared gather over the messages of this iteration, which counts in `row`."""
        gather.arguments.point(
            messages=self.messages, new_messages=self.new_messages, before=self.before, counters=row
        )
        gather.launch()

    def gather_ahead(
        self, lists: Lists, hubs: Hubs, n_threads: int, edges: Edges, n: int, tolerance: float
    ) -> Iterator[Tally]:
        """Run up to `n` iterations at all rows, until the run ends; return their counts.

        Counts after those of the last iteration are 0.
        """
        barrier, *_ = rows = self.tallies.fresh_rows(1 + n)
        self._row_gather.launch_ahead(
            n_threads,
            self.messages is not self.new_messages,
            **self._of_rows(lists, hubs, edges, None, rows[1]),
            n_iterations=n,
            tolerance=tolerance,
            barrier=barrier,
        )
        if n % 2:  # unless the run has ended
            self.swap_messages()
        self.before = rows[n]
        self.queue_sizes = None
        return self.tallies.read_all(rows[1:])

    def _of_rows(
        self, lists: Lists, hubs: Hubs, edges: Edges, marks: Array | None, row: Array
    ) -> dict[str, Array | int | None]:
        """Return the arguments of a kernel that gathers at the listed rows, but for `n_near`."""
        columns, weights = edges
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

    @cached_property
    def _row_gather(self) -> RowGather:
        return RowGather(self.rows_kernels, self.dtype, self.n)

    def kernels(self, file: str, **tunables: int) -> Kernels:
        """Return the kernels of a file, with the program's functions in them; loaded once."""
        if file not in self._loaded:
            view = self.view
            self._loaded[file] = program_kernels(self._source, file, view.out, view.weights, **tunables)
        return self._loaded[file]
