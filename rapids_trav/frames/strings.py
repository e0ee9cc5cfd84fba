"""Distinct strings of pandas columns, found and sorted by Arrow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rapids_trav.frames.columns import Series

SAMPLE = 1 << 14  # addresses sampled to find out whether rows share their objects
SHARED = 0.99  # largest fraction of distinct addresses in the sample for which they do


def distinct_strings(column: Series, ascending: bool = False) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the code of each row of a column of strings, and the first row with each code.

    Codes follow first appearance or, if `ascending`, the order of code points.  Returns None if the column
    has nulls or holds anything but strings that Arrow can hold.
    """
    # Rows often share their objects, whose addresses are found faster than strings are read.
    shared = _shared(column)
    text = _text_of(column if shared is None else column.iloc[_firsts(shared)])
    if text is None:
        return None
    encoded = text.dictionary_encode()
    codes = encoded.indices.to_numpy()
    if shared is not None:
        codes = codes[shared]
    firsts = _firsts(codes)
    if not ascending:
        return codes, firsts
    order = pc.sort_indices(encoded.dictionary).to_numpy()  # by bytes, which for UTF-8 are code points
    places = np.empty(len(order), codes.dtype)
    places[order] = np.arange(len(order))
    return places[codes], firsts[order]


def _firsts(codes: np.ndarray) -> np.ndarray:
    """Return the first row of each code; codes follow first appearance."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


def _shared(column: Series) -> np.ndarray | None:
    """Number the distinct objects of a column; return None if rows share few of them."""
    objects = _objects_of(column)
    if objects is None or not len(objects):
        return None
    addresses = np.frombuffer(objects, np.intp)
    sample = addresses[:: max(len(addresses) // SAMPLE, 1)]
    return None if len(np.unique(sample)) > SHARED * len(sample) else pd.factorize(addresses)[0]


def string_positions(vocabulary: Series, column: Series) -> np.ndarray | None:
    """Return positions in distinct, ascending strings, -1 if absent; None if either holds other values."""
    if not (_is_text(column) and _is_text(vocabulary)):
        return None
    known, wanted = np.asarray(vocabulary, object), np.asarray(column, object)
    places = known.searchsorted(wanted)
    found = (places < len(known)) & (np.append(known, "")[places] == wanted)
    return np.where(found, places, -1)


def _text_of(column: Series) -> pa.LargeStringArray | None:
    """Return a column of strings without nulls as an Arrow array, else None; one chunk is not copied."""
    if not _is_text(column):
        return None
    try:
        # 64-bit offsets hold a column of any length.
        return pa.chunked_array(pa.array(column.array)).cast(pa.large_string()).combine_chunks()
    except UnicodeEncodeError:  # a lone surrogate
        return None


def _is_text(column: Series) -> bool:
    if (objects := _objects_of(column)) is not None:
        return set(map(type, objects)) <= {str}  # Arrow takes bytes and subclasses as well
    dtype = column.dtype
    text = (pa.string(), pa.large_string())
    known = (
        dtype.pyarrow_dtype in text if isinstance(dtype, pd.ArrowDtype) else isinstance(dtype, pd.StringDtype)
    )
    return known and not column.hasnans


def _objects_of(column: Series) -> np.ndarray | None:
    """Return the objects of a column that stores its strings as Python objects, else None."""
    if column.dtype == object or getattr(column.dtype, "storage", None) == "python":
        return np.ascontiguousarray(column.array, dtype=object)
    return None
