"""Edges read a bounded number of rows at a time, however large their frames are."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import pyarrow as pa

from rapids_trav.edges.sources import EdgeSource
from rapids_trav.frames.columns import Array, Frame


class SlicedEdges:
    """An `EdgeSource` whose frames are passed on in slices of up to `rows` rows.

    After each slice Arrow gives back the memory that its operations on strings have freed, which it would
    keep otherwise.
    """

    def __init__(self, source: EdgeSource, rows: int) -> None:
        self.library = source.library
        self.columns = source.columns
        self.defaults = source.defaults
        self._source = source
        self._rows = rows

    def count_rows(self) -> int | None:
        return self._source.count_rows()

    def chunks(self, columns: Sequence[Hashable] | None = None, rows: int | None = None) -> Iterator[Frame]:
        rows = min(rows or self._rows, self._rows)
        for frame in self._source.chunks(columns, rows):
            for first in range(0, max(len(frame), 1), rows):
                yield frame if len(frame) <= rows else frame.iloc[first : first + rows]
                pa.default_memory_pool().release_unused()

    @property
    def row_columns(self) -> list[Hashable]:
        return self._source.row_columns

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        return self._source.rows_of(frame, rows)

    def deliver(self, frame: Frame) -> Frame:
        return self._source.deliver(frame)
