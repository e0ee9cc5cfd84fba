"""Graphs of every shape, on workers in every grid, give exactly the answers of this process."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from pandas.testing import assert_frame_equal

from rapids_trav import Graph

pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")

from distributed_cases import answers, as_dask_has_them  # noqa: E402
from named_graphs import CASES, asked  # noqa: E402
from pairs import FULL  # noqa: E402
from random_graphs import common, graphs  # noqa: E402

GRIDS = [(1, 4), (4, 1), (2, 2)]


def check(client, graph, local, questions):
    """Check that both graphs give equal frames, index and dtypes included."""
    assert (graph.n_vertices, graph.n_edges) == (local.n_vertices, local.n_edges)
    with client.as_current():
        for name, ask in questions.items():
            for found, wanted in zip(answers(ask(graph)), answers(ask(local)), strict=True):
                assert_frame_equal(found, wanted, check_index_type="exact", obj=name)


@pytest.mark.parametrize(
    ("name", "grid"),
    [(name, grid) for k, name in enumerate(CASES) for grid in (GRIDS if FULL else GRIDS[k % 3 :][:1])],
    ids=lambda of: of if isinstance(of, str) else f"{of[0]}x{of[1]}",
)
def test_named_graphs(client, name, grid):
    case = CASES[name]()
    edges = as_dask_has_them(case.edges)
    frame = dask.from_pandas(edges, npartitions=5, sort=False)
    local = Graph.from_edges(edges, **case.options)
    with Graph.from_edges(frame, client=client, grid=grid, **case.options) as graph:
        assert graph.questions.grid == grid
        check(client, graph, local, asked(case))
        assert graph.n_self_loops == local.n_self_loops
        assert graph.n_duplicate_edges == local.n_duplicate_edges


@settings(common, max_examples=12 if FULL else 4)
@given(graphs(), st.sampled_from(GRIDS), st.data())
def test_any_graph(client, drawn, grid, data):
    frame, (src, dst), ids, _, directed = drawn
    options = {"src": src, "dst": dst, "directed": directed, "vertices": list(ids)}
    edges = as_dask_has_them(frame)
    local = Graph.from_edges(edges, **options)
    sources = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3))
    targets = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3))
    shared = {
        "mode": data.draw(st.sampled_from(["joint", "each"])),
        "direction": data.draw(st.sampled_from(["out", "in", "both"])),
        "where": data.draw(st.sampled_from([None, "open"])),
        "deterministic": True,
    }
    npartitions = data.draw(st.integers(1, 6))
    spread = dask.from_pandas(edges, npartitions=npartitions, sort=False)
    with Graph.from_edges(spread, client=client, grid=grid, **options) as graph:
        questions = {
            "bfs": lambda graph: graph.bfs(sources, **shared),
            "paths": lambda graph: graph.paths(sources, targets, **shared),
            "khop": lambda graph: graph.khop(sources, 1, direction=shared["direction"]),
            "degrees": lambda graph: graph.degrees(),
        }
        check(client, graph, local, questions)
