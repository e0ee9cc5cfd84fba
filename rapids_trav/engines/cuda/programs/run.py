"""Vertex programs on the GPU: gather, apply and scatter, iteration by iteration.

L. Ma et al., "Garaph: Efficient GPU-accelerated Graph Processing on a Single Machine with Balanced
Replication", USENIX ATC 2017.

1. The program's functions are compiled into the kernels (`link.py`).
2. In each iteration either all vertices gather (pull), or only the out-neighbours of active vertices gather
   (notify), or active vertices send out their values (push).  The share of the edges that lead out of active
   vertices decides.
3. By one small read the host learns how many vertices are active, and how much the values changed.

Minima, maxima and integers are exact, and every step gives the same results as the CPU.  A float sum is
reduced in a fixed order for each vertex, the same in every run, except with gather="replicas"
(`shard_gather.py`), whose atomic additions have no fixed order; `total` and the residual are summed in no
fixed order either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.state import ProgramState
from rapids_trav.engines.iterations import RunProgress
from rapids_trav.engines.runs import Moved, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState, gather_mode

# A pushed edge costs as much as this many gathered ones: it is an atomic operation at a random address.
PUSH_COST = 8
VERTICES = "the vertices of a program"  # in messages about memory


def choose_mode(
    asked: str, program: Program, may_push: bool, scout: int, n_edges: int, penalty: int | None = None
) -> str:
    """Choose the mode of the next iteration; `scout` of the edges lead out of active vertices.

    `penalty` is the cost of reading scattered edges; None if they are in memory.
    """
    if asked == "pull" or not program.may_notify:
        return "pull"
    if asked == "push" and may_push:
        return "push"
    if asked in ("notify", "push"):
        return "notify"
    if may_push:
        return "push" if PUSH_COST * scout <= n_edges else "pull"
    return gather_mode(scout, n_edges) if penalty is None else gather_mode(scout, n_edges, True, penalty)


class DeviceExecutor:
    """What all executors on a GPU have in common; see `engines.iterations.Executor`.

    A subclass runs an iteration in `pull`, `notify` or `push`, over edges that are resident or streamed.
    """

    state: ProgramState
    moved = Moved()  # transfers of the last iteration to the device
    may_push = False  # whether active vertices can send out their values
    penalty: int | None = None  # cost of reading scattered edges; None if the edges are in memory
    shards: Any = None  # of `published.garaph.shard_gather`, which gather in pull mode instead of row lists

    def __init__(self, program: Program, start: RunState, options: RunOptions) -> None:
        self._program, self._mode = program, options.mode
        self.residual, self.used_total = start.residual, start.total

    @property
    def values(self) -> Array:
        return self.state.values

    @property
    def n_active(self) -> int:
        return self.state.n_active

    @property
    def counters(self) -> dict[str, int]:
        """Counts of mechanisms, if a trace was asked for; see `Run.counters`."""
        return {} if self.shards is None else self.shards.counters

    @property
    def policy(self) -> Mapping[str, float]:
        return {}

    def step(self, progress: RunProgress) -> None:
        """Choose the mode of an iteration, run and record it."""
        before, active = self.state.tally, self.state.n_active
        mode = choose_mode(
            self._mode, self._program, self.may_push, before.scout, self.state.n_edges, self.penalty
        )
        mode = self.sweep(mode)
        tally, self.used_total = self.state.tally, before.total
        if self._program.tolerance is not None:
            self.residual = tally.residual
        progress.record(mode, active, tally.edges, self.residual, self.moved)

    def sweep(self, mode: str) -> str:
        """Run an iteration, by the method of this name, and return the mode that it used."""
        getattr(self, mode)()
        return mode

    def settle(self) -> Array:
        return self.state.active
