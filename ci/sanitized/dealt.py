"""Searches in one launch on each rank, with rows by both ends and by destination alone.

The launches of ranks wait for each other, and a sanitizer may run one after another on a GPU: `run` searches
with one rank, and `run_together` with two, where there are two GPUs.
"""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.engines.multigpu.one_launch.spread import deal_back
from tests.gpu.ranked_graphs import Ranked, ranked
from tests.gpu.small_graphs import GRAPHS, Graph, check_tree, random, star
from tests.kernel_references import deal_back as dealt_back

DEADLINE = 600.0  # seconds; under a sanitizer kernels run slowly
CASES = GRAPHS | {"wide star": star(3000), "swollen": random(9000, 60_000, symmetric=True)}


def check_search(made: Ranked, graph: Graph) -> None:
    for sources in ([0], list(range(0, graph.n, 3))):
        for options in ({}, {"trace": True}, {"predecessors": False}, {"depth_limit": 2}):
            distance, predecessor, _ = made.search(sources, **options)
            wanted = graph.distance(sources)
            if "depth_limit" in options:
                wanted = np.where(wanted > 2, -1, wanted)
            assert np.array_equal(distance, wanted), options
            if predecessor is not None:
                check_tree(graph, sources, distance, predecessor)


def check_rows(graph: Graph) -> None:
    """Check that two ranks hold the same rows in both layouts, and that their answers come together."""
    both, lean = (ranked(cupy, graph, 2, lean=lean) for lean in (False, True))
    for one, other in zip(both.group.ranks, lean.group.ranks, strict=True):
        for name in ("row_offsets", "column_indices", "first_neighbors"):
            assert np.array_equal(getattr(one.rows.into, name).get(), getattr(other.rows.into, name).get())
    shape = 2, both.dealing.each
    generator = np.random.default_rng(3)
    parts = generator.integers(-1, 9, shape, np.int32), generator.integers(-1, shape[1], shape, np.int32)
    whole = cupy.empty((2, graph.n), np.int32)
    own = [list(map(cupy.asarray, part)) for part in parts]
    deal_back(*own, both.dealing, *whole)
    assert np.array_equal(whole.get(), dealt_back(*parts, graph.n))


def run(n_ranks: int = 1) -> None:
    for name, graph in CASES.items():
        print(f"{name}, ranks: {n_ranks}", flush=True)
        for lean in (False, True) if graph.symmetric else (False,):
            how = {"devices": list(range(n_ranks)), "lean": lean, "deadline": DEADLINE}
            check_search(ranked(cupy, graph, n_ranks, **how), graph)
        if graph.symmetric:
            check_rows(graph)


def run_together() -> None:
    if cupy.cuda.runtime.getDeviceCount() < 2:
        print("There is one GPU here, and two ranks need two.", flush=True)
        return
    run(2)
