"""Conversion of Arrow columns to pandas and back, copying only where pandas needs another layout.

Nothing is rounded: integers and booleans with nulls become pandas' nullable types, and types that pandas does
not have stay in Arrow's form.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rapids_trav.errors import TravError, first_line

NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
PLAIN = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def plain_table(table: pa.Table) -> pa.Table:
    """Return the table in layouts that pandas and cuDF both read.

    String views become strings, and times of day in nanoseconds become microseconds if that loses nothing.
    All unordered dictionaries of one type become one throughout the table, so that both ends of the edges
    have the same categories; its values ascend, since Arrow gives their positions no meaning.  An ordered
    dictionary is its column's own, for the order of one says nothing of another.
    """
    for name, column in zip(table.column_names, table.columns, strict=True):
        check_sound(name, column)
    columns = [_plain(column) for column in table.columns]
    groups: dict[pa.DataType, list[int]] = {}
    for i, column in enumerate(columns):
        if pa.types.is_dictionary(column.type):
            if column.type.ordered:
                columns[i] = _in_order(column)
            else:
                groups.setdefault(column.type, []).append(i)
    for group in groups.values():
        for i, column in zip(group, _sharing([columns[i] for i in group]), strict=True):
            columns[i] = column
    return pa.table(columns, names=table.column_names)


def check_sound(name: Hashable, column: pa.Array | pa.ChunkedArray) -> None:
    """Refuse a column whose offsets or indices lead outside its buffers: neither Arrow nor kernels check."""
    try:
        column.validate(full=True)
    except (pa.ArrowException, IndexError) as error:
        if found := re.search(r"Decimal value (\S+) does not fit", str(error)):  # a hugeint of DuckDB
            raise TravError(
                f"Column {name!r} holds {found[1]}, which {column.type} does not hold: convert it, in DuckDB "
                f"with CAST(... AS VARCHAR), or AS DOUBLE for weights."
            ) from error
        raise TravError(
            f"Column {name!r} is damaged ({first_line(error)}): make it anew, by the safe functions of Arrow."
        ) from error


def ordered(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of a dictionary type as one of an ordered dictionary."""
    kind = pa.dictionary(column.type.index_type, column.type.value_type, True)
    return pa.chunked_array([_dictionary(of.indices, of.dictionary, True) for of in column.chunks], kind)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if kind in PLAIN:
        return column.cast(PLAIN[kind])
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    if kind == pa.time64("ns"):
        try:
            return column.cast(pa.time64("us"))
        except pa.ArrowInvalid:  # parts of a microsecond
            return column
    if pa.types.is_dictionary(kind) and kind.value_type in PLAIN:
        values = PLAIN[kind.value_type]
        chunks = [_dictionary(of.indices, of.dictionary.cast(values), kind.ordered) for of in column.chunks]
        return pa.chunked_array(chunks, pa.dictionary(kind.index_type, values, kind.ordered))
    return column


def _in_order(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of an ordered dictionary type with one dictionary, else its plain values."""
    kind = column.type
    values = max(
        (chunk.dictionary for chunk in column.chunks), key=len, default=pa.array([], kind.value_type)
    )
    try:
        alike = all(values[: len(chunk.dictionary)].equals(chunk.dictionary) for chunk in column.chunks)
        if not alike or values.null_count or len(values.unique()) < len(values):
            return column.cast(kind.value_type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # values that Arrow cannot compare
        return column.cast(kind.value_type)
    chunks = [_dictionary(chunk.indices.cast(pa.int32()), values, True) for chunk in column.chunks]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), kind.value_type, True))


def _sharing(columns: Sequence[pa.ChunkedArray]) -> list[pa.ChunkedArray]:
    """Return columns of one unordered dictionary type with a shared dictionary, else their plain values."""
    kind = columns[0].type
    chunks = [chunk for column in columns for chunk in column.chunks]
    try:
        if not chunks:
            return list(columns)
        unified = pa.chunked_array(chunks).unify_dictionaries().chunks
        values = unified[0].dictionary
        if values.null_count or len(values.unique()) < len(values):
            return [column.cast(kind.value_type) for column in columns]
        order = pc.sort_indices(values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # values that Arrow cannot compare
        return [column.cast(kind.value_type) for column in columns]
    values, place = values.take(order), pc.sort_indices(order).cast(pa.int32())
    shared = iter(_dictionary(place.take(chunk.indices), values, False) for chunk in unified)
    common = pa.dictionary(pa.int32(), kind.value_type, False)
    return [pa.chunked_array([next(shared) for _ in column.chunks], common) for column in columns]


def _dictionary(indices: pa.Array, values: pa.Array, ordered: bool) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(indices, values, ordered=ordered)


def taken(column: pa.ChunkedArray, rows: np.ndarray) -> pa.ChunkedArray:
    """Return these rows of a column of any type; Arrow cannot take those of some."""
    kind = column.type
    if kind in PLAIN:
        return column.cast(PLAIN[kind]).take(pa.array(rows)).cast(kind)
    if pa.types.is_run_end_encoded(kind):
        values = pc.run_end_decode(column).take(pa.array(rows))
        return pa.chunked_array(pc.run_end_encode(values, run_end_type=kind.run_end_type), kind)
    try:
        return column.take(pa.array(rows))
    except pa.ArrowNotImplementedError:  # views inside of lists, for example
        firsts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
        ends = np.append(firsts[1:], len(rows))
        runs = [column.slice(rows[first], end - first) for first, end in zip(firsts, ends, strict=True)]
        return pa.chunked_array([chunk for run in runs for chunk in run.chunks], kind)


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Convert a table to a frame; numbers without nulls are not copied if they are contiguous."""
    columns = {i: _pandas_column(column) for i, column in enumerate(plain_table(table).columns)}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), copy=False)
    frame.columns = pd.Index(table.column_names)
    return frame


def _pandas_column(column: pa.ChunkedArray) -> pd.Series | np.ndarray:
    kind = column.type
    if kind in NULLABLE and column.null_count:
        return column.to_pandas(types_mapper=NULLABLE.get)
    if pa.types.is_floating(kind) or kind in NULLABLE:
        return column.to_numpy()
    if (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_duration(kind)
        or pa.types.is_dictionary(kind)
    ):
        return column.to_pandas()
    return pd.Series(pd.arrays.ArrowExtensionArray(column), copy=False)


def from_pandas(frame: pd.DataFrame) -> pa.Table:
    """Convert a frame to a table without its index; NaN in NumPy floats stays NaN."""
    columns = [_arrow_column(frame.iloc[:, i]) for i in range(frame.shape[1])]
    return pa.table(columns, names=[str(name) for name in frame.columns])


def _arrow_column(column: pd.Series) -> pa.Array:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        return pa.array(column.to_numpy(), from_pandas=False)
    return pa.Array.from_pandas(column)
