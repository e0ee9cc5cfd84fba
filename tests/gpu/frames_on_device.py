"""Stand-in for the little of cuDF that a graph of integer ids uses, over the emulated CuPy.

It lets the package take its own path for cuDF frames where there is no GPU.  Requests to the device that cuDF
itself would make are counted as one operation each.
"""

from __future__ import annotations

from enum import Enum
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import cupy
import numpy as np
from cupy._counting import count, uncounted

NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)]
TypeId = Enum("TypeId", {"BOOL8": "bool"} | {name.upper(): name for name in NUMBERS})


class Column:
    """A device column of pylibcudf: values, and a mask of bits or None."""

    def __init__(self, values, bits=None, null_count=0) -> None:
        self.values, self.bits, self.null_count = values, bits, null_count

    @staticmethod
    def from_cuda_array_interface(values) -> Column:
        assert isinstance(values, cupy.ndarray)
        return Column(values)

    def with_mask(self, bits, null_count) -> Column:
        return Column(self.values, bits, null_count)

    def valid(self) -> np.ndarray:
        """Return on the host which values are not null."""
        if self.bits is None:
            return np.ones(len(self.values), bool)
        bits = np.unpackbits(self.bits.get().view(np.uint8), bitorder="little")
        return bits[: len(self.values)].astype(bool)


class MadeColumn(Column):
    """A column by the arguments of pylibcudf's constructor."""

    def __init__(self, dtype, size, values, bits, null_count, offset, children) -> None:
        assert isinstance(values, cupy.ndarray)
        assert (dtype, size, offset, children) == (values.dtype, len(values), 0, [])
        super().__init__(values, bits, null_count)


def bools_to_mask(column: Column) -> tuple[cupy.ndarray, int]:
    with uncounted():
        valid = column.values.get()
        words = np.zeros(-(-max(len(valid), 1) // 512) * 64, np.uint8)
        packed = np.packbits(valid, bitorder="little")
        words[: len(packed)] = packed
        bits = cupy.asarray(words)
    count("operations")
    count("allocations")
    count("waits")  # for the number of nulls
    return bits, int((~valid).sum())


class Series:
    """A column of a frame."""

    def __init__(self, values, dtype=None) -> None:
        self.column = values if isinstance(values, Column) else Column(cupy.asarray(values, dtype))

    @classmethod
    def from_pylibcudf(cls, column: Column) -> Series:
        return cls(column)

    dtype = property(lambda self: self.column.values.dtype)
    null_count = property(lambda self: self.column.null_count)

    iloc = None  # its presence tells a column from an array

    def __len__(self) -> int:
        return len(self.column.values)

    def to_cupy(self) -> cupy.ndarray:
        return self.column.values

    def memory_usage(self, index: bool = True) -> int:
        return self.column.values.nbytes


class RangeIndex(NamedTuple):
    """The index of a frame that has none of its own."""

    start: int
    step: int
    name: str | None


NUMBERED = RangeIndex(0, 1, None)


class Index(NamedTuple):
    """The labels of rows."""

    column: Column
    name: str | None

    @classmethod
    def from_pylibcudf(cls, column: Column, metadata) -> Index:
        return cls(column, metadata["name"])


class Taken(list):
    """The columns of a gathered table, which other stand-ins take by a call."""

    def __call__(self) -> list[Column]:
        return self


def gather(table, rows: Column, policy: str) -> SimpleNamespace:
    """Return rows of a table, which exist."""
    assert policy == "unchecked"
    with uncounted():
        taken = Taken(Column(column.values[rows.values]) for column in table.columns)
    count("operations")
    for _ in table.columns:
        count("allocations")
    return SimpleNamespace(columns=taken)


class DataFrame:
    """Columns by name."""

    def __init__(self, columns, index=NUMBERED) -> None:
        self._columns = {
            name: column if isinstance(column, Series) else Series(column) for name, column in columns.items()
        }
        self.index = index

    @classmethod
    def from_pylibcudf(cls, table, metadata) -> DataFrame:
        columns = zip(metadata["columns"], map(Series, table.columns), strict=True)
        return cls(dict(columns), metadata.get("index", NUMBERED))

    columns = property(lambda self: list(self._columns))
    dtypes = property(lambda self: [column.dtype for column in self._columns.values()])

    def to_pylibcudf(self) -> tuple[SimpleNamespace, dict]:
        columns = [column.column for column in self._columns.values()]
        return SimpleNamespace(columns=columns), {"columns": self.columns}

    def copy(self, deep: bool = True) -> DataFrame:
        return DataFrame(self._columns, self.index)

    def __iter__(self):
        return iter(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> Series:
        return self._columns[name]

    def take(self, rows) -> DataFrame:
        with uncounted():
            taken = DataFrame({name: column.column.values[rows] for name, column in self._columns.items()})
        count("operations")
        count("waits")  # for the check of bounds
        for _ in self._columns:
            count("allocations")
        return taken

    def to_host(self) -> dict[str, list]:
        """Return lists of the values, with None for null."""
        return {
            name: [
                value if valid else None
                for value, valid in zip(
                    series.column.values.tolist(), series.column.valid().tolist(), strict=True
                )
            ]
            for name, series in self._columns.items()
        }


def modules() -> dict[str, ModuleType]:
    """Return the modules to import in place of cuDF's, by name."""
    cudf, pylibcudf = ModuleType("cudf"), ModuleType("pylibcudf")
    cudf.Series, cudf.DataFrame = Series, DataFrame
    Series.__module__ = DataFrame.__module__ = "cudf"
    pylibcudf.Column = MadeColumn
    pylibcudf.DataType = lambda kind: np.dtype(kind.value)
    pylibcudf.TypeId = TypeId
    pylibcudf.gpumemoryview = lambda bits: bits
    pylibcudf.Table = lambda columns: SimpleNamespace(columns=columns)
    policies = SimpleNamespace(NULLIFY="checked", DONT_CHECK="unchecked")
    pylibcudf.copying = SimpleNamespace(gather=gather, OutOfBoundsPolicy=policies)
    cudf.RangeIndex = RangeIndex
    cudf.Index = Index
    pylibcudf.transform = SimpleNamespace(bools_to_mask=bools_to_mask)
    return {"cudf": cudf, "pylibcudf": pylibcudf}
