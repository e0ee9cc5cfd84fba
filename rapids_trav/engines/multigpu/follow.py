"""Sweeps, the directions in which a rank follows its edges, and the claiming of vertices along them.

A forward sweep expands down the columns of the grid and folds along the rows; a backward sweep swaps rows and
columns, on the same edges.  Vertices are claimed by bitmap or by sorting, top-down or bottom-up.

S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012; for grids of ranks
S. Beamer, A. Buluc, K. Asanovic, D. Patterson, "Distributed Memory Breadth-First Search Revisited", 2013.

A top-down step follows the edges of the frontier.  A bottom-up step looks, from each vertex that is not
claimed, for one edge from the frontier.  Both claim the same vertices and lead to the same messages, so each
rank chooses a direction for each level by itself, from its own edges.  (In the paper the ranks choose
together, and pass the vertices that they find along their row, so that other ranks need not look for them.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rapids_trav.engines.multigpu.grid import WORD
from rapids_trav.engines.multigpu.local_work import MASK, SHIFT, Array, Compressed, Frontier, LocalWork, Reach
from rapids_trav.engines.multigpu.partition import Part

ALPHA = 14  # pull if ALPHA times the frontier's edges exceed those not followed yet; Beamer's value


@dataclass(frozen=True)
class Sweep:
    """One direction in which a rank follows its edges."""

    edges: Compressed  # grouped by the end that the search comes from
    reverse: Compressed | None  # grouped by the other end, for pulling; None if that is not asked for
    expand_group: tuple[int, ...]  # ranks that share the vertices "from"
    fold_group: tuple[int, ...]  # ranks that own the vertices "to", block by block
    reach: Reach
    backwards: bool
    base: int  # finder number of the first rank of the fold group; the other ranks follow


def sweeps(part: Part, direction: str, predecessors: bool, bottom_up: bool) -> list[Sweep]:
    """Return the sweeps that this rank makes in each level of a search."""
    row, column = part.grid.place(part.rank)
    along_column, along_row = part.grid.ranks_of_column(column), part.grid.ranks_of_row(row)
    if not part.directed:
        direction = "out"  # every edge is stored in both directions
    found = []
    base = 0
    for backwards in {"out": [False], "in": [True], "both": [False, True]}[direction]:
        expand, fold = (along_row, along_column) if backwards else (along_column, along_row)
        edges = part.by_destination if backwards else part.by_source
        reverse = None
        if bottom_up:
            reverse = part.by_source if backwards else part.by_destination
        reach = _reach(part, len(fold) * part.grid.block, predecessors)
        found.append(Sweep(edges, reverse, expand, fold, reach, backwards, base))
        base += len(fold)
    return found


def _reach(part: Part, n_to: int, predecessors: bool) -> Reach:
    xp = part.work.xp
    predecessor = xp.full(n_to, -1, np.int32) if predecessors else None
    return Reach(xp.zeros(n_to // WORD, np.uint32), predecessor, xp.empty(n_to, np.int32))


def origin(part: Part, sweep: Sweep, finder: int, local: Array) -> Array:
    """Return the global ids of vertices "from", given their local ids on the rank `finder`."""
    row, column = part.grid.place(finder)
    return part.grid.destination(row, local) if sweep.backwards else part.grid.source(column, local)


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


def expand_sorted(
    work: LocalWork, edges: Compressed, frontier: Frontier, reach: Reach, block: int, n_blocks: int
) -> list[Array]:
    """Work as `LocalWork.expand`, but claim by sorting, without atomics: the baseline (docs/systems.md, K7).

    D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012, describes filtering by
    sort and scan primitives; Bisson et al. measured their atomics against it.  Every edge of the frontier
    gives a candidate: sort them, remove duplicates and those that are claimed already, and claim the rest.
    Of several predecessors the one with the smallest local id is kept.
    """
    xp = work.xp
    keys = work.candidates(edges, frontier)
    if len(keys):
        keys.sort()
    to = keys >> SHIFT
    fresh = xp.ones(len(keys), bool)
    fresh[1:] = to[1:] != to[:-1]
    fresh &= (reach.claimed[to >> 5] >> (to & 31).astype(xp.uint32)) & xp.uint32(1) == 0
    to = to[fresh].astype(xp.int32)
    if reach.predecessor is not None:
        reach.predecessor[to] = (keys[fresh] & MASK).astype(xp.int32)
    reach.claimed[:] |= work.to_words(to, len(reach.claimed))
    bounds = xp.searchsorted(to, xp.arange(n_blocks + 1, dtype=xp.int64) * block).tolist()
    return [to[bounds[m] : bounds[m + 1]] - m * block for m in range(n_blocks)]
