"""Exchange of id columns of any dtype between ranks.

Numbers and dates are sent as arrays of the engine, so that on GPUs they never leave the GPUs.  Columns that
Arrow holds, and all other columns of cuDF, are sent as Arrow streams.  Any other column, such as one of
Python objects, is pickled.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.distributed.ranks.rank import Rank, exchange_objects
from rapids_trav.engines.multigpu.objects import to_bytes, to_words
from rapids_trav.frames.columns import Array, Dtype, move
from rapids_trav.ids.maps import Column, Library

WORD = 4  # bytes of the narrowest numbers that a communicator carries


class Form(NamedTuple):
    """Form in which a column is sent, and its dtype, or None where the sent data implies it."""

    carrier: Literal["array", "dates", "arrow", "pickle"]
    dtype: Dtype = None


def exchange_columns(rank: Rank, parts: Sequence[Column]) -> list[Column]:
    """Send the k-th column to rank k; return what each rank sent to this one.

    A column keeps its dtype; its name and its index are lost.  The column that this rank sends to itself may
    share memory with the one given.

    Parameters
    ----------
    rank : Rank
    parts : sequence of columns or arrays
        One for each rank, each of any dtype and length.
    """
    packed = [_pack(rank, _as_column(part, rank.library)) for part in parts]
    forms = exchange_objects(rank, [form for form, _ in packed])
    arrays = rank.communicator.exchange(rank.everyone, [array for _, array in packed])
    return [_unpack(rank, form, array) for form, array in zip(forms, arrays, strict=True)]


def sendable(array: Array) -> Array:
    """Return numbers in 32 or 64 bits, the widths that communicators carry; narrower ones are widened."""
    if array.dtype.itemsize >= WORD:
        return array
    kind = "u" if array.dtype.kind == "b" else array.dtype.kind
    return array.astype(np.dtype(f"{kind}{WORD}"))


def _as_column(values: Column | Array, library: Library) -> Column:
    if hasattr(values, "iloc"):
        return values
    own = isinstance(values, (pd.api.extensions.ExtensionArray, pd.Index))
    return library.column(values if own else move(values, library.xp), dtype=values.dtype)


def _pack(rank: Rank, column: Column) -> tuple[Form, Array]:
    dtype, gpu = column.dtype, rank.library.name == "cudf"
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbmM" and not (gpu and column.null_count):
        if dtype.kind in "mM":
            values = column.astype(np.int64).to_cupy() if gpu else column.to_numpy().view(np.int64)
            return Form("dates", dtype), move(values, rank.xp)
        return Form("array", dtype), sendable(move(rank.library.array(column), rank.xp))
    if gpu:
        sent_dtype = None if hasattr(dtype, "categories") else dtype
        return Form("arrow", sent_dtype), to_words(_stream(column.to_arrow()), rank.xp)
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        return Form("arrow", dtype), to_words(_stream(pa.array(column.array)), rank.xp)
    return Form("pickle"), to_words(pickle.dumps(column.array), rank.xp)


def _unpack(rank: Rank, form: Form, array: Array) -> Column:
    library = rank.library
    if form.carrier == "pickle":
        values = pickle.loads(to_bytes(array))
        return pd.Series(values, dtype=values.dtype)
    if form.carrier == "arrow":
        table = pa.ipc.open_stream(pa.py_buffer(to_bytes(array))).read_all()
        if library.name == "pandas":
            return pd.Series(form.dtype.__from_arrow__(table["ids"]))
        column = library.from_arrow(table)["ids"]
        return column if form.dtype in (None, column.dtype) else column.astype(form.dtype)
    values = move(array, library.xp)
    if form.carrier == "dates":
        return library.column(values.view(form.dtype) if library.xp is np else values).astype(form.dtype)
    return library.column(values.astype(form.dtype, copy=False))


def _stream(values: pa.Array | pa.ChunkedArray) -> memoryview:
    """Return a column as an Arrow stream; of a slice the stream has only the slice's values."""
    table = pa.table({"ids": values})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        if len(table):
            writer.write_table(table)
        else:  # which would write no batch, and then cuDF has nothing to make a column of
            writer.write_batch(pa.RecordBatch.from_pylist([], table.schema))
    return memoryview(sink.getvalue())
