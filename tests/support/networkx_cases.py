"""Random NetworkX graphs of mixed nodes with loops and parallel edges, and answers compared with NetworkX."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
from hypothesis import strategies as st

from rapids_trav.backends.graphs import from_networkx
from rapids_trav.backends.structure import Graph

MIXED = [0, -3, "a", (1, "b"), 2.5, frozenset({4}), None.__class__, 10**30, "ä", b"x", True, Fraction(1, 3)]
NEWEST = tuple(map(int, nx.__version__.split(".")[:2])) >= (3, 6)  # the backend follows their order
KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


@st.composite
def graphs(draw, kinds=KINDS, weights=("integers",), max_nodes=24):
    """Return a graph with nodes, rows and edges in any order; some edges have no weight."""
    n = draw(st.integers(1, max_nodes))
    style = draw(st.sampled_from(["range", "shuffled", "gaps", "mixed"]))
    if style == "mixed":
        names = (MIXED + list(range(100, 100 + n)))[:n]
    elif style == "gaps":
        names = draw(st.lists(st.integers(-(2**40), 2**40), min_size=n, max_size=n, unique=True))
    else:
        names = list(range(n))
    if style != "range":
        names = draw(st.permutations(names))
    graph = draw(st.sampled_from(kinds))()
    graph.add_nodes_from(draw(st.permutations(names))[: draw(st.integers(0, n))])
    ends = st.integers(0, n - 1)
    kind = draw(st.sampled_from(weights))
    value = (
        st.integers(0, 4)
        if kind == "integers"
        else st.sampled_from([0.0, 0.1, 0.2, 0.30000000000000004, 1.5])
    )
    for u, v, weight in draw(st.lists(st.tuples(ends, ends, st.none() | value), max_size=3 * n)):
        data = {} if weight is None else {"weight": weight}
        graph.add_edge(names[u], names[v], **data)
    if not len(graph):
        graph.add_node(names[0])
    if len(graph) > 2 and draw(st.booleans()):
        graph.remove_node(next(iter(graph)))  # gives an order of rows that no list of edges gives
    return graph


def converted(graph: Graph) -> Graph:
    """Return the graph converted for the backend, without NetworkX's dispatcher."""
    return from_networkx(graph)


def plain(answer, ordered=True):
    """Return an answer in a form that keeps its order: dicts as lists of pairs, iterators as lists."""
    if not ordered:
        return [plain(part, False) for part in answer] if hasattr(answer, "__next__") else answer
    if isinstance(answer, nx.Graph):
        return [list(answer), [(u, list(nbrs.items())) for u, nbrs in answer._adj.items()]]
    if isinstance(answer, dict):
        return [(key, plain(value)) for key, value in answer.items()]
    if isinstance(answer, tuple):
        return tuple(plain(part) for part in answer)
    if isinstance(answer, list):
        return [plain(part) for part in answer]
    if hasattr(answer, "__next__"):
        return [plain(part) for part in answer]
    return answer


def outcome(call, *args, ordered=True, **kwargs):
    """Return the answer of a call in a form that keeps its order, or the error that the call raised."""
    try:
        return plain(call(*args, **kwargs), ordered)
    except Exception as error:
        return type(error), str(error)


def assert_like_networkx(name: str, graph: Graph, *args, ordered: bool = True, **kwargs) -> None:
    """Compare the backend's own code with NetworkX's, order and errors included."""
    from rapids_trav.backends.interface import backend

    function = backend._functions[name]
    assert function.refusal((graph, *args), kwargs) is None, "the backend leaves this call to NetworkX"
    own = outcome(function.body, converted(graph), *args, ordered=ordered, **kwargs)
    original = nx.utils.backends._registered_algorithms[name].orig_func
    theirs = outcome(original, graph, *args, ordered=ordered, **kwargs)
    assert own == theirs
