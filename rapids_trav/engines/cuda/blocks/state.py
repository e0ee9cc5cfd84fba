"""The arrays on the GPU of a program over blocks, and the kernels that work on them."""

from __future__ import annotations

from typing import NamedTuple

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut
from rapids_trav.engines.blocks.schedule import ACTIVATED, N_COUNTS, SPENT
from rapids_trav.engines.cuda.blocks.plan import chunk_entries
from rapids_trav.engines.cuda.programs.link import load_program
from rapids_trav.engines.cuda.programs.tally import Tally
from rapids_trav.engines.cuda.runtime.arguments import ArgumentStruct, BlocksArguments
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, multiprocessors
from rapids_trav.engines.runs import GatherView
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey
from rapids_trav.programs.run_state import RunState

FILE = "gas_blocks.cu"
TUNED = PROGRAM_TUNABLES[FILE]
WORD = 32
CONTROL_WORDS = 20  # the size of the kernels' `BlocksControl`, in words of 64 bits
ITEMS, CHUNKS, ROUNDS, PUSHED, RENTED = 1, 2, 4, 5, 6  # words of it
PUT_OFF, OF_ALL_BLOCKS = 0, 5  # the first of the values after those of the blocks, and their number
UNORDERED = 4  # values are taken in order from this many pushes along each edge on
MOST_ROUNDS = 1 << 12  # of a launch, during which the process cannot be interrupted


class Launched(NamedTuple):
    """Counts of a launch: its rounds, the edges pushed along, and those of them read in host memory."""

    rounds: int
    pushed: int
    rented: int


class BlocksState:
    """Values, queues and counts of a run; `start` is copied.

    Parameters
    ----------
    view : GatherView
        The offsets of its out-edges and, if the program takes them, its degrees are on the device.

    Attributes
    ----------
    values : array, (n,)
    active : bool array, (n,)
        As of the last `collect`.
    n_active : int
    is_quiet : bool
        Whether there is nothing that a launch would take.
    tally : Tally
    """

    def __init__(self, view: GatherView, program: Program, start: RunState, cut: Cut) -> None:
        self.view, self._cut = view, cut
        n_items, vertex = view.n_vertices + cut.n_blocks, view.out.column_indices.dtype
        self._dtype, self._identity = np.dtype(program.dtype), program.identity
        self.values = cupy.array(start.values, self._dtype)
        self.active = cupy.array(start.active, np.bool_)
        degree_type = np.int64 if view.out_weights is None else np.float64
        self._degrees = None if view.degrees is None else cupy.asarray(view.degrees, degree_type)
        n_words = -(-n_items // WORD)
        self._queued, self._next_queued, self._waiting, self._put_off = (
            cupy.zeros(n_words, np.uint32) for _ in range(4)
        )
        self._queue, self._next_queue = (cupy.empty(n_items, vertex) for _ in range(2))
        entries = chunk_entries(view.out.n_edges)
        self._chunks, self._next_chunks = (cupy.empty(entries, np.uint64) for _ in range(2))
        firsts = np.append(cut.firsts + np.arange(cut.n_blocks), n_items)
        self._first_items = cupy.asarray(firsts.astype(np.int64))
        self._places = cupy.empty(cut.n_blocks, np.int32)
        self._places_sent: Array = np.empty(0, np.int64)
        # One allocation, which the host reads at once after each launch.
        words = CONTROL_WORDS + cut.n_blocks * N_COUNTS
        n_least = cut.n_blocks + OF_ALL_BLOCKS
        self._report = cupy.zeros(8 * words + n_least * self._dtype.itemsize, np.uint8)
        self._report_on_host = cupyx.empty_pinned(len(self._report), np.uint8)
        self._control, self._counts, self._least = self._parts(self._report)
        self._control_seen, self._counts_seen, self._least_seen = self._parts(self._report_on_host)
        self.n_active = 0
        self.is_quiet = True
        self._pushed = self._rented = 0
        self._activated = np.zeros(cut.n_blocks, np.int64)
        self.tally = Tally(0, 0, 0, 0, 0, 0.0, start.total)
        self._kernels = load_program(
            ProgramKey(program),
            FILE,
            None if view.out_weights is None else view.out_weights.dtype.name,
            8 * vertex.itemsize,
            8 * view.out.row_offsets.dtype.itemsize,
        )

    def _parts(self, report: Array) -> tuple[Array, Array, Array]:
        control, counts = 8 * CONTROL_WORDS, 8 * self._cut.n_blocks * N_COUNTS
        return (
            report[:control].view(np.uint64),
            report[control : control + counts].view(np.int64).reshape(-1, N_COUNTS),
            report[control + counts :].view(self._dtype),
        )

    @property
    def n_edges(self) -> int:
        return self.view.out.n_edges

    def mark(self) -> None:
        """Let the items of all active vertices wait, and nothing else."""
        for bits in (self._queued, self._next_queued, self._waiting, self._put_off):
            bits.fill(0)
        self._control[ITEMS : CHUNKS + 1].fill(0)
        self._counts.fill(0)
        self._least.fill(self._identity)
        self._activated[:] = 0
        self._launch("mark_active", self.view.n_vertices)
        self._fetch_report()
        self.collect()

    def enter(self, block: int) -> None:
        """Put off the waiting items of a block: the next launch takes them, in order of value."""
        first, after = (int(self._cut.firsts[block]), int(self._cut.ends[block]))
        self._launch("enter_block", -(-(after - first) // WORD) + 1, entered=block)
        self.is_quiet = False

    def set_spent(self, block: int, spent: int) -> None:
        """Set the cost so far of reading the rows of a block in place."""
        self._counts[block, SPENT : SPENT + 1].fill(spent)

    def converge(
        self,
        places: Array,
        held: list[Array],
        reached: list[Array] | None,
        landed: Array,
        n_landed: int,
        most: int,
    ) -> Launched:
        """Iterate over the queue; wait for the end.

        Parameters
        ----------
        places : int64 NumPy array, (k,)
        held : list of device arrays
            The columns of the blocks that have places, and their weights if there are any.
        reached : list of arrays or None
            The same parts of all edges, in host memory that the device can read.
        landed : uint32 device array
            The launch ends when it is not `n_landed` any more.
        most : int
            The launch ends after a round in which it has pushed along this many edges.
        """
        if not np.array_equal(places, self._places_sent):
            self._places.set(places.astype(np.int32))
            self._places_sent = places.copy()
        weighted = len(held) > 1
        blocks = TUNED["RESIDENT_BLOCKS"] * multiprocessors(cupy.cuda.runtime.getDevice())
        arguments = self._arguments(
            columns=None if reached is None else reached[0],
            weights=reached[1] if reached is not None and weighted else None,
            held_columns=held[0],
            held_weights=held[1] if weighted else None,
            landed=landed,
            landed_before=n_landed,
            most_rounds=MOST_ROUNDS,
            most_edges=self._pushed + most,
        )
        self._kernels.launch_grid(
            "converge", (blocks,), arguments, block=TUNED["BLOCK_SIZE"], enable_cooperative_groups=True
        )
        self._fetch_report()
        rounds, pushed, rented = (int(self._control_seen[word]) for word in (ROUNDS, PUSHED, RENTED))
        if rounds % 2:
            self._queue, self._next_queue = self._next_queue, self._queue
            self._chunks, self._next_chunks = self._next_chunks, self._chunks
            self._queued, self._next_queued = self._next_queued, self._queued
        done = Launched(rounds, pushed - self._pushed, rented - self._rented)
        self._pushed, self._rented = pushed, rented
        return done

    def read(self) -> tuple[Array, Array]:
        """Return the counts of each block and its least waiting value, as of the last launch or `mark`.

        The column of activations has those since the last call.
        """
        counts = self._counts_seen.copy()
        counts[:, ACTIVATED] -= self._activated
        self._activated += counts[:, ACTIVATED]
        return counts, self._least_seen[: self._cut.n_blocks].copy()

    def _fetch_report(self) -> None:
        """Wait for the device, and take over its counts."""
        self._report.get(out=self._report_on_host)
        n_queued = int(self._control_seen[ITEMS : CHUNKS + 1].sum())
        put_off = self._least_seen[self._cut.n_blocks + PUT_OFF]
        self.is_quiet = n_queued == 0 and bool(put_off == self._identity)

    def collect(self) -> None:
        """Set the flags of the active vertices."""
        self.active.fill(False)
        self._launch("collect_active", -(-(self.view.n_vertices + self._cut.n_blocks) // WORD))
        self.n_active = int(cupy.count_nonzero(self.active))

    def _launch(self, name: str, n_threads: int, **given: int) -> None:
        self._kernels.launch(name, n_threads, self._arguments(**given))

    def _arguments(self, **given: Array | int | None) -> ArgumentStruct:
        return BlocksArguments(**{
            "row_offsets": self.view.out.row_offsets,
            "columns": None,
            "weights": None,
            "held_columns": None,
            "held_weights": None,
            "degrees": self._degrees,
            "first_items": self._first_items,
            "places": self._places,
            "values": self.values,
            "active": self.active,
            "queued": self._queued,
            "next_queued": self._next_queued,
            "waiting": self._waiting,
            "put_off": self._put_off,
            "queue": self._queue,
            "next_queue": self._next_queue,
            "chunks": self._chunks,
            "next_chunks": self._next_chunks,
            "counts": self._counts,
            "least": self._least,
            "control": self._control,
            "landed": None,
            "n_vertices": self.view.n_vertices,
            "entered": 0,
            "most_rounds": 0,
            "most_edges": 0,
            "unordered_edges": UNORDERED * self.n_edges,
            "n_blocks": self._cut.n_blocks,
            "shift": self._cut.shift,
            "landed_before": 0,
        } | given)  # fmt: skip
