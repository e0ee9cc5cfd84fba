"""Translation of the vertices that a caller names into internal ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Number
from types import ModuleType

import numpy as np
import pandas as pd

from rapids_trav.errors import (
    EDGES_CHANGED,
    TravError,
    UnknownVertexError,
    plain,
    written,
)
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Array, Dtype, Values, move
from rapids_trav.frames.libraries import PandasFrames, library_of, names_nothing
from rapids_trav.ids.maps import Column, Encoder, IdMap, Library

SHOWN = 5  # unknown vertices that an error lists before it counts the rest


def lookup(what: str, vertices: Values, ids: IdMap, library: Library) -> Array:
    """Return internal ids of the vertices that the argument called `what` names, in its order.

    Vertices in host memory stay there: a single source should not cost a dozen kernel launches.

    Raises
    ------
    UnknownVertexError
        If the graph does not have some of the vertices; the error lists them.
    TravError
        If there are none, or they are null or of another kind than the graph's ids.
    """
    vertices = forms.opened(proxies.opened(vertices, on_gpu=library.name == "cudf"))
    try:
        return _looked_up(what, vertices, ids, library)
    except TravError as error:
        if ids.width > 1 or not _has_tuples(vertices):
            raise
        raise type(error)(
            f"{str(error).rstrip('.')}; a tuple is one id only if ids have several columns, as with "
            f"graph(src=[...], dst=[...])."
        ) from error


def _has_tuples(vertices: Values) -> bool:
    """Return whether tuples may have been meant as ids."""
    return isinstance(vertices, tuple) or (
        isinstance(vertices, list) and any(isinstance(vertex, tuple) for vertex in vertices)
    )


def _looked_up(what: str, vertices: Values, ids: IdMap, library: Library) -> Array:
    if ids.n == 0:
        _listed(what, vertices, ids.width)
        raise UnknownVertexError(
            f"{what} names a vertex, but the graph has none, since its edges have no rows: give edges or "
            f"graph(vertices=...)."
        )
    columns = as_columns(what, vertices, ids.dtypes, library)
    try:
        place = ids.ascending.encoder()(columns)
    except TypeError as error:  # an unhashable value
        raise TravError(f"{what} holds values that are not ids ({error}): give a flat sequence.") from error
    unknown = place < 0
    if unknown.any():
        _refuse(what, columns, unknown)
    return ids.placed(place)


def as_columns(what: str, vertices: Values, dtypes: Sequence[Dtype], library: Library) -> list[Column]:
    """Return vertices as columns, or arrays of integer ids, checked against the graph's dtypes."""
    if [dtype.kind for dtype in dtypes] in (["i"], ["u"]):
        few = vertices if type(vertices) is list else [vertices]
        if few and all(type(vertex) is int and 0 <= vertex < 2**31 for vertex in few):
            return [np.array(few)]  # plain integers need no frame library
    lists = _listed(what, vertices, len(dtypes))
    return [_component(what, values, dtype, library) for values, dtype in zip(lists, dtypes, strict=True)]


def _listed(what: str, vertices: Values, width: int) -> list[Values]:
    """Return the components of the ids; there is at least one id."""
    lists = split(what, vertices, width)
    if len(lists[0]) == 0:
        raise TravError(f"{what} is empty: give at least one vertex id.")
    return lists


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


def _component(what: str, values: Values, dtype: Dtype, library: Library) -> Column:
    if type(values).__module__.partition(".")[0] == "cupy":
        values = move(values, np)
    source = library if library_of(values, ("Series", "Index")) == library.name else PandasFrames()
    column = read_column(what, values, source)
    if nulls := source.null_count(column):
        raise TravError(
            f"{what} holds {nulls} null{'s' if nulls > 1 else ''}, and a null is not a vertex: leave "
            f"them out."
        )
    given = _kind(column, source)
    if hasattr(dtype, "categories"):
        return library.column(values)
    if given == "boolean" or (given == "number") != (dtype.kind in "iuf"):
        raise _of_other_kind(what, column, dtype)
    if given == "number":
        return _exact(what, column, dtype, source)
    if dtype.kind in "mM" and column.dtype != dtype:
        column = _dates(what, column, dtype)
    found = column.dtype.categories.dtype if hasattr(column.dtype, "categories") else column.dtype
    if _is_text(dtype, library) and not _is_text(found, source):
        # A cuDF column cannot be iterated over, but its values are all of one kind.
        _check_text(what, column.iloc[:1].to_pandas() if source.name == "cudf" else column, dtype)
    return library.column(column)


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


def _dates(what: str, column: Column, dtype: Dtype) -> Column:
    """Convert dates, which may be given as text, to the resolution of the graph's ids."""
    try:
        converted = column.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise _of_other_kind(what, column, dtype) from error
    if column.dtype.kind in "mM" and (lost := (converted.astype(column.dtype) != column)).any():
        _refuse(what, [column], lost.to_numpy())
    return converted


def _kind(column: Column, library: Library) -> str:
    if column.dtype == object and library.name == "pandas":
        inferred = pd.api.types.infer_dtype(column)
        numbers = ("integer", "floating", "mixed-integer-float")
        return "number" if inferred in numbers else "boolean" if inferred == "boolean" else "other"
    if hasattr(column.dtype, "categories"):
        return "number" if column.dtype.categories.dtype.kind in "iuf" else "other"
    return {"b": "boolean", "i": "number", "u": "number", "f": "number"}.get(column.dtype.kind, "other")


def _exact(what: str, column: Column, dtype: Dtype, library: Library) -> Array:
    """Convert numbers to integers; those that no id of this dtype can equal are unknown vertices."""
    if hasattr(column.dtype, "categories"):
        column = column.astype(column.dtype.categories.dtype)
    low, high = (0, 2**64) if dtype.kind == "u" else (-(2**63), 2**63)
    if column.dtype == object:
        given = [plain(value) for value in column]
        outside = np.array([not (low <= value < high and value == int(value)) for value in given])
        values = column.to_numpy()
    else:
        values = library.array(column)
        if values.dtype.kind == "f":
            values = values.astype(np.float64, copy=False)
            outside = (np.floor(values) != values) | (values < low) | (values >= float(high))
        elif values.dtype.kind != dtype.kind and dtype.kind in "iu":
            outside = values < 0 if dtype.kind == "u" else values >= np.uint64(2**63)
        else:
            outside = np.zeros(1, dtype=bool)
    if outside.any():
        _refuse(what, [column], outside)
    if values.dtype.kind in "iu":
        return values
    return values.astype(np.uint64 if dtype.kind == "u" else np.int64)


def split(what: str, vertices: Values, width: int) -> list[Values]:
    """Return the components of the ids, one list-like for each column."""
    if vertices is None:
        raise TravError(f"{what} is None: give at least one vertex id.")
    if library_of(vertices):
        if len(vertices.columns) != width:
            raise TravError(
                f"{what} is a frame of {len(vertices.columns)} columns, but the graph's ids have {width}: "
                f"select the columns that hold the ids."
            )
        return [vertices[name] for name in vertices.columns]
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
