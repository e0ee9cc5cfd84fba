"""The pass over the edges that builds a graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from rapids_trav.edges.sources import EdgeSource
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Dtype, Series, Values
from rapids_trav.ids.given import read_column, refuse_nulls
from rapids_trav.ids.maps import Library


class BuildPass:
    """One pass over the edges that yields the columns of ids, counts rows and checks the weights."""

    def __init__(
        self,
        source: EdgeSource,
        sides: tuple[list[Hashable], list[Hashable]],
        weight: Hashable | None,
        extra: list[list[Values]],
    ) -> None:
        self._source = source
        self._sides = sides
        self._weight = weight
        self._extra = extra
        self.chunks = 0
        self.n_edges = 0
        self.weight_dtype: np.dtype | None = None

    def __iter__(self) -> Iterator[list[tuple[Hashable, Series]]]:
        self.chunks = self.n_edges = 0
        dtypes: list[Dtype] = []
        columns = [*self._sides[0], *self._sides[1], *([self._weight] if self._weight is not None else [])]
        for frame in self._source.chunks(list(dict.fromkeys(columns))):  # the sides may share a column
            if self._weight is not None:
                self._check_weight(frame[self._weight])
            for side in self._sides:
                yield [(name, frame[name]) for name in side]
            self.chunks += 1
            self.n_edges += len(frame)
            dtypes = [frame[name].dtype for name in self._sides[0]]
        for components in self._extra:
            yield [
                ("vertices", isolated(values, dtype, self._source.library))
                for values, dtype in zip(components, dtypes, strict=True)
            ]

    def _check_weight(self, column: Series) -> None:
        if column.dtype.kind not in "iuf" or hasattr(column.dtype, "categories"):
            raise TravError(
                f"weight={self._weight!r} is a column of {column.dtype}: "
                f"name a numeric one, or convert it with astype."
            )
        if nulls := self._source.library.null_count(column):
            raise TravError(
                f"weight={self._weight!r} holds {nulls} null{'s' if nulls > 1 else ''}: "
                f"fill {'them' if nulls > 1 else 'it'} first, for example with fillna."
            )
        if column.dtype.kind == "u" and len(column) and (largest := int(column.max())) >= 2**63:
            raise TravError(
                f"weight={self._weight!r} holds {largest}, which does not fit int64: "
                f"convert it, for example with astype('float64')."
            )
        dtype = _weight_dtype(column.dtype)
        self.weight_dtype = dtype if self.weight_dtype is None else np.promote_types(dtype, self.weight_dtype)


def isolated(values: Values, dtype: Dtype, library: Library) -> Series:
    """Return a column of vertices; integers in a list take the dtype of the edges if it can hold them."""
    column = read_column("vertices", values, library)
    refuse_nulls("vertices", library.null_count(column))
    if not hasattr(values, "dtype") and column.dtype.kind in "iu" and dtype.kind in "iuf":
        fitted = column.astype(dtype)
        same = (fitted.astype(column.dtype) == column) & ((fitted < 0) == (column < 0))
        return fitted if same.all() else column
    return column


def _weight_dtype(dtype: Dtype) -> np.dtype:
    """Return the one of the engines' four weight types that holds the values of a column."""
    dtype = np.dtype(getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)))
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return np.dtype(np.int32 if np.can_cast(dtype, np.int32) else np.int64)
