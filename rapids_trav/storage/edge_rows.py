"""Readers of the caller's edges, which read them again as pairs of internal ids.

The edges may have changed since the graph was built, and compiled kernels do not check array bounds.
Therefore every id that is read again must be in the graph, the number of rows must be as before, and weights
must be of a type that converts to the graph's.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Array, offset_dtype
from rapids_trav.csr.array import ranges
from rapids_trav.edges.sources import EdgeSource
from rapids_trav.engines.interface import Engine
from rapids_trav.errors import EDGES_CHANGED, TravError
from rapids_trav.frames.columns import Frame, Series, move
from rapids_trav.frames.decimals import Weight, as_floats, as_integers, decimals_of
from rapids_trav.ids.lookup import known_again
from rapids_trav.ids.maps import Encoder, IdMap, Portable, vertex_dtype
from rapids_trav.storage.filters import Mask, Where, columns_of, flags_of, is_mask, resolved

BUILD_BYTES = 64  # per row, at most, while the index is built on a GPU
WORTHWHILE = 2  # the index is faster if it reads at most 1 / WORTHWHILE of the rows


class RowIndex:
    """Numbers of the rows, by the internal id of their source, in the memory of the engine.

    `u` and `v`, (n_rows,), are the internal ids of both ends of each row.
    """

    def __init__(self, engine: Engine, n_vertices: int, u: Array, v: Array) -> None:
        numbers = engine.xp.arange(len(u), dtype=offset_dtype(len(u)))
        # The numbers travel as the weights of the edges.
        built = engine.build_adjacency(partial(iter, [(u, v, numbers)]), n_vertices)
        assert built.weights is not None
        self._xp = engine.xp
        self._own = engine.answers
        self._rows = replace(built, weights=None)
        self._offsets, self._destinations = built.row_offsets, built.column_indices
        self._numbers = built.weights

    @property
    def nbytes(self) -> int:
        return self._offsets.nbytes + self._destinations.nbytes + self._numbers.nbytes

    def inside(self, distance: Array, vertices: Array | None = None) -> Array | None:
        """Return the numbers of the rows with both ends chosen, ascending; None if reading all is faster.

        The distance is 0 or more at the chosen vertices, else -1; `vertices` are these, if they are known.
        """
        xp = self._xp
        sources = xp.flatnonzero(distance >= 0) if vertices is None else vertices
        if self._own is not None:
            most = len(self._numbers) // WORTHWHILE
            return self._own.rows_inside(self._rows, self._numbers, distance, sources, most)
        begins = self._offsets[sources]
        degrees = self._offsets[sources + 1] - begins
        if int(degrees.sum()) * WORTHWHILE > len(self._numbers):
            return None
        entries = ranges(begins, degrees, xp)
        rows: Array = self._numbers[entries[distance[self._destinations[entries]] >= 0]]
        rows.sort()
        return rows


ROWS = 1 << 16  # smallest block of rows: its temporary arrays fit the cache of a core
PIECES = 16  # blocks, at least, however few rows are flagged, unless a block would have fewer than `ROWS`
SHARED = 1 << 18  # rows from which several threads are faster than one


def kept_ends(
    encode: Encoder, ends: Sequence[np.ndarray], flags: np.ndarray, dtype: np.dtype
) -> list[np.ndarray]:
    """Return the internal ids, in `dtype`, of the flagged rows of each array of `ends`.

    Only flagged rows are looked up.  `encode` must give each value an id that does not depend on the other
    values of the block.
    """
    from rapids_trav.jit.kernels import Threads

    n_rows = ROWS * len(flags) // (2 * int(np.count_nonzero(flags)) + 1)  # ROWS / 2 of them are kept
    n_rows = max(ROWS, min(len(flags) // PIECES, n_rows))
    firsts = range(0, len(flags), n_rows)
    places = np.cumsum([0, *(np.count_nonzero(flags[first : first + n_rows]) for first in firsts)])
    found = [np.empty(places[-1], dtype) for _ in ends]

    def keep_rows(begin: int, end: int) -> None:
        for i in range(begin, end):
            rows = slice(firsts[i], firsts[i] + n_rows)
            kept = np.flatnonzero(flags[rows])
            for given, internal in zip(ends, found, strict=True):
                some = encode([given[rows][kept]])
                if len(some) and some.min() < 0:
                    raise TravError(EDGES_CHANGED)
                internal[places[i] : places[i + 1]] = some

    with Threads() as team:
        team.run(keep_rows, len(firsts), grain=-(-SHARED // n_rows))
    return found


MOST_PARTS = 64  # frames that are collected before they are concatenated: small frames are mostly overhead


class RowReader:
    """Base of the readers of the edges of a graph in internal ids, here and in `saved.rows`."""

    source: EdgeSource
    src: list[Hashable]
    dst: list[Hashable]
    weight: Weight | None
    weight_advice: str  # part of a message: how to give weights to a graph that has none

    def inside(self, chosen: Array, where: Where | None = None, rows_at_once: int | None = None) -> Frame:
        """Return the edges, with all their columns, that `where` keeps and that have both ends `chosen`.

        `chosen` is a mask, (n_vertices,).  At most `rows_at_once` rows are processed together, if the source
        can be sliced.
        """
        raise NotImplementedError

    def resolve(self, where: object) -> Where | None:
        """Return a filter in the graph's own form: a column's name, an `Expression` or a `Mask`."""
        raise NotImplementedError

    def pairs(self, where: Where | None = None) -> Iterator[tuple[Array, Array]]:
        """Yield both ends of the edges that `where` keeps, chunk by chunk, in internal ids."""
        raise NotImplementedError

    def weighted(self, where: Where | None = None) -> Iterator[tuple[Array, Array, Array]]:
        """Yield both ends of the edges, as `pairs` does, and the weight of each, all in one dtype."""
        raise NotImplementedError


@dataclass(eq=False)
class EdgeRows(Portable, RowReader):
    """Reader of an `EdgeSource` whose vertices have been renumbered."""

    source: EdgeSource
    src: list[Hashable]
    dst: list[Hashable]
    n_edges: int
    ids: IdMap
    xp: ModuleType
    weight: Weight | None = None
    weight_advice = "name their column with graph(weight=...)"
    _index: RowIndex | None = None
    _n_asked: int = 0  # for the rows among a few vertices

    def __getstate__(self) -> dict[str, object]:
        return super().__getstate__() | {"_index": None, "_n_asked": 0}

    @property
    def index_bytes(self) -> int:
        """Bytes of the index of the rows, if there is one."""
        return 0 if self._index is None else self._index.nbytes

    def resolve(self, where: object) -> Where | None:
        if is_mask(where):
            return Mask.of(where, self.n_edges, self.source.labels())
        return resolved(where, self.source.columns)

    def pairs(self, where: Where | None = None) -> Iterator[tuple[Array, Array]]:
        for _, u, v, _ in self._read([], where):
            yield u, v

    def weighted(self, where: Where | None = None) -> Iterator[tuple[Array, Array, Array]]:
        assert self.weight is not None
        for frame, u, v, flags in self._read([self.weight.name], where):
            weight = move(self._weights(frame[self.weight.name]), self.xp)
            yield u, v, weight if flags is None else weight[flags]

    def _weights(self, column: Series) -> Array:
        """Return the weights of a column in the type of the graph's."""
        assert self.weight is not None
        _, dtype, scale = self.weight
        kinds = "iuf" if dtype.kind == "f" else "iu" if scale is None else ""
        found = None
        if not self.source.library.null_count(column):
            if column.dtype.kind in kinds:
                found = self.source.library.array(column).astype(dtype, copy=False)
            elif (decimals := decimals_of(column)) is not None:
                found = as_floats(decimals) if scale is None else as_integers(decimals, scale)
        if found is None:
            raise TravError(EDGES_CHANGED)
        return found

    def inside(self, chosen: Array, where: Where | None = None, rows_at_once: int | None = None) -> Frame:
        found = []
        for frame, u, v, flags in self._read(self.source.row_columns, where, rows_at_once):
            rows = self.xp.flatnonzero(chosen[u] & chosen[v])
            rows = rows if flags is None else self.xp.flatnonzero(flags)[rows]
            found.append(self.source.rows_of(frame, move(rows, self.source.library.xp)))
            if len(found) == MOST_PARTS:
                found = [self.source.library.concat(found)]
        return found[0] if len(found) == 1 else self.source.library.concat(found)

    def near(
        self, distance: Array, where: Where | None, engine: Engine, vertices: Array | None = None
    ) -> Frame:
        """Return the same as `inside`, by an index that is kept from the second call on.

        The vertices whose distance is not -1 are chosen.
        The index is for edges that are one frame in memory; it takes 8 bytes for each edge and 4 for each
        vertex, twice as many for 2^31 or more.  Rows that it finds are not compared with the graph again,
        since no kernel reads them.  `vertices` are the chosen ones, if they are known.
        """
        rows = None
        if self.source.is_one_frame:
            rows = self._rows_inside(distance, engine, vertices)
        return self.inside(distance >= 0, where) if rows is None else self._taken(rows, where)

    def _rows_inside(self, distance: Array, engine: Engine, vertices: Array | None) -> Array | None:
        """Return the numbers of the rows with both ends chosen by the index; None if it does not pay."""
        self._n_asked += 1
        index = self._index  # another thread may set it
        again = index is None and self._n_asked > 1
        if again and 2 * BUILD_BYTES * self.n_edges <= engine.free_bytes():
            ((u, v),) = self.pairs()
            self._index = index = RowIndex(engine, self.ids.n, u, v)
        return None if index is None else index.inside(distance, vertices)

    def _taken(self, rows: Array, where: Where | None) -> Frame:
        """Return the rows with these numbers that `where` keeps."""
        library = self.source.library
        wanted = dict.fromkeys([*self.source.row_columns, *self.src, *columns_of(where)])
        (whole,) = self.source.chunks(list(wanted))
        if len(whole) != self.n_edges:
            raise TravError(EDGES_CHANGED)
        rows = move(rows, library.xp)
        if where is not None:
            if isinstance(where, Mask):
                flags = where.at(rows)
            else:
                flags = flags_of(whole.take(rows), where, library, 0)
            rows = rows[move(flags, library.xp)]
        return self.source.rows_of(whole, rows)

    def _read(
        self, columns: Sequence[Hashable], where: Where | None, rows_at_once: int | None = None
    ) -> Iterator[tuple[Frame, Array, Array, Array | None]]:
        """Yield frames, both ends of the rows that `where` keeps, and flags of those rows (None: all)."""
        encode = self.ids.encoder(many=True)
        rows = 0
        wanted = dict.fromkeys([*columns, *self.src, *self.dst, *columns_of(where)])
        for frame in self.source.chunks(list(wanted), rows_at_once):
            rows += len(frame)
            if rows > self.n_edges:
                raise TravError(EDGES_CHANGED)
            flags = None
            if where is not None:
                flags = flags_of(frame, where, self.source.library, rows - len(frame))
                flags = move(flags, self.xp)
            u, v = self._ends(encode, frame, flags)
            yield frame, u, v, flags
        if rows != self.n_edges:
            raise TravError(EDGES_CHANGED)

    def _ends(self, encode: Encoder, frame: Frame, flags: Array | None) -> Sequence[Array]:
        """Return internal ids of both ends of a frame's rows, or of the flagged rows only."""
        library = self.source.library
        sides = [[frame[name] for name in side] for side in (self.src, self.dst)]
        if flags is not None:
            columns = [column for side in sides for column in side]
            if self.ids.by_value and self.xp is np and all(map(_plain_integers, columns)):
                ends = [library.array(column) for column in columns]
                return kept_ends(encode, ends, np.asarray(flags), vertex_dtype(self.ids.n))
            kept = self.xp.flatnonzero(flags)
            sides = [[library.take(column, kept) for column in side] for side in sides]
        return [known_again(encode, side, library, self.xp) for side in sides]


def _plain_integers(column: Series) -> bool:
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu"
