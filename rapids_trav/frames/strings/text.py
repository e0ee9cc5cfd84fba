"""String columns of any pandas dtype as Arrow arrays.

Grouping of equal strings where few are distinct, by Arrow, with a part of the rows on each thread.

Arrow's hash table is probed row by row, which is fast while its strings stay in the cache; `grouping` handles
larger vocabularies.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.frames.columns import Dtype, Series
from rapids_trav.frames.strings.grouping import Groups, group_strings
from rapids_trav.frames.strings.words import WORD
from rapids_trav.jit.kernels import Threads

BLOCK = 1 << 14  # objects that are checked and then copied while they are in the cache


def objects_of(column: Series) -> np.ndarray | None:
    """Return the objects of a column that stores its strings as Python objects, else None."""
    if _is_object(column.dtype) or getattr(column.dtype, "storage", None) == "python":
        return np.ascontiguousarray(column.array, dtype=object)
    return None


def as_text(column: Series) -> pa.LargeStringArray | None:
    """Convert a column of strings to an Arrow array; return None if it has nulls or holds other values."""
    objects = objects_of(column)
    return text_of(column) if objects is None else text_of_objects(objects)


def text_of(column: Series) -> pa.LargeStringArray | None:
    """Return an Arrow string column as an array, or None if it has nulls or is of another kind.

    A column of one chunk is not copied.
    """
    if not _is_arrow_text(column.dtype):
        return None
    values = pa.chunked_array(pa.array(column.array))
    return None if values.null_count else _whole(values)


def text_of_objects(values: np.ndarray) -> pa.LargeStringArray | None:
    """Convert objects to an Arrow array if all are exactly of type str.

    Returns None if any is of another type or a subclass, or cannot be encoded in UTF-8 (a lone surrogate).
    """
    blocks = []
    for begin in range(0, len(values), BLOCK):
        block = values[begin : begin + BLOCK]
        if set(map(type, block)) != {str}:
            return None
        try:
            blocks.append(pa.array(block, pa.large_string()))
        except UnicodeEncodeError:
            return None
    return _whole(pa.chunked_array(blocks, pa.large_string()))


def buffers_of(text: pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all strings, padded to at least one word, and the offsets of the strings."""
    _, offsets, data = text.buffers()
    places = np.zeros(1, np.int64) if offsets is None else np.frombuffer(offsets, np.int64)
    places = places[text.offset : text.offset + len(text) + 1]
    letters = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    if len(letters) < WORD:
        letters = np.pad(letters, (0, WORD))
    for array in (letters, places):  # the kernels are compiled for read-only arrays
        array.flags.writeable = False
    return letters, places


def addresses(values: np.ndarray) -> np.ndarray:
    """Return the address of each object, which is what an array of objects stores."""
    interface = {key: value for key, value in values.__array_interface__.items() if key != "descr"}

    class Addresses:
        __array_interface__ = interface | {"typestr": np.dtype(np.intp).str}
        held = values

    return np.asarray(Addresses())


def _whole(values: pa.ChunkedArray) -> pa.LargeStringArray:
    values = values.cast(pa.large_string())  # whose 64-bit offsets hold a column of any length
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def _is_object(dtype: Dtype) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _is_arrow_text(dtype: Dtype) -> bool:
    if isinstance(dtype, pd.ArrowDtype):
        return dtype.pyarrow_dtype in (pa.string(), pa.large_string())
    return isinstance(dtype, pd.StringDtype)


SAMPLE = 1 << 14  # rows sampled to estimate how many strings are distinct
REPEATED = 0.95  # largest distinct fraction of the sample: some 160,000 equally frequent strings


def repeats(text: pa.LargeStringArray) -> bool:
    """Return whether a sample suggests that strings repeat."""
    sample = text.take(pa.array(np.arange(0, len(text), max(len(text) // SAMPLE, 1))))
    return len(sample.unique()) <= REPEATED * len(sample)


def encode_strings(text: pa.LargeStringArray, threads: Threads) -> Groups:
    """Group strings by their bytes."""
    n = len(text)

    def encode(begin: int, end: int) -> pa.DictionaryArray:
        return text.slice(begin, end - begin).dictionary_encode()

    parts = threads.run_parts(encode, n)
    joined = pa.concat_arrays([part.dictionary for part in parts])
    numbers, firsts = group_strings(*buffers_of(joined), threads)
    codes = np.empty(n, numbers.dtype)
    begin = base = 0
    for part in parts:
        end, size = begin + len(part), len(part.dictionary)
        codes[begin:end] = numbers[base : base + size][part.indices.to_numpy()]
        begin, base = end, base + size
    rows = np.empty(len(firsts), np.int32 if n < 2**31 else np.int64)
    rows[codes] = np.arange(n, dtype=rows.dtype)
    return Groups(codes, rows)
