"""The methods of `frame.trav`; `methods.pyi`, which `ci/write_stubs.py` writes, has their signatures."""

from __future__ import annotations

from rapids_trav.accessor.derived import building, one_question
from rapids_trav.errors import EdgeColumnsError
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame
from rapids_trav.graph import Graph


class TravAccessor:
    """Graph traversal over the edges of this frame.

    It holds nothing but the frame.  Its other methods build a graph for one question; for several, keep the
    graph: ``graph = edges.trav.graph()``.

    Raises
    ------
    AttributeError
        If the frame cannot hold edges, having fewer than two columns.
    """

    def __init__(self, frame: Frame) -> None:
        n_columns = len(proxies.held(frame).columns)
        if n_columns < 2:
            count = {0: "no column", 1: "one column"}[n_columns]
            raise EdgeColumnsError(f"A frame of {count} holds no edges: .trav needs a column for each end.")
        self._frame = frame

    graph = building(Graph.from_edges)
    bfs = one_question(Graph.bfs)
    paths = one_question(Graph.paths)
    khop = one_question(Graph.khop)
    levels = one_question(Graph.levels)
    closeness = one_question(Graph.closeness)
    harmonic = one_question(Graph.harmonic)
    eccentricity = one_question(Graph.eccentricity)
    betweenness = one_question(Graph.betweenness)
    components = one_question(Graph.components)
    sssp = one_question(Graph.sssp)
    pagerank = one_question(Graph.pagerank)
    run = one_question(Graph.run)
