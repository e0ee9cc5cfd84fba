"""Stand-in for the little of cuDF that a graph of string ids uses, beside `frames_on_device`.

Strings lie in NumPy arrays of Python's.  `gathers` and `hashed` tell the sizes of the columns of strings that
were gathered, and of those that were hashed for a look-up.
"""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

import cupy
import numpy as np
import pandas as pd
from cupy._counting import count, uncounted

from . import frames_on_device
from .frames_on_device import Column, TypeId


class TextColumn(Column):
    """A column of strings with its parts as addresses, in UTF-8 as in Arrow."""

    offset_type = np.int32

    def __init__(self, values) -> None:
        super().__init__(values)
        texts = [str(value).encode() for value in values]
        self._text = cupy.asarray(np.frombuffer(b"".join([*texts, b"\0"]), np.uint8))
        ends = np.cumsum([0, *map(len, texts)]).astype(self.offset_type)
        self._offsets = cupy.asarray(ends)

    def offset(self) -> int:
        return 0

    def data(self) -> SimpleNamespace:
        return SimpleNamespace(ptr=self._text.data.ptr)

    def child(self, i: int) -> SimpleNamespace:
        assert i == 0
        data = SimpleNamespace(ptr=self._offsets.data.ptr)
        kind = SimpleNamespace(id=lambda: TypeId(np.dtype(self.offset_type).name))
        return SimpleNamespace(data=lambda: data, type=lambda: kind)


class Series(frames_on_device.Series):
    """A column, of strings unless it is given as an array or a column of the device."""

    def __init__(self, values, dtype=None) -> None:
        if isinstance(values, Series):
            values = values.column
        if isinstance(values, (pd.Series, np.ndarray)) and values.dtype.kind == "O":
            count("operations")  # the copy to the device
            values = Column(np.array(values, dtype=object))
        super().__init__(values, dtype)

    @classmethod
    def from_pylibcudf(cls, column: Column) -> Series:
        return cls(column)

    @property
    def dtype(self) -> np.dtype | pd.StringDtype:
        own = self.column.values.dtype
        return pd.StringDtype(na_value=np.nan) if own.kind == "O" else own

    def to_pylibcudf(self) -> tuple[Column, dict]:
        return TextColumn(self.column.values) if self.column.values.dtype.kind == "O" else self.column, {}

    def copy(self, deep: bool = True) -> Series:
        assert not deep
        return Series(self.column)

    @property
    def iloc(self) -> object:
        """Rows in host memory, for messages."""
        return pd.Series(self.column.values).iloc

    def reset_index(self, drop: bool) -> Series:
        return self

    def factorize(self) -> tuple[cupy.ndarray, np.ndarray]:
        count("operations")
        uniques, codes = np.unique(self.column.values, return_inverse=True)
        return cupy.asarray(codes), uniques

    def drop_duplicates(self) -> Series:
        count("operations")
        return Series(Column(np.unique(self.column.values)))

    def sort_values(self) -> Series:
        count("operations")
        return Series(Column(np.sort(self.column.values)))

    def searchsorted(self, values: Series) -> cupy.ndarray:
        count("operations")
        with uncounted():
            return cupy.asarray(np.searchsorted(self.column.values, values.column.values), np.int32)

    def __eq__(self, other: Series) -> Series:
        count("operations")
        with uncounted():
            return Series(cupy.asarray((self.column.values == other.column.values).astype(bool)))

    __hash__ = None

    def fillna(self, value) -> Series:
        return self

    def astype(self, dtype) -> Series:
        assert self.dtype == dtype
        return self

    def memory_usage(self, index: bool = True, deep: bool = False) -> int:
        return sum(map(len, self.column.values))


class DataFrame(frames_on_device.DataFrame):
    """Columns by name, as cuDF makes them of a table."""

    @classmethod
    def from_pylibcudf(cls, table, metadata) -> DataFrame:
        return cls(dict(zip(metadata["columns"], map(Series, table.columns), strict=True)))


def modules() -> tuple[dict[str, ModuleType], list[int], list[int]]:
    """Return the modules to import in place of cuDF's, by name, `gathers` and `hashed`."""
    found = frames_on_device.modules()
    cudf, pylibcudf = found["cudf"], found["pylibcudf"]
    gathers: list[int] = []
    hashed: list[int] = []

    def index(vocabulary: Series) -> SimpleNamespace:
        hashed.append(len(vocabulary))
        places = {value: place for place, value in enumerate(vocabulary.column.values)}

        def get_indexer(column: Series) -> cupy.ndarray:
            count("operations")
            return cupy.asarray([places.get(value, -1) for value in column.column.values], np.int32)

        return SimpleNamespace(get_indexer=get_indexer)

    def gather(table, rows: Column, policy: str) -> SimpleNamespace:
        count("operations")
        (column,) = table.columns
        gathers.append(len(rows.values))
        with uncounted():
            rows = rows.values.get()
        if policy == "checked":
            inside = np.minimum(rows.view(f"u{rows.itemsize}"), len(column.values))
            column = np.append(column.values, None)[inside]
        else:
            column = column.values[rows]
        return SimpleNamespace(columns=lambda: [Column(column)])

    pylibcudf.copying.gather = gather
    cudf.Series, cudf.DataFrame, cudf.Index = Series, DataFrame, index
    cudf.concat = lambda parts, ignore_index: Series(
        Column(np.concatenate([part.column.values for part in parts]))
    )
    Series.__module__ = DataFrame.__module__ = "cudf"
    return found, gathers, hashed
