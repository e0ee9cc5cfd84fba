"""Messages and dtypes of graphs on workers that take several workers or partitions to test."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav import Graph, TravError

pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")

from distributed_cases import as_dask_has_them, edges_of  # noqa: E402


def spread(client, edges, npartitions=6, **options):
    return Graph.from_edges(dask.from_pandas(edges, npartitions=npartitions), client=client, **options)


@pytest.mark.parametrize("column", ["open", "src", "not there"])
def test_a_filter_without_rows_names_the_remedy(client, column):
    """Any column is refused alike, because only the ends of the edges are kept."""
    with (
        spread(client, edges_of("int"), keep_rows=False) as graph,
        pytest.raises(TravError, match=rf"where='{column}' .* keep_rows=False: build it with keep_rows=True"),
    ):
        graph.bfs(0, where=column)


def test_nulls_of_a_filter_are_counted_over_all_workers(client):
    edges = as_dask_has_them(edges_of("int"))
    edges["open"] = edges["open"].astype("boolean").mask(edges.index.isin([0, 1, len(edges) - 1]))
    with spread(client, edges, 8) as graph, pytest.raises(TravError) as found:
        graph.bfs(0, where="open")
    with pytest.raises(TravError) as wanted:
        edges.trav.bfs(0, where="open")
    assert str(found.value) == str(wanted.value)


def test_moments_of_several_time_zones(client):
    days = pd.DataFrame({"src": pd.to_datetime(range(40), unit="D", utc=True).as_unit("us")})
    days["dst"] = days["src"].dt.tz_convert("Asia/Tokyo") + pd.Timedelta(days=1)
    with spread(client, days, 5) as graph:
        local = days.trav.graph()
        with client.as_current():
            for ask in (lambda graph: graph.bfs(days["dst"][0], deterministic=True), Graph.degrees):
                found, wanted = ask(graph).compute(), ask(local)
                assert wanted["vertex"].dtype == days["src"].dtype
                assert_frame_equal(found, wanted)


PARTITIONS = {
    "arrays": (
        lambda part: part.to_numpy(),
        r"^A partition of the edges is an ndarray: make each of them a frame\.$",
    ),
    "nothing": (lambda part: None, r"^A partition of the edges is a NoneType: make each of them a frame\.$"),
    "another order": (
        lambda part: part[["dst", "src"]] if part["src"].iloc[0] == 0 else part,
        r"have the same columns in different orders, '\w+', '\w+' and '\w+', '\w+': give all",
    ),
    "a column less": (
        lambda part: part[["src"]] if part["src"].iloc[0] == 0 else part,
        r"have different columns, .*: give all of them the same",
    ),
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions_that_differ_from_what_dask_says(client, name):
    change, message = PARTITIONS[name]
    edges = dask.from_pandas(pd.DataFrame({"src": range(8), "dst": range(1, 9)}), npartitions=4)
    edges = edges.map_partitions(change, meta=edges._meta, enforce_metadata=False)
    with pytest.raises(TravError, match=message):
        Graph.from_edges(edges, client=client)


def test_workers_refuse_a_graph_of_one_process(client, tmp_path):
    edges_of("int").trav.graph().save(tmp_path / "one")
    with pytest.raises(TravError, match=r"saved from one process, .* leave out client="):
        Graph.open(tmp_path / "one", client=client)
