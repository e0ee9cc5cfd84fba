"""Errors in a published sketch of this search, each of which would go unnoticed on one rank.

The sketch exchanges along the wrong axis of the grid, gathers a part of the column into the buffer that it
sends from, follows every edge instead of the frontier's edges, and never clears what it received.  Here a
communicator records what passes through it.
"""

from __future__ import annotations

from collections import Counter

import grid_graphs as graphs
import numpy as np
import pytest
from grid_graphs import searched

from rapids_trav.engines.multigpu.communicator import NO_NOTE
from rapids_trav.engines.multigpu.grid import Grid

GRAPH = graphs.random_graph(6, 900, 3000, directed=True)
SOURCE = int(GRAPH.src[0])


class Recorder:
    """Communicator that records what a search gathers at each level and exchanges, not the build."""

    def __init__(self, communicator):
        self._inner = communicator
        self.level = -1
        self.gathered: dict = {}
        self.exchanged: list = []

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def meet(self, values, note=NO_NOTE):
        self.level += len(note.partners) > 0
        return self._inner.meet(values, note)

    def all_gather(self, group, array, known=None):
        received = self._inner.all_gather(group, array, known)
        self.gathered[self.level] = (group, array.copy(), received)
        return received

    def exchange(self, group, arrays, known=None):
        received = self._inner.exchange(group, arrays, known)
        if len(group) < self.size:
            self.exchanged.append((group, [array.copy() for array in received]))
        return received


def recorded(shape, direction):
    recorders = {}

    def on_rank(communicator):
        return recorders.setdefault(communicator.rank, Recorder(communicator))

    answer = searched(
        GRAPH,
        shape,
        [SOURCE],
        on_rank=on_rank,
        direction=direction,
        exchange="list",
        predecessors=False,
        inline=0,
    )
    return answer, recorders


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("direction", ["out", "in"])
def test_axes_buffers_and_receipts(shape, direction):
    answer, recorders = recorded(shape, direction)
    grid = answer.grid
    wanted = GRAPH.distance([SOURCE], direction)
    assert np.array_equal(answer.distance, wanted)
    for rank, recorder in recorders.items():
        row, column = grid.place(rank)
        axes = [grid.ranks_of_column(column), grid.ranks_of_row(row)]
        expand, fold = axes if direction == "out" else axes[::-1]
        assert len(recorder.exchanged) == wanted.max() + 1

        members = np.concatenate([grid.owned(owner) for owner in expand])
        assert sorted(recorder.gathered) == np.unique(wanted[members][wanted[members] >= 0]).tolist()
        for level, (group, own, received) in recorder.gathered.items():
            assert group == expand  # all of the column, including this rank
            for owner, offsets in zip(group, received, strict=True):
                members = np.array(grid.owned(owner))
                assert sorted(members[offsets]) == members[wanted[members] == level].tolist()
            mine = received[group.index(rank)]
            assert np.array_equal(own, mine)  # the sent array is unchanged

        told: Counter = Counter()
        for group, received in recorder.exchanged:
            assert group == fold
            for finder, offsets in zip(group, received, strict=True):
                told.update((finder, offset) for offset in offsets.tolist())
        assert max(told.values(), default=1) == 1  # a finder reports a vertex once, in one level


def test_a_transposed_exchange_is_seen(monkeypatch):
    """With expand along the rows and fold along the columns, as in the sketch, vertices are lost."""

    class Transposed(Grid):
        """Square grid whose ranks use the wrong axis."""

        def ranks_of_column(self, column):
            return super().ranks_of_row(column)

        def ranks_of_row(self, row):
            return super().ranks_of_column(row)

        def place(self, rank):
            return super().place(rank)[::-1] if isinstance(rank, int) else super().place(rank)

    monkeypatch.setattr(graphs, "Grid", Transposed)
    answer = searched(GRAPH, (2, 2), [SOURCE], predecessors=False)
    assert np.count_nonzero(answer.distance >= 0) < np.count_nonzero(GRAPH.distance([SOURCE]) >= 0)
