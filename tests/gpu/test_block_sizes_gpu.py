"""The threads of a block of the fused search, which follow from the words that warps get."""

from __future__ import annotations

import numpy as np
import pytest

from rapids_trav.engines.interface import BfsOptions

from .small_graphs import Graph, GraphView, check_tree, random

pytestmark = pytest.mark.gpu

TILE = 8 * 32  # vertices of a tile


@pytest.mark.parametrize(
    ("threads", "n_linked", "wanted"),
    [
        (512, 646_000, 640),  # R-MAT 20: one tile for each warp in place of two for some
        (1024, 2_400_000, 896),  # R-MAT 22: three tiles for most warps either way
        (1024, 8_870_000, 1024),  # R-MAT 24: nine tiles in place of ten
        (512, 4096 * 4096, 512),  # a grid, whose warps have so many tiles that one more is little
        (512, 0, 512),
        (512, 16 * 132 * TILE, 512),
        (512, 16 * 132 * TILE + 1, 640),
        (512, 20 * 132 * TILE + 1, 512),  # two tiles either way
    ],
)
def test_warps_get_equally_many_words(cupy, threads, n_linked, wanted):
    from rapids_trav.engines.cuda.bfs.fused import even_block

    assert even_block(threads, n_linked, 132) == wanted


@pytest.mark.parametrize(("few_edges", "threads", "n_tiles"), [(1 << 30, 640, 1), (0, 896, 2)])
def test_searches_in_blocks_of_other_sizes(cupy, engine, monkeypatch, few_edges, threads, n_tiles):
    from rapids_trav.engines.cuda.bfs import fused
    from rapids_trav.engines.cuda.runtime.loader import multiprocessors

    monkeypatch.setattr(fused, "FEW_EDGES", few_edges)
    monkeypatch.setattr(fused, "SMALL_DEGREE", 0)
    n = multiprocessors(0) * threads // 32 * n_tiles * TILE
    drawn = random(n - 1, 4 * n, symmetric=True, seed=8)
    graph = Graph(n, np.append(drawn.u, n - 1), np.append(drawn.v, 0), symmetric=True)
    view = GraphView(graph, engine)
    launched = []
    launch = fused.FusedSearch.launch

    def counted(search, *given):
        launched.append(search._block_size)
        launch(search, *given)

    monkeypatch.setattr(fused.FusedSearch, "launch", counted)
    for sources in [(0,), (n - 1,), tuple(range(0, n, n // 50))]:
        found = engine.search(view, engine.xp.asarray(sources), BfsOptions(variant="fused"))
        assert np.array_equal(found.distance.get(), graph.distance(sources))
        check_tree(graph, sources, found.distance.get(), found.predecessor.get())
    assert launched == [threads] * 3
