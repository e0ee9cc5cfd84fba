"""Methods of `Graph` that join answers to rows, and convert graphs to other forms and libraries."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from rapids_trav.algorithms.annotate import annotate
from rapids_trav.algorithms.khop import columns_of
from rapids_trav.csr.paths import PathLayout
from rapids_trav.frames import exchange
from rapids_trav.frames.columns import Frame, Values, move
from rapids_trav.frames.exchange import EdgeColumns
from rapids_trav.graph.properties import GraphProperties

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse


class JoinMethods(GraphProperties):
    """Methods of `Graph` for joins and conversions; `Graph` inherits them."""

    def annotate(
        self, edges: Values, answer: Values, *, on: Hashable | list[Hashable] | None = None
    ) -> Frame:
        """Return rows with an answer's columns joined to them by vertex.

        It is a left join, as ``edges.merge(answer, left_on=..., right_on="vertex", how="left")`` for each end
        would be, without sorting, without another index and without integers that nulls turn into floats.
        Columns are named as `merge` names them, with a suffix: an edge has two ends, and a distance for each.

        Parameters
        ----------
        edges : DataFrame
            Rows that name vertices: the edges, those of `khop`, or any frame with a column of ids.  It need
            not be of the library of the graph's edges.
        answer : DataFrame
            One row for each vertex: what `bfs`, `sssp`, `components`, `pagerank`, `degrees` or `run` gives.
        on : str or list of str, optional
            Column of the ids (of ids of several columns, the list of them).  By default both ends of the
            graph's edges.

        Returns
        -------
        DataFrame
            `edges` with its rows, their order and their index as they were, and behind its columns those of
            the answer: with `on` by their names, such as `distance`, else once for each end, such as
            `distance_src` and `distance_dst`.  Values are null where the answer has no row for the vertex.

        Raises
        ------
        TravError
            If `edges` has a column of such a name already, or null ids; if the answer has several rows for a
            vertex, as with ``mode="each"``.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
        >>> graph = edges.trav.graph()
        >>> graph.annotate(edges, graph.bfs(0, predecessors=False))
           src  dst  distance_src  distance_dst
        0    0    1             0             1
        1    1    2             1             2
        """
        return annotate(self.contents, edges, answer, on)

    def to_networkx(self) -> networkx.Graph:
        """Return the graph as one of NetworkX.

        It is a `Graph` or, if directed, a `DiGraph`; with repeated edges a `MultiGraph` or `MultiDiGraph`, so
        that none is lost.  Nodes are the ids, those of several columns tuples; every other column of the
        edges is an attribute of the edges, the weights under the name of their column.

        Raises
        ------
        TravError
            If NetworkX is not installed.
        """
        return exchange.to_networkx(*self._whole())

    def to_igraph(self) -> igraph.Graph:
        """Return the graph as one of igraph.

        Its vertices are in ascending order of the ids, which are their attribute `name`; every other column
        of the edges is an attribute of the edges.

        Raises
        ------
        TravError
            If igraph is not installed.
        """
        return exchange.to_igraph(*self._whole())

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the adjacency matrix as a `scipy.sparse.csr_array`.

        Row and column i belong to the i-th vertex in ascending order of the ids, as in the rows of an answer.
        Entries are the weights or, without any, how often the edge is there; weights of repeated edges are
        added, which is what SciPy does.  The matrix of an undirected graph is symmetric.

        Raises
        ------
        TravError
            If SciPy is not installed.
        """
        graph = self.contents
        place = None if graph.ids.order is None else move(graph.ids.order, np)
        rows = graph.rows.pairs() if graph.weight is None else graph.rows.weighted()
        parts = zip(*([move(part, np) for part in chunk] for chunk in rows), strict=True)
        u, v, *weight = (np.concatenate(part) for part in parts)
        if place is not None:
            u, v = place[u], place[v]
        return exchange.matrix(u, v, weight[0] if weight else None, graph.n_vertices, graph.directed)

    def path_layout(self, relaxed: int = 0) -> PathLayout:
        """Return the edges as paths, each edge in one, and how that compares with rows of neighbours.

        A path hands a value on over all of its edges in one pass, and takes less memory than rows if it is
        long.  Printed, the layout tells how many paths there are, how long they are on average, how many are
        single edges, and their bytes over those of compressed rows.  An undirected edge is there both ways.

        Parameters
        ----------
        relaxed : int, default 0
            A path ends at the first vertex to which several edges lead (0, "strict"), which of an undirected
            graph is nearly every one, or goes on through such vertices until it has so many edges.

        Returns
        -------
        PathLayout
            Arrays in the host's memory, with the graph's internal ids: ``graph.ids.decode(layout.vertices)``
            gives the caller's.  `vertices`, the vertices of one path after another; `starts`, where each
            path begins; `weights` of the edges, or None; the figures `n_paths`, `mean_length`, `single`
            (share of paths), `nbytes` and `ratio`; `edges()`, and `active_paths()`.

        Notes
        -----
        Which paths there are depends on the number of threads, each of which cuts a range of vertices; the
        edges are always those of the graph.  A path ends where it leaves its range, so that on many threads
        `order="locality"` makes longer ones.  The layout is not kept with the graph, nor saved with it.

        References
        ----------
        Y. Zhang et al., "LargeGraph: An Efficient Dependency-Aware GPU-Accelerated Large-Scale Graph
        Processing", ACM Transactions on Architecture and Code Optimization 18(4), 2021.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
        >>> layout = edges.trav.graph(directed=True).path_layout()
        >>> layout.n_paths, layout.mean_length
        (1, 3.0)
        """
        return self.questions.path_layout(relaxed)

    def _whole(self) -> tuple[Frame, Frame, EdgeColumns]:
        """Return a frame of all vertices, one of all edges, and what their columns mean."""
        graph = self.contents
        vertices = graph.frame(graph.vertex_columns("vertex"))
        return vertices, graph.rows.inside(graph.values.flags()), columns_of(graph)
