"""Neighbourhoods: the vertices within k edges of some seeds, and the edges among these vertices."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Generic, NamedTuple, Self, cast

from rapids_trav.algorithms.bfs import framed
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import SearchOptions, whole_number
from rapids_trav.algorithms.pictures import LayeredPicture
from rapids_trav.algorithms.request import ask, own_answers, resolve
from rapids_trav.engines.interface import Search
from rapids_trav.frames import exchange
from rapids_trav.frames.columns import Masked
from rapids_trav.frames.exchange import EdgeColumns
from rapids_trav.frames.kinds import FrameT
from rapids_trav.memory.model.build import FOUND_BYTES
from rapids_trav.memory.model.search import KHOP_BYTES
from rapids_trav.storage.block_sizes import query_bytes, reading
from rapids_trav.storage.edge_rows import EdgeRows
from rapids_trav.utilities.progress import report

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse
    from matplotlib.figure import Figure

FEWEST_ROWS = 1 << 7  # fewest rows at once, however small the limit: smaller frames are mostly overhead


class _Frames(NamedTuple, Generic[FrameT]):
    vertices: FrameT
    edges: FrameT


class Neighborhood(_Frames[FrameT]):
    """Vertices and edges within k edges of the seeds.

    Attributes
    ----------
    vertices : DataFrame
        `vertex`, ascending, and `distance` from the nearest seed (nullable int32).
    edges : DataFrame
        The rows of the edge list that have both ends among these vertices.

    Examples
    --------
    >>> from rapids_trav import datasets
    >>> friends = datasets.load("facebook").trav.graph()
    >>> near = friends.khop(0, 1)
    >>> len(near.vertices), len(near.edges)
    (348, 2866)
    """

    _columns: EdgeColumns

    @classmethod
    def of(cls, vertices: FrameT, edges: FrameT, columns: EdgeColumns) -> Self:
        """Make a neighbourhood with a description of the columns of its edges."""
        found = cls(vertices, edges)
        found._columns = columns
        return found

    def _replace(self, **frames: FrameT) -> Self:
        vertices, edges = super()._replace(**frames)
        return type(self).of(vertices, edges, self._columns)

    def __repr__(self) -> str:
        if self._is_lazy:
            return super().__repr__()
        vertices, edges = (len(cast(Sized, frame)) for frame in self)
        return f"<Neighborhood: {vertices:,} vertices, {edges:,} edges>"

    @property
    def _is_lazy(self) -> bool:
        """Whether counting the rows would compute them."""
        return hasattr(self.vertices, "__dask_graph__")

    def plot(self) -> Figure:
        """Draw the neighbourhood by layers of distance: some vertices of each, and the edges among them.

        Returns
        -------
        matplotlib.figure.Figure
            Not tied to any window; `rapids_trav.plot.save` writes it.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.khop(0, 2).plot()
        <Figure size 680x400 with 1 Axes>
        """
        return self._picture().figure()

    def _repr_html_(self) -> str:
        if self._is_lazy or not hasattr(self, "_columns"):
            return f"<pre>{escape(repr(self))}</pre>"
        return self._picture().html()

    def _picture(self) -> LayeredPicture:
        return LayeredPicture(self.vertices, self.edges, self._columns)

    def to_networkx(self) -> networkx.Graph:
        """Return the neighbourhood as a NetworkX graph, like `Graph.to_networkx`; nodes have `distance`.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.khop(0, 1).to_networkx().nodes[2]
        {'distance': 1}
        """
        return exchange.to_networkx(self.vertices, self.edges, self._columns)

    def to_igraph(self) -> igraph.Graph:
        """Return the neighbourhood as an igraph graph, like `Graph.to_igraph`; vertices have `distance`.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.khop(0, 1).to_igraph().vs["distance"]
        [0, 1, 1]
        """
        return exchange.to_igraph(self.vertices, self.edges, self._columns)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the adjacency matrix, like `Graph.to_scipy`; its rows are in the order of `vertices`.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.khop(0, 1).to_scipy().toarray()
        array([[0, 1, 1],
               [1, 0, 0],
               [1, 0, 0]])
        """
        return exchange.to_scipy(self.vertices, self.edges, self._columns)


def khop(graph: TraversableGraph, seeds: object, k: int, options: SearchOptions) -> Neighborhood:
    """Return the neighbourhood that `Graph.khop` documents."""
    where = resolve(graph, options.where)
    depth = whole_number("k", k, of="steps")
    limited = replace(options, depth_limit=depth, predecessors=False, where=where)
    own = own_answers(graph)
    view, sources, asked = ask(graph, seeds, limited, "seeds", checked=own is None)
    table = query_bytes(graph.engine.place, graph.n_vertices)
    search, inside = table.search(KHOP_BYTES), table.neighborhood(graph.ids.nbytes)
    rest = max(inside + FOUND_BYTES * min(FEWEST_ROWS, graph.n_edges) - search, 0)
    with view.searching(lambda *_: search, asked.variant, later=rest):
        distance = graph.engine.search(view, sources, asked).distance
        report(len(sources), len(sources), "sources")
        indexed = graph.rows if graph.budget is None and isinstance(graph.rows, EdgeRows) else None
        chosen = distance if indexed is not None else distance >= 0
        if own is not None:
            columns, vertices = own.make.reached(Search(distance), own.table, len(sources), listed=True)
            found = graph.deliver(framed(graph, columns, "seeds", seeds))
            del columns
        else:
            vertices = None
            places, near = graph.values.reached(distance)
            rows = graph.collector(None)
            held = graph.vertex_columns("vertex", places) | {"distance": Masked(near, near >= 0)}
            rows.add(held, len(near))
            del places, near, held
            found = graph.deliver(rows.frame())
        del distance
    if indexed is not None:
        edges = graph.deliver(indexed.near(chosen, where, graph.engine, vertices))
        return Neighborhood.of(found, edges, columns_of(graph))
    with reading(graph.budget, graph.n_edges, FOUND_BYTES, fewest=FEWEST_ROWS, fixed=inside) as block:
        at_once = None if graph.budget is None else block
        edges = graph.deliver(graph.rows.inside(chosen, where, at_once))
    return Neighborhood.of(found, edges, columns_of(graph))


def columns_of(graph: TraversableGraph) -> EdgeColumns:
    """Return the meaning of the columns of a graph's edges, for other libraries."""
    return EdgeColumns(tuple(graph.rows.src), tuple(graph.rows.dst), graph.weight, graph.directed)
