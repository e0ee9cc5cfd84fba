"""The few operations that the package needs of pandas and of cuDF.

A column that is put into a frame is an array, a `Masked` array, or a column of the library itself.  Arrays
may be in host or GPU memory: each library moves them to its own side.  cuDF is imported only when a cuDF
frame or the CUDA engine needs it.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Hashable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.frames import cudf_text, proxies
from rapids_trav.frames.columns import Array, BitMasked, Dtype, Frame, Masked, Series, Values, move

if TYPE_CHECKING:
    import pylibcudf

Column = Array | Masked | Series  # anything that can become a column of a frame

FEW = 64  # up to this many values are looked up one by one
MANY = 1 << 14  # from this many strings on, kernels process them: loading them takes milliseconds


def library_of(obj: object, kinds: Sequence[str] = ("DataFrame",)) -> str | None:
    """Return the library ("pandas", "cudf" or "dask") of a frame or other kind of object; None for others."""
    for base in type(obj).__mro__:
        module = base.__module__.partition(".")[0]
        if base.__name__ in kinds and module in ("pandas", "cudf", "dask", "dask_cudf"):
            return module.removesuffix("_cudf")
    return None


def library(name: str, proxied: bool = False) -> PandasFrames | CudfFrames:
    """Return the operations of "pandas" or "cudf"; if `proxied`, for objects that cudf.pandas wraps."""
    if proxied:
        return ProxiedCudfFrames() if name == "cudf" else ProxiedPandasFrames()
    return CudfFrames() if name == "cudf" else PandasFrames()


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
        """Return the frame with columns that pandas and Numba can process.

        Byte order becomes that of this machine, Arrow dictionaries become categories, and fixed-width bytes
        become objects.  Other columns are shared.
        """
        foreign = [i for i, dtype in enumerate(frame.dtypes) if not _is_native(dtype)]
        if foreign:
            frame = frame.copy(deep=False)
        for i in foreign:
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
        return int(column.isna().sum())

    def without_nulls(self, name: Hashable) -> str:
        """Return, for a message, how the caller drops the rows in which a column is null."""
        return f"edges.dropna(subset=[{name!r}])"

    def codes(self, column: Series) -> Series:
        """Return the codes of a categorical column, -1 for null."""
        return column.cat.codes

    def codes_in(self, dtype: pd.CategoricalDtype, column: Series) -> Series:
        """Return the code of each value in a categorical dtype, -1 for null and values without one."""
        return pd.Series(dtype.categories.get_indexer_for(column.array))

    def factorize(self, column: Series) -> tuple[np.ndarray, Series]:
        """Return the code of each row and the distinct values; their order depends on the column alone."""
        if (strings := self.factorize_strings(column)) is not None:
            return strings
        if column.dtype == object and _cuts_strings() and _has_null_characters(column):
            raise TypeError("pandas before 3.1 compares Python strings only up to a null character")
        codes, uniques = pd.factorize(column)
        return codes, pd.Series(uniques, dtype=column.dtype)

    def factorize_strings(self, column: Series, ascending: bool = False) -> tuple[np.ndarray, Series] | None:
        """Factorize a long column of strings, in ascending order if `ascending`.

        Returns None if the column is short, has nulls or holds other values.
        """
        if len(column) < MANY:
            return None
        from rapids_trav.frames.strings.distinct import distinct_strings

        if (distinct := distinct_strings(column, ascending)) is None:
            return None
        codes, firsts = distinct
        if len(firsts) == len(column) and not ascending:  # no repeats, so each value stays in its place
            uniques = column.reset_index(drop=True)
        else:
            uniques = pd.Series(column.array.take(firsts), dtype=column.dtype)
        if column.dtype == object and _cuts_strings() and _has_null_characters(uniques):
            return None  # pandas would later treat some of them as equal
        return codes, uniques

    def merge_strings(self, vocabularies: Sequence[Series]) -> tuple[np.ndarray, Series] | None:
        """Return the rank of each string and the distinct strings in ascending order.

        Returns None if there are few values or they are not strings.
        """
        if sum(map(len, vocabularies)) < MANY:
            return None
        return self.factorize_strings(self.concat(vocabularies, ignore_index=True), ascending=True)

    def positions(self, vocabulary: Series, column: Series) -> np.ndarray:
        """Return the position of each value in a vocabulary of distinct, ascending values; -1 if absent."""
        if vocabulary.dtype.kind in "mM" and column.dtype != vocabulary.dtype:
            column = column.astype(vocabulary.dtype)  # for example dates given as text
        if len(column) <= FEW:
            return np.array([_position(vocabulary, value) for value in column], dtype=np.int64)
        if len(vocabulary) >= max(len(column), MANY):
            from rapids_trav.frames.strings.searching import string_positions

            if (found := string_positions(vocabulary, column)) is not None:
                return found
        elif len(column) >= MANY and column.dtype == vocabulary.dtype:
            # With many repeats, sorting the column would take longer than a pass over both.
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
        taken = column.array.take(move(rows, np), allow_fill=nulls)
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
            values = move(column, np)
            plain = isinstance(dtype, np.dtype)
            return values.astype(dtype, copy=False) if plain else pd.array(values, dtype)
        values, valid = (move(part, np) for part in column)
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
            return _nullable(*(move(part, np) for part in column))
        own = isinstance(column, (pd.Series, pd.api.extensions.ExtensionArray))
        return column if own else move(column, np)

    def hand_out(self, frame: Frame) -> Frame:
        """Convert a frame to the form that the caller uses."""
        return frame


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


def _native(column: Series) -> Series:
    """Convert a column as `PandasFrames.native` describes."""
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


def names_nothing(dtype: Dtype) -> bool:
    """Return whether values of this dtype cannot be ids.

    Lists, structs and maps cannot, whether in Arrow's or cuDF's types.  Nor can NumPy's raw bytes, nor the
    Arrow types that pandas cannot compare or take rows of (it rounds nanoseconds of a day, and cannot count
    narrow decimals).
    """
    if isinstance(dtype, np.dtype):
        return dtype.kind == "V"
    if not isinstance(dtype, pd.ArrowDtype):
        return type(dtype).__name__ in ("ListDtype", "StructDtype")
    kind = dtype.pyarrow_dtype
    if (
        pa.types.is_nested(kind)
        or pa.types.is_run_end_encoded(kind)
        or isinstance(kind, pa.BaseExtensionType)
        or str(kind).startswith(("decimal32", "decimal64"))  # by name: older releases of Arrow lack them
    ):
        return True
    return kind in (pa.string_view(), pa.binary_view(), pa.month_day_nano_interval(), pa.time64("ns"))


def _nullable(values: np.ndarray, valid: np.ndarray) -> pd.api.extensions.ExtensionArray:
    kind = pd.arrays.FloatingArray if values.dtype.kind == "f" else pd.arrays.IntegerArray
    return kind(values, ~valid)


def _position(vocabulary: Series, value: Values) -> int:
    """Return the position of a value, or -1, by binary search.

    A hash table of a large vocabulary would cost more than the query itself.
    """
    values = vocabulary.array
    try:
        i = bisect.bisect_left(range(len(values)), value, key=values.__getitem__)
    except TypeError:
        return -1  # a value of another kind has no position in the order
    return i if i < len(values) and values[i] == value else -1


@functools.cache
def _type_of(dtype: np.dtype) -> pylibcudf.DataType:
    """Return the type of device columns of numbers."""
    import pylibcudf

    return pylibcudf.DataType(pylibcudf.TypeId["BOOL8" if dtype.kind == "b" else dtype.name.upper()])


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

    def without_nulls(self, name: Hashable) -> str:
        return f"edges.dropna(subset=[{name!r}])"

    def codes(self, column: Series) -> Series:
        return column.cat.codes.fillna(-1)  # cuDF's codes of nulls are null

    def codes_in(self, dtype: Dtype, column: Series) -> Series:
        return self.codes(column.astype(dtype))

    def factorize(self, column: Series) -> tuple[Array, Series]:
        codes, uniques = column.factorize()
        return codes, self._cudf.Series(uniques)

    def factorize_strings(self, column: Series, ascending: bool = False) -> None:
        """Return None: cuDF's own string operations are fast."""

    def merge_strings(self, vocabularies: Sequence[Series]) -> None:
        """Return None, for the same reason."""

    def positions(self, vocabulary: Series, column: Series) -> Array:
        if column.dtype != vocabulary.dtype:
            column = column.astype(vocabulary.dtype)
        return self._cudf.Index(vocabulary).get_indexer(column)

    def text_parts(self, column: Series) -> tuple[int, int, int, object] | None:
        """Return where the offsets and bytes of strings are, and what keeps them; None for other values."""
        if not len(column) or not cudf_text.is_text(column.dtype):
            return None
        return cudf_text.parts(column)

    def few_positions(self, vocabulary: Series, column: Series) -> Array | None:
        """Return `positions` of a few strings, which may repeat; None for others."""
        if not 0 < len(column) <= FEW or not len(vocabulary) or not cudf_text.is_text(vocabulary.dtype):
            return None
        if column.dtype != vocabulary.dtype:
            column = column.astype(vocabulary.dtype)
        return cudf_text.positions(vocabulary, column)

    def take(self, column: Series, rows: Array | None, nulls: bool = False) -> Series:
        if rows is None:
            return column.copy(deep=False)  # copied on write
        rows = move(rows, self.xp)
        if len(rows) and len(column) and cudf_text.is_text(column.dtype):
            return cudf_text.gathered(column, rows, nulls)
        if not nulls:
            return column.take(rows).reset_index(drop=True)
        if len(column) == 0:
            return self._cudf.Series([None] * len(rows), dtype=column.dtype)
        return column.take(self.xp.maximum(rows, 0)).reset_index(drop=True).where(rows >= 0)

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
        if not all(cudf_text.is_text(column.dtype) for column in own.values()):
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


class ProxiedPandasFrames(PandasFrames):
    """The operations on the pandas objects that cudf.pandas proxies hold."""

    def hand_out(self, frame: Frame) -> Frame:
        return proxies.proxied(frame)


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


def nullable_dtype(dtype: np.dtype) -> str:
    """Return the name of pandas' nullable dtype for integers or floats."""
    return {"i": "Int", "u": "UInt", "f": "Float"}[dtype.kind] + str(8 * dtype.itemsize)
