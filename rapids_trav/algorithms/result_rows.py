"""Collector of the rows of an answer that comes in batches.

The arrays of a batch are freed before the next batch is searched, so a memory limit applies to one batch.
The number of rows is mostly known in advance.  Arrays are then written to their final place, so the answer is
in memory only once.  Columns that only their library can concatenate, such as strings, are in memory twice
for a moment, one column at a time.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.frames.libraries import Library
from rapids_trav.ids.maps import Column


class Rows:
    """Collector of batches of columns.

    Parameters
    ----------
    library : Library
    xp : module
        NumPy or CuPy, the array module of the engine.
    n_rows : int or None
        Number of rows of all batches; None: unknown.
    """

    together = True  # all rows become one frame

    def __init__(self, library: Library, xp: ModuleType, n_rows: int | None) -> None:
        self._library, self._xp, self._total = library, xp, n_rows
        self._parts: dict[str, list[Column]] = {}
        self.n_rows = 0

    def add(self, columns: dict[str, Column], n_rows: int) -> None:
        """Add the columns of the next rows; the caller must not use them afterwards."""
        first = self.n_rows
        self.n_rows += n_rows
        for name, column in columns.items():
            parts = self._parts.setdefault(name, [])
            arrays = column if isinstance(column, Masked) else (column,)
            plain = isinstance(arrays[0], (np.ndarray, self._xp.ndarray))
            if not plain or self._total in (None, n_rows):
                parts.append(column)
                continue
            if first == 0:
                parts.append(self._room_for(column))
            wholes = parts[0] if isinstance(column, Masked) else (parts[0],)
            for array, whole in zip(arrays, wholes, strict=True):
                whole[first : self.n_rows] = array

    def columns(self) -> dict[str, Column]:
        """Return the columns of all rows and release the batches."""
        return {name: self._joined(self._parts.pop(name)) for name in list(self._parts)}

    def frame(self) -> Frame:
        """Return a frame of all rows."""
        return self._library.frame(self.columns())

    def _room_for(self, column: Array | Masked) -> Array | Masked:
        if isinstance(column, Masked):
            return Masked(*map(self._room_for, column))
        return (np if isinstance(column, np.ndarray) else self._xp).empty(self._total, column.dtype)

    def _joined(self, parts: list[Column]) -> Column:
        if len(parts) == 1:
            return parts[0]
        if isinstance(parts[0], Masked):
            return Masked(*(self._joined(list(arrays)) for arrays in zip(*parts, strict=True)))
        if isinstance(parts[0], (np.ndarray, self._xp.ndarray)):
            return (np if isinstance(parts[0], np.ndarray) else self._xp).concatenate(parts)
        return self._library.concat([self._library.column(part) for part in parts], ignore_index=True)
