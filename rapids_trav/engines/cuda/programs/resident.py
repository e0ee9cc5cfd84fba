"""A vertex program under way in the GPU's memory: its arrays, and the three steps that advance it.

Messages are computed once for each vertex, when its value changes, so that an edge reads one number beside
its neighbour.  A vertex alone reads its own value: values are replaced in place, and in a synchronous run
only the messages are written beside the old ones.
"""

from __future__ import annotations

from functools import cached_property

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.link import load_program
from rapids_trav.engines.cuda.programs.row_gather import Hubs, Lists, RowGather, RowLists, expansion_blocks
from rapids_trav.engines.cuda.programs.shard_gather import ShardGather
from rapids_trav.engines.cuda.programs.tally import Tallies, Tally
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, Kernels
from rapids_trav.engines.runs import GatherView, Moved, RunOptions
from rapids_trav.errors import TravError
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey
from rapids_trav.programs.run_state import RunState

HEAVY_DEGREE = PROGRAM_TUNABLES["gas_push.cu"]["HEAVY_DEGREE"]
_WORD = 32

Edges = tuple[Array | np.uint64, Array | np.uint64 | None]  # columns and weights, or their addresses


class ResidentWork:
    """Values, messages and active vertices; `state` is copied."""

    tally_rows = 512  # of counters, made at once
    penalty: int | None = None  # what reading scattered edges costs, where they are not in memory
    moved = Moved()

    def __init__(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> None:
        self._view, self._program = view, program
        self.n = view.n_vertices
        self._dtype = np.dtype(program.dtype)
        self._source = ProgramKey(program)
        self._loaded: dict[str, Kernels] = {}
        self._tallies = Tallies(self.tally_rows)
        self.values = cupy.array(state.values, self._dtype)
        self._flags = cupy.array(state.active, np.bool_)
        self._messages = cupy.empty(self.n, self._dtype)
        self._new_messages = self._messages if options.asynchronous else cupy.empty(self.n, self._dtype)
        degree_type = np.int64 if view.weights is None else np.float64
        self._degrees = None if view.degrees is None else cupy.asarray(view.degrees, degree_type)
        self._parameters = cupy.asarray(np.array([*options.parameters, 0], np.float64))
        self.shards = self._shards(options)
        self._marks: cupy.ndarray = None
        self._claimed: cupy.ndarray = None
        self._queue: cupy.ndarray = None
        self._next_queue: cupy.ndarray = None
        self._set_out()

    def _set_out(self) -> None:
        """The values and flags are those to start from."""
        self._queue_sizes: cupy.ndarray = (
            None  # the row whose LIGHT and HEAVY are the queue's; None: see the flags
        )
        self._before = self._tallies.fresh()
        self.tally = self._offer()

    @property
    def counters(self) -> dict[str, int]:
        """Counts of what mechanisms did, where a trace was asked for; see `Run.counters`."""
        return {} if self.shards is None else self.shards.counters

    @property
    def n_active(self) -> int:
        return self.tally.active

    @property
    def n_edges(self) -> int:
        return self._view.out.n_edges

    @property
    def may_push(self) -> bool:
        """Whether values can be handed out: as the program says, and weights stand beside the out-edges."""
        weighted = self._view.weights is not None
        program = self._program
        known = not weighted or self._out_weights is not None
        return program.may_push and program.active is None and program.tolerance is None and known

    @property
    def active(self) -> Array:
        """Flags of the active vertices."""
        if self._queue_sizes is not None:
            self._flags.fill(False)
            state = self._kernels("gas_state.cu")
            state.launch("queue_to_flags", self.n_active, self._queue, self.n, self._queue_sizes, self._flags)
        return self._flags

    def step(self, mode: str) -> str:
        """One iteration; gives the mode in which it was run."""
        {"pull": self.pull, "notify": self.notify, "push": self.push}[mode]()
        return mode

    def restart(self, state: RunState) -> None:
        """Go on from other values and active vertices."""
        self.values[...] = state.values
        self._flags[...] = state.active
        self._set_out()

    def settle(self) -> None:
        """Afterwards `values` and `active` are those of the last iteration."""

    def pull(self) -> None:
        """Every vertex gathers and is applied."""
        row = self._tallies.fresh()
        if self.shards is None:
            self._gather(self._lists.all, None, row)
        else:
            self.shards.gather(self._view.weights, self._messages, *self._vertices(row))
        self._messages, self._new_messages = self._new_messages, self._messages
        self._end(row, None)

    def notify(self) -> None:
        """Vertices that an active one leads to gather; with `apply` the active ones do too."""
        marks = self._notify()
        sizes, row = self._tallies.fresh(), self._tallies.fresh()
        # A program with `apply` is never pushed: its active vertices are in the flags.
        also = self._flags if self._program.apply is not None else None
        lists = self._lists.marked(marks, also, sizes)
        self._flags.fill(False)
        self._gather(lists, marks, row)
        hubs = self._lists.hubs.rows
        self._kernels("gas_state.cu").launch(
            "commit_rows", self.n, *lists, len(self._lists.counts) - 1, hubs, len(hubs), marks,
            self._new_messages, self._messages,
        )  # fmt: skip
        self._end(row, None)

    def push(self) -> None:
        """Active vertices hand their messages out, and those whose value changes are active next."""
        self._enqueue()
        if self._claimed is None:
            self._claimed = cupy.zeros(-(-self.n // _WORD), np.uint32)
            self._next_queue = cupy.empty_like(self._queue)
        row = self._tallies.fresh()
        values = (self._out_weights, self._messages, self.values, self._claimed, self._next_queue)
        self._expand("push", *values, row)
        self._kernels("gas_state.cu").launch(
            "settle_queue", min(self.n, self.tally.scout), self._next_queue, self.n, row, self.values,
            self._messages, self._degrees, self._view.out.row_offsets, self._claimed,
        )  # fmt: skip
        self._queue, self._next_queue = self._next_queue, self._queue
        self._end(row, row)

    def _end(self, row: Array, queue_sizes: Array | None) -> None:
        self._before = row
        self._queue_sizes = queue_sizes
        tally = self._tallies.read(row)
        self.tally = tally if queue_sizes is None else tally._replace(active=tally.light + tally.heavy)

    def _offer(self) -> Tally:
        """Messages of the first iteration, the sum of the program's total, and how many are active."""
        self._kernels("gas_state.cu").launch(
            "offer_all", self.n, self.n, self.values, self._messages, self._flags, self._degrees,
            self._view.out.row_offsets, self._before,
        )  # fmt: skip
        return self._tallies.read(self._before)

    def _gather(self, lists: Lists, marks: Array | None, row: Array) -> None:
        edges = self._view.into.column_indices, self._view.weights
        self._gather_listed(lists, self._lists.hubs, self._lists.n_threads, edges, marks, row)

    def _gather_listed(
        self,
        lists: Lists,
        hubs: Hubs,
        n_threads: int,
        edges: Edges,
        marks: Array | None,
        row: Array,
    ) -> None:
        """The listed rows gather over `edges`, the columns and weights, and are applied."""
        near = marks is None and self._messages is not self._new_messages
        self._row_gather.launch(
            n_threads, near, (self._view.into.row_offsets, *edges), self._messages, *lists,
            hubs.piece_hubs, hubs.rows, hubs.first_pieces, hubs.n_pieces, hubs.results, hubs.tickets, marks,
            *self._vertices(row),
        )  # fmt: skip

    def _vertices(self, row: Array) -> tuple[Array, ...]:
        """Return what a kernel that applies is told of the vertices, and the last row and its own."""
        return (
            self.values, self._new_messages, self._flags, self._degrees, self._view.out.row_offsets,
            self._parameters, self._before, row,
        )  # fmt: skip

    def _notify(self) -> Array:
        """Marks of the vertices that an active one leads to."""
        self._enqueue()
        if self._marks is None:
            self._marks = cupy.zeros(self.n, np.uint8)
        self._expand("notify", self._marks, self._tallies.fresh())
        return self._marks

    def _expand(self, step: str, *arguments: Array | None) -> None:
        """Runs a step of `gas_push.cu` along the out-edges of the queue."""
        out, kernels = self._view.out, self._kernels("gas_push.cu")
        light, heavy = expansion_blocks(*self._queue_bounds)
        for name, grid in (("light", light), ("heavy", heavy)):
            if grid is not None:
                kernels.launch_grid(
                    f"{step}_{name}", grid, out.row_offsets, out.column_indices, self.n, self._queue,
                    self._queue_sizes, *arguments,
                )  # fmt: skip

    def _enqueue(self) -> None:
        """Makes a queue of the active vertices, unless there is one."""
        if self._queue_sizes is not None:
            self._queue_bounds = self.tally.light, self.tally.heavy
            return
        if self._queue is None:
            self._queue = cupy.empty(self.n, self._vertex)
        self._queue_sizes = self._tallies.fresh()
        self._kernels("gas_state.cu").launch(
            "flags_to_queue", self.n, self._view.out.row_offsets, self.n, self._flags, self._queue,
            self._queue_sizes,
        )  # fmt: skip
        # How many are of which kind the host is not told, only how many there can be.
        self._queue_bounds = self.n_active, min(self.n_active, self.tally.scout // HEAVY_DEGREE)

    def _shards(self, options: RunOptions) -> ShardGather | None:
        if options.gather == "rows":
            return None
        if options.gather != "replicas":
            raise TravError(f"gather={options.gather!r} is not known: choose 'rows' or 'replicas'.")
        if self._view.pages is not None:
            raise TravError("gather='replicas' needs the edges in the GPU's memory: choose 'rows'.")
        kernels = self._kernels("gas_shards.cu", COUNTS=int(options.trace))
        return ShardGather(kernels, self._view.into, self._dtype, options.replication, options.trace)

    @cached_property
    def _rows_kernels(self) -> Kernels:
        return self._kernels("gas_rows.cu")

    @cached_property
    def _row_gather(self) -> RowGather:
        return RowGather(self._rows_kernels, self._dtype, self.n)

    @cached_property
    def _lists(self) -> RowLists:
        offsets = self._view.into.row_offsets
        return RowLists(self._rows_kernels, offsets, self._vertex, self._dtype, 0, self.n)

    @property
    def _vertex(self) -> np.dtype:
        return self._view.into.column_indices.dtype

    @property
    def _out_weights(self) -> Array | None:
        view = self._view
        if view.weights is None:
            return None
        return view.weights if view.into is view.out else view.out_weights

    def _kernels(self, file: str, **tunables: int) -> Kernels:
        if file not in self._loaded:
            weights, out = self._view.weights, self._view.out
            self._loaded[file] = load_program(
                self._source,
                file,
                None if weights is None else weights.dtype.name,
                8 * out.column_indices.dtype.itemsize,
                8 * out.row_offsets.dtype.itemsize,
                **tunables,
            )
        return self._loaded[file]
