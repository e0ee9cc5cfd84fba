"""The caller's edges, read once more as pairs of internal ids.

They may have changed since the graph was built, and no compiled kernel looks at the bounds of its arrays: so
every id read again must be one of the graph's, and the rows as many; and weights must be what fits the
graph's.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.edges.sources import EdgeSource, require_column
from rapids_trav.errors import EDGES_CHANGED, TravError, UnknownColumnError, listed, written
from rapids_trav.frames.columns import Frame, Series, move
from rapids_trav.ids.lookup import known_again
from rapids_trav.ids.maps import Encoder, IdMap, Library, Portable, vertex_dtype
from rapids_trav.storage.kept_ends import kept_ends

MOST_PARTS = 64  # frames that are put together: small ones are mostly overhead


class Weight(NamedTuple):
    """The column of the weights, and the dtype in which engines get them."""

    name: Hashable
    dtype: np.dtype


class RowSource(Protocol):
    """Where the rows of a graph come from: an `EdgeSource`, or what a saved graph keeps of one."""

    @property
    def library(self) -> Library:
        """The library of the caller's frames."""

    @property
    def columns(self) -> list[Hashable]:
        """Columns of the edges."""

    def deliver(self, frame: Frame) -> Frame:
        """A result in the kind of frame that came in."""


class RowReader(Protocol):
    """The edges of a graph, read again in internal ids: `EdgeRows`, or `saved.rows.SavedRows`."""

    src: list[Hashable]
    dst: list[Hashable]
    weight: Weight | None
    weight_advice: str  # how a graph without weights comes by them, as a part of a message

    @property
    def source(self) -> RowSource:
        """Where they come from."""

    def inside(self, chosen: Array, where: Hashable | None = None, rows_at_once: int | None = None) -> Frame:
        """The edges whose both ends are chosen, (n_vertices,)."""

    def check_where(self, where: object) -> None:
        """Refuse a filter that cannot be applied; None means no filter."""


class EdgeRows(Portable):
    """An `EdgeSource` whose vertices have been renumbered."""

    weight_advice = "name their column with graph(weight=...)"

    def __init__(
        self,
        source: EdgeSource,
        src: Sequence[Hashable],
        dst: Sequence[Hashable],
        n_edges: int,
        ids: IdMap,
        xp: ModuleType,
        weight: Weight | None = None,
    ) -> None:
        self.source = source
        self.src = list(src)
        self.dst = list(dst)
        self._n_edges = n_edges
        self._ids = ids
        self.xp = xp
        self.weight = weight

    def check_where(self, where: object) -> None:
        """Refuse a filter that is not the name of a column."""
        if where is not None:
            check_name(where)
            check_column(where, self.source.columns)

    def pairs(self, where: Hashable | None = None) -> Iterator[tuple[Array, Array]]:
        """Both ends of the edges, chunk by chunk, in internal ids; of those only whose `where` is true."""
        for _, u, v, _ in self._read([], where):
            yield u, v

    def weighted(self, where: Hashable | None = None) -> Iterator[tuple[Array, Array, Array]]:
        """Yield both ends of the edges, as `pairs` does, and the weight of each, all in one dtype."""
        assert self.weight is not None
        name, dtype = self.weight
        for frame, u, v, flags in self._read([name], where):
            column = frame[name]
            kinds = "iuf" if dtype.kind == "f" else "iu"
            if column.dtype.kind not in kinds or self.source.library.null_count(column):
                raise TravError(EDGES_CHANGED)
            weight = move(self.source.library.array(column), self.xp).astype(dtype, copy=False)
            yield u, v, weight if flags is None else weight[flags]

    def inside(self, chosen: Array, where: Hashable | None = None, rows_at_once: int | None = None) -> Frame:
        """The rows of the caller's edges, with all columns, whose both ends are chosen.

        Parameters
        ----------
        chosen : boolean array, (n_vertices,)
        rows_at_once : int, optional
            Most rows that are looked at together, as far as the source can be cut.
        """
        found = []
        for frame, u, v, flags in self._read(self.source.columns, where, rows_at_once):
            rows = self.xp.flatnonzero(chosen[u] & chosen[v])
            rows = rows if flags is None else self.xp.flatnonzero(flags)[rows]
            found.append(frame.take(move(rows, self.source.library.xp)))
            if len(found) == MOST_PARTS:
                found = [self.source.library.concat(found)]
        return found[0] if len(found) == 1 else self.source.library.concat(found)

    def _read(
        self, columns: Sequence[Hashable], where: Hashable | None, rows_at_once: int | None = None
    ) -> Iterator[tuple[Frame, Array, Array, Array | None]]:
        """Frames, both ends of the rows that `where` keeps, and flags of those rows (None: all)."""
        encode = self._ids.encoder(many=True)
        rows = 0
        wanted = dict.fromkeys([*columns, *self.src, *self.dst, *([where] if where is not None else [])])
        for frame in self.source.chunks(list(wanted), rows_at_once):
            rows += len(frame)
            if rows > self._n_edges:
                raise TravError(EDGES_CHANGED)
            flags = None
            if where is not None:
                flags = move(mask(frame, where, self.source.library), self.xp)
            u, v = self._ends(encode, frame, flags)
            yield frame, u, v, flags
        if rows != self._n_edges:
            raise TravError(EDGES_CHANGED)

    def _ends(self, encode: Encoder, frame: Frame, flags: Array | None) -> Sequence[Array]:
        """Internal ids of both ends of the rows of a frame, or of those that are flagged."""
        library = self.source.library
        sides = [[frame[name] for name in side] for side in (self.src, self.dst)]
        if flags is not None:
            columns = [column for side in sides for column in side]
            if self._ids.by_value and self.xp is np and all(map(_plain_integers, columns)):
                ends = [library.array(column) for column in columns]
                return kept_ends(encode, ends, np.asarray(flags), vertex_dtype(self._ids.n))
            kept = self.xp.flatnonzero(flags)
            sides = [[library.take(column, kept) for column in side] for side in sides]
        return [known_again(encode, side, library, self.xp) for side in sides]


def _plain_integers(column: Series) -> bool:
    return isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu"


class NullFlagsError(TravError):
    """Nulls in a column that `where` names.

    Attributes
    ----------
    where : hashable
        The name of the column.
    nulls : int
    of_objects : bool
        Whether the column holds Python objects.
    """

    def __init__(self, where: Hashable, nulls: int, of_objects: bool) -> None:
        as_bool = ".astype(bool)" if of_objects else ""
        super().__init__(
            f"where={where!r} holds {nulls} null{'s' if nulls > 1 else ''}: "
            f"fill them first, for example with edges[{where!r}].fillna(False){as_bool}."
        )
        self.where, self.nulls, self.of_objects = where, nulls, of_objects

    def __reduce__(self) -> tuple:
        return type(self), (self.where, self.nulls, self.of_objects)


def mask(frame: Frame, where: Hashable, library: Library) -> Array:
    """Return the flags of a boolean column; refuse another one, or nulls."""
    column = frame[where]
    nulls = library.null_count(column)
    if column.dtype.kind != "b" and not (nulls and _booleans(column, library)):
        if _booleans(column, library):
            helps = f"edges[{where!r}].astype(bool)"
        else:
            helps = f"with a column that compares it, edges[{where!r}] == value"
        raise TravError(
            f"where={where!r} is a column of {column.dtype}: name a boolean one, for example {helps}."
        )
    if nulls:
        raise NullFlagsError(where, nulls, of_objects=column.dtype.kind != "b")
    return library.array(column)


def _booleans(column: Series, library: Library) -> bool:
    """Whether a pandas column of objects holds booleans and nulls alone."""
    return bool(
        library.name == "pandas" and column.dtype == object and column.dropna().isin([True, False]).all()
    )


def check_name(where: object) -> None:
    """Refuse a filter that cannot be the name of a column, such as a mask."""
    if not isinstance(where, Hashable) or isinstance(where, bool):
        raise TravError(
            f"where is a {type(where).__name__}, not the name of a column: "
            f"add the mask to the edges as a column, build the graph again and name that."
        )


def check_column(where: Hashable, columns: Sequence[Hashable]) -> None:
    """Refuse a filter that names none of the columns, or several."""
    if where not in set(columns):  # by hash, as in `require_column`
        raise UnknownColumnError(
            f"Column {written(where)} is not in the edges: there are {listed(columns)}; "
            f"after adding a column, build the graph again."
        )
    require_column(columns, where)


def refuse_filter(where: object) -> None:
    """Refuse every filter but None: a saved graph has no columns to filter by."""
    if where is None:
        return
    check_name(where)
    raise TravError(
        f"where={where!r} needs the columns of the edges, which a saved graph does not keep: "
        f"build the graph from its edges."
    )
