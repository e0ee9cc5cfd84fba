"""Claiming of the vertices that a frontier leads to: by bitmap or by sorting, top-down or bottom-up.

S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012; for grids of ranks
S. Beamer, A. Buluc, K. Asanovic, D. Patterson, "Distributed Memory Breadth-First Search Revisited", 2013.

A top-down step follows the edges of the frontier.  A bottom-up step looks, from each vertex that is not
claimed, for one edge from the frontier.  Both claim the same vertices and lead to the same messages, so each
rank chooses a direction for each level by itself, from its own edges.  (In the paper the ranks choose
together, and pass the vertices that they find along their row, so that other ranks need not look for them.)
"""

from __future__ import annotations

from rapids_trav.engines.multigpu.grid import WORD
from rapids_trav.engines.multigpu.local_work import Array, LocalWork
from rapids_trav.engines.multigpu.sort_unique import expand_sorted
from rapids_trav.engines.multigpu.sweeps import Sweep

ALPHA = 14  # pull if ALPHA times the frontier's edges exceed those not followed yet; Beamer's value


class Follower:
    """Traversal of the edges of one sweep on one rank, level after level; `claim` is "atomics" or "sort"."""

    def __init__(self, work: LocalWork, sweep: Sweep, block: int, claim: str) -> None:
        self.sweep = sweep
        self._work = work
        self._block = block
        self._claim = claim
        self._left = len(sweep.edges.targets)

    def __call__(self, vertices: Array) -> tuple[list[Array], int, str]:
        """Claim the vertices that a frontier of these vertices leads to.

        Returns for each block of the vertices "to" the offsets of the claimed ones; the number of edges
        examined; and "push" or "pull".
        """
        sweep, work, block, n_blocks = self.sweep, self._work, self._block, len(self.sweep.fold_group)
        frontier = work.frontier(sweep.edges, vertices)
        n_edges = frontier.n_edges
        if self._claim == "sort":
            return expand_sorted(work, sweep.edges, frontier, sweep.reach, block, n_blocks), n_edges, "push"
        self._left -= n_edges
        if sweep.reverse is None or ALPHA * n_edges <= self._left:
            return work.expand(sweep.edges, frontier, sweep.reach, block, n_blocks), n_edges, "push"
        words = work.to_words(vertices, len(sweep.expand_group) * block // WORD)
        return *work.pull(sweep.reverse, words, sweep.reach, block, n_blocks), "pull"
