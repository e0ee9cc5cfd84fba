"""Operations on the values of all vertices of a graph in one process, in arrays of one engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import numpy.typing as npt

from rapids_trav.algorithms.interface import Counted
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import Engine
from rapids_trav.ids.maps import IdMap, vertex_dtype

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
