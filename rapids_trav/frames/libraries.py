"""The few operations that the package needs of pandas, and the choice between them and those of cuDF.

A column that is put into a frame is an array, a `Masked` array, or a column of the library itself.  Arrays
may be in host or GPU memory: each library moves them to its own side.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.frames import proxies, strings
from rapids_trav.frames.arrow import check_sound
from rapids_trav.frames.columns import (
    FEW,
    Array,
    Column,
    Dtype,
    Frame,
    Masked,
    Series,
    Values,
    library_of,
    move,
)
from rapids_trav.frames.cudf_frames import CudfFrames, ProxiedCudfFrames

MANY = 1 << 14  # from this many strings on, Arrow and NumPy process them


class PandasFrames:
    """The operations on pandas."""

    name = "pandas"
    xp = np

    @property
    def answers(self) -> str:
        """Name of the library of the returned frames."""
        return self.name

    def concat(self, parts: Sequence[Series], **options: object) -> Series:
        return pd.concat(parts, **options)

    def column(self, values: Values, dtype: Dtype = None) -> Series:
        """Make a column from a sequence, an array, or a column of either library."""
        if library_of(values, ("Series", "Index")) == "cudf":
            values = values.to_pandas()
        return _native(pd.Series(values, dtype=dtype))

    def native(self, frame: Frame) -> Frame:
        """Return the frame with columns that pandas and Numba can process, as `_native` makes them."""
        foreign = [i for i, dtype in enumerate(frame.dtypes) if not _is_native(dtype)]
        if foreign:
            frame = frame.copy(deep=False)
        for i in foreign:
            check_arrow(frame.columns[i], frame.iloc[:, i])
            frame.isetitem(i, _native(frame.iloc[:, i]))
        return frame

    def from_arrow(self, table: pa.Table) -> Frame:
        """Convert an Arrow table to a frame."""
        return proxies.opened(table.to_pandas(ignore_metadata=True), on_gpu=False)

    def array(self, column: Series) -> np.ndarray:
        """Return the values of a numeric or boolean column without nulls, without a copy where possible."""
        dtype = column.dtype  # nullable and PyArrow types name their NumPy type, sparse ones their `subtype`
        return column.to_numpy(dtype=getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)))

    def null_count(self, column: Series) -> int:
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iubV":
            return 0
        if isinstance(column.dtype, pd.api.extensions.ExtensionDtype) and column.dtype.kind == "f":
            return int(np.isnan(column.to_numpy(np.float64, na_value=np.nan)).sum())  # NaN beside nulls
        return int(column.isna().sum())

    def without_nulls(self, name: Hashable, dtype: Dtype) -> str:
        """Return, for a message, how the caller drops the rows in which a column is null or NaN."""
        if isinstance(dtype, pd.api.extensions.ExtensionDtype) and dtype.kind == "f":
            return f"edges[edges[{name!r}] == edges[{name!r}]]"
        return f"edges.dropna(subset=[{name!r}])"

    def remedy(self, call: str) -> str:
        """Return, for a message, what in the caller's library does the same as this call of pandas."""
        return call

    def codes(self, column: Series) -> Series:
        """Return the codes of a categorical column, -1 for null."""
        return column.cat.codes

    def codes_in(self, dtype: pd.CategoricalDtype, column: Series) -> Series:
        """Return the code of each value in a categorical dtype, -1 for null and values without one."""
        return pd.Series(dtype.categories.get_indexer_for(column.array))

    def factorize(self, column: Series) -> tuple[np.ndarray, Series]:
        """Return the code of each row and the distinct values; their order depends on the column alone."""
        if (distinct := self.factorize_strings(column)) is not None:
            return distinct
        if column.dtype == object and _cuts_strings() and _has_null_characters(column):
            raise TypeError("pandas before 3.1 compares Python strings only up to a null character")
        column = _with_wide_decimals(column)
        codes, uniques = pd.factorize(column)
        return codes, pd.Series(uniques, dtype=column.dtype)

    def factorize_strings(self, column: Series, ascending: bool = False) -> tuple[np.ndarray, Series] | None:
        """Factorize a long column of strings, ascending or not; return None for all others."""
        if len(column) < MANY:
            return None
        if (distinct := strings.distinct_strings(column, ascending)) is None:
            return None
        codes, firsts = distinct
        if len(firsts) == len(column) and not ascending:  # no repeats, so each value stays in its place
            uniques = column.reset_index(drop=True)
        else:
            uniques = pd.Series(column.array.take(firsts), dtype=column.dtype)
        if column.dtype == object and _cuts_strings() and _has_null_characters(uniques):
            return None  # pandas would later treat some of them as equal
        return codes, uniques

    def positions(self, vocabulary: Series, column: Series) -> np.ndarray:
        """Return the position of each value in a vocabulary of distinct, ascending values; -1 if absent."""
        if vocabulary.dtype.kind in "mM" and column.dtype != vocabulary.dtype:
            column = column.astype(vocabulary.dtype)  # for example dates given as text
        if len(column) <= FEW:
            return np.array([_position(vocabulary, value) for value in column], dtype=np.int64)
        if len(vocabulary) >= max(len(column), MANY):
            if (found := strings.string_positions(vocabulary, column)) is not None:
                return found
        elif len(column) >= MANY and column.dtype == vocabulary.dtype:
            # With many repeats, a search for each would take longer than a pass over both.
            both = self.factorize_strings(self.concat([vocabulary, column]))
            if both is not None:
                places = np.full(len(both[1]), -1, np.int64)
                places[both[0][: len(vocabulary)]] = np.arange(len(vocabulary))
                return places[both[0][len(vocabulary) :]]
        return pd.Index(vocabulary).get_indexer(pd.Index(column, dtype=vocabulary.dtype))

    def text_parts(self, column: Series) -> None:
        """Return None: strings of pandas are not on the GPU."""

    def few_positions(self, vocabulary: Series, column: Series) -> None:
        """Return None: values that cannot be looked up must fail in `factorize`."""

    def take(self, column: Series, rows: Array | None, nulls: bool = False) -> Series:
        """Return the given rows of a column (None: a copy of all); with `nulls`, row -1 is null."""
        if rows is None:
            return column.copy()
        taken = column.array.take(_on_host(rows), allow_fill=nulls)
        return pd.Series(taken, dtype=column.dtype)

    def is_plain(self, frame: Frame) -> bool:
        """Return False: pandas takes rows of columns of all types alike."""
        return False

    def rows_of(self, frame: Frame, rows: Array, plain: bool = False) -> Frame:
        """Return rows of a frame that exist, by their numbers."""
        return frame.take(rows)

    def cast(self, column: Array | Masked, dtype: Dtype) -> Column:
        """Return an array as a column of `dtype`, which may be one of the library's own types."""
        if not isinstance(column, Masked):
            values = _on_host(column)
            plain = isinstance(dtype, np.dtype)
            return values.astype(dtype, copy=False) if plain else pd.array(values, dtype)
        values, valid = _on_host(column.values), _on_host(column.valid)
        if isinstance(dtype, np.dtype) and dtype.kind == "f":
            return np.where(valid, values, np.nan).astype(dtype)
        if isinstance(dtype, np.dtype):
            return Masked(values.astype(dtype, copy=False), valid)
        return _nullable(values, valid).astype(dtype)

    def frame(self, columns: Mapping[str, Column]) -> pd.DataFrame:
        """Make a frame of columns without copying them; the caller must not use them elsewhere."""
        return pd.DataFrame({name: self._entry(column) for name, column in columns.items()}, copy=False)

    def _entry(self, column: Column) -> Series:
        if isinstance(column, Masked):
            return _nullable(_on_host(column.values), _on_host(column.valid))
        own = isinstance(column, (pd.Series, pd.api.extensions.ExtensionArray))
        return column if own else _on_host(column)

    def hand_out(self, frame: Frame) -> Frame:
        """Convert a frame to the form that the caller uses."""
        return frame


class ProxiedPandasFrames(PandasFrames):
    """The operations on the pandas objects that cudf.pandas proxies hold."""

    def hand_out(self, frame: Frame) -> Frame:
        return proxies.proxied(frame)


Library = PandasFrames | CudfFrames


def library(name: str, proxied: bool = False) -> Library:
    """Return the operations of "pandas" or "cudf"; if `proxied`, for objects that cudf.pandas wraps."""
    if proxied:
        return ProxiedCudfFrames() if name == "cudf" else ProxiedPandasFrames()
    return CudfFrames() if name == "cudf" else PandasFrames()


def _on_host(array: Array) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else move(array, np)


@functools.cache
def _cuts_strings() -> bool:
    """Return whether this pandas ignores what follows a null character when it compares strings."""
    return len(pd.factorize(np.array(["a", "a\0"], dtype=object))[1]) == 1


def _has_null_characters(column: Series) -> bool:
    words = pd.api.types.infer_dtype(column) == "string"
    return words and any("\0" in value for value in column.array if isinstance(value, str))


def _is_native(dtype: Dtype) -> bool:
    if isinstance(dtype, pd.ArrowDtype):
        return not pa.types.is_dictionary(dtype.pyarrow_dtype)
    return not isinstance(dtype, np.dtype) or (dtype.isnative and dtype.kind != "S")


def _with_wide_decimals(column: Series) -> Series:
    """Return a pandas column of narrow decimals, which pandas cannot count, as one of wide ones."""
    kind = column.dtype.pyarrow_dtype if isinstance(column.dtype, pd.ArrowDtype) else None
    if kind is None or not pa.types.is_decimal(kind) or kind.bit_width >= 128:
        return column
    return column.astype(pd.ArrowDtype(pa.decimal128(kind.precision, kind.scale)))


def _native(column: Series) -> Series:
    """Return a column in this byte order, with categories for Arrow dictionaries and objects for bytes."""
    dtype = column.dtype
    if _is_native(dtype):
        return column
    if isinstance(dtype, np.dtype) and dtype.kind == "S":  # of an array; frames hold them as objects
        return column.astype(object)
    if isinstance(dtype, np.dtype):
        values = column.to_numpy().astype(
            dtype.newbyteorder("=")
        )  # pandas 3.0 ignores the byte order of durations
        return pd.Series(values, index=column.index, name=column.name)
    try:
        categories = pa.chunked_array(pa.array(column.array)).unify_dictionaries().to_pandas()
    except (ValueError, NotImplementedError):  # a dictionary with nulls or repeated values
        return column.astype(pd.ArrowDtype(dtype.pyarrow_dtype.value_type))
    return categories.set_axis(column.index).rename(column.name)


def check_arrow(name: Hashable, column: Series) -> None:
    """Refuse a column over Arrow's buffers that leads outside them."""
    if isinstance(column.dtype, pd.ArrowDtype) or getattr(column.dtype, "storage", None) == "pyarrow":
        check_sound(name, pa.chunked_array(pa.array(column.array)))


def _nullable(values: np.ndarray, valid: np.ndarray) -> pd.api.extensions.ExtensionArray:
    if values.dtype == np.float16:  # which pandas' own types lack
        return pd.arrays.ArrowExtensionArray(pa.array(values, mask=~valid))
    kind = pd.arrays.FloatingArray if values.dtype.kind == "f" else pd.arrays.IntegerArray
    return kind(values, ~valid)


def _position(vocabulary: Series, value: Values) -> int:
    """Return the position of a value, or -1, by binary search: a hash table costs more than the query."""
    values = vocabulary.array
    try:
        i = bisect.bisect_left(range(len(values)), value, key=values.__getitem__)
    except TypeError:
        return -1  # a value of another kind has no position in the order
    return i if i < len(values) and values[i] == value else -1
