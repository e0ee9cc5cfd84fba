"""The rows of the answer of searches, made from the arrays of the engine."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.request import SearchRequest
from rapids_trav.csr.adjacency import Array
from rapids_trav.csr.array import moved_together
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.frames.libraries import Library
from rapids_trav.ids.maps import Column


def rows_of(
    graph: TraversableGraph, question: SearchRequest, found: Search, first: int, reached_only: bool
) -> tuple[dict[str, Column], dict[str, Column], Array, Array | None]:
    """Return source columns (none if joint), vertex columns, distances and predecessors of all rows."""
    xp, values = graph.engine.xp, graph.values
    n = values.n_here
    distance, predecessor = values.both_in_order(found.distance, found.predecessor)
    distance = _flat(distance)
    predecessor = None if predecessor is None else _flat(predecessor)
    if not reached_only:
        if not question.each:
            return {}, graph.vertex_columns("vertex"), distance, predecessor
        own = question.sources[first : first + len(found.distance)]
        return _sources(graph, own, n), _vertices(graph, len(own)), distance, predecessor
    kept = xp.flatnonzero(distance >= 0)
    distance = distance[kept]
    predecessor = None if predecessor is None else predecessor[kept]
    search, place = xp.divmod(kept, n) if question.each else (None, kept)
    vertex = graph.vertex_columns("vertex", place)
    source = {} if search is None else graph.id_columns("source", question.sources[search + first])
    return source, vertex, distance, predecessor


def _flat(rows: Array) -> Array:
    """Return the entries of all rows as one array; rows that are spaced apart are moved together in place.

    A second array of this size would take longer to allocate than to fill.
    """
    whole = getattr(rows, "base", None)
    if not isinstance(whole, np.ndarray) or rows.ndim != 2 or not _spaced(rows, whole):
        return rows.reshape(-1)
    entries, (k, n) = whole.reshape(-1), rows.shape
    return entries[: moved_together(entries, whole.shape[1] * np.arange(k), np.full(k, n))]


def _spaced(rows: Array, whole: np.ndarray) -> bool:
    """Return whether the rows are the beginnings of those of a contiguous array."""
    return (
        whole.flags.c_contiguous
        and whole.ndim == 2
        and whole.shape[0] == rows.shape[0]
        and whole.shape[1] > rows.shape[1] > 0
        and np.shares_memory(whole[:1, :1], rows[:1, :1])
    )


def _sources(graph: TraversableGraph, sources: Array, n: int) -> dict[str, Column]:
    """Return the source columns, with each source repeated for n rows."""
    columns = graph.id_columns("source", sources)
    return _spread(graph, "source", columns, lambda ids: graph.engine.xp.repeat(ids, n), lambda: sources)


def _vertices(graph: TraversableGraph, k: int) -> dict[str, Column]:
    """Return the vertex columns: all vertices, k times."""
    columns = graph.vertex_columns("vertex")
    if k == 1:
        return columns
    return _spread(graph, "vertex", columns, lambda ids: graph.engine.xp.tile(ids, k), graph.values.at)


def _spread(
    graph: TraversableGraph,
    name: str,
    columns: dict[str, Column],
    spread: Callable[[Array], Array],
    internal: Callable[[], Array],
) -> dict[str, Column]:
    """Return id columns spread over more rows: arrays themselves, other columns by their internal ids."""
    if all(isinstance(column, graph.engine.xp.ndarray) for column in columns.values()):
        return {name: spread(column) for name, column in columns.items()}
    return graph.id_columns(name, spread(internal()))


def named(
    graph: TraversableGraph,
    source: dict[str, Column],
    vertex: dict[str, Column],
    distance: Array,
    predecessor: Array | None,
) -> dict[str, Column]:
    """Return the columns of an answer, with the caller's ids."""
    columns = source | vertex
    columns["distance"] = Masked(distance, distance >= 0)
    if predecessor is not None:
        columns |= graph.id_columns("predecessor", predecessor, nulls=True)
    return columns


class Rows:
    """Collector of batches of columns.

    Parameters
    ----------
    library : Library
    xp : module
        NumPy or CuPy, the array module of the engine.
    n_rows : int or None
        Number of rows of all batches; None: unknown.
    """

    together = True  # all rows become one frame

    def __init__(self, library: Library, xp: ModuleType, n_rows: int | None) -> None:
        self._library, self._xp, self._total = library, xp, n_rows
        self._parts: dict[str, list[Column]] = {}
        self.n_rows = 0

    def add(self, columns: dict[str, Column], n_rows: int) -> None:
        """Add the columns of the next rows; the caller must not use them afterwards."""
        first = self.n_rows
        self.n_rows += n_rows
        for name, column in columns.items():
            parts = self._parts.setdefault(name, [])
            arrays = column if isinstance(column, Masked) else (column,)
            plain = isinstance(arrays[0], (np.ndarray, self._xp.ndarray))
            if not plain or self._total in (None, n_rows):
                parts.append(column)
                continue
            if first == 0:
                parts.append(self._room_for(column))
            wholes = parts[0] if isinstance(column, Masked) else (parts[0],)
            for array, whole in zip(arrays, wholes, strict=True):
                whole[first : self.n_rows] = array

    def columns(self) -> dict[str, Column]:
        """Return the columns of all rows and release the batches."""
        return {name: self._joined(self._parts.pop(name)) for name in list(self._parts)}

    def frame(self) -> Frame:
        """Return a frame of all rows."""
        return self._library.frame(self.columns())

    def _room_for(self, column: Array | Masked) -> Array | Masked:
        if isinstance(column, Masked):
            return Masked(*map(self._room_for, column))
        return (np if isinstance(column, np.ndarray) else self._xp).empty(self._total, column.dtype)

    def _joined(self, parts: list[Column]) -> Column:
        if len(parts) == 1:
            return parts[0]
        if isinstance(parts[0], Masked):
            return Masked(*(self._joined(list(arrays)) for arrays in zip(*parts, strict=True)))
        if isinstance(parts[0], (np.ndarray, self._xp.ndarray)):
            return (np if isinstance(parts[0], np.ndarray) else self._xp).concatenate(parts)
        return self._library.concat([self._library.column(part) for part in parts], ignore_index=True)
