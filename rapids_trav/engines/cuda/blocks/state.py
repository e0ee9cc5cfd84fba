"""The arrays on the GPU of a program over blocks, and the kernels that work on them."""

from __future__ import annotations

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut
from rapids_trav.engines.blocks.executor import Launched
from rapids_trav.engines.blocks.schedule import ACTIVATED, N_COUNTS, WAITING
from rapids_trav.engines.cuda.blocks.loader import CopyingLoader, Resident
from rapids_trav.engines.cuda.blocks.plan import chunk_entries
from rapids_trav.engines.cuda.build.host_rows import over_host
from rapids_trav.engines.cuda.programs.link import program_kernels
from rapids_trav.engines.cuda.runtime.arguments import ArgumentStruct, arguments_of
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, multiprocessors
from rapids_trav.engines.cuda.stream.buffers import bytes_to_device, to_host
from rapids_trav.engines.runs import GatherView
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


class BlocksState:
    """Values, queues and counts of a run; `start` is copied.

    Parameters
    ----------
    view : GatherView
        The offsets of its out-edges and, if the program takes them, its degrees are on the device.
    loader : CopyingLoader
        Has the edges on the device.

    Attributes
    ----------
    values : array, (n,)
    active : bool array, (n,)
        As of the last `collect`.
    n_active : int
    entered : list of int
        Blocks with whose waiting items the next launch begins.
    is_quiet : bool
        Whether there is nothing that a launch would take.
    n_thread_blocks : int
        Of a launch.
    arguments : BlocksArguments
    reached : pair of device arrays, or None
        The columns and weights of all edges, as kernels read them in host memory; None if they cannot.
    """

    def __init__(
        self, view: GatherView, program: Program, start: RunState, cut: Cut, loader: CopyingLoader | Resident
    ) -> None:
        self.view, self._cut, self._loader = view, cut, loader
        self.reached = _reached(view)
        self._n_items = n_items = view.n_vertices + cut.n_blocks
        vertex = view.out.column_indices.dtype
        self._dtype, self._identity = np.dtype(program.dtype), program.identity
        self.values = cupy.array(start.values, self._dtype)
        self.active = cupy.array(start.active, np.bool_)
        self._bits = [cupy.zeros(-(-n_items // WORD), np.uint32) for _ in range(4)]
        # The host's decisions: the place of each block, and the blocks to enter; one copy before each launch.
        self._decided = cupy.empty(2 * cut.n_blocks, np.int32)
        self._deciding = cupyx.empty_pinned(2 * cut.n_blocks, np.int32)
        self._deciding_at = self._deciding.ctypes.data
        self.entered: list[int] = []
        # One allocation, which the host reads at once after each launch.
        words = CONTROL_WORDS + cut.n_blocks * N_COUNTS
        n_least = cut.n_blocks + N_EXTRA
        self._report = cupy.zeros(8 * words + n_least * self._dtype.itemsize, np.uint8)
        self._report_on_host = cupyx.empty_pinned(len(self._report), np.uint8)
        self._control, self._counts, self._least = self._parts(self._report)
        self._control_seen, self._counts_seen, self._least_seen = self._parts(self._report_on_host)
        self.n_active = 0
        self.is_quiet = True
        self._pushed = self._rented = 0
        self._activated = np.zeros(cut.n_blocks, np.int64)
        framed = int("words" in loader.held)
        self._kernels = program_kernels(ProgramKey(program), FILE, view.out, view.out_weights, FRAMED=framed)
        self.n_thread_blocks = TUNED["RESIDENT_BLOCKS"] * multiprocessors(cupy.cuda.runtime.getDevice())
        self.arguments = self._prepared(n_items, vertex)

    def _prepared(self, n_items: int, vertex: np.dtype) -> ArgumentStruct:
        """Return the arguments of all launches; each changes what differs from the one before."""
        view, cut, loader = self.view, self._cut, self._loader
        columns, weights = self.reached or (None, None)
        held = loader.held
        degree = np.int64 if view.out_weights is None else np.float64
        entries = chunk_entries(view.out.n_edges)
        firsts = np.append(cut.firsts + np.arange(cut.n_blocks), n_items)
        queued, next_queued, waiting, put_off = self._bits
        return BlocksArguments(
            row_offsets=view.out.row_offsets,
            columns=columns,
            weights=weights,
            held_columns=held.get("columns"),
            held_starts=held.get("starts"),
            held_words=held.get("words"),
            held_weights=held.get("weights"),
            degrees=None if view.degrees is None else cupy.asarray(view.degrees, degree),
            first_items=cupy.asarray(firsts.astype(np.int64)),
            places=self._decided,
            entered=self._decided[cut.n_blocks :],
            values=self.values,
            active=self.active,
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

    def mark(self) -> None:
        """Let the items of all active vertices wait, and nothing else."""
        for bits in self._bits:
            bits.fill(0)
        self._control[ITEMS : CHUNKS + 1].fill(0)
        self._counts.fill(0)
        self._least.fill(self._identity)
        self._activated[:] = 0
        self.entered.clear()
        self._kernels.launch("mark_active", self.view.n_vertices, self.arguments)
        self._count_waiting()
        self._fetch_report()
        self.collect()

    def enter(self, block: int) -> None:
        """Let the next launch begin with the waiting items of a block, in order of value."""
        self.entered.append(block)
        self.is_quiet = False

    def were_taken(self, block: int) -> None:
        """Bring the counts up to date after items that waited for a block have been taken off the device."""
        self._fetch_report()
        if self._counts_seen[block, WAITING] == 0:
            self._least[block] = self._least_seen[block] = self._identity

    def recount(self) -> None:
        """Count again what waits, after values have been improved from outside."""
        self._kernels.launch("forget_counts", self._cut.n_blocks, self.arguments)
        self._count_waiting()
        self._fetch_report()

    def _count_waiting(self) -> None:
        self._kernels.launch("recount_waiting", self._n_items, self.arguments)

    def launch(self, places: Array, most: int, may_load: bool) -> None:
        """Start to iterate over the queue and the blocks entered.

        Parameters
        ----------
        places : int64 NumPy array, (k,)
        most : int
            The launch ends after a round in which it has pushed along this many edges, or when as many blocks
            have been copied as the loader finds enough.
        may_load : bool
            Whether the next block for which items wait can be loaded at once.  If so, the launch ends soon
            after there is one.
        """
        n_blocks, n_entered = self._cut.n_blocks, len(self.entered)
        self._deciding[:n_blocks] = places
        self._deciding[n_blocks : n_blocks + n_entered] = self.entered
        self.entered.clear()
        n_bytes = (n_blocks + n_entered) * self._deciding.itemsize
        bytes_to_device(self._decided.data.ptr, self._deciding_at, n_bytes, cupy.cuda.get_current_stream())
        self.arguments.update(
            n_entered=n_entered,
            enough_landed=self._loader.enough_landed,
            most_edges=self._pushed + most,
            most_waiting=MOST_WAITING if may_load else MOST_ROUNDS,
        )
        self._kernels.launch_grid(
            "converge",
            (self.n_thread_blocks,),
            self.arguments,
            block=TUNED["BLOCK_SIZE"],
            enable_cooperative_groups=True,
        )

    def wait(self) -> Launched:
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
        """Return the counts of each block and its least waiting value, as of the last launch or `mark`.

        The column of activations has those since the last call.
        """
        counts = self._counts_seen.copy()
        counts[:, ACTIVATED] -= self._activated
        self._activated += counts[:, ACTIVATED]
        return counts, self._least_seen[: self._cut.n_blocks].copy()

    def _fetch_report(self) -> None:
        """Wait for the device, and take over its counts."""
        stream = cupy.cuda.get_current_stream()
        to_host(self._report_on_host, self._report, stream)
        stream.synchronize()
        n_queued = int(self._control_seen[ITEMS : CHUNKS + 1].sum())
        put_off = self._least_seen[self._cut.n_blocks + PUT_OFF]
        self.is_quiet = n_queued == 0 and bool(put_off == self._identity) and not self.entered

    def collect(self) -> None:
        """Set the flags of the active vertices."""
        self.active.fill(False)
        n_words = -(-self._n_items // WORD)
        self._kernels.launch("collect_active", n_words, self.arguments)
        self.n_active = int(cupy.count_nonzero(self.active))


def _reached(view: GatherView) -> tuple[Array, Array | None] | None:
    """Return all columns and weights as kernels read them in host memory; None if they cannot."""
    if isinstance(view.out.column_indices, cupy.ndarray):
        return None
    columns = over_host(view.out.column_indices)
    weights = None if view.out_weights is None else over_host(view.out_weights)
    if columns is None or (weights is None and view.out_weights is not None):
        return None
    return columns, weights
