"""The path layout of a graph on a GPU, which the host computes."""

import numpy as np
import pytest

from rapids_trav import generators

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("limit", [None, "400kB"])
@pytest.mark.parametrize("relaxed", [0, 8])
def test_it_is_that_of_the_cpu(relaxed, limit):
    pytest.importorskip("cudf")
    edges = generators.grid(64, 64, library="cudf")
    edges["w"] = 1.5
    on_gpu = edges.trav.graph(order="ids", weight="w", memory_limit=limit).path_layout(relaxed)
    on_cpu = edges.to_pandas().trav.graph(weight="w").path_layout(relaxed)
    for name in ("vertices", "starts", "weights"):
        np.testing.assert_array_equal(getattr(on_gpu, name), getattr(on_cpu, name))
