"""The few operations that the package needs of cuDF, which is imported when one of them needs it.

cuDF's own methods do more than is asked here: `Series.take` checks the bounds and gathers an index as well,
`where` copies all strings once more to insert nulls, and an `Index` hashes a whole vocabulary to find one
value in it.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.frames import proxies
from rapids_trav.frames.columns import (
    FEW,
    Array,
    BitMasked,
    Column,
    Dtype,
    Frame,
    Masked,
    Series,
    Values,
    move,
    nullable_dtype,
)

if TYPE_CHECKING:
    import pylibcudf


class CudfFrames:
    """The operations on cuDF."""

    name = "cudf"

    @property
    def answers(self) -> str:
        """Name of the library of the returned frames."""
        return self.name

    @functools.cached_property
    def _cudf(self) -> ModuleType:
        import cudf

        return cudf

    @functools.cached_property
    def _pylibcudf(self) -> ModuleType:
        import pylibcudf

        return pylibcudf

    @functools.cached_property
    def xp(self) -> ModuleType:
        import cupy

        return cupy

    def concat(self, parts: Sequence[Series], **options: object) -> Series:
        return self._cudf.concat(parts, **options)

    def column(self, values: Values, dtype: Dtype = None) -> Series:
        return self._cudf.Series(values, dtype=dtype)

    def native(self, frame: Frame) -> Frame:
        """Return the frame unchanged: cuDF can process all types that it holds."""
        return frame

    def from_arrow(self, table: pa.Table) -> Frame:
        return self._cudf.DataFrame.from_arrow(table)

    def array(self, column: Series) -> Array:
        if not isinstance(column.dtype, np.dtype):  # pandas' nullable or PyArrow's types
            column = column.astype(column.dtype.numpy_dtype)
        return column.to_cupy()

    def null_count(self, column: Series) -> int:
        return int(column.isna().sum()) if column.dtype.kind == "f" else int(column.null_count)

    def without_nulls(self, name: Hashable, dtype: Dtype) -> str:
        return f"edges.dropna(subset=[{name!r}])"

    def remedy(self, call: str) -> str:
        """Return, for a message, what in the caller's library does the same as this call of pandas."""
        return call

    def codes(self, column: Series) -> Series:
        return column.cat.codes.fillna(-1)  # cuDF's codes of nulls are null

    def codes_in(self, dtype: Dtype, column: Series) -> Series:
        return self.codes(column.astype(dtype))

    def factorize(self, column: Series) -> tuple[Array, Series]:
        codes, uniques = column.factorize()
        return codes, self._cudf.Series(uniques)

    def factorize_strings(self, column: Series, ascending: bool = False) -> None:
        """Return None: cuDF's own string operations are fast."""

    def positions(self, vocabulary: Series, column: Series) -> Array:
        if column.dtype != vocabulary.dtype:
            column = column.astype(vocabulary.dtype)
        return self._cudf.Index(vocabulary).get_indexer(column)

    def text_parts(self, column: Series) -> tuple[int, int, int, object] | None:
        """Return the addresses of the offsets and bytes of strings, the size of an offset, and the owner.

        Returns None for other values, and for strings that are a part of a longer column.
        """
        if not len(column) or not _is_text(column.dtype):
            return None
        own = column.to_pylibcudf()[0]
        offsets, text = own.child(0), own.data()
        if own.offset() or text is None:
            return None
        wide = offsets.type().id() == self._pylibcudf.TypeId.INT64
        return offsets.data().ptr, text.ptr, 8 if wide else 4, own

    def few_positions(self, vocabulary: Series, column: Series) -> Array | None:
        """Return `positions` of a few strings, which may repeat; None for others."""
        if not 0 < len(column) <= FEW or not len(vocabulary) or not _is_text(vocabulary.dtype):
            return None
        if column.dtype != vocabulary.dtype:
            column = column.astype(vocabulary.dtype)
        column = column.reset_index(drop=True)
        places = vocabulary.searchsorted(column)
        found = self._gathered(vocabulary, self.xp.minimum(places, len(vocabulary) - 1), nulls=False)
        same = (found == column).fillna(False).astype("bool")
        return self.xp.where(same.to_cupy(), places, -1)

    def take(self, column: Series, rows: Array | None, nulls: bool = False) -> Series:
        if rows is None:
            return column.copy(deep=False)  # copied on write
        rows = move(rows, self.xp)
        if len(rows) and len(column) and _is_text(column.dtype):
            return self._gathered(column, rows, nulls)
        if not nulls:
            return column.take(rows).reset_index(drop=True)
        if len(column) == 0:
            return self._cudf.Series([None] * len(rows), dtype=column.dtype)
        return column.take(self.xp.maximum(rows, 0)).reset_index(drop=True).where(rows >= 0)

    def _gathered(self, column: Series, rows: Array, nulls: bool) -> Series:
        """Return the given rows, which exist, of a column with some; with `nulls`, row -1 is null."""
        copying = self._pylibcudf.copying
        policy = copying.OutOfBoundsPolicy
        if nulls:  # a row past the end is null; one below zero would count from the end
            rows = self.xp.where(rows >= 0, rows, len(column))
        table = self._pylibcudf.Table([column.to_pylibcudf()[0]])
        taken = copying.gather(table, self._wrapped(rows), policy.NULLIFY if nulls else policy.DONT_CHECK)
        found = type(column).from_pylibcudf(taken.columns()[0])
        return found if found.dtype == column.dtype else found.astype(column.dtype)

    def is_plain(self, frame: Frame) -> bool:
        """Return whether all columns are numbers of NumPy's types; the check takes as long as a search."""
        return all(isinstance(dtype, np.dtype) and dtype.kind in "iufb" for dtype in frame.dtypes)

    def rows_of(self, frame: Frame, rows: Array, plain: bool = False) -> Frame:
        """Return rows of a frame that exist, by their numbers; `plain` says that the frame `is_plain`.

        The frame's own `take` looks for numbers out of bounds, for which it waits twice.
        """
        index = frame.index
        numbered = isinstance(index, self._cudf.RangeIndex) and (index.start, index.step) == (0, 1)
        if not (numbered and plain and len(rows)):
            return frame.take(rows)
        numbers = self._wrapped(rows.astype(np.int64, copy=False))
        copying = self._pylibcudf.copying
        policy = copying.OutOfBoundsPolicy.DONT_CHECK
        taken = copying.gather(frame.to_pylibcudf()[0], numbers, policy)
        labels = self._cudf.Index.from_pylibcudf(numbers, {"name": index.name})
        return type(frame).from_pylibcudf(taken, {"columns": list(frame), "index": labels})

    def cast(self, column: Array | Masked, dtype: Dtype) -> Column:
        if isinstance(dtype, np.dtype):
            if not isinstance(column, Masked):
                return move(column, self.xp).astype(dtype, copy=False)
            return Masked(move(column.values, self.xp).astype(dtype, copy=False), column.valid)
        return self._cudf.Series.from_pylibcudf(self._device_column(column)).astype(dtype)

    def frame(self, columns: Mapping[str, Column]) -> Frame:
        """Make a frame of columns without copying them; the caller must not use them elsewhere."""
        own = {name: column for name, column in columns.items() if isinstance(column, self._cudf.Series)}
        if not all(_is_text(column.dtype) for column in own.values()):
            return self._cudf.DataFrame({name: self._entry(column) for name, column in columns.items()})
        # Build from device columns directly: the constructor from a dict takes longer than many searches.
        # Strings may share memory with others, as cuDF writes changed ones to a new column.
        bare = [self._bare(column) for column in columns.values()]  # before anything waits for a null count
        parts = [self._masked(*pair) for pair in zip(bare, columns.values(), strict=True)]
        names = {"columns": list(columns)}
        frame = self._cudf.DataFrame.from_pylibcudf(self._pylibcudf.Table(parts), names)
        other = {name: column.dtype for name, column in own.items() if frame[name].dtype != column.dtype}
        return frame.astype(other) if other else frame

    def _entry(self, column: Column) -> Series:
        if isinstance(column, self._cudf.Series):
            return column
        return self._cudf.Series.from_pylibcudf(self._device_column(column))

    def _device_column(self, column: Array | Masked | BitMasked) -> pylibcudf.Column:
        return self._masked(self._bare(column), column)

    def _bare(self, column: Column | BitMasked) -> pylibcudf.Column:
        """Return the values as a device column without a null mask; a column of cuDF keeps its own."""
        if isinstance(column, self._cudf.Series):
            return column.to_pylibcudf()[0]
        return self._wrapped(column.values if isinstance(column, (Masked, BitMasked)) else column)

    def _masked(self, bare: pylibcudf.Column, column: Column | BitMasked) -> pylibcudf.Column:
        if isinstance(column, BitMasked):
            if (null_count := column.null_count()) == 0:
                return bare
            return bare.with_mask(self._pylibcudf.gpumemoryview(column.bits), null_count)
        if isinstance(column, Masked) and isinstance(column.valid, np.ndarray):
            return bare.with_mask(*self._mask_from_host(column.valid))
        if isinstance(column, Masked):
            return bare.with_mask(*self._pylibcudf.transform.bools_to_mask(self._wrapped(column.valid)))
        return bare

    def _mask_from_host(self, valid: np.ndarray) -> tuple[pylibcudf.gpumemoryview | None, int]:
        """Return the mask, None without nulls, and the number of nulls, which the device need not count."""
        null_count = len(valid) - int(np.count_nonzero(valid))
        if null_count == 0:
            return None, 0
        bits = np.zeros(-(-len(valid) // 512) * 64, np.uint8)  # Arrow requires multiples of 64 bytes
        packed = np.packbits(valid, bitorder="little")
        bits[: len(packed)] = packed
        return self._pylibcudf.gpumemoryview(self.xp.asarray(bits)), null_count

    def _wrapped(self, array: Array) -> pylibcudf.Column:
        if not (isinstance(array, self.xp.ndarray) and array.flags.c_contiguous):
            array = self.xp.ascontiguousarray(move(array, self.xp))
        # As `Column.from_cuda_array_interface` does, in half the time.
        data = self._pylibcudf.gpumemoryview(array)
        return self._pylibcudf.Column(_type_of(array.dtype), len(array), data, None, 0, 0, [])

    def hand_out(self, frame: Frame) -> Frame:
        """Convert a frame to the form that the caller uses."""
        return frame


class ProxiedCudfFrames(CudfFrames):
    """The operations on the cuDF objects that cudf.pandas proxies hold.

    Columns with nulls have the nullable dtypes that `PandasFrames` uses, since a program takes the frames for
    those of pandas.
    """

    def hand_out(self, frame: Frame) -> Frame:
        return proxies.proxied(frame)

    def frame(self, columns: Mapping[str, Column]) -> Frame:
        masked = {name: c for name, c in columns.items() if isinstance(c, (Masked, BitMasked))}
        dtypes = {name: nullable_dtype(column.values.dtype) for name, column in masked.items()}
        frame = super().frame(columns)
        return frame.astype(dtypes) if dtypes else frame  # values and masks are not copied

    def take(self, column: Series, rows: Array | None, nulls: bool = False) -> Series:
        if not nulls or column.dtype.kind not in "mM":
            return super().take(column, rows, nulls)
        # Like pandas, cuDF otherwise refuses to insert nulls into columns of these dtypes.
        return super().take(column.astype("int64"), rows, nulls).astype(column.dtype)


def _is_text(dtype: Dtype) -> bool:
    return isinstance(dtype, pd.StringDtype) or (isinstance(dtype, np.dtype) and dtype.kind == "O")


@functools.cache
def _type_of(dtype: np.dtype) -> pylibcudf.DataType:
    """Return the type of device columns of numbers."""
    import pylibcudf

    return pylibcudf.DataType(pylibcudf.TypeId["BOOL8" if dtype.kind == "b" else dtype.name.upper()])
