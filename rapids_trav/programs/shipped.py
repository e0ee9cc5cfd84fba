"""The vertex programs that come with the package; `Graph.run` takes them like any other.

Each consists of a few scalar functions (see `rapids_trav.programs.definition`).  The same arguments return
the same program, so that it is compiled once.
"""

from __future__ import annotations

import functools

from rapids_trav.programs.definition import Program


@functools.cache
def breadth_first() -> Program:
    """Return the program for the distance from the sources in edges.

    Sources start from 0, all other vertices from the largest int32.

    Examples
    --------
    >>> import pandas as pd
    >>> from rapids_trav import programs
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> graph = edges.trav.graph()
    >>> graph.run(programs.breadth_first(), initial={0: 0})["value"].tolist()
    [0, 1, 1, 2, 3]
    """
    return Program("breadth_first", "int32", "min", gather=lambda message: message + 1)


@functools.cache
def connected_components(dtype: str = "int32") -> Program:
    """Return the program of the smallest label that reaches a vertex; run it with direction="both".

    Label propagation: every vertex starts with its own label and takes the smallest among its neighbours.

    Examples
    --------
    >>> import pandas as pd
    >>> from rapids_trav import programs
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> graph = edges.trav.graph()
    >>> labels = graph.run(programs.connected_components(), initial=range(5), direction="both")
    >>> labels["value"].tolist()
    [0, 0, 0, 0, 0]
    """
    return Program("connected_components", dtype, "min")


@functools.cache
def shortest_paths(dtype: str = "float64") -> Program:
    """Return the program for the distance from the sources by weight.

    Sources start from 0, all other vertices from the reducer's identity.

    R. Bellman, "On a routing problem", Quarterly of Applied Mathematics 16, 1958.

    Examples
    --------
    >>> import pandas as pd
    >>> from rapids_trav import programs
    >>> roads = pd.DataFrame({"src": ["BGO", "OSL"], "dst": ["OSL", "HAM"], "km": [463, 127]})
    >>> graph = roads.trav.graph(weight="km")
    >>> graph.run(programs.shortest_paths(), initial={"BGO": 0}, weighted=True)["value"].tolist()
    [0.0, 590.0, 463.0]
    """
    return Program("shortest_paths", dtype, "min", gather=lambda message, weight: message + weight)


@functools.cache
def saturating_paths() -> Program:
    """Return `shortest_paths` for int64 weights so large that the sum of two may overflow."""
    most = 2**63 - 1

    def gather(message, weight):
        return message + weight if weight <= most - message else most

    return Program("shortest_paths", "int64", "min", gather=gather)


@functools.cache
def pagerank(tolerance: float = 1e-5, dtype: str = "float64") -> Program:
    """Return the program of a random surfer's stationary probability (PageRank).

    Its `parameters` are the probability of following an edge and 1 / n.  Vertices without out-edges
    (`total`) spread their value evenly.  If new values are used in the iteration that computes them, the
    result is the same: the iteration contracts in any order.

    S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", 1998.

    Examples
    --------
    >>> import pandas as pd
    >>> from rapids_trav import programs
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> graph = edges.trav.graph()
    >>> ranks = graph.run(programs.pagerank(), initial=1 / 5, parameters=(0.85, 1 / 5))
    >>> ranks["value"].round(3).tolist()
    [0.246, 0.239, 0.135, 0.246, 0.135]
    """

    def scatter(value, degree):
        return value / degree if degree > 0 else 0.0

    def gather(message, weight):
        return message * weight

    def apply(value, gathered, total, parameters):
        follow, share = parameters[0], parameters[1]
        return (1.0 - follow) * share + follow * (gathered + total * share)

    def total(value, degree):
        return 0.0 if degree > 0 else value

    return Program(
        "pagerank",
        dtype,
        "sum",
        scatter=scatter,
        gather=gather,
        apply=apply,
        total=total,
        tolerance=tolerance,
        asynchronous=True,
    )
