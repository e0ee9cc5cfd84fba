"""From an engine's arrays to the rows of an answer, in the caller's ids and order.

`LocalValues` are the operations on the values of all vertices, in one process.  `columns_of` makes the
columns of an answer of searches, and `Rows` collects those of batches: the arrays of a batch are freed before
the next one is searched, so that a memory limit applies to one batch.

The number of rows is mostly known in advance.  Arrays are then written to their final place, so the answer is
in memory only once.  Columns that only their library can concatenate, such as strings, are in memory twice
for a moment, one column at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import numpy.typing as npt

from rapids_trav.algorithms.interface import Counted, TraversableGraph
from rapids_trav.csr.adjacency import Array
from rapids_trav.csr.array import moved_together
from rapids_trav.engines.interface import Engine, Search
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.frames.libraries import Library
from rapids_trav.ids.maps import Column, IdMap, vertex_dtype

FEW_BINS = 1 << 12  # most bins to count with CuPy's `bincount`, which copies them for each block


@dataclass(frozen=True)
class LocalValues:
    """Operations on values in one array; implements `algorithms.interface.VertexValues`."""

    engine: Engine
    ids: IdMap
    spread = False

    @property
    def n(self) -> int:
        return self.ids.n

    @property
    def n_here(self) -> int:
        return self.ids.n

    @property
    def dtype(self) -> np.dtype:
        return vertex_dtype(self.ids.n)

    def filled(self, value: float, dtype: npt.DTypeLike) -> Array:
        return self.engine.xp.full(self.n, value, dtype=dtype)

    def flags(self, vertices: Array | None = None) -> Array:
        xp = self.engine.xp
        if vertices is None:
            return xp.ones(self.n, dtype=bool)
        flags = xp.zeros(self.n, dtype=bool)
        flags[vertices] = True
        return flags

    def places(self, dtype: npt.DTypeLike) -> Array:
        order = self.ids.order
        return self.engine.xp.arange(self.n, dtype=dtype) if order is None else order.astype(dtype)

    def in_order(self, values: Array) -> Array:
        rank = self.ids.rank
        return values if rank is None else self.engine.xp.take(values, rank, axis=-1)

    def both_in_order(self, values: Array, others: Array | None) -> tuple[Array, Array | None]:
        return self.in_order(values), None if others is None else self.in_order(others)

    def placed(self, values: Array) -> Array:
        return values if self.ids.order is None else values[self.ids.order]

    def at(self, places: Array | None = None) -> Array:
        dtype, rank = vertex_dtype(self.n), self.ids.rank
        if places is None:
            return self.engine.xp.arange(self.n, dtype=dtype) if rank is None else rank
        return places.astype(dtype, copy=False) if rank is None else rank[places]

    def chosen(self, flags: Array) -> Array:
        rank = self.ids.rank
        return self.engine.xp.flatnonzero(flags) if rank is None else rank[flags[rank]]

    def reached(self, distance: Array) -> tuple[Array, Array]:
        xp, rank = self.engine.xp, self.ids.rank
        if rank is None:
            places = xp.flatnonzero(distance >= 0)
            return places, distance[places]
        places = xp.flatnonzero((distance >= 0)[rank])
        return places, distance[rank[places]]

    def picked(self, values: Array, vertices: Array) -> Array:
        return values[..., vertices]

    def most(self, values: Array) -> int:
        return int(values.max())

    def count_levels(self, distance: Array, n_bins: int, at_once: int) -> Counted:
        xp = self.engine.xp
        parts = (distance[first : first + at_once] for first in range(0, len(distance), at_once))
        return levels_of(xp, _counted(xp, (xp.where(some < 0, n_bins - 1, some) for some in parts), n_bins))

    def count_many_levels(self, distance: Array, n_bins: int) -> tuple[Array, Counted]:
        return levels_of_many(self.engine.xp, level_counts(self.engine.xp, distance, n_bins))

    def walk(self, predecessor: Array, searches: Array, targets: Array) -> tuple[Array, Array]:
        k, n = predecessor.shape
        if k == 1:
            return self.engine.walk(predecessor[0], targets)
        # Treat k searches over n vertices as one search over k * n vertices.
        xp, joint = self.engine.xp, vertex_dtype(k * n)
        predecessor = predecessor.astype(joint)
        predecessor = xp.where(predecessor >= 0, predecessor + xp.arange(k, dtype=joint)[:, None] * n, -1)
        lengths, visited = self.engine.walk(predecessor.reshape(-1), searches.astype(joint) * n + targets)
        return lengths, visited % n


def level_counts(xp: ModuleType, distance: Array, n_bins: int) -> Array:
    """Count each distance below ``n_bins - 1`` in each of k searches, int64 (k, n_bins).

    The last bin counts the unreached.
    """
    k = len(distance)
    first_bin = xp.arange(k, dtype=xp.int64)[:, None] * n_bins
    key = xp.where(distance < 0, n_bins - 1, distance) + first_bin
    return _bincount(xp, key.reshape(-1), k * n_bins).reshape(k, n_bins)


def levels_of(xp: ModuleType, counts: Array) -> Counted:
    """Return the levels of one search, given the counts of its bins, int64 (n_bins,)."""
    # No level up to the deepest is empty, and the last bin counts the unreached.
    n_bins = len(counts)
    levels = xp.arange(n_bins, dtype=xp.int32)
    levels[-1] = -1
    kept = n_bins if int(counts[-1]) else n_bins - 1
    counts = counts[:kept]
    return levels[:kept], counts, xp.cumsum(counts)


def levels_of_many(xp: ModuleType, counts: Array) -> tuple[Array, Counted]:
    """Return the search of each level of k searches, and the levels, given the counts (k, n_bins)."""
    cumulative = xp.cumsum(counts, axis=1)
    search, level = xp.nonzero(counts)
    found = xp.where(level == counts.shape[1] - 1, -1, level).astype(xp.int32)
    return search, (found, counts[search, level], cumulative[search, level])


def _bincount(xp: ModuleType, key: Array, n_bins: int) -> Array:
    """Count each key, int64 (n_bins,).

    CuPy's `bincount` keeps a copy of the bins for each block of its kernel: gigabytes for a million bins.
    """
    if xp is np or n_bins <= FEW_BINS:
        return xp.bincount(key, minlength=n_bins).astype(xp.int64, copy=False)
    return _counted(xp, [key], n_bins)


def _counted(xp: ModuleType, parts: Iterable[Array], n_bins: int) -> Array:
    """Count each key of all parts, int64 (n_bins,); one part is held at a time."""
    counts = xp.zeros(n_bins, xp.uint64)  # the widest type that CuPy adds to
    for keys in parts:
        xp.add.at(counts, keys, xp.uint64(1))
        del keys  # free them before the next part is made
    return counts.view(xp.int64)


def columns_of(
    graph: TraversableGraph, sources: Array | None, found: Search, reached_only: bool
) -> tuple[dict[str, Column], int]:
    """Return the columns of an answer in the caller's ids and order, and the number of rows.

    Independent searches, (k, n), are those from the first k `sources`; None stands for a joint one, (n,).
    """
    xp, values = graph.engine.xp, graph.values
    n = values.n_here
    distance, predecessor = values.both_in_order(found.distance, found.predecessor)
    if sources is not None:
        distance = _flat(distance)
        predecessor = None if predecessor is None else _flat(predecessor)
    if reached_only:
        kept = xp.flatnonzero(distance >= 0)
        distance = distance[kept]
        predecessor = None if predecessor is None else predecessor[kept]
        search, place = xp.divmod(kept, n) if sources is not None else (None, kept)
        columns = graph.vertex_columns("vertex", place)
        if sources is not None:
            columns = graph.id_columns("source", sources[search]) | columns
    elif sources is None:
        columns = graph.vertex_columns("vertex")
    else:
        own = sources[: len(found.distance)]
        columns = _sources(graph, own, n) | _vertices(graph, len(own))
    columns["distance"] = Masked(distance, distance >= 0)
    if predecessor is not None:
        columns |= graph.id_columns("predecessor", predecessor, nulls=True)
    return columns, len(distance)


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


class Rows:
    """Collector of batches of columns, with `n_rows` rows in all (None: unknown)."""

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
