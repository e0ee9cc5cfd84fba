"""The choice of the side that processes a page, when the CPU and the GPU share an iteration.

L. Ma et al., "Garaph", USENIX ATC 2017, section 5 (docs/systems.md, G14 and G15).  Let f be the share of the
edges that lead out of active vertices.  The CPU takes 2 f p T_pull to notify and gather, or T_pull to gather
over all edges; the GPU takes T_gpu.  If the CPU's time is at most the GPU's, the CPU works alone; otherwise
both work, and a side that is idle takes a page: the GPU from the front, where the pages that stay in its
memory are, and the CPU from the end.

T_pull and T_gpu are the times that each side has taken per edge so far, times the number of edges; the GPU's
first page, for which its kernels are compiled and loaded, does not count.  Once both times are known, the CPU
takes no page that would make the GPU wait for it at the end.

Sharing has its cost: results go both ways, and the CPU reads the memory from which pages are copied.  The GPU
is therefore timed alone first.  The CPU then takes part if it can save LEAST_GAIN of the time, and as long as
iterations of both take less time than those of the GPU alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import perf_counter

CPU, GPU, BOTH = "cpu", "gpu", "both"
LEAST_GAIN = 0.1  # of the GPU's time; sharing costs about as much


class Dispatcher:
    """Distributor of an iteration's pages, each of which it gives out once; both sides' threads may call it.

    The penalty p is the cost of a scattered read relative to a sequential one where the CPU finds the pages.
    """

    def __init__(
        self, page_edges: Sequence[int], penalty: int = 1, clock: Callable[[], float] = perf_counter
    ) -> None:
        self._edges = list(page_edges)
        self._penalty = penalty
        self._clock = clock
        self._lock = Lock()
        self._next = self._after = 0  # the first page that neither side has taken, and the one after the last
        self._left = 0  # edges of these pages
        self._took: dict[str, float | None] = dict.fromkeys((GPU, BOTH))  # seconds of the last iteration
        self._loaded = False  # whether the GPU has processed a page
        self._begun = 0.0
        self._since = dict.fromkeys((CPU, GPU), 0.0)
        self._seconds = dict.fromkeys((CPU, GPU), 0.0)
        self._done = dict.fromkeys((CPU, GPU), 0.0)  # edges

    @property
    def policy(self) -> dict[str, float]:
        """Measurements of both sides so far, as in `RunState.policy`: time and edges, of any pages."""
        return {
            f"{side} {what}": float(of[side])
            for what, of in (("seconds", self._seconds), ("edges", self._done))
            for side in (CPU, GPU)
        }

    def resume(self, policy: Mapping[str, float]) -> None:
        """Continue from what a run measured before its checkpoint, if it did."""
        if self.policy.keys() <= policy.keys() and min(policy[name] for name in self.policy) >= 0:
            self._seconds = {side: policy[f"{side} seconds"] for side in (CPU, GPU)}
            self._done = {side: policy[f"{side} edges"] for side in (CPU, GPU)}

    def seconds(self, side: str, n_edges: int | None = None) -> float | None:
        """Return the side's time for `n_edges`, by default all; None before a page of it has been timed."""
        if not self._done[side]:
            return None
        return (sum(self._edges) if n_edges is None else n_edges) * self._seconds[side] / self._done[side]

    def alpha(self, active_share: float) -> float | None:
        """Return the ratio of CPU to GPU time if `active_share` of the edges leave active vertices."""
        pull, gpu = self.seconds(CPU), self.seconds(GPU)
        if pull is None or not gpu:
            return None
        return min(2 * active_share * self._penalty, 1.0) * pull / gpu

    def alone(self, active_share: float) -> bool:
        """Return whether the CPU processes the next iteration without the GPU."""
        alpha = self.alpha(active_share)
        return alpha is not None and alpha <= 1

    def shares(self) -> bool:
        """Return whether the CPU takes part in the next iteration over all edges."""
        alone, both = self._took[GPU], self._took[BOTH]
        return alone is not None and self._pays() and (both is None or both < alone)

    def _pays(self) -> bool:
        """Return whether the CPU can save enough of the GPU's time, as far as both are known."""
        pull, gpu = self.seconds(CPU), self.seconds(GPU)
        return pull is None or gpu is None or gpu >= LEAST_GAIN * (pull + gpu)

    def begin(self) -> None:
        """Begin an iteration over all edges."""
        with self._lock:
            self._next, self._after, self._left = 0, len(self._edges), sum(self._edges)
            self._begun = self._clock()
            self._since = dict.fromkeys((CPU, GPU), self._begun)

    def end(self, sides: str) -> None:
        """Record the time of the iteration: of `GPU`, which has taken no pages one by one, or of `BOTH`."""
        seconds = self._clock() - self._begun
        if sides == GPU and not self._loaded:
            self._loaded = True
            return
        self._took[sides] = seconds
        if sides == GPU:
            self._seconds[GPU] += seconds
            self._done[GPU] += sum(self._edges)

    def take(self, side: str) -> int | None:
        """Return the next page for an idle side, or None if there is none for it."""
        with self._lock:
            if self._next == self._after or (side == CPU and self._too_late()):
                return None
            if side == CPU:
                self._after -= 1
                page = self._after
            else:
                page = self._next
                self._next += 1
            self._left -= self._edges[page]
            return page

    def _too_late(self) -> bool:
        """Return whether the GPU would finish everything left before the CPU finishes its next page."""
        pull, gpu = self.seconds(CPU, self._edges[self._after - 1]), self.seconds(GPU, self._left)
        return not self._pays() or (pull is not None and gpu is not None and pull > gpu)

    def done(self, side: str, page: int) -> None:
        """Record that the side has processed a page."""
        with self._lock:
            now = self._clock()
            if side == CPU or self._loaded:
                self._seconds[side] += now - self._since[side]
                self._done[side] += self._edges[page]
            self._loaded |= side == GPU
            self._since[side] = now
