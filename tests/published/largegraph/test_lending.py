"""The CPU beside a GPU: offers along the rows of a block, and what was offered before."""

from contextlib import closing

import numpy as np
import pytest

from rapids_trav import Program
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.blocks.cut import cut
from rapids_trav.engines.blocks.schedule import WAITING, WAITING_EDGES, BlockSchedule
from rapids_trav.engines.runs import GatherView
from rapids_trav.programs import shipped
from rapids_trav.programs.definition import n_arguments
from rapids_trav.published.largegraph.lending import Lending

SHIFT = 6
WIDEST = Program("widest", "float64", "max", gather=lambda message, weight: min(message, weight))


def view_of(weighted, n=300, n_edges=3000):
    rng = np.random.default_rng(5)
    source = np.sort(rng.integers(0, n, n_edges))
    offsets = np.append(0, np.bincount(source, minlength=n).cumsum())
    rows = Adjacency(offsets, rng.integers(0, n, n_edges).astype(np.int32))
    weights = rng.random(n_edges) if weighted else None
    return GatherView(rows, rows, weights, np.diff(offsets), out_weights=weights)


def best_along(view, program, block, lent):
    """Return the best value that arrives at each vertex over the edges of a block, and the edges."""
    found, n_edges = np.full(view.n_vertices, program.identity, program.dtype), 0
    better = np.maximum if program.reducer == "max" else np.minimum
    for u, message in lent.items():
        first = max(view.out.row_offsets[u], block << SHIFT)
        end = min(view.out.row_offsets[u + 1], (block + 1) << SHIFT)
        for e in range(first, end):
            v = view.out.column_indices[e]
            weight = 1 if view.out_weights is None else view.out_weights[e]
            arriving = (message, weight)[: 0 if program.gather is None else n_arguments(program.gather)]
            value = program.gather(*arriving) if arriving else message
            found[v] = better(found[v], value)
            n_edges += 1
    return found, n_edges


@pytest.mark.parametrize(
    ("program", "weighted"),
    [
        (shipped.breadth_first(), False),
        (shipped.connected_components(), False),
        (shipped.shortest_paths(), True),
        (WIDEST, True),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_offers_are_the_best_values_that_arrive(program, weighted):
    """Rows that begin or end in other blocks are followed in this one alone; each target is named once."""
    view = view_of(weighted)
    cuts = cut(view.out.row_offsets, SHIFT, 1)
    for block in range(0, cuts.n_blocks, 7):
        with closing(Lending(view, program, SHIFT)) as cpu:
            vertices = np.arange(cuts.firsts[block], cuts.ends[block], dtype=np.int32)
            messages = np.random.default_rng(block).integers(1, 100, len(vertices)).astype(program.dtype)
            wanted, n_edges = best_along(view, program, block, dict(zip(vertices, messages, strict=True)))
            assert cpu.offers() is None and not cpu.is_busy
            cpu.lend(block, vertices, messages)
            targets, offers, edges = cpu.offers(wait=True)
            assert edges == n_edges == min(1 << SHIFT, 3000 - (block << SHIFT))
            assert sorted(targets) == np.flatnonzero(wanted != program.identity).tolist()
            assert np.array_equal(offers, wanted[targets])


def test_only_better_offers_than_before_are_made():
    view, program = view_of(False), shipped.connected_components()
    vertices = np.array([25], np.int32)
    block = int(view.out.row_offsets[25]) >> SHIFT

    with closing(Lending(view, program, SHIFT)) as cpu:

        def offered(value):
            cpu.lend(block, vertices, np.array([value], program.dtype))
            assert cpu.is_busy
            targets, offers, _ = cpu.offers(wait=True)
            assert (offers == value).all()
            return len(targets)

        first = offered(40)
        assert first > 0
        assert offered(40) == offered(41) == 0
        assert offered(39) == first


class Link:
    """Stand-in for a loader: at most two blocks under way, of which some are."""

    most = 2

    def __init__(self, n_coming):
        self.n_coming = n_coming


@pytest.mark.parametrize(
    ("n_coming", "n_wanted", "wanted"), [(0, 2, None), (0, 3, 1), (2, 1, 0), (1, 1, None)]
)
def test_the_block_used_least_is_left_over_by_a_slow_link(n_coming, n_wanted, wanted):
    view, program = view_of(False), shipped.breadth_first()
    schedule = BlockSchedule(cut(view.out.row_offsets, SHIFT, 2), program, Link(n_coming), None, None)
    schedule.counts[:n_wanted, WAITING] = 5
    schedule.counts[:n_wanted, WAITING_EDGES] = 64
    schedule.counts[n_wanted, WAITING], schedule.counts[n_wanted, WAITING_EDGES] = 1, 1  # read in place
    schedule.residency.frequency[:4] = [2, 1, 3, 0]
    assert schedule.left_over() == wanted
