"""Vertex programs on the CPU and the GPU, which share the pages of a graph that is larger than the GPU.

L. Ma et al., "Garaph", USENIX ATC 2017, section 5 (docs/systems.md, G12 to G17).

1. The GPU begins alone (`streamed.py`).  The CPU joins it when the GPU has worked so long that preparing the
   CPU's arrays takes little time in comparison.
2. From then on the dispatcher decides for each iteration whether the CPU works alone, because few vertices
   are active; whether both sides do, because that is faster; or again the GPU alone.  If both do, a side that
   is idle takes the next page, until none is left.
3. Both sides have all values and messages.  In a shared iteration the results for a page are copied to the
   other side at once.  In a synchronous run the messages go to the arrays of new messages, which become
   current at the end of the iteration; in an asynchronous run they overwrite the old ones.
4. After iterations of one side alone, the other is brought up to date when it next has work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.programs import run as cpu_run
from rapids_trav.engines.cpu.programs.kernels import CHANGED, EDGES, N_STATS, RESIDUAL, TOTAL
from rapids_trav.engines.cpu.programs.pages import ResidentEdges
from rapids_trav.engines.cpu.programs.state import ProgramWork
from rapids_trav.engines.cuda.programs.state import Tally, write_total
from rapids_trav.engines.cuda.runtime.memory import to_device, to_host
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.cuda.stream.streamed import StreamedExecutor
from rapids_trav.engines.cuda.stream.transfers import Slot, Span, Task
from rapids_trav.engines.iterations import iterate
from rapids_trav.engines.runs import GatherView, Moved, Run, RunOptions
from rapids_trav.jit.kernels import Threads
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import STORAGE_PENALTY, RunState, gather_mode
from rapids_trav.published.garaph.dispatcher import BOTH, CPU, GPU, Dispatcher

# The CPU joins when the GPU has worked this many times as long as it takes to prepare the CPU's arrays, which
# therefore delays a run by a tenth at most.
PATIENCE = 10
_WRITTEN = ("values", "new_values", "messages", "new_messages", "active")
# One thread in this many gathers while the GPU does.  On 16 cores, 4 threads reached 0.75 of the rate of 8,
# and 15 were slower than 8: they read the memory at random addresses, which also delayed the copies of pages.
_BESIDE_GPU = 4
_PINNED_RATE = 1.5e9  # bytes a second: the driver pins them on one thread


def run(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
    """Iterate on the GPU and the CPU, which share pages."""
    with HybridExecutor(view, program, state, options) as work:
        return iterate(work, program, state, options)


class HybridExecutor(StreamedExecutor):
    """A running program on the CPU and the GPU, used as a context manager.

    `on_sent` is called for each page of the GPU with the events around the copies of its results to the CPU.
    """

    def __init__(
        self,
        view: GatherView,
        program: Program,
        start: RunState,
        options: RunOptions,
        on_sent: Callable[[int, Span], None] | None = None,
    ) -> None:
        super().__init__(view, program, start, options)
        self._given = view, program, options
        self._on_sent, self._record = on_sent, options.record_page
        with self._closing as held:
            self._exchange = cupy.cuda.Stream(non_blocking=True)
            held.callback(self._exchange.synchronize)
            penalty = 1 if self.feed.reachable else STORAGE_PENALTY
            self.dispatcher = Dispatcher(np.diff(self.plan.first_edges).tolist(), penalty)
            self.dispatcher.resume(start.policy)
            self._side: HostSide | None = None  # until the CPU joins
            self._patience = PATIENCE * HostSide.seconds(view.n_vertices, program)  # seconds left until then
            # Pages of the GPU that are in progress, and the events at their ends.
            self._launched: deque[tuple[int, cupy.cuda.Event]] = deque()
            self._behind: str | None = None  # the side that lacks results of iterations of the other
            self._closing = held.pop_all()

    @property
    def _host(self) -> HostSide:
        """The CPU's side, which has joined."""
        assert self._side is not None
        return self._side

    @property
    def policy(self) -> dict[str, float]:
        return self.dispatcher.policy

    def sweep(self, mode: str) -> str:
        """Run one iteration, on one side or on both; return the mode that it used."""
        scout, n_edges = self.state.tally.scout, self.state.n_edges
        # A CPU that pulls gathers over all edges, however few are active.
        share = 1.0 if mode == "pull" else scout / max(n_edges, 1)
        if self._side is None and self._patience <= 0:
            self._side = self._joined()
        if self._side is not None and self.dispatcher.alone(share):
            if mode != "pull":
                mode = gather_mode(scout, n_edges, not self.feed.reachable)
            self._alone(mode)
        elif self._side is not None and mode == "pull" and self.dispatcher.shares():
            self._together()
        else:
            self._on_gpu(mode)
        return mode

    @property
    def values(self) -> Array:
        self.settle()
        return self.state.values

    def settle(self) -> Array:
        """Bring the GPU up to date."""
        if self._behind == GPU:
            for name, source in self._host.stands():
                target = self._of_device(name, self.state.messages)
                to_device(target, source, cupy.cuda.get_current_stream())
            write_total(self.state.before, self.state.tally.total)
            cupy.cuda.get_current_stream().synchronize()  # the CPU writes to the sources next
            self._behind = None
        return self.state.active

    def _joined(self) -> HostSide:
        """Return the CPU's side, in the state of the GPU."""
        view, program, options = self._given
        side = HostSide(view, program, RunState(self.state.values, self.state.active), options)
        self._closing.callback(side.close)
        side.take_counts(self.state.tally)
        self._behind = None
        return side

    def _settle_host(self) -> None:
        """Bring the CPU up to date."""
        if self._behind == CPU:
            side, stream = self._host, cupy.cuda.get_current_stream()
            sources = {
                "values": self.state.values,
                "messages": self.state.messages,
                "flags": self.state.active,
            }
            for name, target in side.stands():
                to_host(target, sources[name], stream)
            stream.synchronize()
            side.take_counts(self.state.tally)
            self._behind = None

    def _on_gpu(self, mode: str) -> None:
        """Run an iteration on the GPU alone."""
        self.settle()
        begin = perf_counter()
        self.dispatcher.begin()
        super().sweep(mode)
        if mode == "pull":
            self.dispatcher.end(GPU)
        self._patience -= perf_counter() - begin
        self._behind = CPU

    def _together(self) -> None:
        """Gather and apply every vertex, each on one of the sides."""
        self.settle()
        self._settle_host()
        state, log = self.state, self.log
        row = state.tallies.fresh()
        self._host.begin()
        self._launched.clear()
        self.dispatcher.begin()
        self.begin_pages()
        self._exchange.wait_event(log.mark(cupy.cuda.get_current_stream()))
        with ThreadPoolExecutor(1, thread_name_prefix="rapids_trav hybrid") as pool:
            theirs = pool.submit(self._host_pages, cupy.cuda.Device().id)
            for ready in self.feed.ahead(self._pages_of_gpu()):
                self._wait_for(len(self.slots) - 1)  # the last pages come without a question for more
                slot = self.launch(ready, None, row, after=self._send)
                self._launched.append((ready.task.page, slot.free))
            self._wait_for(0)
            stats, n_edges = theirs.result()
        log.report_rest()
        self.join_pages()
        cupy.cuda.get_current_stream().wait_event(log.mark(self._exchange))
        state.swap_messages()
        state.finish(row)
        self.dispatcher.end(BOTH)
        self.moved = log.moved()
        self._merge(stats, n_edges)

    def _alone(self, mode: str) -> None:
        """Run an iteration on the CPU alone."""
        self._settle_host()
        work = self._host.work
        n_edges = self._host.alone(mode)
        self.state.tally = self.state.tally._replace(
            active=work.n_active, scout=work.active_edges, edges=n_edges, residual=work.residual,
            total=work.next_total,
        )  # fmt: skip
        self.moved = Moved()
        self._behind = GPU

    def _merge(self, stats: Array, n_edges: int) -> None:
        """Add the counts of the CPU to those of the GPU, on both sides."""
        ours = self.state.tally
        self.state.tally = tally = ours._replace(
            active=ours.active + int(stats[CHANGED]),
            scout=ours.scout + int(stats[EDGES]),
            edges=ours.edges + n_edges,
            residual=ours.residual + float(stats[RESIDUAL]),
            total=ours.total + float(stats[TOTAL]),
        )
        write_total(self.state.before, tally.total)
        self._host.work.swap()
        self._host.take_counts(tally)

    # The CPU's pages

    def _host_pages(self, device: int) -> tuple[Array, int]:
        """Process pages until none is left, on a thread of its own; return their counts and edges."""
        side = self._host
        stats, n_edges = np.zeros(N_STATS), 0
        with cupy.cuda.Device(device):
            while (page := self.dispatcher.take(CPU)) is not None:
                rows = self.plan.rows(page)
                counted, edges = side.gather(*rows)
                stats += counted
                n_edges += edges
                self.dispatcher.done(CPU, page)
                self._record_page(page)
                for name, source in side.written(*rows):
                    target = self._of_device(name, self.state.new_messages)
                    to_device(target[slice(*rows)], source, self._exchange)
        return stats, n_edges

    # The GPU's pages

    def _pages_of_gpu(self) -> Iterator[Task]:
        """Yield pages for the GPU as slots become free."""
        while True:
            self._wait_for(len(self.slots) - 1)
            page = self.dispatcher.take(GPU)
            if page is None:
                return
            yield Task(page, self.or_kept(page, "copy"))

    def _wait_for(self, n_left: int) -> None:
        """Wait until at most `n_left` of the launched pages are in progress."""
        while len(self._launched) > n_left:
            page, event = self._launched.popleft()
            event.synchronize()
            self.dispatcher.done(GPU, page)
            self._record_page(page)

    def _record_page(self, page: int) -> None:
        """Record the values that a side has computed for a page, and that the CPU has now."""
        if self._record is not None:
            first, after = self.plan.rows(page)
            self._record(first, self._host.work.new_values[first:after])

    def _send(self, page: int, slot: Slot) -> None:
        """Copy the GPU's results for a page to the CPU, on the page's stream."""
        if self._on_sent is None:
            self._copy_to_host(page, slot)
            return
        begin = self.log.mark(slot.stream)
        self._copy_to_host(page, slot)
        self._on_sent(page, (begin, self.log.mark(slot.stream)))

    def _copy_to_host(self, page: int, slot: Slot) -> None:
        rows = self.plan.rows(page)
        same = self._host.work.new_messages is self._host.work.new_values
        for name, target in self._host.written(*rows):
            if name == "messages" and same:
                continue
            to_host(target, self._of_device(name, self.state.new_messages)[slice(*rows)], slot.stream)

    def _of_device(self, name: str, messages: Array) -> Array:
        return {"values": self.state.values, "messages": messages, "flags": self.state.flags}[name]


class HostSide:
    """The CPU's side: a run of its engine over pages where they are stored; must be closed.

    The arrays are pinned, so that the results of each side can be copied to the other on a stream.
    """

    def __init__(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> None:
        # One core is left to launch the GPU's pages.
        self._team = Threads(max(Threads().size - 1, 1)).__enter__()
        view = replace(view, pages=None)
        on_host = RunState(
            cupy.asnumpy(state.values), cupy.asnumpy(state.active), state.iteration, state.total
        )
        self.work = ProgramWork(view, program, on_host, options, self._team)
        self._pieces = ResidentEdges(view)
        made = {name: getattr(self.work, name) for name in _WRITTEN}
        pinned = {id(array): _pinned(array) for array in made.values()}  # names may share an array
        for name, array in made.items():
            setattr(self.work, name, pinned[id(array)])
        cpu_run.gather(self.work, self._pieces.page(0, 0), n_parts=2)  # compiles before anything is timed

    @staticmethod
    def seconds(n_vertices: int, program: Program) -> float:
        """Return about the time in which a side is made, without compilation."""
        return n_vertices * (1 + 4 * np.dtype(program.dtype).itemsize) / _PINNED_RATE

    def take_counts(self, tally: Tally) -> None:
        """Take over the counts of an iteration that the GPU has ended."""
        self.work.n_active, self.work.active_edges = tally.active, tally.scout
        self.work.next_total = tally.total

    def close(self) -> None:
        self._team.__exit__()

    def begin(self) -> None:
        """Begin an iteration that both sides share."""
        self.work.used_total = self.work.next_total

    def gather(self, first: int, after: int) -> tuple[Array, int]:
        """Gather and apply the rows `first` to `after - 1`; return the CPU engine's counts and the edges.

        Some of the threads take one part each: starting a part takes the interpreter lock, for which the
        thread that launches the GPU's pages would wait.
        """
        piece = self._pieces.page(first, after)
        n_edges = int(piece.starts[-1] - piece.starts[0])
        n_parts = min(max(self._team.size // _BESIDE_GPU, 1), 1 + n_edges // cpu_run.EDGES_PER_PART)
        return cpu_run.gather(self.work, piece, n_parts), n_edges

    def alone(self, mode: str) -> int:
        """Run a whole iteration, "pull" or "notify"; return its edges."""
        n_edges, _ = cpu_run.sweep(self.work, self._pieces, mode)
        return n_edges

    def written(self, first: int, after: int) -> list[tuple[str, np.ndarray]]:
        """Return what an iteration writes for these vertices: values, messages and flags."""
        work = self.work
        return [
            ("values", work.new_values[first:after]),
            ("messages", work.new_messages[first:after]),
            ("flags", work.active[first:after]),
        ]

    def stands(self) -> list[tuple[str, np.ndarray]]:
        """Return the arrays that are current after an iteration."""
        work = self.work
        return [("values", work.values), ("messages", work.messages), ("flags", work.active)]


def _pinned(array: np.ndarray) -> np.ndarray:
    copy = empty_pinned(len(array), array.dtype)
    copy[:] = array
    return copy
