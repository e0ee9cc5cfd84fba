"""Filters by several columns of one graph, used in turn and repeatedly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from rank_cases import same, spread


@pytest.mark.parametrize("directed", [False, True])
def test_each_answers_by_its_own_column(directed):
    rng = np.random.default_rng(6)
    edges = pd.DataFrame(rng.integers(0, 60, (150, 2)), columns=["src", "dst"])
    edges["open"], edges["paved"] = (rng.random(150) < share for share in (0.7, 0.4))
    graph = spread(edges, (2, 2), directed=directed)
    source = int(edges["src"].iloc[0])
    for where in ("open", "paved", None, "paved", "open"):
        asked = {"where": where, "deterministic": True}
        same(graph.frame("bfs", source, **asked), graph.local.bfs(source, **asked))
