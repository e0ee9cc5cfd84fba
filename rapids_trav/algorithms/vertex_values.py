"""Work on the values of all vertices where they lie together, in arrays of one engine."""

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

FEW_BINS = 1 << 12  # that CuPy may count in copies


@dataclass(frozen=True)
class LocalValues:
    """Values in one array; an `algorithms.interface.VertexValues`."""

    engine: Engine
    ids: IdMap

    @property
    def n(self) -> int:
        return self.ids.n

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

    def count_levels(self, distance: Array, n_bins: int, at_once: int) -> Counted:
        xp = self.engine.xp
        parts = (distance[first : first + at_once] for first in range(0, len(distance), at_once))
        counts = _counted(xp, (xp.where(some < 0, n_bins - 1, some) for some in parts), n_bins)
        # No level before the last is empty; the last bin is that of the unreached.
        levels = xp.arange(n_bins, dtype=xp.int32)
        levels[-1] = -1
        kept = n_bins if int(counts[-1]) else n_bins - 1
        counts = counts[:kept]
        return levels[:kept], counts, xp.cumsum(counts)

    def count_many_levels(self, distance: Array, n_bins: int) -> tuple[Array, Counted]:
        xp, k = self.engine.xp, len(distance)
        first_bin = xp.arange(k, dtype=xp.int64)[:, None] * n_bins
        key = xp.where(distance < 0, n_bins - 1, distance) + first_bin
        counts = _bincount(xp, key.reshape(-1), k * n_bins).reshape(k, n_bins)
        del key
        cumulative = xp.cumsum(counts, axis=1)
        search, level = xp.nonzero(counts)
        found = xp.where(level == n_bins - 1, -1, level).astype(xp.int32)
        return search, (found, counts[search, level], cumulative[search, level])

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        return self.engine.walk(predecessor, targets)


def _bincount(xp: ModuleType, key: Array, n_bins: int) -> Array:
    """Count each key, int64 (n_bins,).

    CuPy's `bincount` holds the bins once for each block of its kernel: gigabytes for a million of them.
    """
    if xp is np or n_bins <= FEW_BINS:
        return xp.bincount(key, minlength=n_bins).astype(xp.int64, copy=False)
    return _counted(xp, [key], n_bins)


def _counted(xp: ModuleType, parts: Iterable[Array], n_bins: int) -> Array:
    """Count each key of all parts, int64 (n_bins,); one part is held at a time."""
    counts = xp.zeros(n_bins, xp.uint64)  # the widest type that CuPy adds to
    for keys in parts:
        xp.add.at(counts, keys, xp.uint64(1))
        del keys  # before the next are made
    return counts.view(xp.int64)
