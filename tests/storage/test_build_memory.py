"""Builds on the CPU within a memory limit: a hub's rows and large row groups are not in memory at once.

The anonymous memory of a process, which is its own without mapped files, is sampled while a graph is built
within a limit that is far less than the edges take.  The graph has been built before, so that nothing is
compiled or loaded meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from memory_cases import PEAK

from rapids_trav.storage.limited import Limited
from rapids_trav.storage.paged import Paged

MB = 1_000_000
MEASURE = f"""{PEAK}
import ctypes, gc, json
import numpy as np, pandas as pd, pyarrow as pa
from rapids_trav import Graph

def star(n, n_edges):
    random = np.random.default_rng(2)
    src = np.where(random.random(n_edges) < 0.9, 0, random.integers(0, n, n_edges))
    return pd.DataFrame({{"src": src, "dst": random.integers(0, n, n_edges), "w": random.random(n_edges)}})

def in_a_file(path):
    star(50_000, 800_000).to_parquet(path, row_group_size=800_000)
    return path

case, limit, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
edges = {{
    "star": lambda: star(50_000, 6_000_000),
    "star in memory": lambda: star(100, 6_000_000),
    "row group": lambda: in_a_file(path),
}}[case]()
weight = None if case == "star in memory" else "w"
build = lambda: Graph.from_edges(edges, engine="cpu", memory_limit=limit, weight=weight)
build()
gc.collect()
ctypes.CDLL(None).malloc_trim(0)
pa.default_memory_pool().release_unused()
graph, taken = with_peak(build)
print(json.dumps([taken, type(graph.storage).__name__]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("case", "limit", "beside", "storage"),
    [
        ("star", 40 * MB, 0, "Paged"),
        pytest.param("star in memory", 80 * MB, 10 * MB, "Limited", marks=pytest.mark.slow),
        # Arrow holds a page and a dictionary of each column.
        pytest.param("row group", 40 * MB, 20 * MB, "Paged", marks=pytest.mark.slow),
    ],
)
def test_a_build_stays_within_its_limit(case, limit, beside, storage, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, case, str(limit), str(tmp_path / "edges.parquet")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    taken, found = json.loads(done.stdout)
    assert found == storage
    assert 0 < taken <= limit + beside, taken


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("limit", ["300kB", "60MB"])
def test_rows_of_a_hub_are_the_same_within_a_limit(limit, weight):
    random = np.random.default_rng(0)
    src = np.where(random.random(200_000) < 0.9, 0, random.integers(0, 3000, 200_000))
    edges = pd.DataFrame({"src": src, "dst": random.integers(0, 3000, 200_000), "w": random.random(200_000)})
    wanted = edges.trav.graph(weight=weight, engine="cpu").storage.forward(weighted=weight is not None)
    graph = edges.trav.graph(weight=weight, engine="cpu", memory_limit=limit)
    assert isinstance(graph.storage, Limited if limit == "60MB" else Paged)
    found = graph.storage.forward(weighted=weight is not None)
    for one, other in zip(found.parts, wanted.parts, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    if weight is not None:
        np.testing.assert_array_equal(found.weights, wanted.weights)
