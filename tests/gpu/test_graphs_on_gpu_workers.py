"""Graphs on dask-cuda workers with one GPU each, compared with the same cuDF frame on one GPU."""

import pandas as pd
import pytest
from common import rows

from rapids_trav import Graph, TravError

pytestmark = pytest.mark.gpu

from distributed_cases import edges_of, of, questions  # noqa: E402

FEW = ("bfs", "bfs of several", "bfs each reached", "bfs with targets", "paths", "levels each", "degrees in")


def spread(client, edges, npartitions=6, **options):
    dask_cudf = pytest.importorskip("dask_cudf")
    return Graph.from_edges(dask_cudf.from_cudf(edges, npartitions=npartitions), client=client, **options)


def answers(answer):
    parts = list(answer) if isinstance(answer, tuple) else [answer]
    return [rows(part.compute() if hasattr(part, "compute") else part) for part in parts]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["int", "str", "date"])
def test_every_question(client, kind, directed):
    cudf = pytest.importorskip("cudf")
    edges = cudf.DataFrame(edges_of(kind))
    with spread(client, edges, directed=directed) as graph, client.as_current():
        local = edges.trav.graph(directed=directed)
        assert (graph.engine.name, graph.frame_library) == ("cuda", "cudf")
        for name, ask in questions(kind).items():
            if kind == "int" or name in FEW:
                assert answers(ask(graph)) == answers(ask(local)), name
        assert graph.n_duplicate_edges == local.n_duplicate_edges


def test_answers_are_frames_of_cudf_with_divisions(client):
    cudf, dask_cudf = pytest.importorskip("cudf"), pytest.importorskip("dask_cudf")
    edges = cudf.DataFrame(edges_of("int"))
    with spread(client, edges) as graph, client.as_current():
        answer = graph.bfs(0)
        assert isinstance(answer, dask_cudf.DataFrame) and answer.known_divisions
        computed, local = answer.compute(), edges.trav.bfs(0)
        assert isinstance(computed, cudf.DataFrame)
        assert dict(computed.dtypes) == dict(local.dtypes)
        assert dict(answer.dtypes) == dict(computed.dtypes)
        assert computed.index.to_pandas().equals(pd.RangeIndex(len(local)))
        traced = graph.bfs(0, trace=True)
        assert len(rows(traced.trace)) > 1


def test_searches_take_one_launch_and_the_grid_on_request(client):
    cudf = pytest.importorskip("cudf")
    from rapids_trav.distributed.ranks.rank_engine import ROWS, SHARED

    with spread(client, cudf.DataFrame(edges_of("int"))) as graph, client.as_current():
        grid = graph.bfs(0, variant="2d", trace=True)
        assert "exchange" not in grid.trace and "bytes_0" in grid.trace
        found = graph.bfs(0, trace=True)
        assert "exchange" in found.trace and "bytes_0" not in found.trace
        held = graph.memory().to_pandas()["structure"].tolist()
        assert {ROWS["both"], SHARED} <= set(held)
        columns = ["vertex", "distance"]
        assert answers(found.result[columns]) == answers(grid.result[columns])


def test_sources_may_be_series_of_cudf(client):
    cudf = pytest.importorskip("cudf")
    edges = cudf.DataFrame(edges_of("str"))
    named = [of("str", 0), of("str", 7)]
    with spread(client, edges) as graph, client.as_current():
        found = graph.bfs(cudf.Series(named), deterministic=True)
        assert answers(found) == answers(edges.trav.bfs(named, deterministic=True))


def test_the_cpu_engine_does_not_take_partitions_of_cudf(client):
    cudf = pytest.importorskip("cudf")
    message = r"^engine='cpu' does not take partitions of cudf on workers: .*to_backend\('pandas'\)\.$"
    with pytest.raises(TravError, match=message):
        spread(client, cudf.DataFrame(edges_of("int")), engine="cpu")


def test_edges_in_pandas_partitions_are_searched_on_the_cpus(client):
    dask = pytest.importorskip("dask.dataframe")
    edges = edges_of("int")
    with (
        Graph.from_edges(dask.from_pandas(edges, npartitions=3), client=client) as graph,
        client.as_current(),
    ):
        assert graph.engine.name == "cpu"
        wanted = edges.trav.bfs(0, deterministic=True)
        assert answers(graph.bfs(0, deterministic=True)) == answers(wanted)
