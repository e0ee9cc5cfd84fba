"""A build and a search compile few functions, and none that handles text.

For `a[:] = b` of two arrays, Numba also compiles the message for unequal shapes: forty functions, which
take seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import numpy as np, pandas as pd, rapids_trav
from numba.core import event
from rapids_trav import generators

edges = generators.rmat(11)
edges["float"], edges["int"] = np.arange(len(edges)) + 0.5, np.arange(len(edges))
with event.install_recorder("numba:compile") as recorder:
    edges.trav.graph().bfs(edges["src"][0])
    for weight in ("float", "int"):
        graph = edges.trav.graph(weight=weight)
        graph.storage.gather_view(weighted=True).weights
for _, told in recorder.buffer:
    if told.is_start:
        print(told.data["dispatcher"].py_func.__qualname__, *told.data["args"], sep=";")
"""


def test_a_build_and_a_search_compile_little(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    compiled = done.stdout.splitlines()
    assert not [line for line in compiled if "unicode" in line]
    sorts = [line for line in compiled if line.startswith("_sort_buckets")]
    assert len(sorts) == 2  # one without weights, and one for the bits of 64-bit weights
