"""Frames that are read through Arrow, and answers in the caller's kind of frame: polars, pyarrow or pandas.

A form implements the few operations that differ between them; the work is done in pandas or cuDF.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import ModuleType
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import (
    NOT_COLLECTED,
    EdgeColumnsError,
    TravError,
    TravWarning,
    first_line,
    type_name,
)
from rapids_trav.frames import arrow
from rapids_trav.frames.columns import Array, Column, Dtype, Frame, Masked, Series, Values, library_of, move
from rapids_trav.frames.cudf_frames import CudfFrames
from rapids_trav.frames.libraries import PandasFrames

StandIns = dict[Dtype, Dtype]  # type that pandas or cuDF returns to the caller's type


class ArrowForm:
    """Operations on pyarrow tables."""

    name = "pyarrow"
    remedies: ClassVar[dict[str, str]] = {  # what takes the place of pandas' functions in a message
        "astype(str)": "cast(pyarrow.string())",
        "astype('float64')": "cast(pyarrow.float64())",
        "astype('int8')": "cast(pyarrow.int8())",
        "astype('int64')": "cast(pyarrow.int64())",
        "astype": "cast",
        "fillna": "fill_null",
        "fillna(0.0)": "pyarrow.compute.if_else(pyarrow.compute.is_nan(weight), 0.0, weight).fill_null(0.0)",
    }

    def owns(self, frame: object) -> bool:
        """Return whether this is a frame of the caller's kind."""
        return isinstance(frame, pa.Table)

    def columns(self, frame: Frame) -> list[str]:
        """Return the names of the columns."""
        return list(frame.column_names)

    def table(self, frame: Frame, columns: Sequence[str]) -> pa.Table:
        """Return the named columns as a table."""
        return frame.select(list(columns))

    def nbytes(self, frame: Frame, columns: Sequence[str]) -> int:
        """Return the bytes of the named columns."""
        return self.table(frame, columns).nbytes

    def take(self, frame: Frame, rows: np.ndarray) -> Frame:
        """Return these rows with all columns, as a frame of the caller's kind."""
        return pa.table([arrow.taken(column, rows) for column in frame.columns], schema=frame.schema)

    def concat(self, frames: Sequence[Frame]) -> Frame:
        """Concatenate the rows of all frames."""
        return pa.concat_tables(frames)

    def handed(self, table: pa.Table, stand_ins: Mapping[Dtype, Dtype]) -> Frame:
        """Convert a table to a frame of the caller's kind and types."""
        columns = [_recast(column, stand_ins.get(column.type)) for column in table.columns]
        return pa.table(columns, names=table.column_names)

    def dtypes(self, frame: Frame) -> dict[str, Dtype]:
        """Return the types of the columns."""
        return {field.name: field.type for field in frame.schema}

    def like(self, frame: Frame, dtypes: Mapping[str, Dtype]) -> Frame:
        """Return a frame with its columns cast to these types."""
        columns = [_recast(frame[name], dtypes[name]) for name in frame.column_names]
        return pa.table(columns, names=frame.column_names)

    def without_nulls(self, name: Hashable, dtype: Dtype) -> str:
        """Return, for a message, how the caller drops the rows in which a column is null or NaN."""
        if dtype.kind == "f":
            return f"edges.filter(~pyarrow.compute.is_nan(pyarrow.compute.field({name!r})))"
        return f"edges.filter(pyarrow.compute.field({name!r}).is_valid())"

    def joined(self, frame: Frame, columns: Frame) -> Frame:
        """Return a frame with the columns of another one appended."""
        for name in columns.column_names:
            frame = frame.append_column(name, columns[name])
        return frame


class PandasForm(ArrowForm):
    """Operations on pyarrow tables that were read from another library, with answers in pandas."""

    name = "pandas"
    remedies: ClassVar[dict[str, str]] = {
        "astype(str)": "CAST(... AS VARCHAR)",
        "astype('float64')": "CAST(... AS DOUBLE)",
        "astype('int8')": "CAST(... AS TINYINT)",
        "astype('int64')": "CAST(... AS BIGINT)",
        "astype": "CAST",
        "fillna": "coalesce",
        "fillna(0.0)": "coalesce(nullif(weight, 'nan'), 0.0)",
    }

    def owns(self, frame: object) -> bool:
        return isinstance(frame, pd.DataFrame)

    def take(self, frame: Frame, rows: np.ndarray) -> Frame:
        return arrow.to_pandas(super().take(frame, rows)).set_axis(pd.Index(rows))

    def concat(self, frames: Sequence[Frame]) -> Frame:
        return pd.concat(frames)

    def handed(self, table: pa.Table, stand_ins: Mapping[Dtype, Dtype]) -> Frame:
        return arrow.to_pandas(table)

    def without_nulls(self, name: Hashable, dtype: Dtype) -> str:
        column = '"' + str(name).replace('"', '""') + '"'
        condition = f"not isnan({column})" if dtype.kind == "f" else f"{column} is not null"
        return f"a filter, which in DuckDB is edges.filter({condition!r})"

    def dtypes(self, frame: Frame) -> dict[str, Dtype]:
        return dict(frame.dtypes) if self.owns(frame) else super().dtypes(frame)

    def like(self, frame: Frame, dtypes: Mapping[str, Dtype]) -> Frame:
        return frame


class PolarsForm:
    """Operations on polars frames."""

    name = "polars"
    remedies: ClassVar[dict[str, str]] = {
        "astype(str)": "cast(polars.String)",
        "astype('float64')": "cast(polars.Float64)",
        "astype('int8')": "cast(polars.Int8)",
        "astype('int64')": "cast(polars.Int64)",
        "astype": "cast",
        "fillna": "fill_null",
        "fillna(0.0)": "fill_nan(0.0).fill_null(0.0)",
    }

    @property
    def _polars(self) -> ModuleType:
        import polars

        return polars

    def owns(self, frame: object) -> bool:
        return isinstance(frame, self._polars.DataFrame)

    def columns(self, frame: Frame) -> list[str]:
        return list(frame.columns)

    def table(self, frame: Frame, columns: Sequence[str]) -> pa.Table:
        if objects := [name for name in columns if frame.schema[name] == self._polars.Object]:
            raise TypeError(f"{objects[0]} holds Python objects")  # Arrow would store their addresses
        table = frame.select(columns).to_arrow()
        for i, name in enumerate(columns):
            if isinstance(frame.schema[name], self._polars.Enum):  # older polars does not give the order
                table = table.set_column(i, name, arrow.ordered(table[i]))
        return table

    def nbytes(self, frame: Frame, columns: Sequence[str]) -> int:
        return int(frame.select(columns).estimated_size())  # Arrow would copy strings

    def take(self, frame: Frame, rows: np.ndarray) -> Frame:
        return frame[rows]

    def concat(self, frames: Sequence[Frame]) -> Frame:
        return self._polars.concat(frames)

    def handed(self, table: pa.Table, stand_ins: Mapping[Dtype, Dtype]) -> Frame:
        frame = self._polars.from_arrow(table)
        found = {name: stand_ins[dtype] for name, dtype in frame.schema.items() if dtype in stand_ins}
        return frame.cast(found) if found else frame

    def dtypes(self, frame: Frame) -> dict[str, Dtype]:
        return dict(frame.schema)

    def like(self, frame: Frame, dtypes: Mapping[str, Dtype]) -> Frame:
        return frame.cast(dict(dtypes))

    def without_nulls(self, name: Hashable, dtype: Dtype) -> str:
        return f"edges.drop_nulls({name!r})" + (f".drop_nans({name!r})" if dtype.kind == "f" else "")

    def joined(self, frame: Frame, columns: Frame) -> Frame:
        return frame.hstack(columns)


Form = ArrowForm | PolarsForm


class HandedOut:
    """Mixin that returns answers in a given form; it comes before the pandas or cuDF operations."""

    form: Form
    stand_ins: StandIns

    def __init__(self, form: Form) -> None:
        self.form, self.stand_ins = form, {}

    @property
    def answers(self) -> str:
        return self.form.name

    def hand_out(self, frame: Frame) -> Frame:
        return frame if self.form.owns(frame) else self.form.handed(self.to_table(frame), self.stand_ins)

    def concat(self, parts: Sequence[Series], **options: object) -> Series:
        if self.form.owns(parts[0]):
            return self.form.concat(parts)
        return super().concat(parts, **options)  # type: ignore[misc]

    def without_nulls(self, name: Hashable, dtype: Dtype) -> str:
        return self.form.without_nulls(name, dtype)

    def remedy(self, call: str) -> str:
        return self.form.remedies[call]

    def read(self, frame: Frame, columns: Sequence[Hashable]) -> Frame:
        """Read columns of a caller's frame; the types of the first are those of answers."""
        made = self.from_table(columns_of(self.form, frame, columns))
        if not self.stand_ins:
            back = self.form.dtypes(self.form.handed(self.to_table(made.iloc[:0]), {}))
            own = self.form.dtypes(frame)
            for name in map(str, columns):
                if _has_categories(back[name]) == _has_categories(
                    own[name]
                ):  # else they came as plain values
                    self.stand_ins.setdefault(back[name], own[name])
        return made

    def from_table(self, table: pa.Table) -> Frame:
        raise NotImplementedError

    def to_table(self, frame: Frame) -> pa.Table:
        raise NotImplementedError


class HandedOutPandas(HandedOut, PandasFrames):
    """The operations on pandas, for a caller with frames of another kind."""

    def from_table(self, table: pa.Table) -> Frame:
        return self.native(arrow.to_pandas(table))

    def to_table(self, frame: Frame) -> pa.Table:
        return arrow.from_pandas(frame)

    def cast(self, column: Array | Masked, dtype: Dtype) -> Column:
        if self.form.name != "pandas" and isinstance(column, Masked) and isinstance(dtype, np.dtype):
            # Keep floats with nulls masked: pandas would turn the nulls into NaN.
            return Masked(move(column.values, np).astype(dtype, copy=False), move(column.valid, np))
        return super().cast(column, dtype)


class HandedOutCudf(HandedOut, CudfFrames):
    """The operations on cuDF, for a caller with frames of another kind."""

    def from_table(self, table: pa.Table) -> Frame:
        try:
            return self.from_arrow(arrow.plain_table(table))
        except (TypeError, ValueError, NotImplementedError) as error:
            bad = _refused(
                table.column_names, lambda name: self.from_arrow(arrow.plain_table(table.select([name])))
            )
            raise TravError(
                f"cuDF cannot hold the {bad} ({first_line(error)}): convert {_those(bad)}, or use "
                f"engine='cpu'."
            ) from error

    def to_table(self, frame: Frame) -> pa.Table:
        return frame.to_arrow(preserve_index=False)


def _has_categories(dtype: Dtype) -> bool:
    """Return whether this is a type of pandas, polars or Arrow whose values are those of a dictionary."""
    if isinstance(dtype, pa.DataType):
        return pa.types.is_dictionary(dtype)
    return hasattr(dtype, "categories") or str(dtype).startswith(("Categorical", "Enum"))


def handed_out(form: Form, engine: object) -> HandedOutPandas | HandedOutCudf:
    """Return the operations for a caller with this form: of cuDF for the CUDA engine, else of pandas."""
    return HandedOutCudf(form) if getattr(engine, "name", engine) == "cuda" else HandedOutPandas(form)


def form_of(obj: object) -> Form | None:
    """Return the form of a frame that is read through Arrow; None for anything else, also for pandas."""
    if library_of(obj, ("DataFrame", "Series", "Index")):
        return None
    if (polars := sys.modules.get("polars")) is not None:
        if isinstance(obj, polars.LazyFrame):
            raise EdgeColumnsError(NOT_COLLECTED)
        if isinstance(obj, polars.DataFrame):
            return PolarsForm()
    if isinstance(obj, (pa.Table, pa.RecordBatch, pa.RecordBatchReader)):
        return ArrowForm()
    return PandasForm() if hasattr(type(obj), "__arrow_c_stream__") else None


def kept(form: Form, obj: Values) -> Frame:
    """Return a frame that can be read repeatedly; a stream, perhaps readable once, becomes a table."""
    if isinstance(form, PolarsForm):
        return obj.clone()  # shares the values, but not columns that are added later
    if isinstance(obj, pa.Table):
        return obj
    if isinstance(obj, pa.RecordBatch):
        return pa.Table.from_batches([obj])
    try:
        reader = obj if isinstance(obj, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(obj)
    except Exception as error:  # each library that produces streams raises its own errors
        raise TravError(
            f"edges is an object of type {type_name(obj)}, whose Arrow stream gives no rows of a frame "
            f"({first_line(error)}): give a frame with a column for each end."
        ) from error
    try:
        table = reader.read_all()
    except Exception as error:
        raise TravError(
            f"edges is an object of type {type_name(obj)}, whose Arrow stream failed while it was read "
            f"({first_line(error)}): give one that can be read to its end."
        ) from error
    if table.num_rows == 0 and reader is obj:
        warnings.warn(
            f"edges is an object of type {type_name(obj)} that gave no rows: it gives its rows only once, so "
            f"if it was read before, give a new one, or the table that its read_all() returned.",
            TravWarning,
            stacklevel=2,
        )
    return table


def opened(values: Values, on_gpu: bool = False) -> Values:
    """Convert a frame or column of polars or pyarrow to pandas; return any other object unchanged."""
    polars = sys.modules.get("polars")
    if isinstance(values, (pa.Array, pa.ChunkedArray)) or (polars and isinstance(values, polars.Series)):
        name = getattr(values, "name", None) or "ids"
        if polars and isinstance(values, polars.Series):
            return arrow.to_pandas(PolarsForm().table(values.to_frame(name), [name]))[name]
        return arrow.to_pandas(pa.table({name: values}))[name]
    if isinstance(values, (pa.Table, pa.RecordBatch)) or (polars and isinstance(values, polars.DataFrame)):
        form = form_of(values)
        assert form is not None
        frame = kept(form, values)
        return arrow.to_pandas(columns_of(form, frame, form.columns(frame)))
    return values


def columns_of(form: Form, frame: Frame, columns: Sequence[Hashable]) -> pa.Table:
    """Return columns of one of the caller's frames as a table; refuse one for which Arrow has no type."""
    names = [str(name) for name in columns]
    try:
        return form.table(frame, names)
    except Exception as error:  # polars raises its own errors, for example for Python objects
        bad = _refused(names, lambda name: form.table(frame, [name]))
        raise TravError(
            f"Arrow cannot hold the {bad} ({first_line(error)}): convert {_those(bad)} to numbers of 64 "
            f"bits, strings or dates."
        ) from error


def _refused(names: Sequence[str], read: Callable[[str], object]) -> str:
    """Return, for a message, which of these columns cannot be read by themselves; all of them if each can."""
    bad = []
    for name in names:
        try:
            read(name)
        except Exception:  # whatever the library raises
            bad.append(name)
    return f"column{'' if len(bad) == 1 else 's'} {', '.join(bad or names)}"


def _those(columns: str) -> str:
    return "it" if columns.startswith("column ") else "them"


def _recast(column: pa.ChunkedArray, wanted: pa.DataType | None) -> pa.ChunkedArray:
    """Cast a column to the caller's type; for a dictionary, cast the indices and the values separately."""
    if wanted is None or wanted == column.type:
        return column
    if not (pa.types.is_dictionary(wanted) and pa.types.is_dictionary(column.type)):
        return column.cast(wanted)
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices.cast(wanted.index_type),
            chunk.dictionary.cast(wanted.value_type),
            ordered=wanted.ordered,
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, wanted)
