"""Edge sources: frames, arrays, functions, Parquet and Dask, all of which can be read as frames repeatedly.

The graph reads the edges again for their columns (`where`, `khop`).  It keeps shallow copies of frames, which
share the values.  Columns that the caller replaces, renames, adds or drops later do not affect the graph, nor
do values changed in place where the library copies on write (pandas from 3 on).  Where values are shared all
the same (pandas 2, a NumPy array behind a frame made with ``copy=False``, cuDF without copy-on-write), they
must not be changed while the graph is in use.  `storage.edge_rows` checks the edges against the graph when it
reads them again.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

import numpy as np
import pandas as pd

from rapids_trav.edges import array_edges
from rapids_trav.edges.arrow_edges import ArrowEdges
from rapids_trav.edges.frame_rows import FrameRows, GraphDefaults
from rapids_trav.edges.generated_edges import MIXED_LIBRARIES, GeneratedEdges, check_columns
from rapids_trav.edges.parquet_edges import ParquetEdges
from rapids_trav.errors import (
    EdgeColumnsError,
    TravError,
    UnknownColumnError,
    a_type,
    listed,
    type_name,
    written,
)
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Array, Frame, library_of
from rapids_trav.frames.forms import form_of
from rapids_trav.frames.libraries import Library, library

Ends = Hashable | Sequence[Hashable] | None


class EdgeSource(Protocol):
    """Edges that can be read more than once."""

    library: Library
    columns: list[Hashable]
    defaults: GraphDefaults

    @property
    def row_columns(self) -> list[Hashable]:
        """Columns that `rows_of` needs in a chunk."""

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        """Return these rows of a chunk, with all columns of the edges."""

    def chunks(self, columns: Sequence[Hashable] | None = None, rows: int | None = None) -> Iterator[Frame]:
        """Yield the edges as successive frames, with at least these columns or with all.

        With `rows`, frames that are made for this call have at most that many rows, as far as files allow.
        """

    def count_rows(self) -> int | None:
        """Return the number of edges if it is known without reading them, else None."""

    @property
    def partitions(self) -> int | None:
        """Partitions of the caller's Dask frame; None for frames in memory."""


def open_edges(edges: Any, engine: object = "auto") -> EdgeSource:
    """Open the edges in any form that a caller may give.

    These are a frame, several frames, an iterator of frames or a function that returns one, Parquet paths, a
    Dask frame, two arrays (three with weights), or a sparse matrix of SciPy.
    """
    if isinstance(edges, (str, PathLike)):
        return ParquetEdges([edges], engine)
    kind = library_of(edges)
    if kind == "dask":
        return DaskEdges(edges)
    if kind:
        return FrameEdges([edges], engine)
    if array_edges.is_matrix(edges):
        return FrameEdges.of(*array_edges.adjacency(edges), engine, "matrix.data")
    if column := library_of(edges, ("Series", "Index")):
        raise TravError(
            f"edges is {a_type(edges)} of {column}, not a frame: give the frame that holds both "
            f"ends of the edges."
        )
    if form_of(edges):
        return ArrowEdges([edges], engine)
    if isinstance(edges, tuple) and any(map(array_edges.is_array, edges)):
        frame, defaults = array_edges.pair(edges)
        if form_of(frame):
            return ArrowEdges.of(frame, defaults, engine)
        return FrameEdges.of(frame, defaults, engine, "weight" if isinstance(edges[-1], np.ndarray) else None)
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
        if parts and all(isinstance(part, (str, PathLike)) for part in parts):
            return ParquetEdges(parts, engine)
        if parts and all(library_of(part) in ("pandas", "cudf") for part in parts):
            return FrameEdges(parts, engine)
        if any(map(form_of, parts)) and all(form_of(part) or library_of(part) for part in parts):
            return ArrowEdges(parts, engine)
        if not parts:
            raise TravError("edges is an empty sequence: give at least one frame, which may have no rows.")
        if all(library_of(part) == "dask" for part in parts):
            raise TravError(
                f"edges holds {len(parts)} Dask frame{'s' if len(parts) > 1 else ''} in a sequence: give one "
                f"Dask frame by itself, for example with dask.dataframe.concat."
            )
        if any(library_of(part) == "dask" for part in parts) and all(map(library_of, parts)):
            raise TravError(
                "edges mixes Dask frames and others: make one Dask frame of all, for example with "
                "dask.dataframe.concat, or frames with compute()."
            )
        if all(isinstance(part, (str, PathLike)) or library_of(part) for part in parts):
            raise TravError(
                "edges mixes frames and paths: read the files into frames first, or give paths alone."
            )
        if all(map(array_edges.is_array, parts)):
            raise TravError(
                f"edges is a {type_name(edges)} of arrays: give the ends of the edges as a tuple of two "
                f"arrays, (src, dst), or of three, (src, dst, weight)."
            )
        edges = next(part for part in parts if library_of(part) not in ("pandas", "cudf"))
    raise TravError(
        f"edges holds an object of type {type_name(edges)}: give frames of pandas, polars, pyarrow, cuDF or "
        f"Dask, two arrays, a sparse matrix, or paths of Parquet files."
    )


def _is_networkx(edges: object) -> bool:
    bases = [base for base in type(edges).__mro__ if base.__module__.partition(".")[0] == "networkx"]
    return any(base.__name__ == "Graph" for base in bases)


class FrameEdges(FrameRows):
    """Frames in memory."""

    @classmethod
    def of(cls, frame: Frame, defaults: GraphDefaults, engine: object, weight: str | None) -> FrameEdges:
        """Return the source for a frame that was made from arrays; see `ArrayFrames`."""
        source = cls([frame], engine)
        source.defaults = defaults
        if source.library.name == "pandas":
            source.library = array_edges.ArrayFrames(weight)
        return source

    def __init__(self, frames: Sequence[Frame], engine: object = "auto") -> None:
        proxied = proxies.is_proxy(frames[0])
        frames = _opened(frames, engine)
        kind = library_of(frames[0]) or "pandas"
        if any(library_of(frame) != kind for frame in frames):
            raise TravError(MIXED_LIBRARIES)
        self.library = library(kind, proxied)
        self.columns = list(frames[0].columns)
        for frame in frames[1:]:
            check_columns(frame, self.columns)
        self._frames = [self.library.native(frame.copy(deep=False)) for frame in frames]
        self.n_frames = len(self._frames)

    def chunks(self, columns: Sequence[Hashable] | None = None, rows: int | None = None) -> Iterator[Frame]:
        yield from self._frames  # whole frames: selecting columns would copy them

    @functools.cached_property
    def _is_plain(self) -> bool:
        """Whether all columns are numbers; they stay so, since the frames are the graph's own copies."""
        return all(map(self.library.is_plain, self._frames))

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        return self.library.rows_of(frame, rows, plain=self._is_plain)

    def count_rows(self) -> int | None:
        return sum(map(len, self._frames))

    def id_bytes(self, columns: Sequence[Hashable]) -> int | None:
        """Return the bytes of these columns; Python objects are shared with the graph and not counted."""
        return sum(int(frame[name].memory_usage(index=False)) for frame in self._frames for name in columns)


class DaskEdges(FrameRows):
    """A Dask frame, whose partitions are computed one by one at each reading; persist it if that is slow."""

    def __init__(self, frame: Frame) -> None:
        self.library = library(library_of(frame._meta) or "pandas")
        self.columns = list(frame.columns)
        self.partitions = frame.npartitions
        self._frame = frame

    def count_rows(self) -> int | None:
        return None  # counting may take as long as reading

    def chunks(self, columns: Sequence[Hashable] | None = None, rows: int | None = None) -> Iterator[Frame]:
        frame = self._frame[list(columns or self.columns)]
        for i in range(frame.npartitions):
            yield self.library.native(proxies.opened(frame.get_partition(i).compute(), on_gpu=False))


def _opened(frames: Sequence[Frame], engine: object) -> Sequence[Frame]:
    """Return the frames that proxies hold: all on the GPU, or all on the CPU.

    The CPU is used if it is requested or if the GPU cannot hold each of them.
    """
    found = [proxies.opened(frame, on_gpu=proxies.wanted_on_gpu(engine)) for frame in frames]
    if len({library_of(frame) for frame in found}) == 1:
        return found
    return [proxies.opened(frame, on_gpu=False) for frame in frames]


def edge_columns(source: EdgeSource, src: Ends, dst: Ends) -> tuple[list[Hashable], list[Hashable]]:
    """Return the columns of sources and destinations: those named, else the default pair that exists."""
    if not source.columns:
        raise EdgeColumnsError("The edges have no columns: give a frame with a column for each end.")
    if src is None and dst is None:
        from rapids_trav.io.columns import usual_ends  # the package imports parsers, which frames do not need

        found = usual_ends(list(dict.fromkeys(name for name in source.columns if isinstance(name, str))))
        if found is not None:
            src, dst = found
        else:
            raise EdgeColumnsError(
                f"The edges have neither columns 'src' and 'dst' nor 'source' and 'destination': "
                f"name them with src= and dst=, from {listed(source.columns)}."
            )
    if src is None or dst is None:
        missing = "dst" if dst is None else "src"
        raise TravError(f"Only one end of the edges is named: give {missing}= as well.")
    sides = [_side(source, end, side) for end, side in (("src", src), ("dst", dst))]
    widths = len(sides[0]), len(sides[1])
    if widths[0] != widths[1] or not widths[0]:
        raise TravError(
            f"src names {widths[0]} column{'' if widths[0] == 1 else 's'} and dst names {widths[1]}: "
            f"give both ends the same number, at least one."
        )
    for name in (*sides[0], *sides[1]):
        require_column(source.columns, name)
    if sides[0] == sides[1]:
        raise TravError(f"src and dst both name {listed(sides[0])}: give each end its own column.")
    return sides[0], sides[1]


def _side(source: EdgeSource, end: str, columns: Hashable | Sequence[Hashable]) -> list[Hashable]:
    """Return the columns of one end as a list; a tuple may be the label of one column."""
    if isinstance(columns, (list, pd.Index)) or (
        isinstance(columns, tuple) and columns not in source.columns
    ):
        names = list(columns)
    else:
        names = [columns]
    for name in names:
        try:
            hash(name)
        except TypeError:
            raise TravError(
                f"{end} holds a {type(name).__name__}, not the name of a column: "
                f"give the name of a column of the edges, or a list of names."
            ) from None
    return names


def require_column(columns: Sequence[Hashable], name: Hashable, of: str = "the edges") -> None:
    """Refuse a column that the edges, or another frame, do not have, or have twice."""
    try:
        count = Counter(columns)[name]  # by hash: some labels cannot be compared for equality
    except TypeError:
        raise TravError(
            f"{written(name)} is not the name of a column: choose one of {listed(columns)}."
        ) from None
    if count == 0:
        raise UnknownColumnError(f"Column {written(name)} is not in {of}: choose one of {listed(columns)}.")
    if count > 1:
        raise TravError(f"Column {written(name)} occurs {count} times in {of}: rename all but one.")
