"""A program of min or max over blocks of edges, on a GPU; `engines.blocks.executor` has the steps.

A launch (`kernels/gas_blocks.cu`) iterates over all blocks on the device until they have no active vertices,
while a stream copies blocks.  When half of the blocks under way have arrived, the launch ends, and the next
begins with the items that wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.blocks.cut import PLACES, Cut, cut_for
from rapids_trav.engines.blocks.executor import Launched, RunOverBlocks
from rapids_trav.engines.blocks.schedule import ACTIVATED, N_COUNTS, WAITING, Timeline
from rapids_trav.engines.cuda.blocks.loader import CopyingLoader
from rapids_trav.engines.cuda.blocks.parts import Part, chosen_parts, place_bytes
from rapids_trav.engines.cuda.blocks.plan import LEAST_BLOCK, chunk_entries, state_bytes
from rapids_trav.engines.cuda.build.host_rows import offsets_on_device, over_host
from rapids_trav.engines.cuda.build.in_memory import edge_type
from rapids_trav.engines.cuda.programs.link import program_kernels
from rapids_trav.engines.cuda.programs.run import VERTICES
from rapids_trav.engines.cuda.runtime.arguments import ArgumentStruct, arguments_of
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, multiprocessors
from rapids_trav.engines.cuda.runtime.memory import bytes_to_device, to_host
from rapids_trav.engines.cuda.stream.packing import FRAMED, packed_columns
from rapids_trav.engines.runs import GatherView, RunOptions, uses_degrees
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey
from rapids_trav.programs.run_state import RunState

FILE = "gas_blocks.cu"
BlocksArguments = arguments_of(FILE, "BlocksArguments")
TUNED = PROGRAM_TUNABLES[FILE]
WORD = 32
CONTROL_WORDS = 30  # the size of the kernels' `BlocksControl`, in words of 64 bits
ITEMS, CHUNKS, PUSHED, RENTED, ROUNDS = 1, 2, 4, 5, 7  # words of it
PUT_OFF, N_EXTRA = 0, 5  # of the values that follow those of the blocks: an index, and their number
UNORDERED = 4  # values are taken in order from this many pushes along each edge on
MOST_ROUNDS = 1 << 12  # of a launch, during which the process cannot be interrupted
# Rounds of a launch that go on while an item waits for a block that could be loaded: about 0.3 ms, which the
# host also takes between two launches.  By simulation of a lattice of a million vertices, 32 and 8 take 2,300
# and 2,200 rounds, and launches that end when they are quiet 7,300; with all blocks there 2,100 are needed.
MOST_WAITING = 32
# Cost of an edge that is read in host memory, in edges of a copy.  On an H100 rows of R-MAT 22 take 1 ns an
# edge of 8 bytes, a copy 0.15 ns, and nothing else is done meanwhile.  With 2, 32 and no reading in place at
# all, `sssp` takes 361, 216 and 218 ms at scale 24.
PRICE = TUNED["PRICE"]


class BlocksExecutor(RunOverBlocks):
    """A running program over blocks of edges; used as a context manager.

    The offsets of the view's out-edges and, if the program takes them, its degrees are on the device.
    `parts` are the arrays on the host of which places hold blocks' entries; None: these are on the device.
    """

    def __init__(
        self,
        view: GatherView,
        program: Program,
        start: RunState,
        options: RunOptions,
        cut: Cut,
        parts: Sequence[Part] | None = None,
    ) -> None:
        timeline = Timeline() if options.trace else None
        loader = self._copying = CopyingLoader(parts or (), cut.n_places, timeline)
        reached = _reached(view)
        price = None if reached is None else PRICE
        super().__init__(view, program, start, options, cut, loader, timeline, price)
        if parts is None:  # each block has a place of its own
            loader.held = {"columns": view.out.column_indices, "weights": view.out_weights}
            loader.most = 0
            self._schedule.residency.fill()
        self._view, self._cut = view, cut
        self._n_items = n_items = view.n_vertices + cut.n_blocks
        self._dtype, self._identity = np.dtype(program.dtype), program.identity
        self.values = cupy.array(start.values, self._dtype)
        self._active = cupy.array(start.active, np.bool_)  # as of the last `_collect`
        self._bits = [cupy.zeros(-(-n_items // WORD), np.uint32) for _ in range(4)]
        # The host's decisions: the place of each block, and the blocks to enter; one copy before each launch.
        self._decided = cupy.empty(2 * cut.n_blocks, np.int32)
        self._deciding = cupyx.empty_pinned(2 * cut.n_blocks, np.int32)
        self._deciding_at = self._deciding.ctypes.data
        self._entered: list[int] = []  # blocks with whose waiting items the next launch begins
        # One allocation, which the host reads at once after each launch.
        words = CONTROL_WORDS + cut.n_blocks * N_COUNTS
        n_least = cut.n_blocks + N_EXTRA
        self._report = cupy.zeros(8 * words + n_least * self._dtype.itemsize, np.uint8)
        self._report_on_host = cupyx.empty_pinned(len(self._report), np.uint8)
        self._control, self._counts, self._least = self._parts(self._report)
        self._control_seen, self._counts_seen, self._least_seen = self._parts(self._report_on_host)
        self._is_quiet = True  # nothing that a launch would take is there
        self._pushed = self._rented = 0
        self._activated = np.zeros(cut.n_blocks, np.int64)
        framed = int("words" in loader.held)
        self._kernels = program_kernels(ProgramKey(program), FILE, view.out, view.out_weights, FRAMED=framed)
        self.n_thread_blocks = TUNED["RESIDENT_BLOCKS"] * multiprocessors(cupy.cuda.runtime.getDevice())
        self.arguments = self._prepared(reached or (None, None))
        self._begin()

    def _prepared(self, reached: tuple[Array | None, Array | None]) -> ArgumentStruct:
        """Return the arguments of all launches; each changes what differs from the one before."""
        view, cut, loader = self._view, self._cut, self._copying
        columns, weights = reached
        n_items, vertex = self._n_items, view.out.column_indices.dtype
        degree = np.int64 if view.out_weights is None else np.float64
        entries = chunk_entries(view.out.n_edges)
        firsts = np.append(cut.firsts + np.arange(cut.n_blocks), n_items)
        queued, next_queued, waiting, put_off = self._bits
        return BlocksArguments(
            row_offsets=view.out.row_offsets,
            columns=columns,
            weights=weights,
            **{f"held_{name}": loader.held.get(name) for name in ("columns", "starts", "words", "weights")},
            degrees=None if view.degrees is None else cupy.asarray(view.degrees, degree),
            first_items=cupy.asarray(firsts.astype(np.int64)),
            places=self._decided,
            entered=self._decided[cut.n_blocks :],
            values=self.values,
            active=self._active,
            queued=queued,
            next_queued=next_queued,
            waiting=waiting,
            put_off=put_off,
            queue=cupy.empty(n_items, vertex),
            next_queue=cupy.empty(n_items, vertex),
            chunks=cupy.empty(entries, np.uint64),
            next_chunks=cupy.empty(entries, np.uint64),
            counts=self._counts,
            least=self._least,
            control=self._control,
            landed=loader.landed_word,
            n_vertices=view.n_vertices,
            place_words=loader.place_words,
            most_rounds=MOST_ROUNDS,
            most_waiting=MOST_ROUNDS,
            most_edges=0,
            unordered_edges=UNORDERED * view.out.n_edges,
            n_blocks=cut.n_blocks,
            n_entered=0,
            shift=cut.shift,
            enough_landed=0,
        )

    def _parts(self, report: Array) -> tuple[Array, Array, Array]:
        control, counts = 8 * CONTROL_WORDS, 8 * self._cut.n_blocks * N_COUNTS
        return (
            report[:control].view(np.uint64),
            report[control : control + counts].view(np.int64).reshape(-1, N_COUNTS),
            report[control + counts :].view(self._dtype),
        )

    def settle(self) -> Array:
        return self._active

    def _mark(self) -> None:
        for bits in self._bits:
            bits.fill(0)
        self._control[ITEMS : CHUNKS + 1].fill(0)
        self._counts.fill(0)
        self._least.fill(self._identity)
        self._activated[:] = 0
        self._entered.clear()
        self._kernels.launch("mark_active", self._view.n_vertices, self.arguments)
        self._kernels.launch("recount_waiting", self._n_items, self.arguments)
        self._fetch_report()
        self._collect()
        self._read()

    def _list(self, block: int) -> None:
        self._entered.append(block)
        self._is_quiet = False

    def _has_listed(self) -> bool:
        return not self._is_quiet

    def _converge(self, most: int) -> Launched:
        self._launch_kernel(most)
        self._copying.start()
        done = self._wait_for_kernel()
        self._read()
        return done

    def were_taken(self, block: int) -> None:
        """Bring the counts up to date after items that waited for a block have been taken off the device."""
        self._fetch_report()
        if self._counts_seen[block, WAITING] == 0:
            self._least[block] = self._least_seen[block] = self._identity
        self._take_counts()

    def were_improved(self) -> None:
        """Count again what waits, after values have been improved from outside."""
        self._kernels.launch("forget_counts", self._cut.n_blocks, self.arguments)
        self._kernels.launch("recount_waiting", self._n_items, self.arguments)
        self._fetch_report()
        self._take_counts()

    def _take_counts(self) -> None:
        self._read()
        self._schedule.used()

    def _launch_kernel(self, most: int) -> None:
        """Start to iterate, until the round in which `most` edges have been pushed along.

        The launch ends earlier when as many blocks have been copied as the loader finds enough, or soon after
        items wait for a block that can be loaded at once.
        """
        n_blocks, n_entered = self._cut.n_blocks, len(self._entered)
        self._deciding[:n_blocks] = self._schedule.residency.place
        self._deciding[n_blocks : n_blocks + n_entered] = self._entered
        self._entered.clear()
        n_bytes = (n_blocks + n_entered) * self._deciding.itemsize
        bytes_to_device(self._decided.data.ptr, self._deciding_at, n_bytes, cupy.cuda.get_current_stream())
        self.arguments.update(
            n_entered=n_entered,
            enough_landed=self._copying.enough_landed,
            most_edges=self._pushed + most,
            most_waiting=MOST_WAITING if self._schedule.may_load else MOST_ROUNDS,
        )
        self._kernels.launch_grid(
            "converge",
            (self.n_thread_blocks,),
            self.arguments,
            block=TUNED["BLOCK_SIZE"],
            cooperative=True,
        )

    def _wait_for_kernel(self) -> Launched:
        """Wait for the end of the launch; return what it has done."""
        self._fetch_report()
        rounds, pushed, rented = (int(self._control_seen[word]) for word in (ROUNDS, PUSHED, RENTED))
        if rounds % 2:
            for name in ("queue", "chunks", "queued"):
                self.arguments.swap(name, f"next_{name}")
        done = Launched(rounds, pushed - self._pushed, rented - self._rented)
        self._pushed, self._rented = pushed, rented
        return done

    def read(self) -> tuple[Array, Array]:
        """Return the counts of each block, with its activations since the last call, and its least value."""
        counts = self._counts_seen.copy()
        counts[:, ACTIVATED] -= self._activated
        self._activated += counts[:, ACTIVATED]
        return counts, self._least_seen[: self._cut.n_blocks].copy()

    def _read(self) -> None:
        """Bring the schedule's counts up to date, but for what the next launch enters."""
        self._schedule.counts, self._schedule.least = self.read()
        for block in self._entered:
            self._schedule.entered(block)

    def _fetch_report(self) -> None:
        """Wait for the device, and take over its counts."""
        stream = cupy.cuda.get_current_stream()
        to_host(self._report_on_host, self._report, stream)
        stream.synchronize()
        n_queued = int(self._control_seen[ITEMS : CHUNKS + 1].sum())
        put_off = self._least_seen[self._cut.n_blocks + PUT_OFF]
        self._is_quiet = n_queued == 0 and bool(put_off == self._identity) and not self._entered

    def _values_on_host(self) -> Array:
        return cupy.asnumpy(self.values)

    def _collect(self) -> None:
        self._active.fill(False)
        n_words = -(-self._n_items // WORD)
        self._kernels.launch("collect_active", n_words, self.arguments)
        self.n_active = int(cupy.count_nonzero(self._active))


def _reached(view: GatherView) -> tuple[Array, Array | None] | None:
    """Return all columns and weights as kernels read them in host memory; None if they cannot."""
    if isinstance(view.out.column_indices, cupy.ndarray):
        return None
    columns = over_host(view.out.column_indices)
    weights = None if view.out_weights is None else over_host(view.out_weights)
    if columns is None or (weights is None and view.out_weights is not None):
        return None
    return columns, weights


@contextmanager
def opened(
    view: GatherView,
    program: Program,
    state: RunState,
    options: RunOptions,
    run: Callable[..., BlocksExecutor] = BlocksExecutor,
    more_bytes: int = 0,
) -> Iterator[BlocksExecutor]:
    """Yield the run, with its memory charged to the budget: up to all that is free, if the edges need it.

    `run` makes it, as `BlocksExecutor` does, and takes `more_bytes` of memory than that.
    """
    assert view.pages is not None
    budget = view.pages.budget
    n_bytes = state_bytes(view, program, options, edge_type(view.out.n_edges).itemsize) + more_bytes
    free = max(budget.free - n_bytes, 0)
    plain = cut_for(view, free, LEAST_BLOCK)
    frame = partial(packed_columns, view.out, budget, FRAMED)
    cut, parts = chosen_parts(view, options, plain, frame, free)
    places = cut.n_places * place_bytes(parts)
    with (
        budget.hold(n_bytes + places, f"{VERTICES} and {PLACES}"),
        run(_on_device(view, program, places), program, state, options, cut, parts) as blocks,
    ):
        yield blocks


def _on_device(view: GatherView, program: Program, free: int) -> GatherView:
    """Return the view with the offsets of its out-edges on the device, and no degrees unless needed.

    The `free` bytes serve meanwhile.
    """
    offsets = offsets_on_device(view.out, free)
    degrees: Any = view.degrees if uses_degrees(program) else None
    return replace(view, out=Adjacency(offsets, view.out.column_indices), degrees=degrees)
