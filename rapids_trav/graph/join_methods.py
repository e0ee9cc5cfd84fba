"""Methods of `Graph` that join answers to rows, and convert graphs to other forms and libraries."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rapids_trav.algorithms.annotate import annotate
from rapids_trav.algorithms.khop import columns_of
from rapids_trav.csr.paths import PathLayout
from rapids_trav.distributed.questions import DistributedQuestions, unanswered
from rapids_trav.frames import exchange
from rapids_trav.frames.columns import Frame, Values, move
from rapids_trav.frames.exchange import EdgeColumns
from rapids_trav.graph.local import LocalGraph
from rapids_trav.graph.properties import GraphProperties
from rapids_trav.tuning import published
from rapids_trav.utilities.progress import ProgressOption, report, shown

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse


class JoinMethods(GraphProperties):
    """Methods of `Graph` for joins and conversions; `Graph` inherits them."""

    def annotate(
        self,
        edges: Values,
        answer: Values,
        *,
        on: Hashable | list[Hashable] | None = None,
        progress: ProgressOption = False,
    ) -> Frame:
        """Return rows with an answer's columns joined to them by vertex.

        This is a left join, like ``edges.merge(answer, left_on=..., right_on="vertex", how="left")`` for each
        end, but it does not sort, keeps the index, and does not turn integers with nulls into floats.  As in
        `merge`, column names get suffixes, since an edge has, for example, a distance for each of its ends.

        Parameters
        ----------
        edges : DataFrame
            Rows that name vertices: the edges, those of `khop`, or any frame with a column of ids.  Its
            library may differ from that of the graph's edges.
        answer : DataFrame
            One row for each vertex, as `bfs`, `sssp`, `components`, `pagerank`, `degrees` or `run` returns.
        on : str or list of str, optional
            Column of the ids, or list of columns if ids have several.  By default, both ends of the graph's
            edges.
        progress : bool or callable, default False
            Show what is done, or call the function with what is done, of how much, and the unit: "columns".

        Returns
        -------
        DataFrame
            `edges`, with the same rows, order and index, followed by the columns of the answer: with `on`,
            under their own names, such as `distance`; otherwise once for each end, such as `distance_src` and
            `distance_dst`.  Values are null where the answer has no row for the vertex.

        Raises
        ------
        TravError
            If `edges` already has a column of such a name, or has null ids; if the answer has several rows
            for a vertex, as with ``mode="each"``.

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
        with shown("annotate", progress):
            return annotate(self._in_this_process("annotate"), edges, answer, on)

    def to_networkx(self, *, progress: ProgressOption = False) -> networkx.Graph:
        """Return the graph as a NetworkX graph.

        The result is a `Graph` or, if directed, a `DiGraph`; with repeated edges, a `MultiGraph` or
        `MultiDiGraph`, so that no edge is lost.  Nodes are the ids, as tuples if ids have several columns.
        Every other column of the edges is an edge attribute, with weights under the name of their column.

        Parameters
        ----------
        progress : bool or callable, default False
            Show what is done, or call the function with what is done, of how much, and the unit: "edges".

        Raises
        ------
        TravError
            If NetworkX is not installed.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> print(graph.to_networkx())
        Graph with 5 nodes and 4 edges
        """
        with shown("to_networkx", progress):
            return exchange.to_networkx(*self._whole("to_networkx"), report)

    def to_igraph(self, *, progress: ProgressOption = False) -> igraph.Graph:
        """Return the graph as an igraph graph.

        Its vertices are in ascending order of the ids, which are the vertex attribute `name`.  Every other
        column of the edges is an edge attribute.

        Parameters
        ----------
        progress : bool or callable, default False
            As in `to_networkx`.

        Raises
        ------
        TravError
            If igraph is not installed.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.to_igraph().vs["name"]
        [0, 1, 2, 3, 4]
        """
        with self._told_of_edges("to_igraph", progress):
            return exchange.to_igraph(*self._whole("to_igraph"))

    def to_scipy(self, *, progress: ProgressOption = False) -> scipy.sparse.csr_array:
        """Return the adjacency matrix as a `scipy.sparse.csr_array`.

        Row and column i belong to the i-th vertex in ascending order of the ids, as in the rows of an answer.
        Entries are the weights or, without weights, the number of times that the edge occurs, in int64 or
        float64; weights of repeated edges are added.  The matrix of an undirected graph is symmetric.

        Parameters
        ----------
        progress : bool or callable, default False
            As in `to_networkx`.

        Raises
        ------
        TravError
            If SciPy is not installed, or integer weights of repeated edges could add up to more than
            2^63 - 1.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.to_scipy().toarray()
        array([[0, 1, 1, 0, 0],
               [1, 0, 0, 1, 0],
               [1, 0, 0, 0, 0],
               [0, 1, 0, 0, 1],
               [0, 0, 0, 1, 0]])
        """
        graph = self._in_this_process("to_scipy")
        place = None if graph.ids.order is None else move(graph.ids.order, np)
        rows = graph.rows.pairs() if graph.weight is None else graph.rows.weighted()
        parts = zip(*([move(part, np) for part in chunk] for chunk in rows), strict=True)
        u, v, *weight = (np.concatenate(part) for part in parts)
        if graph.rows.weight is not None and graph.rows.weight.scale:
            weight = [weight[0] / 10.0**graph.rows.weight.scale]  # SciPy has no decimals
        if place is not None:
            u, v = place[u], place[v]
        with self._told_of_edges("to_scipy", progress):
            return exchange.matrix(u, v, weight[0] if weight else None, graph.n_vertices, graph.directed)

    def path_layout(self, relaxed: int = 0, *, progress: ProgressOption = False) -> PathLayout:
        """Decompose the edges into paths, each edge in one, and compare this layout with rows of neighbours.

        A value travels along all edges of a path in one pass, and long paths take less memory than rows.  The
        printed layout shows the number of paths, their mean length, the share that are single edges, and the
        ratio of their bytes to those of compressed rows.  An undirected edge occurs in both directions.

        Parameters
        ----------
        relaxed : int, default 0
            With 0 ("strict"), a path ends at the first vertex to which several edges lead, which is nearly
            every vertex of an undirected graph.  Otherwise, it goes on through such vertices until it has
            this many edges.
        progress : bool or callable, default False
            As in `run`, in "ranges" of vertices, one for each thread.

        Returns
        -------
        PathLayout
            Read-only arrays in host memory, with the graph's internal ids, of which
            ``graph.ids.decode(layout.vertices)`` returns the caller's.  They are `vertices`, the vertices of
            one path after another; `starts`, the position in `vertices` where each path begins; and `weights`
            of the edges, or None.  The layout also has the figures `n_paths`, `mean_length` (in edges),
            `single` (share of paths), `nbytes` and `ratio`, and the methods `edges()` and `active_paths()`.

        Notes
        -----
        The paths depend on the number of threads, each of which decomposes a range of vertices; the edges are
        always those of the graph.  A path ends where it leaves its range, so with many threads,
        `order="locality"` gives longer paths.

        The graph keeps each layout that it computes, returns it again, and lists it in `memory`; `save`
        writes it with the graph, and `Graph.open` returns it mapped from its files.  With a memory limit on
        the CPU, it is kept in files too.

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
        with shown("path_layout", progress):
            return self.questions.ask(published("paths"), relaxed)

    def _in_this_process(self, method: str) -> LocalGraph:
        """Return the graph's contents; refuse the method for a graph on the workers of a cluster."""
        if isinstance(self.questions, DistributedQuestions):
            raise unanswered(method)
        return self.contents

    @contextmanager
    def _told_of_edges(self, method: str, progress: ProgressOption) -> Iterator[None]:
        """Tell that all edges are converted when the block ends."""
        with shown(method, progress):
            report(0, self.n_edges, "edges")
            yield
            report(self.n_edges, self.n_edges, "edges")

    def _whole(self, method: str) -> tuple[Frame, Frame, EdgeColumns]:
        """Return a frame of all vertices, one of all edges, and what their columns mean."""
        graph = self._in_this_process(method)
        vertices = graph.frame(graph.vertex_columns("vertex"))
        return vertices, graph.rows.inside(graph.values.flags()), columns_of(graph)
