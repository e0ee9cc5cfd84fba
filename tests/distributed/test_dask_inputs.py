"""Dask frames as input: graphs that are spread over workers, and the options that apply to them."""

import warnings

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav import Graph, TravError, TravWarning

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")

from distributed_cases import edges_of  # noqa: E402

from rapids_trav.distributed import clusters  # noqa: E402


@pytest.fixture
def edges():
    return edges_of("int").drop(columns="kind")


@pytest.fixture
def frame(edges):
    return dask.from_pandas(edges, npartitions=4)


def test_the_current_client_is_used(here, groups, frame, edges):
    with here.as_current():
        graph = frame.trav.graph()
        assert_frame_equal(graph.degrees().compute(), edges.trav.graph().degrees())
    assert groups[0].client is here and groups[0].device == "cpu"


@pytest.mark.parametrize(("question", "arguments"), [("components", ()), ("sssp", (0,)), ("betweenness", ())])
@pytest.mark.parametrize("given", [False, True])
def test_what_workers_do_not_answer_is_refused_before_building(
    here, groups, frame, question, arguments, given
):
    options = {"client": here} if given else {}
    with here.as_current(), pytest.raises(TravError, match=f"^{question} is not answered by a graph on the"):
        getattr(frame.trav, question)(*arguments, **options)
    assert groups == []


def test_without_a_client_it_is_computed_here_with_a_warning(without_client, groups, frame, edges):
    with pytest.warns(TravWarning, match=r"^The Dask frame is computed into this process, .*client=") as told:
        graph = frame.trav.graph()
    assert told[0].filename == __file__ and len(told) == 1
    assert groups == [] and graph.storage is not None
    assert_frame_equal(graph.degrees().compute(scheduler="sync"), edges.trav.graph().degrees())
    with pytest.warns(TravWarning):
        assert frame.trav.levels(0, memory_limit="1MB").compute(scheduler="sync")["vertices"].sum() > 0


def test_other_frames_are_not_warned_about(edges):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edges.trav.graph()


@pytest.mark.parametrize("option", [{"client": 1}, {"grid": (1, 4)}, {"keep_rows": False}])
def test_options_of_workers_have_no_meaning_for_other_frames(edges, option):
    (name,) = option
    with pytest.raises(
        TravError, match=rf"^{name}=.* is for Dask frames, and edges is not one: leave it out"
    ):
        edges.trav.graph(**option)


@pytest.mark.parametrize("option", [{"grid": (1, 4)}, {"keep_rows": False}])
def test_options_of_workers_have_no_meaning_without_a_client(without_client, frame, option):
    (name,) = option
    with pytest.raises(TravError, match=rf"^{name}=.*there is no client: leave it out, or give .* a client"):
        frame.trav.graph(**option)


@pytest.mark.parametrize(
    "option",
    [
        {"weight": "open"},
        {"degree_sort": True},
        {"order": "locality"},
        {"memory_limit": "1GB"},
        {"spill": "/"},
        {"tuning": {}},
    ],
)
def test_options_of_one_process_are_refused_on_workers(here, groups, frame, option):
    (name,) = option
    with pytest.raises(
        TravError, match=rf"^{name}=.* is not supported by a graph on the workers.*edges\.compute"
    ):
        frame.trav.graph(client=here, **option)
    assert groups == []


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"client": "tcp://1.2.3.4:8786"}, "^client is an object of type str: give a distributed.Client"),
        ({"grid": 4}, "^grid=4 is not a grid of workers: give its rows and columns, such as"),
        ({"grid": (2, 0)}, "^grid=.* is not a grid"),
        ({"grid": (True, 3)}, "^grid=.* is not a grid"),
        ({"keep_rows": "no"}, "^keep_rows='no' is neither True nor False"),
        ({"engine": "gpu"}, "^engine='gpu' is not known: choose one of 'auto', 'cpu', 'cuda' for a graph on"),
        ({"engine": "cuda"}, r"^engine='cuda' does not take partitions of pandas .*to_backend\('cudf'\)"),
        ({"src": "no"}, "'no' is not in the edges|Only one end of the edges is named"),
        ({"src": "from", "dst": "dst"}, "^Column 'from' is not in the edges"),
    ],
)
def test_options_that_are_refused(here, groups, frame, option, message):
    with pytest.raises(TravError, match=message):
        frame.trav.graph(**{"client": here, **option})
    assert groups == []


@pytest.mark.parametrize(("grid", "places"), [((2, 2), 4), ((1, 2), 2)])
def test_a_grid_has_a_place_for_each_worker(here, groups, frame, grid, places):
    message = rf"has {places} places, but the cluster has 3 workers: give .* whose product is 3\.$"
    with pytest.raises(TravError, match=message):
        frame.trav.graph(client=here, grid=grid)
    assert groups[0].closed
    assert "on 3 workers (3 x 1)" in repr(frame.trav.graph(client=here, grid=(3, 1)))


def test_a_client_that_is_closed_is_refused(groups, frame):
    client = distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None, set_as_default=False
    )
    client.close()
    with pytest.raises(TravError, match=r"^client is closed: give one that is connected to its cluster.$"):
        frame.trav.graph(client=client)
    assert groups == []


def test_rows_that_are_not_kept_are_not_handed_over(here, groups, frame):
    graph = frame.trav.graph(client=here, keep_rows=False)
    assert {tuple(part.columns) for _, part in groups[0].numbered} == {("src", "dst")}
    assert graph.edge_columns == ["src", "dst"]
    frame.trav.graph(client=here)
    assert [list(part.columns) for _, part in groups[1].numbered] == [["src", "dst", "open"]] * 4


def test_partitions_are_handed_over_in_their_order(here, groups, frame, edges):
    frame.trav.graph(client=here)
    assert [number for number, _ in groups[0].numbered] == [0, 1, 2, 3]
    assert_frame_equal(pd.concat([part for _, part in groups[0].numbered]), edges)
    frame.assign(more=1).partitions[1:].trav.graph(client=here)
    first = frame.divisions[1]
    assert_frame_equal(pd.concat([part for _, part in groups[1].numbered]), edges.assign(more=1).loc[first:])


def test_vertices_may_be_a_dask_series(here, groups, frame):
    more = dask.from_pandas(pd.Series([1000, 1001]), npartitions=2)
    n = frame.trav.graph(client=here).n_vertices
    with here.as_current():
        assert frame.trav.graph(client=here, vertices=more).n_vertices == n + 2


def test_the_group_is_closed_where_building_fails(here, groups, frame, monkeypatch):
    def fails(self, options):
        raise TravError("no")

    monkeypatch.setattr("fake_group.FakeGroup._build", fails)
    with pytest.raises(TravError, match=r"^no$"):
        Graph.from_edges(frame, client=here)
    assert groups[0].closed


def test_a_folder_of_parts_needs_a_client(here, groups, tmp_path, request):
    (tmp_path / "parts.json").write_text("{}")
    with here.as_current(), pytest.raises(TravError, match=r"^memory_limit='1GB' is not supported"):
        Graph.open(tmp_path, memory_limit="1GB")
    request.getfixturevalue("without_client")
    with pytest.raises(
        TravError, match=r"holds a graph in parts, which only the workers of a cluster can open: give cl"
    ):
        Graph.open(tmp_path)


def test_the_name_of_the_file_that_lists_the_parts():
    saved_parts = pytest.importorskip("rapids_trav.distributed.ranks.saved_parts")
    assert saved_parts.PARTS == clusters.PARTS
