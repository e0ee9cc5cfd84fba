"""Components by sampling equal those of a plain search, whichever rows are skipped."""

import networkx as nx
import numpy as np
import pytest

from rapids_trav.backends.graphs import from_networkx, structure_of
from rapids_trav.backends.kernels.components import group_members, label_components


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("directed", [False, True])
def test_labels_are_the_smallest_of_each_component(seed, directed):
    graph = nx.gnm_random_graph(2000, 400 * (seed + 1), seed=seed, directed=directed)
    structure = structure_of(from_networkx(graph))
    labels = label_components(*structure.rows, not directed)
    components = nx.weakly_connected_components(graph) if directed else nx.connected_components(graph)
    for component in components:
        assert set(labels[list(component)]) == {min(component)}


def test_members_ascend_in_components_in_the_order_of_their_first():
    members, starts = group_members(np.array([0, 1, 0, 3, 1], np.int32))
    assert members.tolist() == [0, 2, 1, 4, 3] and starts.tolist() == [0, 2, 4, 5]
