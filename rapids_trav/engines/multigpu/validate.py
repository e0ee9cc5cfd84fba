"""Validation of a breadth-first tree that is distributed over many ranks, by the five rules of Graph500.

`rapids_trav.graph500.validation` lists the rules, and assigns faults to them in the same way on one machine.

Of the search's results the validation uses only the parents, and of its structures only the placement of the
vertices: each rank brings any part of the input edges, and asks the owners of their ends.

The validation has two steps:

1. Levels are derived by pointer doubling (J. Wyllie, "The Complexity of Parallel Computations", 1979): each
   vertex knows an ancestor and the distance to it, and in each round asks that ancestor for its own ancestor
   and distance.  A tree of depth d takes log2(d) + 1 rounds; a vertex that is n steps or more from an
   ancestor is on a cycle or leads to one.
2. In rounds of bounded size each rank asks for parents and levels of both ends of its edges (rules 3 and 4),
   and notifies the owner of a vertex whose parent is the other end (rule 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

import numpy as np

from rapids_trav.engines.multigpu.communicator import Communicator, aborting
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_work import Array
from rapids_trav.engines.multigpu.lookup import ask, send_to_owners
from rapids_trav.engines.multigpu.partition import blocks
from rapids_trav.engines.searches import Verdict
from rapids_trav.errors import TravError

NONE = -1  # no parent, or no ancestor that leads to the root
OUTSIDE, ADRIFT = -1, -2  # levels of vertices without a parent, and of those that lead to no root
ROUND_EDGES = 1 << 20


def parents(grid: Grid, rank: int, predecessor: Array, root: int) -> Array:
    """Return the parents of this rank's vertices as Graph500 defines them: the root is its own parent."""
    parent = predecessor.copy()
    if root in grid.owned(rank):
        parent[root - grid.owned(rank).start] = root
    return parent


def validate(
    communicator: Communicator,
    grid: Grid,
    root: int,
    parent: Array,
    chunks: Iterable[tuple[Array, Array]],
    *,
    xp: ModuleType = np,
    level: Array | None = None,
    round_edges: int = ROUND_EDGES,
) -> Verdict:
    """Check a tree against the edges it was searched in; every rank calls it and gets the same answer.

    Parameters
    ----------
    parent : int array
        Parents of the vertices that this rank owns, global ids: the root for the root, and -1 outside the
        tree.
    chunks : iterable of (source, destination)
        This rank's part of the undirected input edges.
    level : int array, optional
        The levels that the search gave the vertices of this rank, -1 outside the tree.
    round_edges : int
        Edges that a rank asks for at once.

    Raises a `TravError` if the root or an end of an edge is not a vertex.
    """
    if not 0 <= root < grid.n_vertices:
        raise TravError(f"root={root} is not a vertex: give one from 0 to {grid.n_vertices - 1}.")
    with aborting(communicator, "validating"):
        tree = _Tree(communicator, grid, root, xp, parent, level)
        rule_1, rule_2, levels = tree.check_vertices()
        rule_3, rule_4, strange = tree.check_edges(chunks, round_edges)
        *counts, strange = communicator.sum(
            [rule_1, rule_2, rule_3, rule_4, tree.unjoined(), levels, strange]
        )
    if strange:
        raise TravError(
            f"{strange} edges have an end that is not a vertex: ids must be 0 to {grid.n_vertices - 1}."
        )
    return Verdict(*counts)


class _Tree:
    """One rank's part of the tree: parents, levels derived from them, and the parents met along edges."""

    def __init__(
        self,
        communicator: Communicator,
        grid: Grid,
        root: int,
        xp: ModuleType,
        parent: Array,
        given: Array | None,
    ) -> None:
        own = grid.owned(communicator.rank)
        self._communicator = communicator
        self._grid = grid
        self._xp = xp
        self._root = root
        self._vertex = xp.arange(own.start, own.stop, dtype=np.int64)
        self._parent = parent.astype(np.int64)
        self._inside = (self._parent >= 0) & (self._parent < grid.n_vertices)
        self._given = None if given is None else given.astype(np.int64)
        self._level = self._derived_levels()
        self._joined = xp.zeros(len(own), bool)

    def _ask(self, vertices: Array, *columns: Array) -> list[Array]:
        return ask(self._communicator, self._grid, self._xp, vertices, columns)

    def _derived_levels(self) -> Array:
        is_root = self._vertex == self._root
        ancestor = self._xp.where(is_root, self._root, self._xp.where(self._inside, self._parent, NONE))
        distance = (self._inside & ~is_root).astype(np.int64)
        while True:
            moving = self._xp.flatnonzero((ancestor != NONE) & (ancestor != self._root))
            if self._communicator.sum([len(moving)]) == [0]:
                break
            above, further = self._ask(ancestor[moving], ancestor, distance)
            further += distance[moving]
            lost = (above == NONE) | (further >= self._grid.n_vertices)
            ancestor[moving] = self._xp.where(lost, NONE, above)
            distance[moving] = self._xp.where(lost, 0, further)
        distance[ancestor != self._root] = ADRIFT
        distance[(ancestor != self._root) & (self._parent == NONE)] = OUTSIDE
        return distance

    def check_vertices(self) -> tuple[int, int, int]:
        """Return the number of faults of rules 1 and 2, and of given levels that are not depths."""
        is_root = self._vertex == self._root
        wrong = self._xp.where(is_root, self._parent != self._root, self._level == ADRIFT)
        if self._given is None:
            return int(wrong.sum()), 0, 0
        below = self._xp.flatnonzero(self._level > 0)
        (above,) = self._ask(self._parent[below], self._given)
        uneven = self._given[below] - above != 1
        misplaced = (self._level != ADRIFT) & (self._given != self._level)
        return int(wrong.sum()), int(uneven.sum()), int(misplaced.sum())

    def check_edges(self, chunks: Iterable[tuple[Array, Array]], round_edges: int) -> tuple[int, int, int]:
        """Return the number of faults of rules 3 and 4, and of this rank's edges with an end out of range."""
        counts = [0, 0, 0]
        rounds = blocks(chunks, round_edges)
        none = self._xp.empty(0, np.int64)
        known_parent = self._xp.where(self._inside, self._parent, NONE)
        while True:
            block = next(rounds, None)
            if self._communicator.sum([block is not None]) == [0]:
                return counts[0], counts[1], counts[2]
            u, v = block or (none, none)
            n = self._grid.n_vertices
            sane = (u >= 0) & (u < n) & (v >= 0) & (v < n)
            counts[2] += len(u) - int(sane.sum())
            u, v = u[sane].astype(np.int64), v[sane].astype(np.int64)
            ends = self._xp.concatenate([u, v])
            parent, level = self._ask(ends, known_parent, self._level)
            others = self._xp.concatenate([v, u])
            joined = send_to_owners(self._communicator, self._grid, self._xp, ends[parent == others])
            self._joined[joined] = True
            u_level, v_level = level[: len(u)], level[len(u) :]
            leaving = (u_level == OUTSIDE) != (v_level == OUTSIDE)
            placed = (u_level >= 0) & (v_level >= 0)
            counts[0] += int((placed & (abs(u_level - v_level) > 1)).sum())
            counts[1] += int(leaving.sum())

    def unjoined(self) -> int:
        """Return the number of vertices that no input edge joins to their parent (rule 5)."""
        return int((self._inside & (self._vertex != self._root) & ~self._joined).sum())
