"""The distributed validator: each rule is broken once, and counts equal those of the one for one machine."""

from __future__ import annotations

from dataclasses import fields

import grid_graphs as graphs
import numpy as np
import pytest
from graph500_trees import DST, LEVEL, MUTATIONS, PARENT, ROOT, SRC, garbage, lasso, mutated, plainly
from grid_graphs import GRIDS
from loopback import run_ranks

from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.partition import build
from rapids_trav.engines.multigpu.search2d import search
from rapids_trav.engines.multigpu.validate import parents, validate
from rapids_trav.engines.searches import Verdict
from rapids_trav.errors import TravError
from rapids_trav.graph500 import validation


class Spread(Grid):
    """Grid whose blocks are short enough that a tree of nine vertices lies on many ranks."""

    @property
    def block(self):
        return max(1, -(-self.n_vertices // self.size))


def judged(shape, parent, root, src, dst, level=None, grid=Spread, **options) -> Verdict:
    places = grid(*shape, len(parent))

    def rank(communicator):
        own = places.owned(communicator.rank)
        mine = slice(communicator.rank, None, communicator.size)
        return validate(
            communicator,
            places,
            root,
            parent[own.start : own.stop],
            [(src[mine], dst[mine])],
            level=None if level is None else level[own.start : own.stop],
            **options,
        )

    verdicts = run_ranks(places.size, rank, deadline=30)
    assert len(set(verdicts)) == 1  # every rank has the same sum
    return verdicts[0]


@pytest.mark.parametrize("shape", GRIDS)
def test_a_tree_is_valid(shape):
    assert judged(shape, PARENT, ROOT, SRC, DST, LEVEL).valid
    assert judged(shape, PARENT, ROOT, SRC, DST) == Verdict()


@pytest.mark.parametrize("shape", [(3, 2), (1, 4)])
@pytest.mark.parametrize("name", MUTATIONS)
def test_each_rule_broken_once(name, shape):
    parent, level, wanted = mutated(name)
    assert judged(shape, parent, ROOT, SRC, DST, level).broken == wanted


def test_every_rule_is_among_the_mutations():
    named = set().union(*(faults for _, _, faults in MUTATIONS.values()))
    assert named == {field.name for field in fields(Verdict)}


@pytest.mark.parametrize("seed", range(60))
def test_garbage_gets_the_verdict_of_one_machine(seed):
    parent, root, src, dst, level = garbage(seed)
    alone = validation.validate(parent, root, src, dst, level)
    shape = [*GRIDS, (1, 1), (2, 5)][seed % 6]
    found = judged(shape, parent, root, src, dst, level, round_edges=1 + seed % 7).broken
    assert found == alone.broken == plainly(parent, root, src, dst, level)


def test_a_long_cycle_is_found():
    parent, src, dst = lasso(1000)
    faults = judged((2, 2), parent, 0, src, dst)
    assert faults.broken == validation.validate(parent, 0, src, dst).broken
    assert faults.rule_1 == 999


@pytest.mark.parametrize("shape", GRIDS)
def test_what_the_search_finds_is_valid(shape):
    graph = graphs.rmat(9)
    root = int(graph.src[0])
    grid = Grid(*shape, graph.n)

    def rank(communicator):
        mine = slice(communicator.rank, None, communicator.size)
        edges = [(graph.src[mine], graph.dst[mine])]
        part = build(communicator, grid, edges, CpuWork())
        found = search(communicator, part, np.array([root]))
        parent = parents(grid, communicator.rank, found.predecessor, root)
        good = validate(communicator, grid, root, parent, edges, level=found.distance, round_edges=100)
        cut = parent.copy()
        cut[np.flatnonzero(found.distance == found.distance.max())[:1]] = -1
        return good, validate(communicator, grid, root, cut, edges)

    for good, bad in run_ranks(grid.size, rank, deadline=30):
        assert good.valid
        assert bad.rule_4 > 0


def test_wrong_ids_are_refused_on_every_rank():
    with pytest.raises(RankError, match="root=9 is not a vertex: give one from 0 to 8"):
        judged((2, 2), PARENT, 9, SRC, DST)
    strange = DST.copy()
    strange[[1, 4]] = 9, -1
    with pytest.raises(RankError, match="2 edges have an end that is not a vertex: ids must be 0 to 8"):
        judged((2, 2), PARENT, ROOT, SRC, strange)
    assert issubclass(RankError, TravError)


@pytest.mark.gpu
def test_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    for name in MUTATIONS:
        parent, level, wanted = mutated(name)
        arrays = [cupy.asarray(array) for array in (parent, SRC, DST, level)]
        found = judged((3, 2), arrays[0], ROOT, *arrays[1:], xp=cupy)
        assert found.broken == wanted
