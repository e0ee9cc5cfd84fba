"""The pass over the edges that builds a graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.edges.edge_source import EdgeSource
from rapids_trav.errors import TravError, warn, written
from rapids_trav.frames.columns import Array, Dtype, Series, Values
from rapids_trav.frames.decimals import LIMIT, as_integers, decimals_of, magnitude
from rapids_trav.ids.lookup import read_column, refuse_nulls
from rapids_trav.ids.maps import IdMap, Library
from rapids_trav.ids.renumber import renumber, renumber_distinct
from rapids_trav.utilities.progress import report

Pairs = Callable[[], Iterator[tuple[Array, Array]]]  # of internal ids, chunk by chunk


class BuildPass:
    """One pass over the edges, and `extra` ids by column, that yields ids, counts rows and checks weights."""

    def __init__(
        self,
        source: EdgeSource,
        sides: tuple[list[Hashable], list[Hashable]],
        weight: Hashable | None,
        extra: list[list[Values]],
    ) -> None:
        self.source = source
        self.sides = sides
        self.ends = list(dict.fromkeys([*sides[0], *sides[1]]))  # the sides may share a column
        self.weight = weight
        self._extra = extra
        self._reading = source
        self.chunks = 0
        self.n_edges = 0
        self.weight_dtype: np.dtype | None = None

    @property
    def weight_scale(self) -> int | None:
        """Digits after the point of decimal weights that integers hold; None for all others."""
        return self._decimals.scale if self.weight_dtype == np.int64 and self._decimals.found else None

    def number(self, xp: ModuleType) -> tuple[IdMap, Pairs]:
        """Number the vertices; return the map of their ids, and the edges in internal ids."""
        self._reading = self.source
        ids, codes = renumber(self, len(self.sides[0]), self.source.library, xp)
        n = 2 * self.chunks
        return ids, lambda: zip(map(codes, range(0, n, 2)), map(codes, range(1, n, 2)), strict=True)

    def number_in(self, slices: EdgeSource, xp: ModuleType) -> IdMap:
        """Return the map of the same edges in slices, read once for each column of an id."""
        self._reading = slices
        return renumber_distinct(self, len(self.sides[0]), slices.library, xp)

    def __iter__(self) -> Iterator[list[tuple[Hashable, Series]]]:
        self.chunks = self.n_edges = 0
        self.weight_dtype, self._decimals = None, Decimals()
        dtypes: list[Dtype] = []
        total, weights = self._reading.count_rows(), () if self.weight is None else (self.weight,)
        for frame in self._reading.chunks(list(dict.fromkeys([*self.ends, *weights]))):
            if self.weight is not None:
                self._check_weight(frame[self.weight])
            for side in self.sides:
                yield [(name, frame[name]) for name in side]
            self.chunks += 1
            self.n_edges += len(frame)
            report(self.n_edges, total, "rows")
            if self._extra:
                dtypes = [frame[name].dtype for name in self.sides[0]]
        if self._decimals.found and self.weight_dtype != np.int64:
            warn(
                f"weight={self.weight!r} holds decimals that do not fit 64 bits without their point, one of "
                f"them or their sum, so that they are rounded to float64: scale them, or give float64."
            )
        for components in self._extra:
            yield [
                ("vertices", isolated(values, dtype, self.source.library))
                for values, dtype in zip(components, dtypes, strict=True)
            ]

    def _check_weight(self, column: Series) -> None:
        decimals, remedy = decimals_of(column), self.source.library.remedy
        if (decimals is None and column.dtype.kind not in "iuf") or hasattr(column.dtype, "categories"):
            raise TravError(
                f"weight={self.weight!r} is a column of {column.dtype}: "
                f"name a numeric one, or convert it with {remedy('astype')}."
            )
        if nulls := self.source.library.null_count(column):
            floats = decimals is None and column.dtype.kind == "f"
            fill = remedy("fillna(0.0)" if floats else "fillna")
            if (
                floats
                and fill == "fillna(0.0)"
                and isinstance(column.dtype, pd.api.extensions.ExtensionDtype)
            ):
                fill = "where(weight == weight, 0.0).fillna(0.0)"  # NaN is not null there
            raise TravError(
                f"weight={self.weight!r} holds {nulls} null{'s' if nulls > 1 else ''}"
                f"{' or NaN' if floats else ''}: "
                f"fill {'them' if nulls > 1 else 'it'} first, for example with {fill}."
            )
        float64 = remedy("astype('float64')")
        if column.dtype.kind == "u" and len(column) and (largest := int(column.max())) >= 2**63:
            raise TravError(
                f"weight={self.weight!r} holds {largest}, which does not fit int64: "
                f"convert it, for example with {float64}."
            )
        mixed = self.weight_dtype is not None and self._decimals.found != (decimals is not None)
        dtype = _weight_dtype(column.dtype) if decimals is None else self._decimals.add(decimals)
        dtype = np.dtype(np.float64) if mixed else dtype  # decimals in some frames alone
        self.weight_dtype = dtype if self.weight_dtype is None else np.promote_types(dtype, self.weight_dtype)


class Decimals:
    """What decimal weights need as integers: digits after the point, and the sum of all."""

    def __init__(self) -> None:
        self.found = False  # whether there were any
        self.scale = 0  # the most digits after the point
        self._total = 0  # of all, in units of the last of `scale` digits; None if one does not fit

    def add(self, values: pa.Array) -> np.dtype:
        """Take a column; return the type that holds all so far, int64 or float64."""
        self.found = True
        scale = max(values.type.scale, self.scale)
        whole = as_integers(values, scale)
        if whole is not None:
            self._total = self._total * 10 ** (scale - self.scale) + magnitude(whole)
            self.scale = scale
        fits = whole is not None and self._total < LIMIT
        return np.dtype(np.int64 if fits else np.float64)


def isolated(values: Values, dtype: Dtype, library: Library) -> Series:
    """Return a column of vertices; integers in a list take the dtype of the edges if it can hold them."""
    column = read_column("vertices", values, library)
    refuse_nulls("vertices", library.null_count(column))
    for value in column if column.dtype == object and library.name == "pandas" else ():
        if isinstance(value, (int, float)) and not (-(2**63) <= value < 2**64 and value == int(value)):
            raise TravError(
                f"vertices holds {written(value)}, which is no integer of 64 bits: leave it out, or give all "
                f"ids as strings."
            )
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
