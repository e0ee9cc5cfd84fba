"""Sweeps: directions in which a rank follows its edges, forwards, backwards, or one after the other.

A forward sweep expands down the columns of the grid and folds along the rows; a backward sweep swaps rows and
columns, on the same edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rapids_trav.engines.multigpu.grid import WORD
from rapids_trav.engines.multigpu.local_work import Array, Compressed, Reach
from rapids_trav.engines.multigpu.partition import Part


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
