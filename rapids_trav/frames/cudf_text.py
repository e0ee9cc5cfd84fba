"""Columns of strings of cuDF: rows gathered once, and a few values looked up without hashing the others.

cuDF's own methods do more than is asked here: `Series.take` checks the bounds and gathers an index as well,
`where` copies all strings once more to insert nulls, and an `Index` hashes a whole vocabulary to find one
value in it.  cuDF is imported when it is needed, not with this module.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from rapids_trav.frames.columns import Array, Dtype, Series


def is_text(dtype: Dtype) -> bool:
    """Return whether a column of cuDF of this dtype holds strings."""
    return isinstance(dtype, pd.StringDtype) or (isinstance(dtype, np.dtype) and dtype.kind == "O")


def gathered(column: Series, rows: Array, nulls: bool) -> Series:
    """Return the given rows, which exist, of a column with some; with `nulls`, row -1 is null."""
    import cupy
    import pylibcudf

    policy = pylibcudf.copying.OutOfBoundsPolicy
    if nulls:  # a row past the end is null; one below zero would count from the end
        rows = cupy.where(rows >= 0, rows, len(column))
    chosen = pylibcudf.Column.from_cuda_array_interface(cupy.ascontiguousarray(rows))
    table = pylibcudf.Table([column.to_pylibcudf()[0]])
    taken = pylibcudf.copying.gather(table, chosen, policy.NULLIFY if nulls else policy.DONT_CHECK)
    found = type(column).from_pylibcudf(taken.columns()[0])
    return found if found.dtype == column.dtype else found.astype(column.dtype)


def parts(column: Series) -> tuple[int, int, int, object] | None:
    """Return the addresses of the offsets and of the bytes, the size of an offset, and what owns them.

    Returns None if the strings are a part of a longer column.
    """
    import pylibcudf

    own = column.to_pylibcudf()[0]
    offsets, text = own.child(0), own.data()
    if own.offset() or text is None:
        return None
    offset_bytes = 8 if offsets.type().id() == pylibcudf.TypeId.INT64 else 4
    return offsets.data().ptr, text.ptr, offset_bytes, own


def positions(vocabulary: Series, column: Series) -> Array:
    """Return the position of each value in a vocabulary of distinct, ascending strings; -1 if absent."""
    import cupy

    column = column.reset_index(drop=True)
    places = vocabulary.searchsorted(column)
    found = gathered(vocabulary, cupy.minimum(places, len(vocabulary) - 1), nulls=False)
    same = (found == column).fillna(False).astype("bool")
    return cupy.where(same.to_cupy(), places, -1)
