"""Pulled levels: many unvisited vertices are shared among threads, few are looked through by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_cpu_engine import assert_tree, frame_view

from rapids_trav import generators
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.bfs import direction_optimizing
from rapids_trav.engines.cpu.bfs.steps import pull
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.jit import kernels

SCALE, ENGINE = 15, CpuEngine()


@pytest.fixture(scope="module")
def view():
    return frame_view(generators.rmat(SCALE, seed=3), 1 << SCALE)


def searched(monkeypatch, view, policy, shared):
    """Search with four threads; return the search, and the numbers of ranges of its pulled levels."""
    ranges = []

    class Spied(kernels.Threads):
        def run(self, kernel, n, *arguments, **options):
            counts = super().run(kernel, n, *arguments, **options)
            if kernel is pull:
                ranges.append(len(counts))
            return counts

    monkeypatch.setattr(direction_optimizing, "Threads", lambda: Spied(4))
    monkeypatch.setattr(direction_optimizing, "SHARED", shared)
    root = np.flatnonzero(np.diff(view.out.row_offsets))[[5]]
    return root, ENGINE.search(view, root, BfsOptions(policy=policy, trace=True)), ranges


@pytest.mark.parametrize("policy", ["gap", "beamer"])
def test_shared_levels_find_what_single_ones_find(monkeypatch, view, policy):
    root, shared, ranges = searched(monkeypatch, view, policy, -1)
    assert ranges and min(ranges) > 1
    _, single, ranges = searched(monkeypatch, view, policy, 1 << SCALE)
    assert ranges and max(ranges) == 1
    np.testing.assert_array_equal(shared.distance, single.distance)
    assert_tree(view, root, shared)
    assert shared.counters == single.counters
    without_times = [[replace(row, milliseconds=0) for row in found.trace] for found in (shared, single)]
    assert without_times[0] == without_times[1]


def test_levels_are_shared_while_many_vertices_are_unvisited(monkeypatch, view):
    """The vertices that can still be found are counted before the first pulled level, and after each."""
    root, found, _ = searched(monkeypatch, view, "gap", -1)
    distance = ENGINE.search(view, root, BfsOptions("frontier")).distance
    linked = np.diff(view.into.row_offsets) > 0
    left = {level: int((linked & ((distance < 0) | (distance >= level))).sum()) for level in range(1, 20)}
    first = next(row.level for row in found.trace if row.direction == "pull")
    _, _, ranges = searched(monkeypatch, view, "gap", left[first] - 1)
    assert ranges[0] > 1 and set(ranges[1:]) == {1}
    _, _, ranges = searched(monkeypatch, view, "gap", left[first])
    assert set(ranges) == {1}
