"""The expansion uses one thread per edge of the frontier, by an exclusive sum of the degrees (K5).

The tests check the launches that a GPU would be given, with NumPy arrays in place of CuPy's.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.multigpu.local_work import Compressed, Reach

pytest.importorskip("cupy")
from rapids_trav.engines.multigpu import local_cuda

DEGREES = np.array([0, 1000, 1, 0, 7, 1])


@pytest.fixture
def kernels(monkeypatch):
    """Return kernels that only record their thread counts, and their arguments by parameter name."""
    parameters = {
        name: [parameter.split()[-1].lstrip("*") for parameter in listed.split(",")]
        for name, listed in re.findall(
            r"__global__ void (\w+)\((.*?)\)", loader.source("bfs_2d.cu"), re.DOTALL
        )
    }

    class Kernels:
        def __init__(self):
            self.made = []

        def launch(self, name, n_threads, *arguments):
            given = dict(zip(parameters[name], arguments, strict=True))
            self.made.append((name, n_threads, given))
            if name == "frontier_degrees":
                given["degrees"][:] = np.append(0, np.diff(given["offsets"])[given["frontier"]])

    monkeypatch.setattr(local_cuda, "cupy", np)
    return Kernels()


@pytest.mark.parametrize("frontier", [[1], [0, 1, 3, 2, 4], [5, 3, 0], [0, 3], []])
def test_a_thread_for_each_edge_of_the_frontier(kernels, frontier):
    """A hub gets as many threads as it has edges; vertices without edges get none."""
    offsets = np.append(0, np.cumsum(DEGREES)).astype(np.int32)
    edges = Compressed(offsets, np.zeros(offsets[-1], np.int32))
    frontier = np.array(frontier, np.int32)
    n_edges = int(DEGREES[frontier].sum())
    work = local_cuda.CudaWork(kernels=lambda edge_bits: kernels)
    reach = Reach(np.zeros(2, np.uint32), None, np.zeros(64, np.int32))
    counted = work.frontier(edges, frontier)
    assert counted.n_edges == n_edges
    work.expand(edges, counted, reach, 32, 2)
    assert len(work.candidates(edges, counted)) == n_edges
    assert [(name, n_threads) for name, n_threads, _ in kernels.made] == [
        ("frontier_degrees", len(frontier) + 1),
        ("expand_claim", n_edges),
        ("expand_keys", n_edges),
    ]
    for _, _, arguments in kernels.made[1:]:
        before = np.append(0, np.cumsum(DEGREES[frontier]))
        assert arguments["scanned"][: len(frontier)].tolist() == before[:-1].tolist()
        assert (arguments["frontier_size"], arguments["total"]) == (len(frontier), n_edges)
