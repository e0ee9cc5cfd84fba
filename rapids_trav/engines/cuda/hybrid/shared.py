"""The CPU and the GPU share the pages of a graph that is larger than the GPU.

L. Ma et al., "Garaph", USENIX ATC 2017, section 5 (SYSTEMS G12 to G17).

1. The dispatcher decides for each iteration whether the CPU works alone, where little is active, or both do;
   then a side that is idle takes the next page, until there is none.
2. Both sides have all values and messages.  When one has processed a page, what it has written is copied to
   the other: in a synchronous run to where new messages are, which all take their places at the end of the
   iteration; in an asynchronous one over the old.
3. After iterations of the CPU alone, the GPU is brought up to date when it next has work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.programs.kernels import CHANGED, EDGES, N_STATS, RESIDUAL, TOTAL
from rapids_trav.engines.cuda.hybrid.cpu_executor import HostSide
from rapids_trav.engines.cuda.hybrid.dispatcher import CPU, GPU, Dispatcher
from rapids_trav.engines.cuda.programs.tally import write_total
from rapids_trav.engines.cuda.stream.buffers import Slot, to_device, to_host
from rapids_trav.engines.cuda.stream.feed import Task
from rapids_trav.engines.cuda.stream.streamed import Stream
from rapids_trav.engines.runs import Moved
from rapids_trav.programs.gather_mode import STORAGE_PENALTY, gather_mode
from rapids_trav.programs.run_state import RunState


class Hybrid(Stream):
    """A run on both; used as a context manager."""

    def _open(self, state: RunState, held: ExitStack) -> None:
        super()._open(state, held)
        self._side = HostSide(self._host, self._program, state, self._options)
        held.callback(self._side.close)
        self._exchange = cupy.cuda.Stream(non_blocking=True)
        held.callback(self._exchange.synchronize)
        penalty = 1 if self._feed.reachable else STORAGE_PENALTY
        self.dispatcher = Dispatcher(np.diff(self.plan.first_edges).tolist(), penalty)
        self._launched: deque[tuple[int, cupy.cuda.Event]] = deque()  # pages, and the events at their ends
        self._behind = False  # whether the GPU lacks what the CPU has done alone

    def step(self, mode: str) -> str:
        share = self.tally.scout / max(self.n_edges, 1)
        if not self.dispatcher.alone(share):
            self.pull()
            return "pull"
        if mode != "pull":
            mode = gather_mode(self.tally.scout, self.n_edges, not self._feed.reachable)
        self._alone(mode)
        return mode

    def settle(self) -> None:
        """Bring the GPU up to date."""
        if self._behind:
            for name, source in self._side.stands():
                to_device(self._of_device(name, self._messages), source, cupy.cuda.get_current_stream())
            write_total(self._before, self.tally.total)
            cupy.cuda.get_current_stream().synchronize()  # the CPU writes there in the next iteration
            self._behind = False

    def restart(self, state: RunState) -> None:
        super().restart(state)
        self._side.work.restart(RunState(cupy.asnumpy(state.values), cupy.asnumpy(state.active)))

    def pull(self) -> None:
        """Every vertex gathers and is applied, on either side."""
        self.settle()
        row = self._tallies.fresh()
        side = self._side
        side.begin()
        self._launched.clear()
        self.dispatcher.begin()
        self._begin()
        self._exchange.wait_event(self._log.mark(cupy.cuda.get_current_stream()))
        with ThreadPoolExecutor(1, thread_name_prefix="rapids_trav hybrid") as pool:
            theirs = pool.submit(self._host_pages, cupy.cuda.Device().id)
            for ready in self._feed.ahead(self._pages_of_gpu()):
                self._launched.append((ready.task.page, self._launch(ready, None, row).free))
            self._wait_for(0)
            stats, n_edges = theirs.result()
        self._log.tell_rest()
        self._join()
        cupy.cuda.get_current_stream().wait_event(self._log.mark(self._exchange))
        self._messages, self._new_messages = self._new_messages, self._messages
        self._finish(row)
        self._merge(stats, n_edges)

    def _alone(self, mode: str) -> None:
        work = self._side.work
        n_edges = self._side.alone(mode)
        self.tally = self.tally._replace(
            active=work.n_active, scout=work.active_edges, edges=n_edges, residual=work.residual,
            total=work.next_total,
        )  # fmt: skip
        self.moved = Moved()
        self._behind = True

    def _merge(self, stats: Array, n_edges: int) -> None:
        """Adds what the CPU has counted to what the GPU has, on both sides."""
        self.tally = tally = self.tally._replace(
            active=self.tally.active + int(stats[CHANGED]),
            scout=self.tally.scout + int(stats[EDGES]),
            edges=self.tally.edges + n_edges,
            residual=self.tally.residual + float(stats[RESIDUAL]),
            total=self.tally.total + float(stats[TOTAL]),
        )
        write_total(self._before, tally.total)
        work = self._side.work
        work.swap()
        work.n_active, work.active_edges = tally.active, tally.scout
        work.next_total = tally.total

    # The CPU's pages

    def _host_pages(self, device: int) -> tuple[Array, int]:
        """On a thread of its own: pages until none is left; what they counted, and their edges."""
        side = self._side
        stats, n_edges = np.zeros(N_STATS), 0
        with cupy.cuda.Device(device):
            while (page := self.dispatcher.take(CPU)) is not None:
                rows = self.plan.rows(page)
                counted, edges = side.gather(*rows)
                stats += counted
                n_edges += edges
                self.dispatcher.done(CPU, page)
                for name, source in side.written(*rows):
                    target = self._of_device(name, self._new_messages)
                    to_device(target[slice(*rows)], source, self._exchange)
        return stats, n_edges

    # The GPU's pages

    def _pages_of_gpu(self) -> Iterator[Task]:
        """Pages as slots become free."""
        while True:
            self._wait_for(len(self._slots) - 1)
            page = self.dispatcher.take(GPU)
            if page is None:
                return
            yield Task(page, self._or_kept(page, "copy"))

    def _wait_for(self, n_left: int) -> None:
        """Until no more than so many of the pages that were launched are under way."""
        while len(self._launched) > n_left:
            page, event = self._launched.popleft()
            event.synchronize()
            self.dispatcher.done(GPU, page)

    def _after_page(self, page: int, slot: Slot) -> None:
        rows = self.plan.rows(page)
        same = self._side.work.new_messages is self._side.work.new_values
        for name, target in self._side.written(*rows):
            if name == "messages" and same:
                continue
            to_host(target, self._of_device(name, self._new_messages)[slice(*rows)], slot.stream)

    def _of_device(self, name: str, messages: Array) -> Array:
        return {"values": self.values, "messages": messages, "flags": self._flags}[name]
