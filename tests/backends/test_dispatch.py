"""Dispatch from NetworkX: refused arguments and their reasons, worthwhile conversions, and the cache."""

import logging
import subprocess
import sys
import warnings
from fractions import Fraction

import networkx as nx
import pandas as pd
import pytest
from networkx_cases import converted, outcome

from rapids_trav.backends import dispatch, interface
from rapids_trav.backends.graphs import Unread
from rapids_trav.backends.interface import backend
from rapids_trav_networkx import FUNCTIONS, get_info


@pytest.fixture
def ran(caplog):
    """Return a function that lists the functions that the backend has run with its own code."""
    caplog.set_level(logging.DEBUG, dispatch.logger.name)
    return lambda: [record.args[0] for record in caplog.records if record.msg == "running %s"]


@pytest.fixture
def prioritised():
    with nx.config(backend_priority=nx.config.backend_priority), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = list(nx.config.backend_priority.algos)
        nx.config.backend_priority.algos = ["trav"]
        yield
        nx.config.backend_priority.algos = before


def test_the_info_lists_what_there_is():
    assert set(FUNCTIONS) == set(interface.functions()) == set(get_info()["functions"])
    assert list(FUNCTIONS) == sorted(FUNCTIONS)
    for name in FUNCTIONS:
        assert hasattr(backend, name)
        assert "trav" in nx.utils.backends._registered_algorithms[name].backends


def test_signatures_are_networkx_own():
    import inspect

    for name, function in interface.functions().items():
        theirs = inspect.signature(nx.utils.backends._registered_algorithms[name].orig_func).parameters
        own = inspect.signature(function.body).parameters
        added = [theirs[name] for name in theirs.keys() - own.keys()]  # by a later NetworkX
        assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in added), name
        assert list(own) == list(theirs)[: len(own)]
        assert [p.default for p in own.values()] == [theirs[p].default for p in own], name


def test_arguments_of_a_later_networkx_may_have_their_defaults(monkeypatch, ran):
    def later(G, source, target, *, method=None):
        raise AssertionError

    monkeypatch.setattr(dispatch, "original", lambda name: later)
    has_path = interface.functions()["has_path"]
    graph = nx.path_graph(3)
    converted = backend.convert_from_nx(graph)
    assert has_path.can_run((graph, 0, 2), {"method": None}) is True
    assert has_path(converted, 0, target=2, method=None) is True and ran() == ["has_path"]
    assert has_path.can_run((graph, 0, 2), {"method": "by hand"}).startswith("the arguments do not fit")


def test_the_info_imports_neither_pandas_nor_numba():
    code = (
        "import sys, rapids_trav_networkx as info; info.get_info();"
        "print([name for name in ('pandas', 'numba', 'numpy', 'rapids_trav') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_networkx_starts_without_the_package():
    code = "import sys, networkx; print('rapids_trav' in sys.modules, 'trav' in networkx.config.backends)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


@pytest.mark.parametrize(
    "name, args, kwargs, reason",
    [
        ("bfs_edges", (0,), {"sort_neighbors": sorted}, "sort_neighbors is a function"),
        ("bfs_edges", (0,), {"depth_limit": "3"}, "depth_limit is no integer or float"),
        ("single_source_shortest_path", (0, "x"), {}, "cutoff is no integer or float"),
        ("single_source_dijkstra_path", (0, Fraction(1, 2)), {}, "cutoff is no integer or float"),
        ("descendants_at_distance", (0, "x"), {}, "distance is no integer or float"),
        ("single_source_dijkstra_path_length", (0, 2**70), {}, "cutoff does not fit 64 bits"),
        ("eccentricity", (), {"v": False}, "v is given"),
        ("pagerank", (), {"weight": lambda u, v, d: 1}, "the weight is a function"),
        ("dijkstra_path", (0, 1, lambda u, v, d: 1), {}, "the weight is a function"),
        ("shortest_path", (0, 1), {"weight": "w", "method": "bellman-ford"}, "method 'bellman-ford' is not"),
        ("has_path", (0,), {}, "the arguments do not fit: missing a required argument: 'target'"),
        ("has_path", (0, 1), {"nonsense": 1}, "the arguments do not fit: got an unexpected keyword"),
        ("ego_graph", (0,), {"undirected": True}, "NetworkX searches an undirected copy"),
        ("triangles", (), {}, "the backend has no triangles"),
    ],
)
def test_refusals_have_reasons(name, args, kwargs, reason):
    answer = backend.can_run(name, (nx.path_graph(3), *args), kwargs)
    assert isinstance(answer, str) and answer.startswith(reason)


def test_graphs_with_neighbours_of_their_own_are_refused():
    class Odd(nx.Graph):
        def neighbors(self, n):
            return iter(())

    assert backend.can_run("is_connected", (Odd(),), {}) == "Odd has neighbors of its own"
    assert backend.can_run("is_connected", ({},), {}) == "dict is not a NetworkX graph"
    assert backend.can_run("is_connected", (nx.subgraph_view(nx.path_graph(3)),), {}) is True


def test_small_graphs_and_small_questions_stay_with_networkx(prioritised, ran):
    small, large = nx.path_graph(50), nx.grid_2d_graph(200, 200)
    assert nx.number_connected_components(small) == 1 and ran() == []
    assert nx.has_path(large, (0, 0), (0, 1)) and ran() == []  # visits only a few nodes
    assert nx.number_connected_components(large) == 1 and ran() == ["number_connected_components"]
    assert nx.has_path(large, (0, 0), (0, 1)) and ran()[1:] == ["has_path"]  # the graph is converted now


def test_conversions_are_kept_until_the_graph_changes(ran):
    graph = nx.gnm_random_graph(50, 100, seed=1)
    call = nx.single_source_shortest_path_length
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(graph, 0, backend="trav")
        (first,) = graph.__networkx_cache__["backends"]["trav"].values()
        assert isinstance(first, Unread)
        nx.pagerank(graph, backend="trav")
        (second,) = graph.__networkx_cache__["backends"]["trav"].values()
        assert second is not first  # it also has the weights ...
        assert second.__networkx_cache__["trav"] is first.__networkx_cache__["trav"]  # ... and the same rows
        graph.add_edge(0, "new")
        assert call(graph, 0, backend="trav")["new"] == 1
    assert ran() == ["single_source_shortest_path_length", "pagerank", "single_source_shortest_path_length"]


def test_weights_that_cannot_be_held_fall_back_to_networkx(prioritised, ran):
    graph = nx.gnm_random_graph(300, 12_000, seed=2)
    nx.set_edge_attributes(graph, "3", "weight")
    with pytest.raises(TypeError):
        nx.single_source_dijkstra_path_length(graph, 0)
    nx.set_edge_attributes(graph, 2**80, "weight")
    assert nx.single_source_dijkstra_path_length(graph, 0)[0] == 0
    assert ran() == []


def test_generators_tell_their_errors_when_networkx_does():
    edges = nx.bfs_edges(nx.path_graph(3), "none", backend="trav")
    with pytest.raises(nx.NetworkXError, match="not in the graph"):
        next(edges)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("node", [None, [1], {}, (1, [2])])
def test_what_cannot_be_a_node_is_answered_as_networkx_does(kind, node):
    graph = nx.path_graph(4, create_using=kind)
    for name, names in {
        "has_path": ("source", "target"),
        "bfs_edges": ("source",),
        "bfs_tree": ("source",),
        "ancestors": ("source",),
        "dijkstra_path_length": ("source", "target"),
        "single_source_shortest_path": ("source",),
        "ego_graph": ("n",),
        "closeness_centrality": ("u",),
    }.items():
        for wrong in names:
            arguments = dict.fromkeys(names, 1) | {wrong: node}
            own = outcome(getattr(backend, name), converted(graph), **arguments)
            assert own == outcome(dispatch.original(name), graph, **arguments), (name, wrong)


@pytest.mark.parametrize("missing", [float("nan"), pd.NA, pd.NaT])
def test_a_node_unequal_to_itself_is_searched_as_networkx_does(missing):
    frame = pd.DataFrame({"source": [0, missing, missing], "target": [missing, 2, 3]}, dtype=object)
    graph = nx.from_pandas_edgelist(frame)
    own = nx.from_pandas_edgelist(frame, backend="trav")
    for name, args in {
        "bidirectional_shortest_path": (missing, missing),
        "has_path": (missing, missing),
        "dijkstra_path_length": (missing, missing),
        "bfs_successors": (missing,),
        "betweenness_centrality": (),
    }.items():
        assert repr(outcome(getattr(nx, name), own, *args)) == repr(outcome(getattr(nx, name), graph, *args))
    assert repr(outcome(nx.bfs_successors, own, 0)) == repr(outcome(nx.bfs_successors, graph, 0))


@pytest.mark.skipif(dispatch.networkx_version() < (3, 7), reason="not deprecated before NetworkX 3.7")
def test_a_deprecation_of_networkx_is_told():
    for call in (dispatch.original("bfs_predecessors"), backend.bfs_predecessors):
        with pytest.warns(DeprecationWarning, match="NetworkX 3.9"):
            list(call(converted(nx.path_graph(3)), 0))
