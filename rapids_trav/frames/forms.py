"""Kinds of frames that are read through Arrow: polars, pyarrow, and whatever else has Arrow's stream.

A form knows the few operations that differ between them.  Work is done in pandas or cuDF; answers are handed
out as the caller has frames: polars for polars, pyarrow for pyarrow, pandas for all others, such as DuckDB.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import NOT_COLLECTED, EdgeColumnsError, TravError, first_line, type_name
from rapids_trav.frames import arrow
from rapids_trav.frames.columns import Array, Dtype, Frame, Masked, Series, Values, move
from rapids_trav.frames.libraries import Column, CudfFrames, PandasFrames, library_of

StandIns = dict[Dtype, Dtype]  # the caller's type for that in which it comes back from pandas or cuDF


class ArrowForm:
    """Tables of pyarrow."""

    name = "pyarrow"

    def owns(self, frame: object) -> bool:
        """Return whether this is a frame as the caller has them."""
        return isinstance(frame, pa.Table)

    def columns(self, frame: Frame) -> list[str]:
        """Return the names of the columns."""
        return list(frame.column_names)

    def table(self, frame: Frame, columns: Sequence[str]) -> pa.Table:
        """Return some of the columns as a table."""
        return frame.select(list(columns))

    def take(self, frame: Frame, rows: np.ndarray) -> Frame:
        """Return these rows with all columns, as the caller has frames."""
        if not any(column.type in arrow.PLAIN for column in frame.columns):
            return frame.take(pa.array(rows))
        # Of views of strings Arrow takes no rows.
        plain = [column.cast(arrow.PLAIN.get(column.type, column.type)) for column in frame.columns]
        taken = pa.table(plain, names=frame.column_names).take(pa.array(rows))
        return taken.cast(frame.schema)

    def concat(self, frames: Sequence[Frame]) -> Frame:
        """Return the rows of all frames."""
        return pa.concat_tables(frames)

    def handed(self, table: pa.Table, stand_ins: Mapping[Dtype, Dtype]) -> Frame:
        """Return a table as the caller has frames, in the caller's types."""
        columns = [_recast(column, stand_ins.get(column.type)) for column in table.columns]
        return pa.table(columns, names=table.column_names)

    def dtypes(self, frame: Frame) -> dict[str, Dtype]:
        """Return the types of the columns."""
        return {field.name: field.type for field in frame.schema}

    def like(self, frame: Frame, dtypes: Mapping[str, Dtype]) -> Frame:
        """Return a frame with its columns in these types."""
        columns = [_recast(frame[name], dtypes[name]) for name in frame.column_names]
        return pa.table(columns, names=frame.column_names)

    def joined(self, frame: Frame, columns: Frame) -> Frame:
        """Return a frame with the columns of another one behind its own."""
        for name in columns.column_names:
            frame = frame.append_column(name, columns[name])
        return frame


class PandasForm(ArrowForm):
    """Tables of pyarrow that were read from something else, and answers in pandas."""

    name = "pandas"

    def owns(self, frame: object) -> bool:
        return isinstance(frame, pd.DataFrame)

    def take(self, frame: Frame, rows: np.ndarray) -> Frame:
        return arrow.to_pandas(super().take(frame, rows)).set_axis(pd.Index(rows))

    def concat(self, frames: Sequence[Frame]) -> Frame:
        return pd.concat(frames)

    def handed(self, table: pa.Table, stand_ins: Mapping[Dtype, Dtype]) -> Frame:
        return arrow.to_pandas(table)

    def dtypes(self, frame: Frame) -> dict[str, Dtype]:
        return dict(frame.dtypes) if self.owns(frame) else super().dtypes(frame)

    def like(self, frame: Frame, dtypes: Mapping[str, Dtype]) -> Frame:
        return frame


class PolarsForm:
    """Frames of polars."""

    name = "polars"

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
            raise TypeError(f"{objects[0]} holds Python's objects")  # Arrow would have their addresses
        return pa.table({name: pa.chunked_array(frame[name]) for name in columns})

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

    def joined(self, frame: Frame, columns: Frame) -> Frame:
        return frame.hstack(columns)


Form = ArrowForm | PolarsForm


class HandedOut:
    """Hands answers out in a form: before the operations of pandas or cuDF, as a mixin."""

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

    def read(self, frame: Frame, columns: Sequence[Hashable]) -> Frame:
        """Return columns of one of the caller's frames as a frame of pandas or cuDF.

        The types of the first frame that is read are those in which answers are handed out.
        """
        made = self.from_table(columns_of(self.form, frame, columns))
        if not self.stand_ins:
            back = self.form.dtypes(self.form.handed(self.to_table(made.iloc[:0]), {}))
            own = self.form.dtypes(frame)
            for name in map(str, columns):
                self.stand_ins.setdefault(back[name], own[name])
        return made

    def from_table(self, table: pa.Table) -> Frame:
        raise NotImplementedError

    def to_table(self, frame: Frame) -> pa.Table:
        raise NotImplementedError


class HandedOutPandas(HandedOut, PandasFrames):
    """The operations on pandas, for a caller with other frames."""

    def from_table(self, table: pa.Table) -> Frame:
        return self.native(arrow.to_pandas(table))

    def to_table(self, frame: Frame) -> pa.Table:
        return arrow.from_pandas(frame)

    def cast(self, column: Array | Masked, dtype: Dtype) -> Column:
        if self.form.name != "pandas" and isinstance(column, Masked) and isinstance(dtype, np.dtype):
            # Floats with nulls keep those: pandas would have NaN.
            return Masked(move(column.values, np).astype(dtype, copy=False), move(column.valid, np))
        return super().cast(column, dtype)


class HandedOutCudf(HandedOut, CudfFrames):
    """The operations on cuDF, for a caller with other frames."""

    def from_table(self, table: pa.Table) -> Frame:
        try:
            return self.from_arrow(arrow.plain_table(table))
        except (TypeError, ValueError, NotImplementedError) as error:
            raise TravError(
                f"cuDF cannot hold the columns {', '.join(table.column_names)} ({first_line(error)}): "
                f"convert them, or use engine='cpu'."
            ) from error

    def to_table(self, frame: Frame) -> pa.Table:
        return frame.to_arrow(preserve_index=False)


def handed_out(form: Form, engine: object) -> HandedOutPandas | HandedOutCudf:
    """Return the operations of pandas, or of cuDF for an engine of the GPU, for a caller with this form."""
    return HandedOutCudf(form) if getattr(engine, "name", engine) == "cuda" else HandedOutPandas(form)


def form_of(obj: object) -> Form | None:
    """Return the form of a frame that is read through Arrow; None for anything else, pandas' own as well.

    Raises
    ------
    EdgeColumnsError
        If it is a LazyFrame of polars, which has no rows yet.
    """
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
    """Return a frame that can be read again: a stream, which may be readable once, is read into a table.

    Raises
    ------
    TravError
        If what it holds are not the rows of a frame.
    """
    if isinstance(form, PolarsForm):
        return obj.clone()  # shares the values; columns that are added later do not reach it
    if isinstance(obj, pa.Table):
        return obj
    if isinstance(obj, pa.RecordBatch):
        return pa.Table.from_batches([obj])
    try:
        reader = obj if isinstance(obj, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(obj)
        return reader.read_all()
    except Exception as error:  # each library that makes streams has its own
        raise TravError(
            f"edges is an object of type {type_name(obj)}, whose Arrow stream gives no rows of a frame "
            f"({first_line(error)}): give a frame with a column for each end."
        ) from error


def opened(values: Values, on_gpu: bool = False) -> Values:
    """Return a frame or a column of polars or pyarrow as one of pandas; any other object as it is.

    Where work is done in cuDF, columns of pandas are taken as well.
    """
    polars = sys.modules.get("polars")
    if isinstance(values, (pa.Array, pa.ChunkedArray)) or (polars and isinstance(values, polars.Series)):
        name = getattr(values, "name", None) or "ids"
        column = pa.chunked_array(values) if polars and isinstance(values, polars.Series) else values
        return arrow.to_pandas(pa.table({name: column}))[name]
    if isinstance(values, (pa.Table, pa.RecordBatch)) or (polars and isinstance(values, polars.DataFrame)):
        form = form_of(values)
        assert form is not None
        frame = kept(form, values)
        return arrow.to_pandas(columns_of(form, frame, form.columns(frame)))
    return values


def columns_of(form: Form, frame: Frame, columns: Sequence[Hashable]) -> pa.Table:
    """Return columns of one of the caller's frames as a table.

    Raises
    ------
    TravError
        If Arrow has no type for one.
    """
    names = [str(name) for name in columns]
    try:
        return form.table(frame, names)
    except Exception as error:  # polars has its own errors, among them that of Python's objects
        raise TravError(
            f"Arrow cannot hold the columns {', '.join(names)} ({first_line(error)}): convert them to "
            f"numbers, strings or dates."
        ) from error


def _recast(column: pa.ChunkedArray, wanted: pa.DataType | None) -> pa.ChunkedArray:
    """Return a column in the caller's type; of a dictionary the indices and the values apart."""
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
