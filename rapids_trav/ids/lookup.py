"""Translation of the vertices that a caller names into internal ids."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from types import ModuleType

import numpy as np
import pandas as pd

from rapids_trav.errors import EDGES_CHANGED, TravError, UnknownVertexError, plain, written
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Array, Dtype, Values, move
from rapids_trav.ids.given import ANY_DECIMAL, as_columns, check_some
from rapids_trav.ids.maps import Column, Encoder, IdMap, Library

SHOWN = 5  # unknown vertices that an error lists before it counts the rest


def lookup(what: str, vertices: Values, ids: IdMap, library: Library) -> Array:
    """Return internal ids of the vertices that an argument names; a few cost no kernel launch."""
    vertices = forms.opened(proxies.opened(vertices, on_gpu=library.name == "cudf"))
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
