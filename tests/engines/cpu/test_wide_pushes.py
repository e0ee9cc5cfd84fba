"""Levels that several threads push together: vertices are claimed and queued once, the trace is right."""

import numpy as np
import pytest
from test_cpu_engine import assert_tree, view_of

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.bfs import direction_optimizing
from rapids_trav.engines.cpu.bfs.steps import push
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.jit import kernels

HUBS, EACH, FAR = 4200, 5, 300_000


def broad():
    """Return a root, vertices around it, and more around each of these, one of which the next one shares.

    A path that no search reaches has so many edges that no level is pulled.
    """
    hubs = np.arange(1, HUBS + 1)
    leaves = 1 + HUBS + np.arange(HUBS * EACH)
    n = 1 + HUBS * (EACH + 1)
    far = np.arange(n, n + FAR)
    edges = [
        np.stack([np.zeros(HUBS, int), hubs], 1),
        np.stack([np.repeat(hubs, EACH), leaves], 1),
        np.stack([hubs, leaves[EACH * hubs % len(leaves)]], 1),
        np.stack([far[:-1], far[1:]], 1),
    ]
    return view_of(np.concatenate(edges), int(far[-1]) + 1)


@pytest.mark.parametrize("threads", [2, 5])
def test_a_wide_level_is_shared_and_claimed_once(monkeypatch, threads):
    view = broad()
    shared = []

    class Spied(kernels.Threads):
        def run(self, kernel, n, *arguments, **options):
            *_, queue, tail = arguments
            before = int(tail[0])
            counts = super().run(kernel, n, *arguments, **options)
            queued = queue[before : int(tail[0])]
            assert kernel is push and len(np.unique(queued)) == len(queued)
            shared.append(n)
            return counts

    monkeypatch.setattr(direction_optimizing, "Threads", lambda: Spied(threads))
    found = CpuEngine().search(view, np.array([0]), BfsOptions(trace=True))
    assert shared[:1] == [HUBS]
    assert np.bincount(found.distance + 1).tolist() == [FAR, 1, HUBS, HUBS * EACH]
    assert_tree(view, [0], found)
    degree = np.diff(view.out.row_offsets)
    assert [row.direction for row in found.trace] == ["push"] * len(found.trace)
    for row in found.trace:
        frontier = found.distance == row.level - 1
        assert (row.frontier, row.edges) == (frontier.sum(), degree[frontier].sum())
