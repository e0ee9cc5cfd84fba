"""The order of locality on a GPU: the host finds it, and it does not change any answer."""

import numpy as np
import pytest

from rapids_trav import generators
from rapids_trav.storage.paged import Paged

pytestmark = pytest.mark.gpu
SIDE = 64


@pytest.fixture(scope="module")
def edges():
    cudf = pytest.importorskip("cudf")
    plain = generators.grid(SIDE, SIDE)
    number = np.random.default_rng(0).permutation(SIDE * SIDE)
    columns = {end: number[plain[end]] for end in ("src", "dst")}
    return cudf.DataFrame(columns | {"w": np.arange(len(plain)) % 7 + 1})


@pytest.mark.parametrize("limit", [None, "600kB"])
@pytest.mark.parametrize("directed", [False, True])
def test_it_is_that_of_the_cpu_and_answers_are_the_same(edges, directed, limit):
    options = {"directed": directed, "weight": "w", "memory_limit": limit}
    graph = edges.trav.graph(order="locality", **options)
    assert isinstance(graph.storage, Paged) == (limit is not None)
    on_cpu = edges.to_pandas().trav.graph(order="locality", directed=directed)
    np.testing.assert_array_equal(graph.ids.order.get(), on_cpu.ids.order)
    plain = edges.trav.graph(order="ids", **options)
    for ask in (
        lambda graph: graph.bfs(0, deterministic=True),
        lambda graph: graph.sssp(0, predecessors=False),
        lambda graph: graph.components(),
        lambda graph: graph.degrees(),
    ):
        assert ask(graph).to_pandas(nullable=True).equals(ask(plain).to_pandas(nullable=True))
