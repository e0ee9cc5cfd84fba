"""Edges that a graph reads, opened in any form that a caller may give.

The graph reads the edges again for their columns (`where`, `khop`).  It keeps shallow copies of frames, which
share the values.  Columns that the caller replaces, renames, adds or drops later do not affect the graph, nor
do values changed in place where the library copies on write (pandas from 3 on).  Where values are shared all
the same (pandas 2, a NumPy array behind a frame made with ``copy=False``, cuDF without copy-on-write), they
must not be changed while the graph is in use.  `storage.edge_rows` checks the edges against the graph when it
reads them again.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from os import PathLike
from typing import Any, Self

import numpy as np
import pyarrow as pa

from rapids_trav.edges.array_edges import GraphDefaults, is_array, table_of
from rapids_trav.edges.parquet_edges import ParquetFiles
from rapids_trav.errors import (
    TravError,
    UnknownColumnError,
    a_type,
    type_name,
)
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Array, Frame, Series, Values, library_of, move
from rapids_trav.frames.forms import Form, form_of
from rapids_trav.frames.libraries import Library, library

NO_DEFAULTS = GraphDefaults()
MIXED_LIBRARIES = "The edge frames are of pandas and of cuDF: convert them to one library."


def open_edges(edges: Any, engine: object = "auto") -> EdgeSource:
    """Open the edges in any form that a caller may give.

    These are a frame, several frames, an iterator of frames or a function that returns one, Parquet paths, a
    Dask frame, two arrays (three with weights), or a sparse matrix of SciPy.
    """
    if (kind := _kind(edges)) == "dask":
        return DaskEdges(edges)
    if kind is not None:
        return _of_parts([edges], [kind], engine)
    if (table := table_of(edges)) is not None:
        return _of_parts([table.frame], [table.kind], engine, table.defaults, table.operations)
    if callable(edges) and not isinstance(edges, Iterable):
        return GeneratedEdges(edges, engine)
    if isinstance(edges, Mapping):
        raise TravError(
            f"edges is {a_type(edges)}: make a frame of it first, for example with pandas.DataFrame."
        )
    if _is_networkx(edges):
        raise TravError(
            f"edges is {a_type(edges)} of NetworkX: make a frame of it first, with "
            f"networkx.to_pandas_edgelist(edges, 'src', 'dst')."
        )
    if isinstance(edges, Iterable) and not hasattr(edges, "columns") and getattr(edges, "ndim", 1) != 0:
        parts = list(edges)
        if not parts:
            raise TravError("edges is an empty sequence: give at least one frame, which may have no rows.")
        kinds = [*map(_kind, parts)]
        if all(kinds):
            return _of_parts(parts, kinds, engine)
        if all(map(is_array, parts)):
            raise TravError(
                f"edges is a {type_name(edges)} of arrays: give the ends of the edges as a tuple of two "
                f"arrays, (src, dst), or of three, (src, dst, weight)."
            )
        edges = parts[kinds.index(None)]
    raise TravError(
        f"edges holds an object of type {type_name(edges)}: give frames of pandas, polars, pyarrow, cuDF or "
        f"Dask, two arrays, a sparse matrix, or paths of Parquet files."
    )


def _kind(edges: object) -> str | Form | None:
    """Return "path", the library of a frame, or its form if it is read through Arrow; None for all else."""
    return "path" if isinstance(edges, (str, PathLike)) else library_of(edges) or form_of(edges)


def _of_parts(
    parts: list[Any],
    kinds: Sequence[str | Form | None],
    engine: object,
    defaults: GraphDefaults = NO_DEFAULTS,
    operations: Library | None = None,
) -> EdgeSource:
    """Open frames or paths of these kinds, which together are one edge list."""
    form = next((kind for kind in kinds if kind is not None and not isinstance(kind, str)), None)
    names = dict.fromkeys(kind if isinstance(kind, str) else kind.name for kind in kinds if kind is not None)
    if names.keys() == {"path"}:
        return ParquetEdges(parts, engine)
    if form is None and names.keys() <= {"pandas", "cudf"}:
        return FrameEdges(parts, engine, defaults, operations)
    if names.keys() == {"dask"}:
        raise TravError(
            f"edges holds {len(parts)} Dask frame{'s' if len(parts) > 1 else ''} in a sequence: give one "
            f"Dask frame by itself, for example with dask.dataframe.concat."
        )
    if "path" in names:
        raise TravError(
            "edges mixes frames and paths: read the files into frames first, or give paths alone."
        )
    if form is not None:
        if len(names) > 1 or any(isinstance(kind, str) for kind in kinds):
            raise TravError(f"The edge frames are of {' and of '.join(names)}: convert them to one library.")
        return ArrowEdges(parts, form, engine, defaults)
    raise TravError(
        "edges mixes Dask frames and others: make one Dask frame of all, for example with "
        "dask.dataframe.concat, or frames with compute()."
    )


def _is_networkx(edges: object) -> bool:
    bases = [base for base in type(edges).__mro__ if base.__module__.partition(".")[0] == "networkx"]
    return any(base.__name__ == "Graph" for base in bases)


class EdgeSource:
    """Edges that can be read more than once, as frames of pandas or cuDF."""

    library: Library
    columns: list[Hashable]
    defaults = NO_DEFAULTS
    partitions: int | None = None  # of the caller's Dask frame; None for all others
    n_frames: int | None = None  # given by the caller; None if they are not in memory
    _rows: int | None = None  # most rows of a frame that `chunks` yields

    def _read(self, columns: Sequence[Hashable] | None, rows: int | None) -> Iterator[Frame]:
        """Yield the edges as `chunks` does; frames that are made have at most `rows` rows, where possible."""
        raise NotImplementedError

    def chunks(self, columns: Sequence[Hashable] | None = None, rows: int | None = None) -> Iterator[Frame]:
        """Return an iterator over the edges as successive frames, with at least these columns or with all.

        With `rows`, frames that are made for this call have at most that many rows, as far as files allow.
        """
        if self._rows is None:
            return self._read(columns, rows)
        return self._slices(columns, min(rows or self._rows, self._rows))

    def _slices(self, columns: Sequence[Hashable] | None, rows: int) -> Iterator[Frame]:
        for frame in self._read(columns, rows):
            for first in range(0, max(len(frame), 1), rows):
                yield frame if len(frame) <= rows else frame.iloc[first : first + rows]
                # Arrow would keep the memory that its operations on strings have freed.
                pa.default_memory_pool().release_unused()

    def sliced(self, rows: int) -> Self:
        """Return the same edges, in frames of up to `rows` rows."""
        slices = copy.copy(self)
        slices._rows = rows
        return slices

    @property
    def is_one_frame(self) -> bool:
        """Whether the edges are one frame in memory, which is read as a whole."""
        return self.n_frames == 1 and self._rows is None

    def labels(self) -> Series | None:
        """Return the index of the caller's frame if the edges are one frame in memory."""
        return None

    def count_rows(self) -> int | None:
        """Return the number of edges; None if it is not known without reading them."""
        return None

    def id_bytes(self, columns: Sequence[Hashable]) -> int | None:
        """Return the bytes of these columns; None if that is not known."""
        return None

    @property
    def row_columns(self) -> list[Hashable]:
        """Columns that `rows_of` needs in a chunk."""
        return self.columns

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        """Return these rows of a chunk with all columns of the edges."""
        return self.library.rows_of(frame, rows)


class FrameEdges(EdgeSource):
    """Frames in memory; `operations` are those on their library, if they are not the usual ones."""

    def __init__(
        self,
        frames: Sequence[Frame],
        engine: object = "auto",
        defaults: GraphDefaults = NO_DEFAULTS,
        operations: Library | None = None,
    ) -> None:
        frames, proxied = proxies.on_one_side(frames, engine)
        kinds = {*map(library_of, frames)}
        if len(kinds) > 1:
            raise TravError(MIXED_LIBRARIES)
        self.defaults = defaults
        self.library = operations or library(kinds.pop() or "pandas", proxied)
        self.columns = list(frames[0].columns)
        for frame in frames[1:]:
            _check_columns(frame, self.columns)
        self._frames = [self.library.native(frame.copy(deep=False)) for frame in frames]
        self.n_frames = len(frames)

    def _read(self, columns: Sequence[Hashable] | None, rows: int | None) -> Iterator[Frame]:
        return iter(self._frames)  # whole frames: selecting columns would copy them

    @functools.cached_property
    def _is_plain(self) -> bool:
        """Whether all columns are numbers; they stay so, since the frames are the graph's own copies."""
        return all(map(self.library.is_plain, self._frames))

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        return self.library.rows_of(frame, rows, plain=self._is_plain)

    def labels(self) -> Series | None:
        return self._frames[0].index if self.is_one_frame else None

    def count_rows(self) -> int:
        return sum(map(len, self._frames))

    def id_bytes(self, columns: Sequence[Hashable]) -> int:
        """Return the bytes of these columns; Python objects are shared with the graph and not counted."""
        return sum(int(frame[name].memory_usage(index=False)) for frame in self._frames for name in columns)


class DaskEdges(EdgeSource):
    """A Dask frame, whose partitions are computed one by one at each reading; persist it if that is slow."""

    def __init__(self, frame: Frame) -> None:
        self.library = library(library_of(frame._meta) or "pandas")
        self.columns = list(frame.columns)
        self.partitions = frame.npartitions
        self.frame = frame

    def _read(self, columns: Sequence[Hashable] | None, rows: int | None) -> Iterator[Frame]:
        frame = self.frame[list(columns or self.columns)]
        for i in range(frame.npartitions):
            yield self.library.native(proxies.opened(frame.get_partition(i).compute(), on_gpu=False))


class ArrowEdges(EdgeSource):
    """Frames that are read through Arrow: of polars, pyarrow, DuckDB, or any object with an Arrow stream.

    A stream, which may be readable only once, is kept as a table.  Only the requested columns are converted
    to pandas or cuDF; rows are taken from the kept frames, so other columns keep their own types.
    """

    def __init__(
        self,
        frames: Sequence[Values],
        form: Form,
        engine: object,
        defaults: GraphDefaults = NO_DEFAULTS,
    ) -> None:
        self.defaults = defaults
        self._form = form
        self._reader = forms.handed_out(form, engine)
        self.library: Library = self._reader
        self._frames = [forms.kept(self._form, frame) for frame in frames]
        names = self._form.columns(self._frames[0])
        self.columns: list[Hashable] = [*names]
        for frame in self._frames[1:]:
            if missing := set(names) - set(self._form.columns(frame)):
                raise _absent(min(missing))
        self.n_frames = len(self._frames)
        self._firsts = [0, *accumulate(len(frame) for frame in self._frames)]

    @property
    def row_columns(self) -> list[Hashable]:
        return []

    def _read(self, columns: Sequence[Hashable] | None, rows: int | None) -> Iterator[Frame]:
        columns = self.columns if columns is None else columns
        for first, frame in zip(self._firsts, self._frames, strict=False):
            step = self._step(frame, columns, rows)
            for begin in range(0, max(len(frame), 1), step):
                made = self._reader.read(frame.slice(begin, step), columns)
                made.index = range(first + begin, first + begin + len(made))
                yield made

    def _step(self, frame: Values, columns: Sequence[Hashable], rows: int | None) -> int:
        """Return how many rows to convert at once: all of a dictionary type, whose values would differ."""
        whole = max(len(frame), 1)
        if rows is None or len(frame) <= rows:
            return whole
        types = forms.columns_of(self._form, frame.slice(0, 0), columns).schema.types
        return whole if any(map(pa.types.is_dictionary, types)) else rows

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        found = move(rows, np) + (int(frame.index[0]) if len(frame) else 0)
        part = int(np.searchsorted(self._firsts, found[0], side="right")) - 1 if len(found) else 0
        return self._form.take(self._frames[part], found - self._firsts[part])

    def count_rows(self) -> int:
        return self._firsts[-1]

    def id_bytes(self, columns: Sequence[Hashable]) -> int:
        return sum(self._form.nbytes(frame, [str(name) for name in columns]) for frame in self._frames)


class ParquetEdges(ParquetFiles, EdgeSource):
    """Parquet files, or folders of them."""


class GeneratedEdges(EdgeSource):
    """Edges that a function generates: each call returns a new iterable of frames, of which one is held.

    The function must generate the same edges every time.  Each reading must have the same number of rows, its
    ends must be vertices of the graph, and it must have the graph's weights.  Other edges between the same
    vertices are not detected.
    """

    def __init__(self, make: Callable[[], Iterable[Frame]], engine: object = "auto") -> None:
        self._make = make
        frames = self._frames()
        if frames is self._frames():
            raise TravError(
                "edges is a function that returned the same iterator twice: return a new one at each call, "
                "for example by writing it with yield."
            )
        first = next(frames, None)
        self._form = None if library_of(first) else form_of(first)
        if first is None:
            raise TravError(
                "edges is a function that yields no frames: yield at least one, which may have no rows."
            )
        if self._form is not None:
            self._through_arrow = forms.handed_out(self._form, engine)
            self.library = self._through_arrow
            self._dtypes = self._form.dtypes(forms.kept(self._form, first))
            self.columns = [*self._dtypes]
            return
        (first,), proxied = proxies.on_one_side([first], engine)
        self.library = library(_library_of(first), proxied)
        self.columns = list(first.columns)

    def _read(self, columns: Sequence[Hashable] | None, rows: int | None) -> Iterator[Frame]:
        if self._form is not None:
            yield from self._through_form(self._form, self.columns if columns is None else columns)
            return
        for made in self._frames():
            frame = proxies.opened(made, on_gpu=self.library.name == "cudf")
            if _library_of(frame) != self.library.name:
                raise TravError(MIXED_LIBRARIES)
            _check_columns(frame, self.columns)
            yield self.library.native(frame)

    def _through_form(self, form: Form, columns: Sequence[Hashable]) -> Iterator[Frame]:
        """Yield chunks of frames that are read through Arrow, such as those of polars."""
        for made in self._frames():
            found = None if library_of(made) else form_of(made)
            if found is None or found.name != form.name:
                raise TravError(
                    f"The edge frames are of {form.name} and of another library: convert them to one library."
                )
            frame = forms.kept(form, made)
            if missing := self._dtypes.keys() - {*form.columns(frame)}:
                raise _absent(min(missing))
            yield self._through_arrow.read(frame, columns)

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        taken = super().rows_of(frame, rows)
        return taken if self._form is None else self._form.like(self.library.hand_out(taken), self._dtypes)

    def _frames(self) -> Iterator[Frame]:
        made = self._make()
        if library_of(made) or not isinstance(made, Iterable):
            raise TravError(
                f"edges is a function that returned an object of type {type_name(made)}: "
                f"return an iterable of frames, for example by writing it with yield."
            )
        return iter(made)


def _library_of(frame: object) -> str:
    kind = library_of(frame)
    if kind not in ("pandas", "cudf"):
        raise TravError(
            f"edges is a function that yielded an object of type {type_name(frame)}: "
            f"yield frames of pandas, polars, pyarrow or cuDF."
        )
    return kind


def _check_columns(frame: Frame, columns: Sequence[Hashable]) -> None:
    """Refuse a frame that lacks a column of the first one."""
    if missing := [name for name in columns if name not in frame.columns]:
        raise _absent(missing[0])


def _absent(name: Hashable) -> UnknownColumnError:
    """Return the error for a column that a later frame lacks."""
    return UnknownColumnError(
        f"Column {name!r} is in the first edge frame but not in a later one: "
        f"give all of them the same columns."
    )
