"""Conversion of graphs to NetworkX, igraph and SciPy; each library is imported only when needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError, written
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Array, Frame, id_names, written_id
from rapids_trav.frames.decimals import as_floats, decimals_of, refuse_overflow, sum_dtype

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse

TOLD = 1 << 16  # edges of a NetworkX graph between two reports


@dataclass(frozen=True)
class EdgeColumns:
    """Roles of the columns of an edge list."""

    src: Sequence[Hashable]
    dst: Sequence[Hashable]
    weight: Hashable | None
    directed: bool

    @property
    def vertex(self) -> list[str]:
        """Names of the vertex columns in an answer."""
        return id_names("vertex", len(self.src))


def to_networkx(
    vertices: Frame, edges: Frame, columns: EdgeColumns, tell: Callable[[int, int, str], None] | None = None
) -> networkx.Graph:
    """Build the NetworkX graph that `Graph.to_networkx` documents; tell how many edges it has so far."""
    nx = _library("networkx", "to_networkx")
    vertices, edges = on_host(vertices), on_host(edges)
    names, (u, v) = names_of(vertices, columns), ends_of(vertices, edges, columns)
    repeated = _repeated(u, v, columns.directed)
    kinds = (nx.MultiGraph, nx.MultiDiGraph) if repeated else (nx.Graph, nx.DiGraph)
    graph = kinds[columns.directed]()
    graph.add_nodes_from(zip(names, _records(vertices, columns.vertex), strict=True))
    attributes = _records(edges, [*columns.src, *columns.dst])
    ends = zip(u.tolist(), v.tolist(), attributes, strict=True)
    for first in range(0, len(edges), TOLD):
        graph.add_edges_from((names[i], names[j], values) for i, j, values in islice(ends, TOLD))
        if tell is not None:
            tell(min(first + TOLD, len(edges)), len(edges), "edges")
    return graph


def to_igraph(vertices: Frame, edges: Frame, columns: EdgeColumns) -> igraph.Graph:
    """Build the igraph graph that `Graph.to_igraph` documents."""
    ig = _library("igraph", "to_igraph")
    vertices, edges = on_host(vertices), on_host(edges)
    u, v = ends_of(vertices, edges, columns)
    return ig.Graph(
        n=len(vertices),
        edges=np.column_stack([u, v]),
        directed=columns.directed,
        vertex_attrs={"name": names_of(vertices, columns), **_attributes(vertices, columns.vertex)},
        edge_attrs=_attributes(edges, [*columns.src, *columns.dst]),
    )


def to_scipy(vertices: Frame, edges: Frame, columns: EdgeColumns) -> scipy.sparse.csr_array:
    """Build the SciPy matrix that `Graph.to_scipy` documents."""
    vertices, edges = on_host(vertices), on_host(edges)
    u, v = ends_of(vertices, edges, columns)
    weight = None if columns.weight is None else _numbers(edges[columns.weight])
    return matrix(u, v, weight, len(vertices), columns.directed)


def _numbers(column: pd.Series) -> np.ndarray:
    decimals = decimals_of(column)
    return column.to_numpy() if decimals is None else as_floats(decimals)


def matrix(u: Array, v: Array, weight: Array | None, n: int, directed: bool) -> scipy.sparse.csr_array:
    """Return the adjacency matrix of edges between the vertices 0 to n-1; repeated edges are summed."""
    sparse = _library("scipy.sparse", "to_scipy")
    given = np.ones(len(u), dtype=np.int64) if weight is None else weight.astype(sum_dtype(weight.dtype))
    values = given
    if not directed:
        other = u != v
        u, v = np.concatenate([u, v[other]]), np.concatenate([v, u[other]])
        values = np.concatenate([values, values[other]])
    summed = sparse.csr_array((values, (u, v)), shape=(n, n))
    refuse_overflow(given, repeated=summed.nnz < len(values))
    return summed


def _library(name: str, method: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise TravError(
            f"{method}() needs {package}, which cannot be imported ({error}): install it, for example with "
            f"pip install {package}."
        ) from error


def on_host(frame: Frame) -> pd.DataFrame:
    """Return a frame of any library as pandas; a Dask frame is computed."""
    frame = forms.opened(proxies.opened(frame, on_gpu=False))
    if hasattr(frame, "__dask_graph__"):
        frame = frame.compute()
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def ends_of(
    vertices: pd.DataFrame, edges: pd.DataFrame, columns: EdgeColumns
) -> tuple[np.ndarray, np.ndarray]:
    """Return the row numbers, in `vertices`, of both ends of each edge."""
    known = _index(vertices[columns.vertex])
    u, v = (known.get_indexer(_index(edges[list(side)], known)) for side in (columns.src, columns.dst))
    for side, found in ((columns.src, u), (columns.dst, v)):
        if len(unknown := np.flatnonzero(found < 0)):
            raise TravError(
                f"The edges lead to {written_id(edges, side, int(unknown[0]))}, which is not among the "
                f"vertices: give edges between these vertices."
            )
    return u, v


def _index(ids: pd.DataFrame, known: pd.Index | None = None) -> pd.Index:
    """Return an index of ids, compared by value unless they are integers: ends may have their own types."""
    if ids.shape[1] > 1:
        return pd.MultiIndex.from_frame(ids.astype(object))
    column = ids.iloc[:, 0]
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        return pd.Index(column if known is None or known.dtype != object else column.astype(object))
    return pd.Index(column.astype(object))


def _repeated(u: np.ndarray, v: np.ndarray, directed: bool) -> bool:
    """Return whether any edge occurs twice."""
    ends = (u, v) if directed else (np.minimum(u, v), np.maximum(u, v))
    return bool(pd.MultiIndex.from_arrays(ends).has_duplicates)


def names_of(vertices: pd.DataFrame, columns: EdgeColumns) -> list[Hashable]:
    """Return the ids as Python values; ids of several columns become tuples."""
    parts = [_values(vertices[name]) for name in columns.vertex]
    return parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))


def _attributes(frame: pd.DataFrame, others: Sequence[Hashable]) -> dict[str, list]:
    names = _names(frame, others)
    texts = [str(name) for name in names]
    _check_distinct(texts)
    return dict(zip(texts, _columns(frame, names), strict=True))


def _records(frame: pd.DataFrame, others: Sequence[Hashable]) -> list[dict[Hashable, object]]:
    """Return a dict for each row, without the columns named in `others`."""
    names = _names(frame, others)
    if not names:
        return [{} for _ in range(len(frame))]
    return [dict(zip(names, row, strict=True)) for row in zip(*_columns(frame, names), strict=True)]


def _names(frame: pd.DataFrame, others: Sequence[Hashable]) -> list[Hashable]:
    """Return the names of the columns but for those in `others`; they become names of attributes."""
    names = [name for name in frame.columns if name not in others]
    _check_distinct(names)
    return names


def _check_distinct(names: Sequence[Hashable]) -> None:
    name, count = Counter(names).most_common(1)[0] if names else (None, 0)
    if count > 1:
        raise TravError(
            f"Column {written(name)} occurs {count} times in the edges, and an attribute has one value: "
            f"rename all but one."
        )


def _columns(frame: pd.DataFrame, names: Sequence[Hashable]) -> list[list]:
    return [_values(frame[name]) for name in names]


def _values(column: pd.Series) -> list:
    """Return the column as Python values, with None for nulls of types that have nulls."""
    if isinstance(column.dtype, np.dtype):
        return column.tolist()
    return column.astype(object).where(column.notna(), None).tolist()
