"""Base class of edge sources, and the defaults of a graph that depend on the kind of its edges."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, Self

import pyarrow as pa

from rapids_trav.frames.columns import Array, Frame, Series
from rapids_trav.frames.libraries import Library


class GraphDefaults(NamedTuple):
    """Defaults of the options of a graph, which depend on the kind of its edges.

    Attributes
    ----------
    directed : bool
    weight : hashable or None
    vertices : array or None
        Vertices that the graph has in any case.
    """

    directed: bool = False
    weight: Hashable | None = None
    vertices: Array | None = None


class EdgeSource:
    """Edges that can be read more than once, as frames of pandas or cuDF.

    Attributes
    ----------
    library : Library
    columns : list
    defaults : GraphDefaults
    partitions : int or None
        Partitions of the caller's Dask frame; None for all others.
    n_frames : int or None
        Number of frames that the caller gave; None if they are not in memory.
    """

    library: Library
    columns: list[Hashable]
    defaults = GraphDefaults()
    partitions: int | None = None
    n_frames: int | None = None
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
