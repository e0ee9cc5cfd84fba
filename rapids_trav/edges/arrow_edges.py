"""Edges in frames that are read through Arrow: polars, pyarrow, DuckDB and any object with an Arrow stream.

The caller's frames are kept and share their memory.  A stream, which may be readable only once, is kept as a
table.  Only the requested columns are converted to pandas or cuDF, and rows are taken from the kept frames,
so all other columns are returned in their own types, whatever pandas makes of those.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import accumulate

import numpy as np
import pyarrow as pa

from rapids_trav.edges.edge_source import EdgeSource, GraphDefaults, absent
from rapids_trav.frames import forms
from rapids_trav.frames.columns import Array, Frame, Values, move
from rapids_trav.frames.libraries import Library


class ArrowEdges(EdgeSource):
    """Frames of one form, converted to chunks of pandas or cuDF at each reading."""

    def __init__(
        self,
        frames: Sequence[Values],
        form: forms.Form,
        engine: object,
        defaults: GraphDefaults = EdgeSource.defaults,
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
                raise absent(min(missing))
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
