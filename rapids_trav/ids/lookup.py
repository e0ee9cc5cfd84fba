"""The vertices that a caller names: split into columns, checked against the ids' types, looked up."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from decimal import Context, Decimal
from numbers import Number
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import EDGES_CHANGED, TravError, UnknownVertexError, first_line, plain, written
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Array, Dtype, Series, Values, library_of, move
from rapids_trav.frames.libraries import PandasFrames
from rapids_trav.ids.maps import Column, Encoder, IdMap, Library

SHOWN = 5  # unknown vertices that an error lists before it counts the rest
AT_ONCE = 1 << 16  # values of a column that are converted at once
EXACT = Context(prec=400)  # holds every float64 that is a whole number, and decimals of all widths
ANY_DECIMAL = pd.ArrowDtype(pa.decimal256(76, 38))  # for columns of Python's `Decimal`


def lookup(what: str, vertices: Values, ids: IdMap, library: Library) -> Array:
    """Return internal ids of the vertices that an argument names; a few cost no kernel launch."""
    vertices = _opened(vertices, on_gpu=library.name == "cudf")
    try:
        return _looked_up(what, vertices, ids, library)
    except TravError as error:
        several = vertices if isinstance(vertices, list) else [vertices]
        if ids.width > 1 or not any(isinstance(vertex, tuple) for vertex in several):  # meant as ids, perhaps
            raise
        raise type(error)(
            f"{str(error).rstrip('.')}; a tuple is one id only if ids have several columns, as with "
            f"graph(src=[...], dst=[...])."
        ) from error


def _opened(vertices: Values, on_gpu: bool) -> Values:
    return forms.opened(proxies.opened(vertices, on_gpu=on_gpu))


def components(what: str, vertices: Values, width: int, library: Library) -> list[Values]:
    """Return the components of the ids that an argument names in any form, one list-like for each column."""
    return split(what, _opened(vertices, on_gpu=library.name == "cudf"), width)


def _looked_up(what: str, vertices: Values, ids: IdMap, library: Library) -> Array:
    if ids.n == 0:
        check_some(what, vertices, ids.width)
        raise UnknownVertexError(
            f"{what} names a vertex, but the graph has none, since its edges have no rows: give edges or "
            f"graph(vertices=...)."
        )
    given = as_columns(what, vertices, known_dtypes(ids, library), library)
    for part in given:
        if part.impossible is not None:
            _refuse(what, [each.original for each in given], part.impossible)
    columns = [part.values for part in given]
    try:
        place = ids.ascending.encoder()(columns)
    except TypeError as error:  # an unhashable value
        raise TravError(f"{what} holds values that are not ids ({error}): give a flat sequence.") from error
    unknown = place < 0
    if unknown.any():
        _refuse(what, columns, unknown)
    return ids.placed(place)


def known_dtypes(ids: IdMap, library: Library) -> list[Dtype]:
    """Return the types of the ids; one of decimals for Python's `Decimal`, which numbers may equal."""
    dtypes = list(ids.dtypes)
    if library.name == "pandas" and np.dtype(object) in dtypes and ids.n:
        for i, first in enumerate(ids.ascending.decode(np.zeros(1, np.int64))):
            if dtypes[i] == np.dtype(object) and isinstance(first.iloc[0], Decimal):
                dtypes[i] = ANY_DECIMAL
    return dtypes


def _refuse(what: str, columns: Sequence[Column], unknown: Array) -> None:
    rows = np.flatnonzero(move(unknown, np))
    values = pd.DataFrame({i: _on_host(column, rows) for i, column in enumerate(columns)}).drop_duplicates()
    shown = (tuple(map(plain, value)) for value in values[:SHOWN].itertuples(index=False, name=None))
    names = ", ".join(written(value[0] if len(columns) == 1 else value) for value in shown)
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    raise UnknownVertexError(
        f"{what} contains {len(values)} unknown vert{'ices' if len(values) > 1 else 'ex'}: {names}{more}: "
        f"give ids that occur in the edges, or add them with graph(vertices=...)."
    )


def _on_host(column: Column, rows: np.ndarray) -> Column:
    """Return these rows of a column or an array in host memory."""
    if not hasattr(column, "iloc"):
        return move(column, np)[rows]
    column = column.iloc[rows].reset_index(drop=True)
    return column.to_pandas() if hasattr(column, "to_pandas") else column


def known_again(encode: Encoder, columns: Sequence[Column], library: Library, xp: ModuleType) -> Array:
    """Return internal ids of one end of the edges; all of them were seen in an earlier pass."""
    for column in columns:
        if library.null_count(column):
            raise TravError(EDGES_CHANGED)
        if column.dtype.kind == "f":
            values = library.array(column)
            if (values != library.xp.floor(values)).any():
                raise TravError(EDGES_CHANGED)
    try:
        internal = move(encode(columns), xp)
    except (TypeError, ValueError, OverflowError) as error:  # ids of another kind
        raise TravError(EDGES_CHANGED) from error
    if len(internal) and int(internal.min()) < 0:
        raise TravError(EDGES_CHANGED)
    return internal


class Given(NamedTuple):
    """One component of the vertices that a caller names: as it came, and as the graph's maps take it."""

    original: Column
    values: Column  # anything where `impossible`
    impossible: Array | None = None  # flags what no id of the graph's dtype equals, as 1.5 for integers


def as_columns(what: str, vertices: Values, dtypes: Sequence[Dtype], library: Library) -> list[Given]:
    """Return vertices as columns, or arrays of integer ids, checked against the graph's dtypes."""
    if len(dtypes) == 1 and dtypes[0].kind in ("i", "u"):
        few = vertices if type(vertices) is list else [vertices]
        if few and all(type(vertex) is int and 0 <= vertex < 2**31 for vertex in few):
            return [_possible(np.array(few))]  # plain integers need no frame library
    lists = check_some(what, vertices, len(dtypes))
    return [_component(what, values, dtype, library) for values, dtype in zip(lists, dtypes, strict=True)]


def _possible(values: Column) -> Given:
    return Given(values, values)


def check_some(what: str, vertices: Values, width: int) -> list[Values]:
    """Return the components of the ids; refuse to have none."""
    lists = split(what, vertices, width)
    if len(lists[0]) == 0:
        raise TravError(f"{what} is empty: give at least one vertex id.")
    return lists


def names_nothing(dtype: Dtype) -> bool:
    """Return whether no value of this dtype can be an id: lists, raw bytes, what pandas cannot compare."""
    if isinstance(dtype, np.dtype):
        return dtype.kind == "V"
    if not isinstance(dtype, pd.ArrowDtype):
        return type(dtype).__name__ in ("ListDtype", "StructDtype")
    kind = dtype.pyarrow_dtype
    if (
        pa.types.is_nested(kind)
        or pa.types.is_run_end_encoded(kind)
        or isinstance(kind, pa.BaseExtensionType)
    ):
        return True
    return kind in (pa.string_view(), pa.binary_view(), pa.month_day_nano_interval(), pa.time64("ns"))


def read_column(what: str, values: Values, library: Library) -> Column:
    """Return a column of the values of the argument called `what`."""
    if getattr(values, "ndim", 1) != 1 or getattr(values, "nlevels", 1) != 1:
        shape = "several levels" if hasattr(values, "nlevels") else f"{values.ndim} dimensions"
        raise TravError(f"{what} has {shape}: give a flat sequence of ids.")
    try:
        try:
            column = library.column(values)
        except (OverflowError, TypeError) as error:  # a list with integers past int64
            if all(type(value) is int and 0 <= value < 2**64 for value in values):
                column = library.column(np.array(values, np.uint64))
            elif isinstance(error, OverflowError):  # past every integer type: pandas holds them as objects
                column = library.column(values, dtype=object)
            else:
                raise
        except UnicodeEncodeError:  # a string with a lone surrogate, which pandas holds as an object
            if library.name != "pandas":
                raise
            column = library.column(values, dtype=object)
        if names_nothing(column.dtype):
            raise TravError(
                f"{what} is of type {column.dtype}, whose values are not ids: give numbers, strings or dates."
            )
        if library.name == "pandas" and isinstance(values, list) and column.dtype.kind == "f":
            return library.column(values, dtype=object)  # integers among floats would lose digits
        return column
    except TravError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise TravError(
            f"{what} holds values that cannot be a column of ids ({error}): give numbers, strings or dates."
        ) from error


def isolated(values: Values, dtype: Dtype, library: Library) -> Series:
    """Return a column of vertices; integers in a list take the dtype of the edges if it can hold them."""
    column = read_column("vertices", values, library)
    refuse_nulls("vertices", library.null_count(column))
    for value in column if column.dtype == object and library.name == "pandas" else ():
        if isinstance(value, (int, float)) and not (-(2**63) <= value < 2**64 and value == int(value)):
            raise TravError(
                f"vertices holds {written(value)}, which is no integer of 64 bits: leave it out, or give all "
                f"ids as strings."
            )
    if not hasattr(values, "dtype") and column.dtype.kind in "iu" and dtype.kind in "iuf":
        fitted = column.astype(dtype)
        same = (fitted.astype(column.dtype) == column) & ((fitted < 0) == (column < 0))
        return fitted if same.all() else column
    return column


def _component(what: str, values: Values, dtype: Dtype, library: Library) -> Given:
    if type(values).__module__.partition(".")[0] == "cupy":
        values = move(values, np)
    source = library if library_of(values, ("Series", "Index")) == library.name else PandasFrames()
    column = read_column(what, values, source)
    refuse_nulls(what, source.null_count(column))
    given = _kind(column, source)
    if hasattr(dtype, "categories"):
        return _possible(column if source is library else _of_library(what, column, library))
    if given in ("number", "decimal") and is_decimal(dtype):
        return _decimals(column, dtype, library)
    if given in ("number", "decimal") and dtype.kind in "iuf":
        return _exact(column, dtype, source)
    if given in ("number", "boolean") or dtype.kind in "iuf":
        raise _of_other_kind(what, column, dtype)
    if dtype.kind in "mM" and column.dtype != dtype:
        return _dates(what, column, dtype, library)
    found = column.dtype.categories.dtype if hasattr(column.dtype, "categories") else column.dtype
    if _is_text(dtype, library) and not _is_text(found, source):
        # A cuDF column cannot be iterated over, but its values are all of one kind.
        _check_text(what, column.iloc[:1].to_pandas() if source.name == "cudf" else column, dtype)
    return _possible(_of_library(what, column, library))


def _of_library(what: str, column: Column, library: Library) -> Column:
    try:
        return library.column(column)
    except UnicodeEncodeError as error:
        raise TravError(
            f"{what} holds a string that is not valid Unicode ({first_line(error)}), as all ids are: leave "
            f"it out."
        ) from error


def refuse_nulls(what: str, nulls: int) -> None:
    """Refuse nulls among the vertices of the argument called `what`."""
    if nulls:
        raise TravError(
            f"{what} holds {nulls} null{'s' if nulls > 1 else ''}, and a null is not a vertex: leave "
            f"{'them' if nulls > 1 else 'it'} out."
        )


def _is_text(dtype: Dtype, library: Library) -> bool:
    """Return whether a column holds only strings; a column of Python objects may hold others."""
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return library.name == "cudf"
    return pd.api.types.is_string_dtype(dtype)


def _check_text(what: str, column: Column, dtype: Dtype) -> None:
    for value in column:
        if not isinstance(value, str):
            raise TravError(
                f"{what} holds {written(value)}, but the graph's ids are {dtype}: convert one to the other."
            )


def _of_other_kind(what: str, column: Column, dtype: Dtype) -> TravError:
    """Return the error that names the first value of another kind than the graph's ids, where known."""
    value = column.iloc[0]
    if column.dtype == object and dtype.kind in "iuf":
        value = next((v for v in column if isinstance(v, bool) or not isinstance(v, Number)), value)
    return TravError(
        f"{what} holds {written(value)}, but the graph's ids are {dtype}: convert one to the other."
    )


def _dates(what: str, column: Column, dtype: Dtype, library: Library) -> Given:
    """Convert dates, which may be given as text, to the resolution of the graph's ids."""
    try:
        converted = column.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise _of_other_kind(what, column, dtype) from error
    lost = (converted.astype(column.dtype) != column).to_numpy() if column.dtype.kind in "mM" else None
    return Given(column, library.column(converted), _if_any(lost))


def _if_any(flags: Array | None) -> Array | None:
    return flags if flags is not None and flags.any() else None


def _kind(column: Column, library: Library) -> str:
    if column.dtype == object and library.name == "pandas":
        inferred = pd.api.types.infer_dtype(column)
        numbers = ("integer", "floating", "mixed-integer-float")
        return (
            "number" if inferred in numbers else inferred if inferred in ("boolean", "decimal") else "other"
        )
    if hasattr(column.dtype, "categories"):
        return "number" if column.dtype.categories.dtype.kind in "iuf" else "other"
    if is_decimal(column.dtype) and library.name == "pandas":
        return "decimal"
    return {"b": "boolean", "i": "number", "u": "number", "f": "number"}.get(column.dtype.kind, "other")


def is_decimal(dtype: Dtype) -> bool:
    """Return whether this is a type of decimal numbers of Arrow or cuDF."""
    if isinstance(dtype, pd.ArrowDtype):
        return pa.types.is_decimal(dtype.pyarrow_dtype)
    return type(dtype).__name__.startswith("Decimal")


def _exact(column: Column, dtype: Dtype, library: Library) -> Given:
    """Convert numbers to integers; a number that no integer of the sign of `dtype` equals is flagged."""
    original = column
    if hasattr(column.dtype, "categories"):
        column = column.astype(column.dtype.categories.dtype)
    low, high = (0, 2**64) if dtype.kind == "u" else (-(2**63), 2**63)
    wide = np.uint64 if dtype.kind == "u" else np.int64
    if column.dtype == object or is_decimal(column.dtype):
        values = column.to_numpy(dtype=object)
        given = map(plain, values)
        outside = np.array([not (low <= value < high and value == int(value)) for value in given], dtype=bool)
    else:
        values = library.array(column)
        if values.dtype.kind == "f":
            values = values.astype(np.float64, copy=False)
            outside = (np.floor(values) != values) | (values < low) | (values >= float(high))
        elif values.dtype.kind != dtype.kind and dtype.kind in "iu":
            outside = values < 0 if dtype.kind == "u" else values >= np.uint64(2**63)
        else:
            return Given(original, values)
    impossible = _if_any(outside)
    if values.dtype.kind not in "iu":
        if impossible is not None:
            values = values.copy()
            values[impossible] = 0
        values = values.astype(wide)
    return Given(original, values, impossible)


def _decimals(column: Column, dtype: Dtype, library: Library) -> Given:
    """Convert numbers to decimals of this dtype, floats as they are written; the others are flagged."""
    kind: Dtype = getattr(dtype, "pyarrow_dtype", dtype)
    if dtype == ANY_DECIMAL and column.dtype == object and _kind(column, library) == "decimal":
        return _possible(column)
    if column.dtype == dtype:
        return _possible(library.column(column))
    if hasattr(column.dtype, "categories"):
        column = column.astype(column.dtype.categories.dtype)
    host = column.to_pandas() if hasattr(column, "to_pandas") else column
    given = [Decimal(str(value) if isinstance(value, float) else value) for value in map(plain, host)]
    if dtype == ANY_DECIMAL:
        return Given(column, pd.Series(given, dtype=object))
    unit, limit = Decimal(1).scaleb(-kind.scale), Decimal(1).scaleb(kind.precision - kind.scale)
    impossible = np.array(
        [not (abs(value) < limit and value == value.quantize(unit, context=EXACT)) for value in given],
        dtype=bool,
    )
    values = pa.array(
        [Decimal(0) if bad else value for value, bad in zip(given, impossible, strict=True)],
        pa.decimal128(kind.precision, kind.scale) if library.name == "cudf" else kind,
    )
    if library.name == "pandas":
        return Given(column, pd.Series(pd.arrays.ArrowExtensionArray(values)), _if_any(impossible))
    return Given(column, library.column(values), _if_any(impossible))


def split(what: str, vertices: Values, width: int) -> list[Values]:
    """Return the components of the ids, one list-like for each column."""
    if vertices is None:
        raise TravError(f"{what} is None, which names no vertex: give at least one vertex id.")
    if library_of(vertices):
        if len(vertices.columns) != width:
            raise TravError(
                f"{what} is a frame of {len(vertices.columns)} columns, but the graph's ids have {width}: "
                f"select the columns that hold the ids."
            )
        return [vertices[name] for name in vertices.columns]
    if type(vertices).__module__.startswith("scipy.sparse"):
        raise TravError(f"{what} is a sparse array of SciPy: give its ids as an array or a list.")
    if width == 1:
        if getattr(vertices, "ndim", 1) == 0:
            # A NumPy scalar stays as it is; `[()]` extracts one from an array without dimensions.
            return [[vertices if isinstance(vertices, np.generic) else vertices[()]]]
        if isinstance(vertices, Iterable) and not isinstance(vertices, (str, bytes)):
            return [vertices if hasattr(vertices, "dtype") else list(vertices)]
        return [[vertices]]
    if getattr(vertices, "ndim", 1) == 0:
        vertices = vertices[()]
    one = isinstance(vertices, tuple) and not (vertices and isinstance(vertices[0], (tuple, list)))
    rows = [vertices] if one else list(vertices) if isinstance(vertices, Iterable) else [vertices]
    for row in rows:
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or len(row) != width:
            raise TravError(
                f"{what} holds {written(row)}, but ids have {width} columns: give tuples of {width} values."
            )
    return [[row[i] for row in rows] for i in range(width)]


def each_vertex(what: str, given: Values, width: int, on_gpu: bool) -> Iterator[Hashable]:
    """Return an iterator over the vertices, of `width` columns, that the argument called `what` names."""
    given = _opened(given, on_gpu)
    if given is None or library_of(given):
        columns = split(what, given, width)  # refuses None
        return (row[0] for row in _rows(columns)) if width == 1 else _rows(columns)
    n_dimensions = getattr(given, "ndim", 1)
    if n_dimensions > 1:
        raise TravError(f"{what} has {n_dimensions} dimensions: give a flat sequence of ids.")
    if n_dimensions == 0 or not isinstance(given, Iterable) or isinstance(given, (str, bytes)):
        return iter([given])
    if width > 1 and isinstance(given, tuple) and not (given and isinstance(given[0], (tuple, list))):
        return iter([given])
    return _values(given) if hasattr(given, "dtype") else iter(given)


def _rows(columns: list[Series]) -> Iterator[tuple[Hashable, ...]]:
    return zip(*map(_values, columns), strict=True)


def _values(column: Series) -> Iterator[Hashable]:
    """Yield the values of a column or an array of one dimension, a part of which is in host memory."""
    for first in range(0, len(column), AT_ONCE):
        part = (column.iloc if hasattr(column, "iloc") else column)[first : first + AT_ONCE]
        # cuDF converts a column to a list only through Arrow.
        yield from part.to_arrow().to_pylist() if hasattr(part, "to_arrow") else part.tolist()
