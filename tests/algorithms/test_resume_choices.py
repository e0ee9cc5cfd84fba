"""A checkpoint is valid for its sources and weights only, and is written as often as requested."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Program, TravError
from rapids_trav.programs import checkpoint, shipped

N = 60
EDGES = pd.DataFrame({"src": np.arange(N - 1), "dst": np.arange(1, N), "w": np.ones(N - 1, int)})
HOPS = Program("hops", "int64", "min", gather=lambda message, weight: message + weight)


def test_other_sources_or_weights_are_refused(tmp_path):
    initial = np.full(N, np.iinfo(np.int64).max)
    initial[:2] = 0
    options = {"initial": initial, "weighted": True, "checkpoint": tmp_path, "max_iterations": 5}
    EDGES.trav.graph(weight="w").run(HOPS, sources=[0, 1], checkpoint_every=1, **options)
    with pytest.raises(TravError, match="is of another choice of sources"):
        EDGES.trav.graph(weight="w").run(HOPS, sources=[0, 1, 2], resume=True, **options)
    heavier = EDGES.assign(w=[*EDGES["w"][:-1], 2])
    with pytest.raises(TravError, match="is of another choice of weights"):
        heavier.trav.graph(weight="w").run(HOPS, sources=[0, 1], resume=True, **options)


@pytest.mark.parametrize(("every", "written"), [(1, [1, 2, 3, 4, 5, 6, 7]), (3, [3, 6, 7]), (8, [7])])
def test_checkpoints_come_every_few_iterations_and_at_the_end(tmp_path, monkeypatch, every, written):
    seen = []
    monkeypatch.setattr(checkpoint.Writer, "write", lambda self, state: seen.append(state.iteration))
    graph = EDGES.trav.graph()
    options = {"checkpoint": tmp_path, "checkpoint_every": every, "max_iterations": 7}
    graph.run(shipped.breadth_first(), initial={0: 0}, **options)
    assert seen == written
